# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Reads what the trace event inet_sock_set_state told of the sockets of one port (-v port=PORT):
# status 0 if perftest's client has met a race of perftest's own.
#
# Its server listens for a control connection, deletes that listener, and later listens on the
# same port once more, for the queue pairs. Nothing tells the client when. So, while the control
# connection stands, it may ask
#
#   - when nobody listens, between the two: it is refused,
#   - while the first one still listens, of which the server takes one connection only.
#
# The state is told before TCP finds the listener by its port: for a moment nobody listens yet, and
# a slow machine with other work makes some milliseconds of it.
#
# A client that a listener refused, or that the second one let in, has met something else.

BEGIN {
	server = "sport=" port " "
	client = "dport=" port " "
	moment = 0.05
}

# The time of an event, in seconds.
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

# always: somebody has listened since it asked.
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
