# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Tests of the counts of a link (rdma statistic, hw_counters): the counts of both ends agree, and a
# counter can be bound to a queue pair, for its own counts. Also details of objects, debugfs and
# traces. END is 0 (client) or 1 (server), the number of a namespace and of its link.

stats_links() {
	skip_on siw "has other counts"
	own_links
}

# stats_of END: print all counts, one per line. The sleep is needed because the RDMA core returns
# cached values for a short time after a read.
stats_of() {
	sleep 0.1
	at "$1" grep -r --exclude=lifespan . "/sys/class/infiniband/${LINK[$1]}/ports/1/hw_counters" |
		sed -E 's|^.*/([^/]*):|\1 |'
}

stats_before() {
	local i
	for i in 0 1; do stats_of $i >"$CASE_DIR/before.$i"; done
}

stats_after() {
	local i
	for i in 0 1; do
		stats_of $i >"$CASE_DIR/after.$i"
		join <(sort "$CASE_DIR/before.$i") <(sort "$CASE_DIR/after.$i") |
			awk '{ print $1, $3 - $2 }' >"$CASE_DIR/stats.$i"
	done
}

# grown END NAME: print by how much the count grew between stats_before and stats_after.
grown() {
	awk -v name="$2" '$1 == name { print $2; found = 1 } END { exit !found }' "$CASE_DIR/stats.$1" ||
		fail "nothing is named $2"
}

# same NAME1 NAME2: check that count NAME1 of the client and count NAME2 of the server have grown by
# the same number.
same() {
	local a b
	a=$(grown 0 "$1") && b=$(grown 1 "$2")
	[ "$a" = "$b" ] || fail "the client has $1 $a, the server $2 $b"
}

bench_pair() {
	new_port
	serve server "$PORT" kwbench -s -a "${IP[1]}" -p "$PORT"
	client kwbench -c -a "${IP[1]}" -p "$PORT" -t 300 -u 0 "$@"
	stop server
}

# stats_case OPERATION OCTETS NAME...: run kwbench with this operation and message size. The
# client's counts NAME must grow by at least the number of operations that kwbench reports; what one
# end has counted as sent, the other end must have counted as received.
stats_case() {
	local name
	stats_links
	stats_before
	bench_pair -o "$1" -m "$2" -w 8
	shift 2
	stats_after
	for name in fpdus octets writes sends immediates read_requests read_responses \
		atomic_requests atomic_responses; do
		same "tx_$name" "rx_$name"
		same "rx_$name" "tx_$name"
	done
	for name in "$@"; do
		[ "$(grown 0 "$name")" -ge "$(ops)" ] || fail "$(ops) operations, $name $(grown 0 "$name")"
	done
	same cm_connects cm_inbound
	[ "$(grown 0 cm_connects)" -gt 0 ] || fail "nobody has connected"
	for name in term_sent_rdmap term_sent_ddp term_sent_mpa crc_errors streams_lost cm_bad; do
		[ "$(grown 0 "$name")$(grown 1 "$name")" = 00 ] || fail "$name has grown"
	done
}

stats_imm_case() {
	skip_on kwarp-siw "libsiw has neither immediate data nor atomic operations"
	stats_case "$@"
}

# frames KNOB0 KNOB1 OPERATION: with these values of the knob long_frames at the two ends, set FRAMES
# to the number of FPDUs that the sender of the payload sends for an operation of 64 KiB.
frames() {
	local sender=0
	[ "$3" != read ] || sender=1
	knob_at 0 long_frames "$1"
	knob_at 1 long_frames "$2"
	stats_before
	bench_pair -o "$3" -m 65536 -w 8
	stats_after
	FRAMES=$(($(grown $sender tx_fpdus) / $(ops)))
}

# FPDUs are longer than a TCP segment if both ends have announced that they accept such FPDUs.
stats_frames() {
	local op
	stats_links
	for op in write read send; do
		frames on on $op
		[ "$FRAMES" -le 6 ] || fail "$op: $FRAMES FPDUs for 64 KiB"
		frames on off $op
		[ "$FRAMES" -ge 40 ] || fail "$op: $FRAMES FPDUs for 64 KiB, and the server accepts short ones only"
		frames off on $op
		[ "$FRAMES" -ge 40 ] || fail "$op: $FRAMES FPDUs for 64 KiB, and the client accepts short ones only"
	done
}

