# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases with traffic on many queue pairs, and with many connections at the same time. All data must
# be right, and the time to end the connections must not grow faster than their number.

# scale_qps_case QPS SECONDS: four pairs of programs make QPS connections in total. After that all
# connections are busy at the same time for SECONDS.
scale_qps_case() {
	local i before begun
	own_links
	before=$(kernel_memory)
	begun=$SECONDS
	for i in 1 2 3 4; do
		new_port
		serve "server$i" "$PORT" kwdata -s -a "${IP[1]}" -p "$PORT" -T 120
		start "client$i" 0 kwdata -c -b -a "${IP[1]}" -p "$PORT" -n 0 -q $(($1 / 4)) -e \
			-m 4096 -w 2 -S "$i" -T 120
		wait_until 60 "$(($1 / 4)) connections" all_up "$i" $(($1 / 4))
	done
	queue_pairs 0 "$1" || fail "there are not $1 queue pairs"
	note "$1 queue pairs are connected after $((SECONDS - begun)) s"
	note "kernel memory: $((($(kernel_memory) - before) / $1)) KiB for each, both ends"
	for i in 1 2 3 4; do
		kill -USR1 "${PIDS[client$i]}" || fail "client$i has ended by itself"
	done
	holds_within "$2" false || :
	for i in 1 2 3 4; do
		kill -TERM "${PIDS[client$i]}" || fail "client$i has ended by itself"
	done
	for i in 1 2 3 4; do
		reap 120 "client$i"
		reap 60 "server$i"
	done
	grep -h ': ok: ' "$CASE_DIR"/client?.log
}

# all_up CLIENT COUNT: true if the client has reported that COUNT connections are up.
all_up() {
	grep -q "$2 connections are up" "$CASE_DIR/client$1.log"
}

# queue_pairs END COUNT: true if the link at that end (0 or 1) has COUNT queue pairs.
queue_pairs() {
	rdma resource show "${LINK[$1]}" | grep -q " qp $2 "
}

# scale_connections_case COUNT: make COUNT connections, use each, and end all of them.
scale_connections_case() {
	local before
	own_links
	before=$(kernel_memory)
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT" -P "$1"
	start client 0 kwconn -c -H -a "${IP[1]}" -p "$PORT" -n "$1" -P 64 -T 300
	wait_until 600 "$1 connections" all_open "$1"
	note "kernel memory: $((($(kernel_memory) - before) / $1)) KiB for each connection, both ends"
	reap 600 client
	cat "$CASE_DIR/client.log"
	expect_in client " $1 echoed, 0 refused"
	# Time from the first disconnect to the end of the last connection.
	TEARDOWN_MS=$(sed -nE 's/.* slowest ([0-9]+) ms.*/\1/p' "$CASE_DIR/client.log")
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	wait_until 60 "no object is left" no_objects
	still_works
}

# scale_linear_case COUNT: the time per connection to end COUNT connections must be about the same
# as with a tenth of COUNT.
scale_linear_case() {
	local few
	scale_connections_case $(($1 / 10))
	few=$TEARDOWN_MS
	scale_connections_case "$1"
	note "teardown: $few ms for $(($1 / 10)), $TEARDOWN_MS ms for $1"
	[ "$TEARDOWN_MS" -lt $((30 * few + 1000)) ] || fail "the more connections, the longer each takes to end"
}

all_open() {
	grep -q "$1 are open at once" "$CASE_DIR/client.log" || gone "${PIDS[client]}"
}

testcase scale-qps 180 scale_qps_case "$(by_profile 1000 40)" "$(by_profile 10 5)"
testcase scale-connections 60 scale_connections_case "$(by_profile 500 50)"
optional_testcase scale-connections-10000 1200 scale_linear_case 10000
