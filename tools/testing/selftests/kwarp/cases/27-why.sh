# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Mistakes of beginners (kwwrong), and what the author of the program is told: the line in the
# kernel log at both ends, "kwarpctl why", and the message of the provider.

# why_links: make two new links ready, because a link logs at most ten lines in five seconds. The case
# is not for siw, which tells nothing.
why_links() {
	local end
	skip_on siw "it tells nothing"
	for end in 0 1; do
		! link_exists "$end" || del_link "$end"
	done
	own_links
	SAID0=() SAID1=()
}

# log_line END WORDS: true if the kernel log has a line about a stream of that link at this port.
log_line() {
	dmesg | grep -E "${LINK[$1]}: connection .*$PORT.*: .*$2" >/dev/null
}

# mistake NAME SERVER CLIENT: make the mistake. What matches SERVER must be in the log of the server's
# end, what matches CLIENT in that of the client's; and later in what "kwarpctl why" says there.
mistake() {
	local name=$1
	new_port
	serve server "$PORT" kwwrong -s -a "${IP[1]}" -p "$PORT" -m "$name"
	SERVED=${PIDS[server]}
	client kwwrong -c -a "${IP[1]}" -p "$PORT" -m "$name"
	reap 30 server
	wait_until 10 "$name: the log of the server says '$2'" log_line 1 "$2"
	wait_until 10 "$name: the log of the client says '$3'" log_line 0 "$3"
	SAID1+=("$PORT .*$2") SAID0+=(":$PORT, .*$3")
}

# why_says: "kwarpctl why" says at each end what the log has said, for each mistake. It is called
# once for each end, because it takes long on an emulated processor.
why_says() {
	local end words said=()
	for end in 0 1; do
		in_ns "$end" kwarpctl why --link "${LINK[end]}" >"$CASE_DIR/why$end.log" 2>&1 ||
			fail "kwarpctl why failed"
		[ "$end" = 0 ] && said=("${SAID0[@]}") || said=("${SAID1[@]}")
		for words in "${said[@]}"; do
			# The text is wrapped.
			tr -s ' \n' ' ' <"$CASE_DIR/why$end.log" | grep -Eq -- "$words" ||
				fail "'kwarpctl why' of end $end does not say '$words'"
		done
	done
	expect_in why1 "of kwwrong .pid $SERVED."
}

# Writes, which complete at the client before the server has looked at them.
why_write_case() {
	local key='key 0x[0-9a-f]{8}, address 0x[0-9a-f]+, 64 octets'
	why_links
	mistake write-key "DDP_T_STAG: the peer's Write, $key: no region or window has this key" \
		"peer says DDP_T_STAG .0x1100. about our Write, $key"
	mistake write-bounds "DDP_T_BOUNDS: the peer's Write, $key: the region or window is 4096 octets at 0x" \
		"peer says DDP_T_BOUNDS .0x1101. about our Write, $key"
	mistake write-right "DDP_T_STAG: .*does not give remote-write, only local-read" \
		"peer says DDP_T_STAG"
	mistake write-gone "DDP_T_STAG: .*no region or window has this key: it is wrong, or was deregistered" \
		"peer says DDP_T_STAG"
	[ "$KWARP_LINK" != kwarp ] || expect_in server 'vendor_err 0x1100'
	why_says
}

why_read_case() {
	local key='key 0x[0-9a-f]{8}, address 0x[0-9a-f]+, 64 octets'
	why_links
	mistake read-key "R_STAG: the peer's Read, $key: no region" "peer says R_STAG .0x0100. about our Read, $key"
	mistake read-bounds "R_BOUNDS: the peer's Read, $key: the region or window is 4096 octets" \
		"peer says R_BOUNDS"
	mistake read-right "R_ACCESS: .*does not give remote-read, only local-read" "peer says R_ACCESS"
	# libsiw has no atomic operations.
	if [ "$KWARP_LINK" = kwarp ]; then
		mistake atomic-right "R_ACCESS: the peer's atomic operation, .*does not give remote-atomic" \
			"peer says R_ACCESS"
		mistake atomic-align "O_STREAM: .*the address is no multiple of 8" "peer says O_STREAM"
	fi
	why_says
}

why_message_case() {
	why_links
	mistake no-receive "DDP_U_NOBUF: the peer's message: no receive is posted" \
		"peer says DDP_U_NOBUF .0x1202. about our message number 1"
	mistake long "DDP_U_LONG: .*it has 512 octets or more, and the receive has room for 256" \
		"peer says DDP_U_LONG"
	mistake recv-right "LOCAL: a posted receive, key 0x.*does not give local-write, only local-read" \
		"peer says LOCAL .0x0000."
	why_says
}

