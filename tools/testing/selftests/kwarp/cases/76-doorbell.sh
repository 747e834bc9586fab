# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# The doorbell file, used by kwbell without the libibverbs provider: which process may ring the
# doorbell of which queue pair, and what happens when the device is removed.

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

testcase doorbell-calls 60 doorbell_calls_case
testcase doorbell-gone 120 doorbell_gone_case
