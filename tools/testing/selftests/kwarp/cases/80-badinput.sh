# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Peers and programs that break the rules. They are refused within a time limit, and other programs
# are not affected: in many cases a bystander's traffic runs at the same time and verifies its data.
#
# Startup: the exchange of MPA Request, Reply and, if it was agreed, ready-to-receive message. Knob:
# a setting of a link. SLOWNESS: the factor for time limits on this kernel.

# Seconds that a hostile peer waits for the device to give up: the startup timers for a Request
# and for a Reply must not be longer.
request_limit=$((15 * SLOWNESS))
reply_limit=$((35 * SLOWNESS))

good_connections() {
	client kwconn -c -a "${IP[1]}" -p "$1" -n 5
	expect_in client ' 5 echoed'
}

# hostile_client_case SCENARIO: a hostile client connects to a server that accepts all
# connections.
hostile_client_case() {
	local port
	own_links
	traffic bystander
	new_port
	port=$PORT
	serve server "$port" kwconn -s -a "${IP[1]}" -p "$port"
	start hostile 0 kwrawpeer "$1" -a "${IP[1]}" -p "$port" -T "$request_limit"
	# Other clients can connect while the hostile client's connections are in their startup.
	good_connections "$port"
	reap 90 hostile
	good_connections "$port"
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	expect_in server ' 10 echoed'
	traffic_stop_good bystander
}

# hostile_server_case SCENARIO: a program connects to a hostile server twenty times.
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

# listener_full_case PLACES: many clients connect and send nothing, until the listener has as many
# unfinished startups as the knob half_open_max allows (PLACES). Another client must still be able
# to connect within seconds, before the startup timers run out.
listener_full_case() {
	local port
	skip_on siw "it has no such limit"
	own_links
	knob half_open_max "$1"
	new_port
	port=$PORT
	serve server "$port" kwconn -s -a "${IP[1]}" -p "$port"
	start crowd 0 python3 "$HERE/crowd.py" "${IP[1]}" "$port" $(($1 + 76))
	wait_until 15 "the crowd is there" crowded "$port" $(($1 - 124))
	client kwconn -c -a "${IP[1]}" -p "$port" -n 3 -T "$(by_profile 6 20)"
	expect_in client ' 3 echoed'
	stop crowd KILL
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
}

# The knob half_open_max allows 16 unfinished startups ("places"), and 30 clients connect. So 14
# clients wait in TCP's accept queue, and get places after the knob has been raised.
listener_few_case() {
	skip_on siw "it has no such limit"
	own_links
	knob half_open_max 16
	new_port
	serve server "$PORT" kwconn -s -q -a "${IP[1]}" -p "$PORT"
	start crowd 0 python3 "$HERE/crowd.py" "${IP[1]}" "$PORT" 30 request
	wait_until 10 "the crowd is there" grep -q 'all have begun' "$CASE_DIR/crowd.log"
	# On a slow kernel the first clients may have been rejected before the last ones have
	# connected.
	rejected 1 || wait_until 5 "14 wait" waits_in_tcp "$PORT" 14
	knob half_open_max 64
	wait_until 5 "they have got places" none_waits_in_tcp "$PORT"
	stop crowd KILL
	stop server KILL
}

waits_in_tcp() {
	[ "$(waiting_in_tcp "$1")" = "$2" ]
}

waiting_in_tcp() {
	n1 ss -Hltn "sport = :$1" | awk '{ n += $2 } END { print n + 0 }'
}

some_wait_in_tcp() {
	[ "$(waiting_in_tcp "$1")" -gt 0 ]
}

none_waits_in_tcp() {
	[ "$(waiting_in_tcp "$1")" = 0 ]
}

rejected() {
	[ "$(grep -c ' rejected after' "$CASE_DIR/crowd.log")" -ge "$1" ]
}

# rejected_before SECONDS: true if some client was rejected within this time after its Request.
rejected_before() {
	awk -v least="$1" '/ rejected after/ && $4 < least { found = 1 } END { exit !found }' "$CASE_DIR/crowd.log"
}