# Mistakes about memory and limits of this end: vendor_err says which.
why_own_case() {
	why_links
	mistake lkey "peer says LOCAL" "LOCAL: a posted request, key 0x.*no region or window has this key"
	mistake beyond "peer says LOCAL" "LOCAL: a posted request, .*is 4096 octets at 0x"
	mistake domain "peer says LOCAL" "LOCAL: a posted request, .*another protection domain"
	mistake sink-right "peer says LOCAL" "LOCAL: the buffer of a posted Read .*does not give local-write"
	mistake ord "peer says LOCAL" "LOCAL: a posted request: the connection allows none .ORD 0."
	if [ "$KWARP_LINK" = kwarp ]; then
		expect_in client 'vendor_err 0x10007'
		expect_in server 'vendor_err 0x10020'
		mistake cq-full "peer says LOCAL" "LOCAL: a posted request: the completion queue was full"
	fi
	why_says
}

# refused NAME WORDS: the provider says why it refuses the mistake, on stderr, or in the log of
# libibverbs.
refused() {
	client env KWARP_DEBUG=1 kwwrong -c -a "${IP[1]}" -m "$1"
	expect_in client "refused: "
	! has_line "$CASE_DIR/client.log" 'refused: Success' || fail "errno is 0"
	expect_in client "^kwarp: ${LINK[0]}: $2"
}

why_refused_case() {
	why_links
	skip_on kwarp-siw "libsiw says nothing"
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	refused sge 'ibv_post_send: SEND: num_sge 3 > max_send_sge 2'
	refused read-sge 'ibv_post_send: RDMA_READ: num_sge 2 > 1: with iWARP a Read has one element'
	refused inline 'ibv_post_send: SEND: 2048 octets inline > max_inline_data [0-9]+'
	refused send-imm 'ibv_post_send: SEND_WITH_IMM: iWARP has none'
	refused atomic-len 'ibv_post_send: ATOMIC_FETCH_AND_ADD: 64 octets: an atomic operation has 8'
	refused full 'ibv_post_send: the queue is full: max_send_wr is 8'
	refused recv-sge 'ibv_post_recv: num_sge 2 > max_recv_sge 1'
	refused qp-type 'ibv_create_qp: qp_type 4: iWARP has reliable connections'
	refused qp-deep 'ibv_create_qp: max_send_wr 1048576 > max_qp_wr 32768'
	refused qp-wide 'ibv_create_qp: max_send_sge 1000 > max_sge 29'
	refused mr-right 'ibv_reg_mr: access 0x2: remote write and remote atomic need IBV_ACCESS_LOCAL_WRITE'
	refused mr-odp 'ibv_reg_mr: access 0x40: there is no on-demand paging'
	refused mr-empty 'ibv_reg_mr: length is 0'
	refused rts 'ibv_modify_qp: to RTS: the queue pair has no connection'
	refused cq-deep 'ibv_create_cq: cqe 1073741824 > max_cqe'
	refused srq-deep 'ibv_create_srq: max_wr 1073741824 > max_srq_wr'
	client env VERBS_LOG_LEVEL=1 "VERBS_LOG_FILE=$CASE_DIR/verbs.log" kwwrong -c -a "${IP[1]}" -m sge
	expect_in verbs 'ibv_post_send: SEND: num_sge 3 > max_send_sge 2'
	client kwwrong -c -a "${IP[1]}" -m sge
	! has_line "$CASE_DIR/client.log" 'num_sge' || fail "the provider says something unasked"
	stop server
}

