# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# librdmacm's own example programs; listeners and links that come later.

ucmatose_case() {
	local addr=$1 conns
	conns=$(by_profile 20 5)
	own_links
	new_port
	pair "$PORT" ucmatose -b "$addr" -p "$PORT" -c "$conns" -C 20 -S 2000 -- \
		ucmatose -s "$addr" -p "$PORT" -c "$conns" -C 20 -S 2000
	expect_in client 'return status 0'
	expect_in server 'return status 0'
}

# cmtime's side channel listens on the same port, which over software RDMA is taken:
# kwoob.so moves it. Its last part connects without queue pairs, which iWARP does not
# have: that the device refuses this is part of the case.
cmtime_case() {
	local conns rc=0 preload
	conns=$(by_profile 1000 50)
	# libsiw takes the 144th page of queues of a process for an error.
	[ "$KWARP_LINK" != siw ] || conns=60
	preload=$(type -P kwdata) || fail "the test programs are not there"
	preload=LD_PRELOAD=${preload%/*}/kwoob.so
	own_links
	new_port
	serve server "$PORT" env "$preload" cmtime -b "${IP[1]}" -p "$PORT" -c "$conns"
	n0 env "$preload" cmtime -s "${IP[1]}" -p "$PORT" -c "$conns" >"$CASE_DIR/client.log" 2>&1 || rc=$?
	expect_in client "^qp_conn +$conns\$"
	grep -E '^(qp_conn|step|connect|disconnect|full)' "$CASE_DIR/client.log"
	[ "$rc" = 1 ] || fail "cmtime ended with status $rc"
	expect_in client '^rdma_connect: Invalid argument'
	stop server KILL
}

# Its server takes one connection and exchanges one message in each direction.
rdma_client_case() {
	own_links
	new_port
	pair "$PORT" rdma_server -s "$1" -p "$PORT" -- rdma_client -s "$1" -p "$PORT"
	expect_in client 'end 0'
	expect_in server 'end 0'
}

# --------------------------------------------------------- listeners and new links

works_to_server() {
	new_port
	pair "$PORT" rping -s -a "${IP[1]}" -p "$PORT" -C 10 -S 4096 -V -- \
		rping -c -a "${IP[1]}" -p "$PORT" -C 10 -S 4096 -V
}

# A wildcard listener gets a new link of its namespace, and no port in another one.
foreign_listener_case() {
	own_links
	del_link 1
	new_port
	SERVER_END=0 serve here "$PORT" kwconn -s -a 0.0.0.0 -p "$PORT"
	start there 1 kwconn -s -a 0.0.0.0 -p "$PORT"
	add_link 1 "$KWARP_LINK"
	wait_until 5 "the listener on the new link's side listens" listens "${PIDS[there]}" "$PORT"
	stop there
	! n1 grep -qE "$(printf ':%04X' "$PORT") [0-9A-F]+:0000 0A" /proc/net/tcp ||
		fail "a listener of another namespace has a port here"
	works_to_server
	stop here
}

# An ordinary socket has the port that a wildcard listener wants on a new link: the
# listener goes without, everybody else has the link.
taken_port_case() {
	skip_on siw "it does without the connection manager then"
	own_links
	del_link 1
	new_port
	start listener 1 kwconn -s -a 0.0.0.0 -p "$PORT"
	start owner 1 python3 -c "import socket, signal
s = socket.create_server(('0.0.0.0', $PORT))
signal.pause()"
	wait_until 10 "an ordinary socket has the port" listens "${PIDS[owner]}" "$PORT"
	add_link 1 "$KWARP_LINK"
	works_to_server
	stop owner KILL
	stop listener
}

testcase cm-ucmatose-ipv4 60 ucmatose_case "${IP[1]}"
testcase cm-ucmatose-ipv6 60 ucmatose_case "${IP6[1]}"
testcase cm-rdma-client-ipv4 30 rdma_client_case "${IP[1]}"
testcase cm-rdma-client-ipv6 30 rdma_client_case "${IP6[1]}"
testcase cm-cmtime 120 cmtime_case
testcase cm-foreign-listener 60 foreign_listener_case
testcase cm-port-taken 60 taken_port_case
