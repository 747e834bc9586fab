# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Decide whether perftest's client has failed because of a race in perftest. The input is the trace
# of the event inet_sock_set_state for the sockets of one port (-v port=PORT). Exit status 0: it was
# the race.
#
# perftest's server listens for a control connection, deletes that listener, and later listens on
# the same port again, for the queue pairs. The client does not know when the second listener
# begins. So while the control connection exists, the client may make its next connection
#
#   - when there is no listener, between the first and the second one: then it is refused;
#   - while the first listener still exists, from which the server accepts only one connection.
#
# The kernel reports the state LISTEN before TCP finds the listener by its port. Until then, which
# takes some milliseconds on a slow and busy machine, a client is still refused. So a listener
# counts only 50 ms ("moment") after its event.
#
# A client that is refused although a listener exists, or accepted by the second listener, has
# failed for another reason.

BEGIN {
	server = "sport=" port " "
	client = "dport=" port " "
	moment = 0.05
}

# Return the time of this line's event, in seconds.
function when(    i) {
	for (i = 1; i <= NF; i++)
		if ($i ~ /^[0-9]+\.[0-9]+:$/)
			return $i + 0
}

index($0, server) && /oldstate=TCP_CLOSE newstate=TCP_LISTEN/ {
	listeners++
	listening = 1
	since = when()
}

index($0, server) && /oldstate=TCP_LISTEN newstate=TCP_CLOSE/ {
	listening = always = 0
}

# A client connects. asked: number of listeners so far that its SYN can have found. always: its SYN
# has found a listener, and that listener has existed since; a later refusal is not the race.
index($0, client) && /newstate=TCP_SYN_SENT/ {
	found = listening && when() - since > moment
	asked = listening && !found ? listeners - 1 : listeners
	always = found
}

index($0, client) && /oldstate=TCP_SYN_SENT newstate=TCP_CLOSE/ {
	if (control && asked == 1 && !always)
		raced = 1
}

index($0, client) && /oldstate=TCP_SYN_SENT newstate=TCP_ESTABLISHED/ {
	if (control && listeners == 1)
		raced = 1
	control++
}

index($0, client) && /oldstate=TCP_ESTABLISHED/ {
	control--
}

END {
	exit !raced
}
