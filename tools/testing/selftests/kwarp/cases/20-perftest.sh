# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases that run the programs of perftest: every kind of operation, bandwidth and latency, in the
# modes that use the completion queue or the send queue differently. perftest does not verify data
# (kwdata does), and on an emulated processor its figures may be zero. So the cases check that the
# programs succeed and print a line for each size.

# perf_rows COUNT SIZE...: check that the client's table has a row of COUNT operations for each
# size.
perf_rows() {
	local count=$1 size
	shift
	for size in "$@"; do
		grep -qE "^ *$size +$count +([0-9]|inf|-?nan)" "$CASE_DIR/client.log" ||
			fail "no line for $count messages of $size octets"
	done
}

PERF_TRACING=/sys/kernel/tracing
PERF_EVENT=events/sock/inet_sock_set_state

# Start tracing the states of all TCP sockets. Each event that is switched on makes the kernel patch
# its code, and an emulated processor may then run a breakpoint that is already removed when the
# kernel looks for it ("Oops: int3"). So the event is switched on only once in a run, and the trace
# does not record names of programs, for which the kernel would trace the scheduler, too.
perf_trace() {
	[ -d "$PERF_TRACING/$PERF_EVENT" ] || return 0
	if [ "$(<"$PERF_TRACING/$PERF_EVENT/enable")" = 0 ]; then
		echo 0 >"$PERF_TRACING/options/record-cmd"
		echo 1 >"$PERF_TRACING/$PERF_EVENT/enable"
	fi
	: >"$PERF_TRACING/trace"
}

# True if the trace of the port's sockets shows perftest's race: the client connected before the
# server's second listener existed (perf_too_quick). perfrace.awk looks for that. Without tracing no
# failure is excused.
perf_race_shown() {
	[ -r "$PERF_TRACING/trace" ] || return 1
	grep -E "[sd]port=$PORT " "$PERF_TRACING/trace" >"$CASE_DIR/sockets.log" || return 1
	awk -v port="$PORT" -f "$HERE/perfrace.awk" "$CASE_DIR/sockets.log"
}

# True if the client ran into a race of perftest. perftest's server first has a listener for a
# control connection, and later another listener on the same port. If the client connects before
# the second one exists, it is refused and crashes in its second attempt, or waits for ever in the
# queue of the first listener. (Both failures also happen over siw.) In both cases the client has
# not printed the head of its table yet, and the trace shows the race.
perf_too_quick() {
	! grep -q '#bytes' "$CASE_DIR/client.log" || return 1
	perf_race_shown || return 1
	note "the client was quicker than the second listener"
}

perf_stuck() {
	siw_is_deaf || perf_too_quick
}

# Number of failures by perftest's race that the whole run may have. The race is rare. If a device
# took long to start listening, the race would be frequent, and the run must fail then.
perf_races=3

perf_raced() {
	local races
	tell "perftest's client was refused or left waiting: too quick for the second listener, tried again"
	races=$(grep -c "too quick for the second" "$RUN/told")
	[ "$races" -le $perf_races ] || fail "$races clients in one run were refused or left waiting: more than perftest's own race explains"
}

perf_try() {
	local tool=$1
	shift
	new_port
	perf_trace
	serve server "$PORT" "$tool" -R -F -p "$PORT" -d "${LINK[1]}" --bind_source_ip "${IP[1]}" "$@"
	try_client 10 perf_stuck stdbuf -oL "$tool" -R -F -p "$PORT" -d "${LINK[0]}" "$@" "${IP[1]}"
	if [ "$STATUS" = 139 ] && grep -qE 'EVENT_REJECTED; error: -111|ERRNO: Connection refused' "$CASE_DIR/client.log" && perf_too_quick; then
		STATUS=stuck
	fi
	[ "$STATUS" != stuck ] || siw_is_deaf || perf_raced
}

# perf_pair TOOL OPTIONS...: run server and client on the existing links; both must succeed.
perf_pair() {
	pair_retried perf_try "$@"
}

# perf_sweep TOOL: run the tool in one connection with all sizes that are powers of two, from 2
# octets to 8 MiB.
perf_sweep() {
	local size sizes=()
	for ((size = 2; size <= 8388608; size *= 2)); do
		sizes+=("$size")
	done
	perf_pair "$1" -n 5 -a
	perf_rows 5 "${sizes[@]}"
}

