# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Strict mode: what hardware would refuse is refused, and told in a line (kwwrong); correct programs
# run as without it, and nothing is told (KWARP_STRICT=1 in the environment of other cases).

strict_links() {
	skip_on siw "it has another provider"
	skip_on kwarp-siw "libsiw has no strict mode"
	own_links
}

# strict_wrong MISTAKE RULE WORDS [RESULT]: the client, in strict mode, is told of this rule, with
# WORDS, and prints RESULT. Without strict mode it is told nothing.
strict_wrong() {
	new_port
	serve server "$PORT" kwwrong -s -a "${IP[1]}" -p "$PORT"
	client env "KWARP_STRICT=${STRICT:-1}" kwwrong -c -a "${IP[1]}" -p "$PORT" -m "$1"
	expect_in client "^kwarp: ${LINK[0]}: strict $2: .*$3"
	expect_in client "^kwarp: strict: rules were broken (once|[0-9]+ times): $2 [0-9]+$"
	[ -z "${4:-}" ] || expect_in client "$4"
	! gone "${PIDS[server]}" && stop server KILL || reap 30 server
}

# The two classic mistakes of first programs, which software RDMA lets pass.
strict_queue_case() {
	strict_links
	new_port
	serve server "$PORT" kwwrong -s -a "${IP[1]}" -p "$PORT"
	client kwwrong -c -a "${IP[1]}" -p "$PORT" -m unsignaled
	expect_in client 'all 1000 posts were accepted'
	! has_line "$CASE_DIR/client.log" strict || fail "strict mode is on unasked"
	reap 30 server
	strict_wrong unsignaled sq-credit 'ibv_post_send: queue pair [0-9]+: 8 requests are outstanding, max_send_wr is 8, and none of them is signaled' \
		'post 9 was refused: Cannot allocate memory'
	strict_wrong unpolled sq-credit 'exit: queue pair [0-9]+: 1 posts were refused with ENOMEM.* the CQ was not polled' \
		'post 9 was refused: Cannot allocate memory'
	STRICT=all,seed=7 strict_wrong room cq-room '5 completions may come at a CQ for which ibv_create_cq was asked for 4 entries'
}

strict_memory_case() {
	strict_links
	strict_wrong changed memory-changed 'ibv_poll_cq: queue pair [0-9]+: the data of RDMA_WRITE wr_id 0 were changed' 'wr_id 0: success'
	strict_wrong gone memory-changed 'ibv_dereg_mr: queue pair [0-9]+: RDMA_WRITE wr_id 0 names the region'
	strict_wrong read-sink read-sink "the Read's sink" 'the Read was Invalid argument'
	new_port
	serve server "$PORT" kwwrong -s -a "${IP[1]}" -p "$PORT"
	client env KWARP_STRICT=poison kwwrong -c -a "${IP[1]}" -p "$PORT" -m peek
	expect_in client "the receive buffer has 'kwpoisonkwpois'"
	! has_line "$CASE_DIR/client.log" 'strict' || fail "a rule is broken"
	reap 30 server
}

# strict_refused MISTAKE RULE WORDS: a mistake that needs no peer.
strict_refused() {
	client env KWARP_STRICT=1 kwwrong -c -a "${IP[1]}" -p "$PORT" -m "$1"
	expect_in client "^kwarp: ${LINK[0]}: strict $2: $3"
	expect_in client 'refused: '
}

strict_call_case() {
	strict_links
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	strict_refused early early-post 'ibv_post_send: queue pair [0-9]+ is in state INIT'
	expect_in client 'strict: rules were broken once: early-post 1$'
	# The queue pair is not connected: that does not hide the other rule.
	strict_refused inline-asked caps-asked 'ibv_post_send: queue pair [0-9]+: 65 octets inline, and max_inline_data was asked to be 64'
	expect_in client "^kwarp: ${LINK[0]}: strict early-post"
	strict_refused init-bare access-unset 'ibv_modify_qp: queue pair [0-9]+: to INIT without IBV_QP_ACCESS_FLAGS'
	client env KWARP_STRICT=erly-post,early-post kwwrong -c -a "${IP[1]}" -p "$PORT" -m early
	expect_in client "^kwarp: KWARP_STRICT: 'erly-post' is unknown; possible are: 1, all, off.* sq-credit, early-post,"
	# The process ends by SIGABRT.
	check_fails 134 "abort" n0 env KWARP_STRICT_ABORT=1 KWARP_STRICT=1 kwwrong -c -a "${IP[1]}" -p "$PORT" -m early 2>"$CASE_DIR/abort.log"
	expect_in abort 'strict early-post'
	stop server
}