# some_waited_in_tcp PORT: true if connections wait in TCP's accept queue, or if a client has been
# rejected already. On a slow kernel the first clients may be rejected before the last ones have
# connected, and no connection waits.
some_waited_in_tcp() {
	rejected 1 || some_wait_in_tcp "$1"
}

# 1,100 clients send good Requests, and the program answers none. 1,024 of the clients get a place
# (the default of half_open_max), and 76 wait in TCP's accept queue. After ten seconds the device
# must reject the oldest Requests, about as many as clients wait, so that the waiting clients get
# places.
ulp_full_case() {
	skip_on siw "it has no such limit"
	own_links
	new_port
	serve server "$PORT" kwconn -s -q -a "${IP[1]}" -p "$PORT"
	start crowd 0 python3 "$HERE/crowd.py" "${IP[1]}" "$PORT" 1100 request
	wait_until 30 "the crowd is there" grep -q 'all have begun' "$CASE_DIR/crowd.log"
	wait_until 5 "somebody finds no place" some_waited_in_tcp "$PORT"
	wait_until 15 "the oldest are rejected" rejected 1
	wait_until 10 "as many as wait are rejected" rejected 76
	wait_until 10 "nobody waits" none_waits_in_tcp "$PORT"
	! rejected 110 || fail "more were rejected than waited"
	! rejected_before 9.9 || fail "one was rejected that had not waited ten seconds"
	stop crowd KILL
	stop server KILL
}

# crowded PORT LEAST: true if all clients have connected, and at least LEAST connections still
# exist. Startup timers may have ended some connections already. On a slow kernel, where it takes
# longer than these timers to connect all clients, one connection is enough.
crowded() {
	grep -q 'all have begun' "$CASE_DIR/crowd.log" &&
		[ "$(n1 ss -Htn state established "sport = :$1" | wc -l)" -ge "$(by_profile "$2" 1)" ]
}

memory_in_use() {
	awk '/^SUnreclaim:/ { print $2 }' /proc/meminfo
}

memory_settled() {
	[ $(($(memory_in_use) - $1)) -lt "$2" ]
}

# Many clients connect, one after the other, and never finish the startup. Others can connect
# meanwhile, and no memory is lost. KWARP_HALF_OPEN=100000 is for a large machine.
half_open_case() {
	local count before
	skip_on siw "it keeps them"
	count=${KWARP_HALF_OPEN:-$(by_profile 3000 300)}
	own_links
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	start warm 0 python3 "$HERE/churn.py" "${IP[1]}" "$PORT" $((count / 4))
	reap $((60 + count / 100)) warm
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n 5
	before=$(memory_in_use)
	start churn 0 python3 "$HERE/churn.py" "${IP[1]}" "$PORT" "$count"
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n 5 -T "$(by_profile 20 60)"
	reap $((60 + count / 50)) churn
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n 5
	# If the memory of unfinished startups was lost, that would be about 6 KiB for each, more
	# than the 2 KiB allowed here. On the debug kernel KASAN keeps freed memory for some time.
	[ "$KWARP_PROFILE" = debug ] ||
		wait_until 10 "memory is given back" memory_settled "$before" $((count * 2 + 2048))
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
}

# lasted NAME MS: wait until the peer NAME (timers.py) ends, and check that it has measured MS
# milliseconds: at most 300 ms less, and at most 1.5 s (times SLOWNESS) more.
lasted() {
	local ms most=$(($2 + 1500 * SLOWNESS))
	reap $((60 + $2 / 1000)) "$1"
	ms=$(sed -n 's/ ms$//p' "$CASE_DIR/$1.log")
	[ -n "$ms" ] || fail "$1 measured nothing"
	note "$1: $ms ms of $2"
	[ "$ms" -ge $(($2 - 300)) ] || fail "the timer of '$1' ran after $ms ms, too early for $2"
	[ "$ms" -le "$most" ] || fail "the timer of '$1' ran after $ms ms, more than $most"
}

