# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Programs of other projects, written for any RDMA device. A program that works on other iWARP
# devices must work here. A program that needs a function that iWARP lacks must fail with its own
# error message, and must not hang.

# qperf_case TEST...: run these tests of qperf. qperf requests all access rights for its memory,
# REMOTE_ATOMIC included, and its tests of Writes end with immediate data. The test rc_bw is not
# used: it sends before the other end has posted receives, which works only with InfiniBand's
# retries. Each test gets a new server, because at the end of a test the server's child frees a
# protection domain that it does not have, and crashes; after that the next client is sometimes
# refused.
qperf_case() {
	local test
	own_links
	for test in "$@"; do
		new_port
		serve "server-$test" "$PORT" qperf -lp "$PORT"
		client stdbuf -oL qperf -lp "$PORT" "${IP[1]}" -cm1 -t 1 -m 4096 "$test"
		expect_in client "^$test:"
		grep -qE '^ +(bw|latency) +=' "$CASE_DIR/client.log" || fail "$test has no figure"
		stop "server-$test" KILL
	done
}

# libfabric_case ENDPOINT PROVIDER: run fi_pingpong with this type of endpoint and this provider of
# libfabric. It sends data to its peer, gets them back, and compares.
libfabric_case() {
	local count
	count=$(by_profile 100 10)
	own_links
	new_port
	serve server "$PORT" fi_pingpong -p "$2" -e "$1" -d "${LINK[1]}" -B "$PORT" -I "$count" -S 4096 -c
	client stdbuf -oL fi_pingpong -p "$2" -e "$1" -d "${LINK[0]}" -P "$PORT" -I "$count" -S 4096 -c "${IP[1]}"
	expect_in client "^4k +$count "
	reap 15 server
}

# ibv_rc_pingpong exchanges queue pair numbers by itself and modifies the queue pair to RTS. With
# iWARP only rdma_cm can connect a queue pair, so ibv_modify_qp() must fail at once.
rc_pingpong_case() {
	own_links
	new_port
	serve server "$PORT" timeout 20 ibv_rc_pingpong -d "${LINK[1]}" -g 0 -p "$PORT"
	refused_to_connect ibv_rc_pingpong -d "${LINK[0]}" -g 0 -p "$PORT" "${IP[1]}"
}

perftest_without_cm_case() {
	own_links
	new_port
	serve server "$PORT" timeout 20 ib_write_bw -F -p "$PORT" -d "${LINK[1]}"
	refused_to_connect ib_write_bw -F -p "$PORT" -d "${LINK[0]}" "${IP[1]}"
}

# refused_to_connect CLIENT...: client and server both fail before their time limits, and say why.
refused_to_connect() {
	start client 0 timeout 20 "$@"
	ended 20 client
	[ "$STATUS" != 124 ] || fail "the client hangs"
	[ "$STATUS" != 0 ] || fail "the client is content"
	ended 20 server
	[ "$STATUS" != 124 ] || fail "the server hangs"
	[ "$STATUS" != 0 ] || fail "the server is content"
	# One of the two prints the error. The other may only have found that its peer is gone.
	grep -q 'Failed to modify QP' "$CASE_DIR/client.log" "$CASE_DIR/server.log" ||
		fail "neither says why"
}

# siw does not support immediate data. Its provider, libsiw, does not either; programs use it on
# links of type kwarp-siw.
qperf_tests=(rc_lat rc_rdma_read_bw)
[ "$KWARP_LINK" != kwarp ] || qperf_tests+=(rc_rdma_write_lat)
testcase consumer-qperf 90 qperf_case "${qperf_tests[@]}"
unset qperf_tests
testcase consumer-libfabric-msg 60 libfabric_case msg verbs
testcase consumer-libfabric-rdm 60 libfabric_case rdm 'verbs;ofi_rxm'
testcase consumer-rc-pingpong 60 rc_pingpong_case
testcase consumer-perftest-without-cm 60 perftest_without_cm_case