stats_counter() {
	in_ns 0 rdma statistic qp show link "${LINK[0]}" | awk -v name="$1" '$1 == name { print $2 }'
}

# A counter is bound to one of two queue pairs for some time. It must count, and the counts of the
# device must include its values.
stats_qp_case() {
	local qpn name
	stats_links
	stats_before
	new_port
	serve server "$PORT" kwbench -s -a "${IP[1]}" -p "$PORT"
	start bench 0 kwbench -c -a "${IP[1]}" -p "$PORT" -o write -m 64 -w 8 -q 2 \
		-t "$(by_profile 12000 30000)" -u 0
	wait_until 10 "there are two queue pairs" stats_two_qps
	qpn=$(in_ns 0 rdma resource show qp link "${LINK[0]}" | sed -n 's/.* lqpn \([0-9]*\) .*/\1/p' | tail -1)
	check "binding a counter" in_ns 0 rdma statistic qp bind link "${LINK[0]}/1" lqpn "$qpn"
	wait_until 10 "the counter counts" stats_counts
	check "unbinding it" in_ns 0 rdma statistic qp unbind link "${LINK[0]}/1" cntn \
		"$(in_ns 0 rdma statistic qp show link "${LINK[0]}" | sed -n 's/.* cntn \([0-9]*\).*/\1/p')" lqpn "$qpn"
	[ -z "$(stats_counter tx_writes)" ] || fail "the counter is there still"
	ended 60 bench
	[ "$STATUS" = 0 ] || fail "the client ended with status $STATUS"
	stop server
	# The device's counts include the values of the counter, also after it was unbound, and
	# include them once: each count agrees with that of the server.
	stats_after
	for name in fpdus octets writes; do
		same "tx_$name" "rx_$name"
	done
	for name in term_sent_rdmap term_sent_ddp term_received_ddp crc_errors cm_bad cm_inbound cm_failed; do
		[ "$(grown 0 "$name")" = 0 ] || fail "$name has grown by $(grown 0 "$name")"
	done
}

stats_two_qps() {
	[ "$(in_ns 0 rdma resource show qp link "${LINK[0]}" | grep -c 'state RTS')" = 2 ]
}

stats_counts() {
	[ "$(stats_counter tx_writes)" -gt 0 ]
}

# details END OBJECT: print the objects of this kind with the driver's details (rdma resource show).
details() {
	local filter="dev"
	case $2 in qp | cm_id) filter="link" ;; esac
	in_ns "$1" rdma resource show "$2" "$filter" "${LINK[$1]}" -dd
}

# without_admin COMMAND...: run a command at end 0 as root without CAP_NET_ADMIN.
without_admin() {
	in_ns 0 setpriv --bounding-set=-net_admin --inh-caps=-net_admin "$@"
}

# details_say OBJECT WORDS: true if some object of end 0 has these words in its details. (A count of
# the link is no sign of a new connection, because earlier cases have raised the counts.)
details_say() {
	details 0 "$1" | grep "$2" >/dev/null
}

# has_details OBJECT NAME...: check that objects of this kind at end 0 have these details.
has_details() {
	local object=$1 name
	shift
	details 0 "$object" >"$CASE_DIR/details.$object.log"
	for name in "$@"; do
		expect_in "details.$object" "drv_$name "
	done
}