# A message without a receive ends the connection, and is told at the end that gets a completion; or
# it waits (knob receive_wait), and the end that was late is told.
strict_receive_case() {
	strict_links
	serve server 7471 "$EXAMPLES/broken-receive" -s "${IP[1]}"
	check_fails 1 "no receive" n0 env KWARP_STRICT=1 "$EXAMPLES/broken-receive" "${IP[1]}" >"$CASE_DIR/client.log" 2>&1
	expect_in client "strict recv-posted: ibv_poll_cq: queue pair [0-9]+: a message found no receive at "
	stop server KILL
	# The end that posts a receive too late is told so, though it posts one.
	new_port
	serve server "$PORT" env KWARP_STRICT=1 kwwrong -s -a "${IP[1]}" -p "$PORT" -m late-receive
	client kwwrong -c -a "${IP[1]}" -p "$PORT" -m late-receive
	reap 30 server
	expect_in server "strict recv-posted: ibv_poll_cq: queue pair [0-9]+: a message found no receive at this end"
	knob receive_wait 20000
	new_port
	serve server "$PORT" env KWARP_STRICT=1 kwwrong -s -a "${IP[1]}" -p "$PORT" -m late-receive
	client kwwrong -c -a "${IP[1]}" -p "$PORT" -m late-receive
	reap 30 server
	expect_in server "strict recv-posted: ibv_post_recv: queue pair [0-9]+: a message was there before this receive"
	knob receive_wait 0
}

# The knob switches strict mode on for all programs of a link; the environment switches it off.
strict_knob_case() {
	strict_links
	knob strict on
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client kwwrong -c -a "${IP[1]}" -p "$PORT" -m early
	expect_in client 'strict early-post'
	check_fails 1 "KWARP_STRICT=0" n0 env KWARP_STRICT=0 kwwrong -c -a "${IP[1]}" -p "$PORT" -m early >"$CASE_DIR/off.log" 2>&1
	! has_line "$CASE_DIR/off.log" 'strict' || fail "KWARP_STRICT=0 does not switch it off"
	stop server
	knob strict off
}

# kwdata tests devices: its memory for Reads lacks remote write (data-strict), and at the end it looks
# at receives that are still posted.
strict_data() {
	STRICT_BUT=,-read-sink,-poison strict_clean data_case "$@"
}

STRICT_BUT=

# strict_clean FUNCTION ARGS...: run another case in strict mode. No rule may be broken.
strict_clean() {
	local log
	skip_on siw "it has another provider"
	skip_on kwarp-siw "libsiw has no strict mode"
	export KWARP_STRICT="all,seed=$((1 + RANDOM))$STRICT_BUT"
	note "KWARP_STRICT=$KWARP_STRICT"
	"$@"
	for log in "$CASE_DIR"/*.log; do
		! grep -o 'kwarp: .*strict.*' "$log" || fail "a rule is broken, or alarm is false: $log"
	done
}

strict_perf_tools() {
	local few
	few=$(by_profile 2000 50)
	own_links
	perf_pair "$1" -n "$few" -s "$2" "${@:3}"
	perf_rows "$few" "$2"
}

testcase strict-queue 90 strict_queue_case
testcase strict-memory 90 strict_memory_case
testcase strict-call 90 strict_call_case
testcase strict-receive 40 strict_receive_case
testcase strict-knob 40 strict_knob_case
testcase strict-clean-rping 60 strict_clean rping_case "${IP[1]}"
testcase strict-clean-rping-many 90 strict_clean rping_persistent
testcase strict-clean-data 180 strict_data 1500 "$(by_profile 300 30)" -- -m 65536 -S 21
testcase strict-clean-data-events 180 strict_data 1500 "$(by_profile 300 30)" -- -m 65536 -S 22 -e
testcase strict-clean-data-4qp 180 strict_data 1500 "$(by_profile 300 30)" -- -m 20000 -S 23 -q 4
testcase strict-clean-rstream 90 strict_clean rstream_case -S 65536 -I 1 -C "$(by_profile 100 10)"
testcase strict-clean-pingpong 180 strict_clean wire_pingpong_case
testcase strict-clean-first 60 strict_clean example_first
testcase strict-clean-python 90 strict_clean example_python
testcase strict-clean-wired 60 strict_clean example_wired
for op in write send read; do
	testcase "strict-clean-$op-bw" 120 strict_clean strict_perf_tools "ib_${op}_bw" 4096
	testcase "strict-clean-$op-lat" 120 strict_clean strict_perf_tools "ib_${op}_lat" 64
done
testcase strict-clean-send-bw-events 120 strict_clean strict_perf_tools ib_send_bw 65536 -e -Q 1
testcase strict-clean-send-bw-both 120 strict_clean strict_perf_tools ib_send_bw 4096 -b
testcase strict-clean-write-bw-inline 120 strict_clean strict_perf_tools ib_write_bw 64 -I 64
testcase strict-clean-write-bw-both 120 strict_clean strict_perf_tools ib_write_bw 4096 -b
testcase strict-clean-read-bw-4qp 120 strict_clean perf_qps 4 16384 "$(by_profile 200 20)" ib_read_bw