# timers_case STARTUP CONNECT LINGER: set the knobs to these seconds, and measure the timers, with
# peers that fall silent at different points of the startup, or do not close.
timers_case() {
	local port
	skip_on siw "its timers are others"
	own_links
	knob startup_timeout "$1"
	knob connect_timeout "$2"
	knob linger_timeout "$3"
	new_port
	port=$PORT
	serve server "$port" kwconn -s -a "${IP[1]}" -p "$port"
	start request 0 python3 "$HERE/timers.py" request "${IP[1]}" "$port"
	start rtr 0 python3 "$HERE/timers.py" rtr "${IP[1]}" "$port"
	start terminate 0 python3 "$HERE/timers.py" terminate "${IP[1]}" "$port"
	new_port
	start reply 1 python3 "$HERE/timers.py" reply "${IP[1]}" "$PORT"
	wait_until 15 "the silent server listens" listening_or_gone "$PID" "$PORT"
	start caller 0 kwconn -c -x -a "${IP[1]}" -p "$PORT" -n 1 -T 100
	lasted request "${1}000"
	lasted rtr "${1}000"
	lasted terminate "${3}000"
	# The server's program is killed. The device then closes the connection, and waits for the
	# peer to close, at most for linger_timeout.
	start linger 0 python3 "$HERE/timers.py" linger "${IP[1]}" "$port"
	wait_until 15 "the connection stands" grep -q established "$CASE_DIR/linger.log"
	stop server KILL
	lasted linger "${3}000"
	lasted reply "${2}000"
	reap 30 caller
}

# A program never answers a Request. The device ends the connection after two minutes. Because this
# takes so long, the case runs only if it is named, as make check-all does.
timer_verdict_case() {
	skip_on siw "it has no such timer"
	own_links
	new_port
	serve server "$PORT" kwconn -s -q -a "${IP[1]}" -p "$PORT"
	start verdict 0 python3 "$HERE/timers.py" verdict "${IP[1]}" "$PORT"
	lasted verdict 120000
	stop server KILL
}

selftest_case() {
	kwrawpeer selftest
}

# Nothing that a peer sends during startup may damage the device. In the cases of hostile clients
# "good_connections" shows that other clients can connect, and in those of hostile servers the
# bystander's traffic shows that the device works. case_end checks that no object is left.
testcase bad-selftest 30 selftest_case
testcase bad-timers 60 timers_case 10 30 5
testcase bad-timers-knobs 40 timers_case 4 9 2
optional_testcase bad-timer-verdict 180 timer_verdict_case
testcase bad-listener-full 60 listener_full_case 1024
testcase bad-listener-few 40 listener_few_case
testcase bad-ulp-full 90 ulp_full_case
testcase bad-half-open $((120 + ${KWARP_HALF_OPEN:-0} / 20)) half_open_case
for scenario in req-garbage req-wrong req-silence req-fin req-rst req-whole-fin req-whole-rst \
	req-octets rdma-fin rdma-rst; do
	testcase "bad-$scenario" 90 hostile_client_case $scenario
done
for scenario in rep-silence rep-fin rep-rst rep-wrong; do
	testcase "bad-$scenario" 90 hostile_server_case $scenario
done
unset scenario

# -------------------------------------------------- wrong calls, scribbled queues

# Print the options of kwverbs for this type of link. -k: this check does not count, because it has
# another result on the link or with its library. -o: kwverbs posts no wrong requests.
verbs_options() {
	case $KWARP_LINK in
	# A Send that is posted before the connection exists waits for the connection.
	kwarp) printf -- '-k %s ' send-unconnected ;;
	# libsiw, siw's provider, which programs use here, does not check requests, and has none of
	# these functions.
	kwarp-siw)
		printf -- '-k %s ' rereg-access rereg-place rereg-pd advise parent-domain \
			grow-to-most-cqes cq-ignore-overrun
		printf -- '-o'
		;;
	# siw ignores the depths of a queue pair before the connection, and the rights of memory.
	siw)
		printf -- '-k %s ' flushed-send qp-reads-out qp-reads-in mr-huge mr-wraps \
			rereg-access rereg-place rereg-pd advise parent-domain \
			grow-to-most-cqes cq-ignore-overrun
		printf -- '-o'
		;;
	esac
}

wrong_verbs_case() {
	own_links
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	# shellcheck disable=SC2046
	client kwverbs -a "${IP[1]}" -p "$PORT" $(verbs_options)
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