# "rdma resource show" has the driver's details of each object. Those of a connection have its TCP
# ports, and ss finds the same connection by these ports.
details_case() {
	local port
	stats_links
	data_serve server
	data_client -n 0 -m 4096 -S 24 -T 100
	start client 0 "${DATA_CLIENT[@]}"
	wait_until 10 "its queue pair is connected" details_say qp 'drv_stream RTS'
	has_details qp stream sq_size sq_used sender rq_size rq_used error crc tx_markers rx_markers align ord \
		ird reads_out reads_in local remote tcp_rtt_us tcp_cwnd tcp_mss tcp_retrans
	has_details cq completions overflow
	has_details mr kind valid address rights pieces
	expect_in details.mr 'drv_address 0x[1-9a-f][0-9a-f]* drv_rights local-read,local-write,remote-read '
	without_admin rdma resource show mr dev "${LINK[0]}" -dd >"$CASE_DIR/details.user.log"
	expect_in details.user 'drv_rights local-read'
	! grep -q 'drv_address' "$CASE_DIR/details.user.log" || fail "every user sees addresses"
	has_details cm_id role state state_ms
	expect_in details.cm_id 'drv_role initiator drv_state STREAM'
	wait_until 10 "the server has its stream" server_has_stream
	expect_in details.server 'drv_role listener drv_backlog [1-9][0-9]* drv_queued 0 drv_half_open 0 drv_asked 0'
	expect_in details.qp 'drv_stream RTS'
	expect_in details.qp 'drv_error NONE'
	expect_in details.qp "drv_remote ${IP[1]}:$PORT"
	port=$(sed -n "s/.*drv_local ${IP[0]}:\([0-9]*\) .*/\1/p" "$CASE_DIR/details.qp.log")
	[ -n "$(in_ns 0 ss -Htn "sport = :$port and dport = :$PORT")" ] || fail "ss knows no port $port"
	start silent 0 python3 "$HERE/timers.py" request "${IP[1]}" "$PORT"
	wait_until 10 "a connection in its startup is counted" server_has_half_open
	stop silent KILL
	stop client
	stop server
}

# ss ends a connection. The kernel log says at one end that this machine has ended it, and at the
# other that it was reset.
lost_case() {
	local killed
	stats_links
	data_serve server
	data_client -n 0 -m 4096 -S 24 -T 100
	start client 0 "${DATA_CLIENT[@]}"
	wait_until 10 "its queue pair is connected" details_say qp 'drv_stream RTS'
	killed=$(n0 ss -HtK dst "${IP[1]}" dport = "$PORT")
	if [ -z "$killed" ]; then
		stop client
		stop server
		skip "this kernel does not let ss end connections"
	fi
	wait_until 10 "the log says who has ended it" \
		log_says "${LINK[0]}: .* peer ${IP[1]}:$PORT: lost: ended on this machine"
	wait_until 10 "the log of the peer has its line" log_says "${LINK[1]}: connection ${IP[1]}:$PORT, .* lost: the peer has reset it"
	stop client KILL
	stop server KILL
}

log_says() {
	dmesg | grep "$1" >/dev/null
}

server_has_stream() {
	details 1 cm_id >"$CASE_DIR/details.server.log"
	has_line "$CASE_DIR/details.server.log" 'drv_role responder drv_state STREAM'
}

server_has_half_open() {
	details 1 cm_id >"$CASE_DIR/details.server.log"
	has_line "$CASE_DIR/details.server.log" 'drv_role listener .*drv_half_open 1 '
}

need_debugfs() {
	has_debugfs || skip "this kernel has no debugfs"
}

# debug_says END FILE WORDS: true if a line of this file of the link in debugfs matches WORDS.
debug_says() {
	cat "$DEBUGFS"/kwarp/*-"${LINK[$1]}"/"$2" >"$CASE_DIR/debug.$2.log" &&
		has_line "$CASE_DIR/debug.$2.log" "$3"
}

# debugfs shows counts of events of connection management, and of Terminates.
debugfs_case() {
	stats_links
	need_debugfs
	bad_crc_is_shown
	debug_says 1 cm '^NEW +INBOUND +[1-9]' || fail "no event of connection management is shown"
	[ "$(stat -c %a "$DEBUGFS"/kwarp/*-"${LINK[0]}"/cm)" = 400 ] || fail "others than root may read it"
}

# A peer sends a wrong CRC, and gets a Terminate. The file "terminates" shows its code.
bad_crc_is_shown() {
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	start terminate 0 python3 "$HERE/timers.py" terminate "${IP[1]}" "$PORT"
	wait_until 15 "the Terminate is counted" debug_says 1 terminates '^0x2002 +MPA_CRC +1 +0$'
	stop terminate KILL
	stop server
}

# Read all details, all counts and all files in debugfs (a round), again and again until a read
# fails. The file "rounds" has the number of complete rounds.
ask_for_details() {
	local rounds=0 what qpn
	while :; do
		for what in qp cq mr srq; do
			in_ns 0 rdma resource show "$what" -dd >/dev/null || return
		done
		in_ns 0 rdma statistic show >/dev/null || return
		cat "$DEBUGFS"/kwarp/*-kw*/* >/dev/null || return
		qpn=$(in_ns 0 rdma resource show qp link "${LINK[0]}/1" | sed -n 's/.*lqpn \([0-9]*\).*/\1/p' | tail -n 1)
		# The queue pair may have been destroyed meanwhile.
		[ -z "$qpn" ] || ! in_ns 0 rdma statistic qp bind link "${LINK[0]}/1" lqpn "$qpn" 2>/dev/null ||
			in_ns 0 rdma statistic qp show link "${LINK[0]}/1" >/dev/null || return
		echo $((++rounds)) >"$CASE_DIR/rounds.new" && mv "$CASE_DIR/rounds.new" "$CASE_DIR/rounds"
	done
}

