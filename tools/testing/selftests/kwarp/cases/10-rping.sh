# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases that run rping, an example program of librdmacm. The server reads data from the client's
# memory and writes them back to other memory of the client. The client compares them (-V). Sends
# carry addresses and STags.

rping_try() {
	new_port
	serve server "$PORT" rping -s -a "$1" -p "$PORT" -C "$2" -S 16384 -V -v
	try_client 5 siw_is_deaf rping -c -a "$1" -p "$PORT" -C "$2" -S 16384 -V -v
}

# rping_pair ADDRESS: run one server and one client on the existing links.
rping_pair() {
	local count
	count=$(by_profile 100 10)
	pair_retried rping_try "$1" "$count"
	[ "$(count_lines "$CASE_DIR/client.log" '^ping data: rdma-ping-')" = "$count" ] ||
		fail "the client did not see $count answers"
}

rping_case() {
	own_links
	rping_pair "$1"
}

# One server serves four clients at the same time, then one more, and still runs after that.
rping_persistent() {
	local i
	own_links
	new_port
	serve server "$PORT" rping -s -P -a "${IP[1]}" -p "$PORT" -S 4096 -V
	for i in 1 2 3 4; do
		start "client$i" 0 rping -c -a "${IP[1]}" -p "$PORT" -C 20 -S 4096 -V
	done
	for i in 1 2 3 4; do
		reap 30 "client$i"
	done
	client rping -c -a "${IP[1]}" -p "$PORT" -C 20 -S 4096 -V
	! gone "${PIDS[server]}" || fail "the server has ended"
	stop server KILL
}

# Many clients connect at the same time, more than the backlog of 3 that rping's server gives to
# rdma_listen(). Clients beyond the backlog wait until the server accepts them; all must succeed.
rping_crowd() {
	local i clients
	clients=$(by_profile 64 12)
	own_links
	new_port
	serve server "$PORT" rping -s -P -a "${IP[1]}" -p "$PORT" -S 64 -V
	for ((i = 0; i < clients; i++)); do
		start "client$i" 0 rping -c -a "${IP[1]}" -p "$PORT" -C 2 -S 64 -V
	done
	for ((i = 0; i < clients; i++)); do
		reap 60 "client$i"
	done
	stop server KILL
}

testcase rping-ipv4 60 rping_case "${IP[1]}"
testcase rping-ipv6 60 rping_case "${IP6[1]}"
testcase rping-persistent 60 rping_persistent
testcase rping-crowd 90 rping_crowd
