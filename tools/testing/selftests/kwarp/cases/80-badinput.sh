# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Peers and programs that do wrong: what they do is refused in time, and others do
# not notice. "Others" is traffic that runs beside each case and verifies its data.

# The start-up timers, waiting for a Request and for a Reply, must not be longer than
# this, seconds.
request_limit=$((15 * SLOWNESS))
reply_limit=$((35 * SLOWNESS))

good_connections() {
	client kwconn -c -a "${IP[1]}" -p "$1" -n 5
	expect_in client ' 5 echoed'
}

# A hostile client at a listener that accepts everybody.
hostile_client_case() {
	local port
	own_links
	traffic bystander
	new_port
	port=$PORT
	serve server "$port" kwconn -s -a "${IP[1]}" -p "$port"
	start hostile 0 kwrawpeer "$1" -a "${IP[1]}" -p "$port" -T "$request_limit"
	# While its connections are half open, others get through.
	good_connections "$port"
	reap 90 hostile
	good_connections "$port"
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	expect_in server ' 10 echoed'
	traffic_stop_good bystander
}

# A hostile server, to which the device connects twenty times.
hostile_server_case() {
	own_links
	traffic bystander
	new_port
	serve hostile "$PORT" kwrawpeer "$1" -a "${IP[1]}" -p "$PORT" -T "$reply_limit"
	client kwconn -c -x -a "${IP[1]}" -p "$PORT" -n 20 -P 20 -T "$reply_limit"
	expect_in client ' 20 refused'
	reap 90 hostile
	traffic_stop_good bystander
}

# A crowd takes all places of a listener and says nothing: others get through within
# seconds, and not only when the start-up timers have run.
listener_full_case() {
	local port
	skip_on siw "it has no such limit"
	own_links
	new_port
	port=$PORT
	serve server "$port" kwconn -s -a "${IP[1]}" -p "$port"
	start crowd 0 python3 "$HERE/crowd.py" "${IP[1]}" "$port" 1100
	wait_until 15 "the crowd is there" crowded "$port"
	client kwconn -c -a "${IP[1]}" -p "$port" -n 3 -T "$(by_profile 6 20)"
	expect_in client ' 3 echoed'
	stop crowd KILL
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
}

# Some of it may have been sent away already; on a slow kernel, where it takes longer to
# come than the start-up timers last, most.
crowded() {
	grep -q 'all have begun' "$CASE_DIR/crowd.log" &&
		[ "$(n1 ss -Htn state established "sport = :$1" | wc -l)" -ge "$(by_profile 900 1)" ]
}

selftest_case() {
	kwrawpeer selftest
}

# Garbage at every place of the start-up must not move the device's state: afterwards
# it works, which "good_connections" has shown, and no object is left (case_end).
testcase bad-selftest 30 selftest_case
testcase bad-listener-full 60 listener_full_case
for scenario in req-garbage req-wrong req-silence req-fin req-rst req-whole-fin req-whole-rst \
	req-octets rdma-fin rdma-rst; do
	testcase "bad-$scenario" 90 hostile_client_case $scenario
done
for scenario in rep-silence rep-fin rep-rst rep-wrong; do
	testcase "bad-$scenario" 90 hostile_server_case $scenario
done
unset scenario

# -------------------------------------------------- wrong calls, scribbled queues

# Cases of kwverbs that a type of link decides in another way.
verbs_known() {
	case $KWARP_LINK in
	# States before the connection are only noted; what is posted waits for it.
	kwarp) printf -- '-k %s ' qp-to-rts send-unconnected ;;
	# It takes no notice of depths before the connection.
	siw) printf -- '-k %s ' flushed-send qp-reads-out qp-reads-in ;;
	esac
}

wrong_verbs_case() {
	own_links
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	# shellcheck disable=SC2046
	client kwverbs -a "${IP[1]}" -p "$PORT" $(verbs_known)
	good_connections "$PORT"
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
}

scribble_case() {
	local port
	own_links
	traffic bystander
	new_port
	port=$PORT
	serve server "$port" kwconn -s -a "${IP[1]}" -p "$port"
	client kwscribble -a "${IP[1]}" -p "$port" -n "$(by_profile 40 10)" -t 200 -S "$1"
	cat "$CASE_DIR/client.log"
	good_connections "$port"
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	traffic_stop_good bystander
}

testcase bad-verbs 60 wrong_verbs_case
testcase bad-scribble-1 90 scribble_case 1
testcase bad-scribble-2 90 scribble_case 2
