# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# The doorbell file, used by kwbell without the libibverbs provider: which process may ring the
# doorbell of which queue pair, and what happens when the device is removed. And what a doorbell
# costs the kernel if the program changes its producer index all the time (kwflip).

# Run kwbell, which has a table of calls with the result that each must have.
doorbell_calls_case() {
	skip_on siw "it has none"
	skip_on kwarp-siw "libsiw rings with a command of the core's"
	own_links
	client kwbell -d "${LINK[0]}"
	cat "$CASE_DIR/client.log"
	expect_in client '^kwbell: [1-9][0-9]* ok, 0 failed$'
}

bell_says() {
	grep -q "$1" "$CASE_DIR/bell.log"
}

# The link is deleted while processes ring the doorbell. Each call after that must fail. A process
# that keeps the doorbell file open keeps the module loaded, but not the device.
doorbell_gone_case() {
	skip_on siw "it has none"
	skip_on kwarp-siw "libsiw rings with a command of the core's"
	own_links
	start bell 0 kwbell -d "${LINK[0]}" -g -t 4
	wait_until 10 "it rings" bell_says ringing
	rm -f "$RUN/link.0"
	check "deleting the link" timeout 40 rdma link delete "${LINK[0]}"
	wait_until 10 "it is told" bell_says 'the device is gone'
	own_links
	still_works
	both_ends del_link
	rmmod_refused
	stop bell
	[ "$STATUS" = 0 ] || fail "kwbell ended with status $STATUS"
	expect_in bell '^kwbell: [1-9][0-9]* ok, 0 failed$'
	wait_until 20 "the module is unloaded" module_gone
	own_links
	still_works
}

DOORBELL_TRACING=/sys/kernel/tracing
DOORBELL_EVENT=$DOORBELL_TRACING/events/workqueue/workqueue_execute_start

doorbell_flip() {
	local runs
	new_port
	start answer 1 python3 "$HERE/mpa.py" answer "${IP[1]}" "$PORT" /dev/null
	wait_until 10 "the peer listens" listens "${PIDS[answer]}" "$PORT"
	echo >"$DOORBELL_TRACING/trace"
	echo 1 >"$DOORBELL_EVENT/enable"
	client kwflip -a "${IP[1]}" -p "$PORT" -n 26
	echo 0 >"$DOORBELL_EVENT/enable"
	runs=$(grep -c 'function tx_work' "$DOORBELL_TRACING/trace") || :
	echo "# the transmit work item ran $runs times"
	expect_in client '26 doorbells'
	reap 30 answer
	[ "$runs" -le 26 ] || fail "26 doorbells made the work item run $runs times, with nothing to send"
}

# The first request waits for a response that never comes, and a thread of the program changes the
# producer index: the kernel must not look at the index again and again. The program's own doorbells
# and the end of the connection may make the transmit work item run now and then.
doorbell_flip_case() {
	local rc=0
	skip_on siw "it has no ring whose index could be changed"
	skip_on kwarp-siw "libsiw has no producer index"
	own_links
	[ -e "$DOORBELL_TRACING/events" ] || mount -t tracefs tracefs "$DOORBELL_TRACING" 2>/dev/null ||
		skip "this kernel has no tracefs"
	[ -d "$DOORBELL_EVENT" ] || skip "this kernel does not trace workqueues"
	(doorbell_flip) || rc=$?
	echo 0 >"$DOORBELL_EVENT/enable"
	echo >"$DOORBELL_TRACING/trace"
	[ "$rc" = 0 ] || exit "$rc"
}

testcase doorbell-calls 60 doorbell_calls_case
testcase doorbell-gone 120 doorbell_gone_case
testcase doorbell-flip 60 doorbell_flip_case