# All details and counts are read continuously while objects are made and destroyed.
details_races() {
	local end=$((SECONDS + $(by_profile 8 20))) asker
	stats_links
	need_debugfs
	ask_for_details &
	asker=$!
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	# Continue until ask_for_details has completed one round, too: on a slow machine a round
	# takes longer than the given time.
	while [ "$SECONDS" -lt "$end" ] || { [ ! -s "$CASE_DIR/rounds" ] && kill -0 "$asker" 2>/dev/null; }; do
		client kwconn -c -a "${IP[1]}" -p "$PORT" -n 20 -P 4
	done
	stop server
	kill "$asker" 2>/dev/null || fail "it was not all told"
	wait "$asker" || :
	[ "$(<"$CASE_DIR/rounds")" -gt 0 ] || fail "nothing was asked for"
}

TRACING=/sys/kernel/tracing

trace_off() {
	echo 0 >"$TRACING/events/kwarp/enable"
	echo >"$TRACING/trace"
}

# The trace has the events of a connection's startup and of a message from posting to completion.
# Only the events of errors and Terminates are not caused here.
trace_case() {
	local rc=0
	stats_links
	[ -e "$TRACING/events" ] || mount -t tracefs tracefs "$TRACING" 2>/dev/null ||
		skip "this kernel has no tracefs"
	[ -d "$TRACING/events/kwarp" ] || fail "there are no events of kwarp's"
	(trace_connection) || rc=$?
	trace_off
	[ "$rc" = 0 ] || exit "$rc"
}

trace_connection() {
	local event
	echo >"$TRACING/trace"
	echo 1 >"$TRACING/events/kwarp/enable"
	new_port
	serve server "$PORT" kwbench -s -a "${IP[1]}" -p "$PORT"
	client kwbench -c -a "${IP[1]}" -p "$PORT" -o write -m 4096 -w 4 -t 20 -u 0
	stop server
	cp "$TRACING/trace" "$CASE_DIR/trace.log"
	for event in cm_event startup_frame qp_event doorbell tx_message tx_batch rx_segment complete; do
		expect_in trace "kwarp_$event: "
	done
	expect_in trace 'kwarp_startup_frame: .* sent Request rev=2'
	expect_in trace 'kwarp_startup_frame: .* received Reply rev=2'
	expect_in trace 'kwarp_cm_event: .*CONNECT: NEW -> CONNECT'
}

testcase stats-trace 60 trace_case
testcase stats-details 60 details_case
testcase stats-lost 60 lost_case
testcase stats-debugfs 60 debugfs_case
testcase stats-details-races 90 details_races
testcase stats-write 60 stats_case write 4096 tx_writes tx_fpdus
testcase stats-read 60 stats_case read 4096 tx_read_requests rx_read_responses
testcase stats-send 60 stats_case send 64 tx_sends
testcase stats-imm 60 stats_imm_case write-imm 64 tx_writes tx_immediates
testcase stats-atomic 60 stats_imm_case fetch-add 8 tx_atomic_requests rx_atomic_responses
testcase stats-frames 120 stats_frames
testcase stats-qp 90 stats_qp_case