# A user is told of his own programs only, and root of all. A knob switches the line off. "doctor"
# says when the last connection ended by an error.
why_whose_case() {
	why_links
	mistake no-receive "DDP_U_NOBUF" "peer says DDP_U_NOBUF"
	in_ns 1 kwarpctl why "$SERVED" --json >"$CASE_DIR/root.log" || fail "kwarpctl why failed"
	python3 -c 'import json, sys; found = json.load(sys.stdin); assert len(found) == 1 and found[0]["program"] == "kwwrong" and found[0]["why"] == "NO_RECEIVE" and found[0]["uid"] == 0, found' \
		<"$CASE_DIR/root.log" || fail "the record is wrong"
	in_ns 1 setpriv --reuid 12345 --regid 12345 --clear-groups --bounding-set=-all --inh-caps=-all kwarpctl why \
		>"$CASE_DIR/user.log" 2>&1 || fail "kwarpctl why fails for a user"
	expect_in user 'no connection has ended by an error, or failed to start .only root is told'
	# Nor by a socket of his that somebody else sends the request with, as a setuid program might.
	in_ns 1 python3 "$HERE/whylent.py" >"$CASE_DIR/lent.log" 2>&1 || fail "whylent.py failed"
	expect_in lent '^own some$'
	expect_in lent '^lent 0$'
	in_ns 0 kwarpctl doctor "${LINK[0]}" >"$CASE_DIR/doctor.log" 2>&1 || :
	expect_in doctor "count term_received_ddp of ${LINK[0]}: .*run kwarpctl why"
	expect_in doctor "last error of ${LINK[0]}: .* ago, kwwrong .*: the peer says DDP_U_NOBUF"
	knob log_errors off
	new_port
	serve server "$PORT" kwwrong -s -a "${IP[1]}" -p "$PORT" -m no-receive
	client kwwrong -c -a "${IP[1]}" -p "$PORT" -m no-receive
	reap 30 server
	! log_line 0 . || fail "there is a line, though log_errors is off"
	knob log_errors on
}

# no_start: connect, which must fail.
no_start() {
	client kwconn -c -x -a "${IP[1]}" -p "$PORT" -n 1
	expect_in client ' 1 refused'
}

# why_at END: "kwarpctl why" there, without line breaks, as why.log.
why_at() {
	in_ns "$1" kwarpctl why --link "${LINK[$1]}" >"$CASE_DIR/lines.log" || fail "kwarpctl why failed"
	tr -s ' \n' ' ' <"$CASE_DIR/lines.log" >"$CASE_DIR/why.log"
}

# Connections that do not start: the end that has tried is told why, and so is root at the other end.
why_startup_case() {
	local nobody words
	why_links
	new_port
	nobody=$PORT
	no_start
	new_port
	words=$PORT
	serve words "$PORT" python3 "$HERE/mpa.py" other "${IP[1]}" "$PORT"
	no_start
	stop words
	knob_at 0 crc off
	knob_at 1 crc required
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	no_start
	n0 python3 -c "
import socket
for i in range(40):
    socket.create_connection(('${IP[1]}', $PORT)).sendall(b'garbage' * 9)"
	stop server
	why_at 0
	expect_in why "kwconn .pid [0-9]+.: did not connect, .* ago .CONNECT. [^ ]* -> ${IP[1]}:$nobody why TCP did not connect: nothing listens there, .* do Start the server first"
	expect_in why "-> ${IP[1]}:$words why the peer broke the protocol do Something other than RDMA listens there"
	expect_in why "-> ${IP[1]}:$PORT why rejected: the peer's Reply asks for CRC, which is off here do .* kwarpctl set ${LINK[0]} crc=on"
	in_ns 0 kwarpctl doctor "${LINK[0]}" -q >"$CASE_DIR/doctor.log" 2>&1 || :
	expect_in doctor "^warning +last error of ${LINK[0]}: .* ago, kwconn .*: rejected: the peer's Reply asks for CRC, which is off here; .*crc=on"
	expect_in doctor "^warning +count cm_rejected of ${LINK[0]}: [0-9]+ since the link was added, the last .* ago"
	why_at 1
	expect_in why "${LINK[1]}, a listener: did not connect, .* ago .WAIT_REQ. ${IP[1]}:$PORT -> .* why the peer broke the protocol do Something other than RDMA connects"
	[ "$(count_lines "$CASE_DIR/lines.log" 'a listener')" = 16 ] || fail "what peers have tried is not limited"
	# What a peer has tried concerns no user.
	in_ns 1 setpriv --reuid 12345 --regid 12345 --clear-groups --bounding-set=-all --inh-caps=-all kwarpctl why \
		>"$CASE_DIR/user.log" 2>&1 || fail "kwarpctl why fails for a user"
	expect_in user 'no connection has ended by an error, or failed to start .only root is told'
	knob_at 0 crc required
	knob_at 1 crc off
	new_port
	start answer 1 python3 "$HERE/mpa.py" answer "${IP[1]}" "$PORT" /dev/null no-crc
	wait_until 10 "the peer listens" listens "${PIDS[answer]}" "$PORT"
	no_start
	reap 10 answer
	why_at 0
	expect_in why "-> ${IP[1]}:$PORT why refused: CRC is required here, and the peer has it off do Compare the knobs crc"
}

testcase why-write 90 why_write_case
testcase why-read 90 why_read_case
testcase why-message 90 why_message_case
testcase why-own 120 why_own_case
testcase why-refused 120 why_refused_case
testcase why-whose 120 why_whose_case
testcase why-startup 120 why_startup_case