perf_sizes() {
	local size tool=$1
	shift
	for size in "$@"; do
		perf_pair "$tool" -n 5 -s "$size"
		perf_rows 5 "$size"
	done
}

# perf_all_sizes TOOL: run the tool with all sizes. The sweep transfers 80 MiB, so on a slow kernel
# and on siw only a few sizes are used.
perf_all_sizes() {
	own_links
	if [ "$KWARP_PROFILE" = debug ]; then
		perf_sizes "$1" 3 4096 65536
	elif [ "$KWARP_LINK" = siw ]; then
		perf_sizes "$1" 3 4096 65536 1048576
	else
		perf_sweep "$1"
	fi
}

# perf_case SIZE COUNT TOOL OPTIONS...: run a tool of perftest with COUNT messages of this size.
perf_case() {
	local size=$1 count=$2
	shift 2
	own_links
	perf_pair "$@" -n "$count" -s "$size"
	perf_rows "$count" "$size"
}

# perf_rfc7306 SIZE COUNT TOOL OPTIONS...: like perf_case, but skipped on siw, which lacks RFC
# 7306, and if this version of perftest lacks the option.
perf_rfc7306() {
	skip_on siw "it has neither immediate data nor atomic operations"
	skip_on kwarp-siw "libsiw has neither"
	[[ " $* " != *" --write_with_imm "* || $("$3" --help 2>&1) = *--write_with_imm* ]] ||
		skip "this perftest cannot write with immediate data"
	perf_case "$@"
}

# perf_qps QPS SIZE COUNT TOOL: send COUNT messages on each of QPS queue pairs. The tool's table has
# the sum of all messages.
perf_qps() {
	own_links
	perf_pair "$4" -n "$3" -s "$2" -q "$1"
	perf_rows $(($1 * $3)) "$2"
}

few=$(by_profile 500 20)
for op in write read send; do
	testcase "perf-$op-bw-sizes" 90 perf_all_sizes "ib_${op}_bw"
	testcase "perf-$op-lat-sizes" 90 perf_all_sizes "ib_${op}_lat"
	testcase "perf-$op-bw-1" 30 perf_case 1 "$few" "ib_${op}_bw"
	testcase "perf-$op-lat-1" 30 perf_case 1 "$few" "ib_${op}_lat"
	testcase "perf-$op-bw-1MiB" 60 perf_case 1048576 "$(by_profile 50 5)" "ib_${op}_bw"
	testcase "perf-$op-bw-both-ways" 60 perf_case 16384 "$few" "ib_${op}_bw" -b
	testcase "perf-$op-bw-4qp" 60 perf_qps 4 16384 "$few" "ib_${op}_bw"
done
testcase perf-read-bw-events 60 perf_case 4096 "$few" ib_read_bw -e
# ib_send_bw over iWARP with events (-e). The sender posts at most COUNT - 1 messages. After half of
# the messages the receiver sends a Write, which says that the sender may post more. Before that the
# sender waits for a completion event. The event never comes if the sender has already polled all
# completions, or has posted no signaled request. So each request is signaled (-Q 1), and all
# messages together are larger than TCP's buffers.
testcase perf-send-bw-events 60 perf_case 1048576 20 ib_send_bw -e -Q 1
for op in read send; do
	testcase "perf-$op-lat-events" 60 perf_case 64 "$few" "ib_${op}_lat" -e
done
for op in write send; do
	testcase "perf-$op-bw-inline" 60 perf_case 64 "$few" "ib_${op}_bw" -I 64
	testcase "perf-$op-lat-inline" 60 perf_case 64 "$few" "ib_${op}_lat" -I 64
done
testcase perf-write-bw-list 60 perf_case 1024 512 ib_write_bw -l 16
# Operations of RFC 7306.
for op in FETCH_AND_ADD CMP_AND_SWAP; do
	name=${op//_/-}
	testcase "perf-atomic-bw-${name,,}" 30 perf_rfc7306 8 "$few" ib_atomic_bw -A $op
	testcase "perf-atomic-lat-${name,,}" 30 perf_rfc7306 8 "$few" ib_atomic_lat -A $op
done
testcase perf-write-imm-bw 60 perf_rfc7306 16384 "$few" ib_write_bw --write_with_imm
testcase perf-write-imm-lat 30 perf_rfc7306 64 "$few" ib_write_lat --write_with_imm
unset op few name
