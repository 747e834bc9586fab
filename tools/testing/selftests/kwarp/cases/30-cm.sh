# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Tests of the connection manager: librdmacm's example programs; links that are added while programs
# listen; startup over a network that loses segments; data with a SYN; ends with different knobs
# (settings of a link), and the resulting startup frames. END is 0 or 1, the number of a namespace
# and of its link.

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

# cmtime opens an ordinary TCP socket on the same port number that it uses for RDMA. A software RNIC
# uses the TCP port itself, so the preloaded kwoob.so moves cmtime's TCP socket to another port. The
# last part of cmtime connects without queue pairs. iWARP cannot do that: the device must refuse it,
# and cmtime ends with status 1.
cmtime_case() {
	local conns rc=0 preload
	conns=$(by_profile 1000 50)
	# siw gives each mapped queue of a process the next offsets for mmap(). siw's provider takes
	# the offset 0x90000 (page 144) for "no queue", so with siw there are fewer connections.
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

# librdmacm's rdma_server takes one connection from rdma_client. Each end sends one message.
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

# In each namespace a program listens on the same port of the wildcard address. When a link is added
# in namespace 1, only the program of that namespace listens on it. The program of namespace 0 must
# not occupy the port in namespace 1, which the case checks after the other program has ended.
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

# A program listens on a wildcard address. An ordinary TCP socket occupies the same port before a
# link is added. So the program gets no connections through the new link, but adding the link
# succeeds, and programs on other ports can use it.
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

# ---------------------------------------------------------------- a bad network

# small_segments END: make TCP of that end send segments of 48 octets, one segment in each packet.
small_segments() {
	ip_at "$1" route add "${IP[1 - $1]}/32" dev "${DEV[$1]}" mtu lock 100
	ip_at "$1" link set "${DEV[$1]}" gso_max_segs 1
}

usual_segments() {
	ip_at "$1" route del "${IP[1 - $1]}/32" dev "${DEV[$1]}"
	ip_at "$1" link set "${DEV[$1]}" gso_max_segs 65535
}

longest_segment() {
	tcpdump -nr "$1" 2>/dev/null | awk '
		match($0, /length [0-9]+/) { n = substr($0, RSTART + 7, RLENGTH - 7) + 0 }
		n > most { most = n }
		END { print most + 0 }'
}

both_count() {
	echo $(($(tcp_count 0 "$1") + $(tcp_count 1 "$1")))
}

# connect_from END COUNT: make COUNT connections to the other end.
connect_from() {
	local far=$((1 - $1))
	new_port
	SERVER_END=$far serve "server$far" "$PORT" kwconn -s -a "${IP[far]}" -p "$PORT" -D 200
	start "client$1" "$1" kwconn -c -a "${IP[far]}" -p "$PORT" -n "$2" -P 10 -T 60 -D 200
	reap 90 "client$1"
	expect_in "client$1" " $2 echoed, 0 refused"
	stop "server$far"
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
}

# Requirements 5044-7.1.5-3 and -4 (RFC 5044 section 7.1.5): startup frames with much private data,
# and the FPDUs that immediately follow them, arrive in pieces. The network loses, delays,
# duplicates and reorders segments. All connections must succeed.
lossy_case() {
	local file=$CASE_DIR/wire.pcap count again late longest
	count=$(by_profile 40 10)
	own_links
	both_ends small_segments
	netem delay 5ms 3ms loss 5% duplicate 10% reorder 25% 50%
	again=$(both_count TcpRetransSegs) late=$(both_count TcpExtTCPOFOQueue)
	begin_capture "$file"
	connect_from 0 "$count"
	connect_from 1 "$count"
	end_capture
	again=$(($(both_count TcpRetransSegs) - again)) late=$(($(both_count TcpExtTCPOFOQueue) - late))
	no_netem
	both_ends usual_segments
	longest=$(longest_segment "$file")
	note "$again segments were sent again, $late came out of order, the longest had $longest octets"
	[ "$again" -gt 0 ] && [ "$late" -gt 0 ] || fail "the network was too good"
	[ "$longest" -gt 0 ] && [ "$longest" -le 48 ] || fail "the segments had other sizes"
	rm -f "$file"
}

# ---------------------------------------------------------------- data with a SYN

# Switch TCP Fast Open on: clients send data with a SYN even without a cookie, and listeners
# accept such data without a cookie.
fast_open() {
	n0 sysctl -qw net.ipv4.tcp_fastopen=$((0x1 | 0x4))
	n1 sysctl -qw net.ipv4.tcp_fastopen=$((0x2 | 0x200 | 0x400))
}

usual_open() {
	both_ends default_open
}

default_open() {
	in_ns "$1" sysctl -qw net.ipv4.tcp_fastopen=1
}

# A client sends the MPA Request with the SYN. An ordinary listener takes data with a SYN, which
# shows that TCP Fast Open works here. The listener of a link must not take such data; it gets the
# Request after TCP has connected.
fast_open_case() {
	local before
	own_links
	fast_open
	new_port
	start plain 1 python3 "$HERE/mpa.py" answer "${IP[1]}" "$PORT" /dev/null
	wait_until 10 "the peer listens" listens "${PIDS[plain]}" "$PORT"
	client python3 "$HERE/mpa.py" fast "${IP[1]}" "$PORT"
	reap 10 plain
	before=$(tcp_count 1 TcpExtTCPFastOpenPassive)
	[ "$before" -gt 0 ] || fail "the kernel has no TCP Fast Open"
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client python3 "$HERE/mpa.py" fast "${IP[1]}" "$PORT"
	expect_in client '^accepted$'
	stop server
	usual_open
	[ "$(tcp_count 1 TcpExtTCPFastOpenPassive)" = "$before" ] || fail "the link has taken data with a SYN"
}

# ------------------------------------------------------------- listening sockets

# With net.ipv6.bindv6only a listener on :: is for IPv6 only, unless its program asks for IPv4, too.
v6only_case() {
	local only
	own_links
	for only in 0 1; do
		n1 sysctl -qw "net.ipv6.bindv6only=$only"
		new_port
		serve "both$only" "$PORT" kwconn -s -a :: -p "$PORT" -4
		n0 kwconn -c -a "${IP[1]}" -p "$PORT" -n 2
		n0 kwconn -c -a "${IP6[1]}" -p "$PORT" -n 2
		stop "both$only"
	done
	new_port
	serve six "$PORT" kwconn -s -a :: -p "$PORT"
	n1 sysctl -qw net.ipv6.bindv6only=0
	n0 kwconn -c -a "${IP6[1]}" -p "$PORT" -n 2
	n0 kwconn -c -a "${IP[1]}" -p "$PORT" -n 1 -x -T 4
	stop six
}

# "ss -K" ends the socket of a listener. The program cannot be told, but the log has a line, and the
# port is free for another program.
ss_kill_case() {
	skip_on siw "it does not notice"
	own_links
	new_port
	serve dead "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	n1 ss -HtlK "sport = :$PORT" >/dev/null
	! listens "${PIDS[dead]}" "$PORT" || skip "this kernel does not end sockets"
	wait_until 5 "the log has a line" logged "${LINK[1]}: the socket that listens on .*:$PORT was closed"
	n0 kwconn -c -a "${IP[1]}" -p "$PORT" -n 1 -x -T 4
	stop dead
	serve next "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	n0 kwconn -c -a "${IP[1]}" -p "$PORT" -n 2
	stop next
}

logged() {
	dmesg | grep "$1" >/dev/null
}

# ------------------------------------------------------------- ends that differ

# wire_of NAME: make and capture a connection. Afterwards NAME.log has the flags of the startup
# frames, and the numbers of FPDUs with a right, zero or wrong CRC field.
wire_of() {
	local file=$CASE_DIR/$1.pcap
	new_port
	begin_capture "$file"
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n 1
	stop server
	end_capture
	"$HERE/fpdus.py" startup "$file" "$PORT" >"$CASE_DIR/$1.log" || fail "see above"
	cat "$CASE_DIR/$1.log"
	rm -f "$file"
}

# A Request without the C flag to a link that requires CRCs is refused, and the program that listens
# there does not see it.
crc_refuses_request() {
	knob_at 0 crc off
	knob_at 1 crc required
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client kwconn -c -x -a "${IP[1]}" -p "$PORT" -n 2
	expect_in client ' 2 refused'
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	expect_in server ' 0 started'
}

# A Reply without the C flag to a link that requires CRCs ends the connection, before any FPDU is
# sent.
crc_refuses_reply() {
	knob_at 0 crc required
	new_port
	start answer 1 python3 "$HERE/mpa.py" answer "${IP[1]}" "$PORT" /dev/null no-crc
	wait_until 10 "the peer listens" listens "${PIDS[answer]}" "$PORT"
	client kwconn -c -x -a "${IP[1]}" -p "$PORT" -n 1
	expect_in client ' 1 refused'
	reap 10 answer
	expect_in answer '^$'
}

# If one end asks for CRCs and the other has crc off, both use CRCs. If no end asks, there are
# none.
crc_required_case() {
	skip_on siw "it has no knobs"
	own_links
	crc_refuses_request
	crc_refuses_reply
	knob_at 1 crc off
	wire_of asked
	expect_in asked '^request rev=2 flags=CS$'
	expect_in asked '^reply rev=2 flags=CS$'
	expect_in asked '^fpdus right=[1-9][0-9]* zero=0 wrong=0$'
	knob_at 0 crc off
	wire_of unasked
	expect_in unasked '^request rev=2 flags=S$'
	expect_in unasked '^fpdus right=0 zero=[1-9][0-9]* wrong=0$'
}

# The knob mpa_rev of the initiator's link decides the MPA revision of a connection; the knob of the
# responder's link has no effect.
mpa_rev_case() {
	skip_on siw "it has no knobs"
	own_links
	knob_at 0 mpa_rev 1
	wire_of initiator
	expect_in initiator '^request rev=1 flags=C$'
	expect_in initiator '^reply rev=1 flags=C$'
	expect_in initiator '^fpdus right=[1-9][0-9]* zero=0 wrong=0$'
	knob_at 0 mpa_rev 2
	knob_at 1 mpa_rev 1
	wire_of responder
	expect_in responder '^request rev=2 flags=CS$'
	expect_in responder '^reply rev=2 flags=CS$'
	expect_in responder '^fpdus right=[1-9][0-9]* zero=0 wrong=0$'
}

testcase cm-ucmatose-ipv4 60 ucmatose_case "${IP[1]}"
testcase cm-ucmatose-ipv6 60 ucmatose_case "${IP6[1]}"
testcase cm-rdma-client-ipv4 30 rdma_client_case "${IP[1]}"
testcase cm-rdma-client-ipv6 30 rdma_client_case "${IP6[1]}"
testcase cm-cmtime 120 cmtime_case
testcase cm-foreign-listener 60 foreign_listener_case
testcase cm-port-taken 60 taken_port_case
testcase cm-lossy 120 lossy_case
testcase cm-fast-open 30 fast_open_case
testcase cm-v6only 60 v6only_case
testcase cm-ss-kill 60 ss_kill_case
testcase cm-crc-required 60 crc_required_case
testcase cm-mpa-rev 60 mpa_rev_case
