# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases in which a peer vanishes without a FIN or RST, or all packets are lost while a connection is
# being closed.

no_qps() {
	local i
	for i in 0 1; do
		! rdma resource show qp link "${LINK[i]}" | grep -q lqpn || return 1
	done
}

# idle_pair COMMAND: start a server, run COMMAND, which may set knobs, and make a connection that
# has exchanged one message and is idle now.
idle_pair() {
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT" -v
	"$@"
	start client 0 kwconn -c -a "${IP[1]}" -p "$PORT" -n 1 -i -T 100
	wait_until 10 "the connection is idle" grep -q ' idle$' "$CASE_DIR/client.log"
}

# Set short timeouts (in seconds). If the server already listens, the connections that it accepts
# later have the new values.
short_timeouts() {
	knob keepalive 4
	knob user_timeout 4
}

# Set only a short keepalive time, and leave user_timeout at 60 s, its default. TCP applies
# user_timeout to its keepalive probes, too. The shorter keepalive must nevertheless end the
# connection.
short_keepalive() {
	knob keepalive 4
}

# Neither end sends, so only keepalive can detect that the peer is gone. Both ends must detect it,
# and report it to their programs.
vanished_idle_case() {
	skip_on siw "it has no keepalive"
	own_links
	idle_pair "$1"
	netem loss 100%
	reap 15 client
	expect_in client 'has the event "local work queue catastrophic error"'
	wait_until 15 "the server's queue pair is gone, too" no_qps
	stop server
	no_netem
}

# An idle connection to a peer that answers keepalive probes must not be ended.
idle_stays_case() {
	own_links
	idle_pair short_timeouts
	! holds_within $((8 * SLOWNESS)) gone "${PIDS[client]}" || fail "an idle connection was ended"
	kill -USR1 "${PIDS[client]}"
	reap 20 client
	stop server
}

vanished_busy_case() {
	skip_on siw "it has no time-out for users"
	own_links
	short_timeouts
	traffic t
	netem loss 100%
	traffic_lost t client server
	no_netem
}

# The client sends a message and closes while all packets are lost. After the network works again,
# the message must arrive, because its Send completed with success.
outage_close_case() {
	skip_on siw "it resets such a connection"
	own_links
	idle_pair true
	netem loss 100%
	kill -USR1 "${PIDS[client]}"
	wait_until 5 "the client has sent" grep -q ' sent$' "$CASE_DIR/client.log"
	holds_within 8 false || :
	no_netem
	wait_until 30 "the server has the last message" grep -q 'message 2$' "$CASE_DIR/server.log"
	reap 30 client
	stop server
}

testcase vanish-idle 90 vanished_idle_case short_timeouts
testcase vanish-idle-keepalive 90 vanished_idle_case short_keepalive
testcase vanish-not-idle 90 idle_stays_case
testcase vanish-busy 90 vanished_busy_case
testcase vanish-while-closing 90 outage_close_case
