# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# RFC 7306 between two programs (kwatomic): atomic operations on words that several queue pairs and
# the processor change at the same time; Writes with immediate data, whose completion at the peer
# must come after the data of the Write are in place.

# atomic_case QPS ROUNDS [SHAPE...]: run kwatomic with this number of queue pairs and rounds, with
# packets lost and delayed as netem's words SHAPE say.
atomic_case() {
	local qps=$1 rounds=$2
	shift 2
	skip_on siw "it has neither immediate data nor atomic operations"
	skip_on kwarp-siw "libsiw has neither"
	own_links
	[ $# -eq 0 ] || netem "$@"
	new_port
	serve server "$PORT" kwatomic -s -a "${IP[1]}" -p "$PORT" -q "$qps" -n "$rounds"
	client kwatomic -c -a "${IP[1]}" -p "$PORT" -q "$qps" -n "$rounds"
	reap 30 server
	grep -h ' ok: ' "$CASE_DIR/client.log" "$CASE_DIR/server.log"
}

# With the knob rfc7306 (a setting of a link) off, the device reports that it has no atomic
# operations, and posting one fails with EINVAL.
atomic_off_case() {
	skip_on siw "it has no such knob"
	skip_on kwarp-siw "libsiw has no atomic operations"
	own_links
	knob rfc7306 off
	[ "$(ip netns exec "${NS[1]}" ibv_devinfo -v -d "${LINK[1]}" | awk '/atomic_cap:/ { print $2 }')" = ATOMIC_NONE ] ||
		fail "the device says that it has atomic operations"
	new_port
	serve server "$PORT" kwatomic -s -a "${IP[1]}" -p "$PORT" -q 1 -n 10
	start client 0 kwatomic -c -a "${IP[1]}" -p "$PORT" -q 1 -n 10
	ended 30 client
	[ "$STATUS" = 1 ] || fail "the client ended with status $STATUS"
	expect_in client "Invalid argument"
	stop server
	knob rfc7306 on
}

testcase atomic 90 atomic_case 4 "$(by_profile 500 40)"
testcase atomic-one 60 atomic_case 1 "$(by_profile 1000 40)"
testcase atomic-loss 90 atomic_case 4 "$(by_profile 200 20)" delay 1ms loss 0.5% reorder 25% 50%
testcase atomic-off 60 atomic_off_case
