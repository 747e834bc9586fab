# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# "kwarpctl fault": faults that are injected to test programs. What the program is told (status,
# vendor_err, errno, events) decides, at both ends. Who may add rules, and when they go.

# A user without capabilities, who may lock 1 MiB.
FAULT_USER=(sh -c 'ulimit -l 1024 && exec setpriv --reuid 65534 --regid 65534 --clear-groups \
	--bounding-set=-all --inh-caps=-all "$@"' sh)

fault_links() {
	skip_on siw "it injects nothing"
	own_links
	before_rules=$(dmesg | grep -c ' injected: QP' || :)
}

# injected KIND: the log has a new line about such a fault.
injected() {
	dmesg | grep ' injected: QP' | tail -n +"$((before_rules + 1))" | grep -q "fault [0-9]* ($1) injected"
}

# no_rules: no rule is left, at either end.
no_rules() {
	local end
	for end in 0 1; do
		[ "$(in_ns "$end" kwarpctl fault --json)" = "[]" ] || fail "rules are left: $(in_ns "$end" kwarpctl fault)"
	done
}

# with_fault END MISTAKE FAULT...: a client of kwwrong and its server, of which the one at END runs
# under "kwarpctl fault run FAULT".
with_fault() {
	local end=$1 mistake=$2 run=()
	shift 2
	run=(kwarpctl fault run "$@" --)
	new_port
	local server=(kwwrong -s -a "${IP[1]}" -p "$PORT" -m "$mistake")
	local client=(kwwrong -c -a "${IP[1]}" -p "$PORT" -m "$mistake")
	[ "$end" = 0 ] || server=("${run[@]}" "${server[@]}")
	[ "$end" = 1 ] || client=("${run[@]}" "${client[@]}")
	serve server "$PORT" "${server[@]}"
	client "${client[@]}"
	reap 40 server
	injected "$1" || fail "the log does not say that $1 was injected"
}

fault_terminate_case() {
	fault_links
	# By the sender of a message: its Terminate tells the peer, its own requests are flushed.
	with_fault 0 none terminate DDP_U_NOBUF --times 1
	expect_in client 'event disconnected|RDMA_CM_EVENT_DISCONNECTED'
	expect_in server 'RDMA_CM_EVENT_DISCONNECTED'
	if [ "$KWARP_LINK" = kwarp ]; then
		expect_in client 'wr_id 1: Work Request Flushed Error, vendor_err 0x1202'
		expect_in server 'wr_id 100: Work Request Flushed Error, vendor_err 0x1202'
	fi
	wait_until 10 "the log says so" log_line 0 'DDP_U_NOBUF: a posted request: a fault was injected'
	wait_until 10 "the peer's log" log_line 1 'the peer says DDP_U_NOBUF'
	n0 kwarpctl why --last >"$CASE_DIR/why.log"
	expect_in why 'a fault was injected: see kwarpctl'
	# By the receiver, about a Read: the peer learns which request was refused.
	with_fault 1 none-read terminate 0/1/02 --times 1
	[ "$KWARP_LINK" != kwarp ] || expect_in client 'wr_id 1: remote access error, vendor_err 0x102'
	wait_until 10 "the log says so" log_line 1 "R_ACCESS: the peer's message: a fault was injected"
	# "local catastrophic error" has a private number of its own.
	with_fault 0 none terminate LOCAL --times 1
	[ "$KWARP_LINK" != kwarp ] || expect_in client 'vendor_err 0x10012'
	no_rules
}

fault_end_case() {
	fault_links
	with_fault 0 none reset --times 1
	[ "$KWARP_LINK" != kwarp ] || expect_in client 'wr_id 1: Work Request Flushed Error, vendor_err 0x2001'
	wait_until 10 "the log says so" log_line 0 'lost: .*a fault was injected'
	wait_until 10 "the peer was reset" log_line 1 'lost: the peer has reset it .ECONNRESET'
	with_fault 1 none reset --times 1
	wait_until 10 "the peer was reset" log_line 0 'lost: the peer has reset it .ECONNRESET'
	# A graceful close is no error: the message comes, and no line in the log.
	with_fault 0 none close --times 1
	expect_in client 'wr_id 1: success'
	expect_in server 'wr_id 100: success'
	! log_line 0 . || fail "the log has an error"
	! log_line 1 . || fail "the peer's log has an error"
	no_rules
}

fault_no_receive_case() {
	fault_links
	with_fault 1 none no-receive --times 1
	[ "$KWARP_LINK" != kwarp ] || expect_in server 'wr_id 100: Work Request Flushed Error, vendor_err 0x1202'
	wait_until 10 "the peer's log says so" log_line 0 "peer says DDP_U_NOBUF .0x1202. about our message number 1"
	wait_until 10 "the log says so" log_line 1 "DDP_U_NOBUF: the peer's message: a fault was injected"
	# With the knob receive_wait the message waits instead, and comes.
	knob receive_wait 20000
	new_port
	serve server "$PORT" kwarpctl fault run no-receive --times 3 -- rping -s -C 1 -a "${IP[1]}" -p "$PORT"
	client rping -c -C 1 -a "${IP[1]}" -p "$PORT"
	reap 30 server
	no_rules
}

# late END MS FAULT...: rping works, and takes at least MS longer than it takes without the fault.
late() {
	local end=$1 ms=$2 run server client begin took
	shift 2
	run=(kwarpctl fault run "$@" --)
	new_port
	server=(rping -s -C 2 -a "${IP[1]}" -p "$PORT")
	client=(rping -c -C 2 -a "${IP[1]}" -p "$PORT")
	[ "$end" = 0 ] || server=("${run[@]}" "${server[@]}")
	[ "$end" = 1 ] || client=("${run[@]}" "${client[@]}")
	serve server "$PORT" "${server[@]}"
	begin=${EPOCHREALTIME/./}
	client "${client[@]}"
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	reap 30 server
	note "$* took $took ms"
	[ "$took" -ge "$ms" ] || fail "$* took $took ms, not $ms"
	injected "$1" || fail "the log does not say that $1 was injected"
}

fault_delay_case() {
	fault_links
	late 0 4000 stall 4000 --times 1
	late 1 4000 stall 2000 --times 2
	late 0 4000 slow 4000 --times 1
	late 1 4000 slow 1000 --times 4
	late 0 4000 event-late 4000 --times 1
	late 1 0 event-twice --times 3
	no_rules
	# Over a link, for all processes; data is right. A rule may go while a stream is stalled.
	n0 kwarpctl fault add stall 20 --link "${LINK[0]}" --probability 10 --seed 5
	n1 kwarpctl fault add slow 20 --link "${LINK[1]}" --probability 10 --seed 5
	n1 kwarpctl fault add event-twice --probability 50
	data_pair -n "$(by_profile 200 30)" -m 20000 -S 29 -q 2
	n0 kwarpctl fault del all
	n1 kwarpctl fault del all
	no_rules
}

fault_errno_case() {
	fault_links
	skip_on kwarp-siw "libsiw posts without kwarp's provider"
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	local run=(n0 kwarpctl fault run)
	check_fails 2 "register" "${run[@]}" register ENOMEM -- kwwrong -c -a "${IP[1]}" -m full >"$CASE_DIR/register.log" 2>&1
	expect_in register 'register: Cannot allocate memory'
	# The second region only.
	check_fails 2 "register" "${run[@]}" register EPERM --skip 1 -- kwwrong -c -a "${IP[1]}" -m full >"$CASE_DIR/second.log" 2>&1
	expect_in second 'register: Operation not permitted'
	check_fails 2 "create" "${run[@]}" create EMFILE -- kwwrong -c -a "${IP[1]}" -m full >"$CASE_DIR/create.log" 2>&1
	expect_in create 'completion queue: Too many open files'
	check_fails 2 "create" "${run[@]}" create EMFILE --skip 1 -- kwwrong -c -a "${IP[1]}" -m full >"$CASE_DIR/create2.log" 2>&1
	expect_in create2 'queue pair: Too many open files'
	n0 env KWARP_DEBUG=1 kwarpctl fault run post EIO -- kwwrong -c -a "${IP[1]}" -m full >"$CASE_DIR/post.log" 2>&1
	expect_in post 'refused: Input/output error'
	expect_in post 'ibv_post_send: failed as KWARP_FAULT says'
	n0 kwarpctl fault run post EIO -- kwwrong -c -a "${IP[1]}" -m recv-sge >"$CASE_DIR/recv.log" 2>&1
	expect_in recv 'refused: Input/output error'
	n0 kwarpctl fault run post EIO --skip 3 -- kwwrong -c -a "${IP[1]}" -m full >"$CASE_DIR/skip.log" 2>&1
	expect_in skip 'refused: Input/output error'
	n0 kwarpctl fault run post EIO --skip 1000 -- kwwrong -c -a "${IP[1]}" -m full >"$CASE_DIR/none.log" 2>&1
	expect_in none 'refused: Cannot allocate memory'
	n0 env KWARP_FAULT=nonsense kwwrong -c -a "${IP[1]}" -m full >"$CASE_DIR/wrong.log" 2>&1
	expect_in wrong 'KWARP_FAULT is not post=ERRNO'
	stop server
	no_rules
}

# A user may inject faults into his own processes, and no others; and sees only his own rules.
fault_rights_case() {
	local sleeper other rule
	fault_links
	user() { n0 "${FAULT_USER[@]}" kwarpctl fault "$@"; }
	start other 0 sleep 300
	other=${PIDS[other]}
	start sleeper 0 "${FAULT_USER[@]}" sleep 300
	sleeper=${PIDS[sleeper]}
	wait_until 10 "the user's process runs" is_user "$sleeper"
	rule=$(n0 kwarpctl fault add reset --pid "$sleeper") || fail "root may not add a rule"
	user add terminate DDP_U_NOBUF --pid "$sleeper" || fail "a user may not add a rule about his own process"
	user >"$CASE_DIR/list.log"
	[ "$(grep -c terminate "$CASE_DIR/list.log")$(grep -c reset "$CASE_DIR/list.log" || :)" = 10 ] ||
		fail "the user sees: $(<"$CASE_DIR/list.log")"
	refused() {
		check_fails "$1" "fault ${*:3}" user "${@:3}" >"$CASE_DIR/refused.log" 2>&1
		expect_in refused "^kwarpctl: $2"
		[ "$(wc -l <"$CASE_DIR/refused.log")" = 1 ] || fail "not one line: $(<"$CASE_DIR/refused.log")"
	}
	refused 1 'the process belongs to another user' add reset --pid "$other"
	refused 1 'name a process of yours' add reset
	refused 1 'name a process of yours' add reset --link "${LINK[0]}"
	refused 1 'only root .CAP_NET_ADMIN. may inject this kind' add bad-crc --pid "$sleeper"
	refused 1 'there is no such process' add reset --pid 999999
	refused 1 'no such link' add reset --pid "$sleeper" --link nolink
	refused 1 'you have no rule of this number' del "${rule#rule }"
	refused 2 'no Terminate has this code' add terminate 0x2001 --pid "$sleeper"
	refused 2 'a rule of this kind names no queue pair' add register ENOMEM --qp 5 --pid "$sleeper"
	# Fifteen rules by one process: to start kwarpctl takes an emulated processor more than a second.
	n0 "${FAULT_USER[@]}" python3 -B - "$HERE/.." "$sleeper" >/dev/null <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		from kwarpctl import cli
		sys.exit(sum(cli.main(["fault", "add", "reset", "--pid", sys.argv[2]]) for _ in range(15)))
	END
	refused 1 'there are too many rules' add reset --pid "$sleeper"
	user del all
	check_fails 1 "no link" n0 "${FAULT_USER[@]}" unshare -Urn kwarpctl fault add reset >"$CASE_DIR/none.log" 2>&1
	expect_in none 'there is no link in this network namespace'
	[ "$(n0 kwarpctl fault --json | grep -c '"fault"')" = 1 ] || fail "root's rule has gone"
	# Without root, from begin to end.
	check_fails 2 "register" n0 "${FAULT_USER[@]}" kwarpctl fault run register ENOMEM -- \
		kwwrong -c -a "${IP[1]}" -m full >"$CASE_DIR/register.log" 2>&1
	expect_in register 'register: Cannot allocate memory'
	# A process ends: its rules go at the next look.
	stop sleeper KILL
	stop other KILL
	n0 kwarpctl fault add reset --times 1 >/dev/null
	[ "$(n0 kwarpctl fault --json | grep -c '"fault"')" = 1 ] || fail "the rule of a dead process is left"
	n0 kwarpctl fault del all
	# The status of the program is that of the command.
	check_fails 7 "the status" n0 kwarpctl fault run reset -- sh -c 'exit 7'
	check_fails 143 "the status" n0 kwarpctl fault run reset -- sh -c 'kill -TERM $$'
	check_fails 127 "no program" n0 kwarpctl fault run reset -- /no/such/program 2>"$CASE_DIR/none.log"
	no_rules
}

is_user() {
	[ "$(stat -c %u "/proc/$1")" = 65534 ]
}

# Rules in force while a link is deleted, a namespace ends, and the module is removed, under traffic.
fault_ends_case() {
	fault_links
	n0 kwarpctl fault add stall 50 --link "${LINK[0]}" --probability 20
	n1 kwarpctl fault add slow 50 --link "${LINK[1]}" --probability 20
	n1 kwarpctl fault add event-late 50
	data_serve
	data_client -n 0 -m 20000 -S 30 -T 120
	start client 0 "${DATA_CLIENT[@]}"
	wait_until 60 "data flows" flows
	del_link 1
	ended 60 client
	ended 60 server
	[ "$(n1 kwarpctl fault --json | grep -c '"fault"')" = 1 ] || fail "the rule of the deleted link is left"
	n0 kwarpctl fault del all
	own_links
	# These name no link, so that they stay until the module goes.
	n0 kwarpctl fault add stall 3000
	n1 kwarpctl fault add slow 1000
	data_serve
	data_client -n 0 -m 20000 -S 31 -T 120
	start client 0 "${DATA_CLIENT[@]}"
	wait_until 60 "a stream is stalled" injected stall
	both_ends del_link
	ended 60 client
	ended 60 server
	wait_until 30 "the module is unloaded" module_gone
	own_links
	no_rules
	ip netns add kwarp-probe
	ip -n kwarp-probe link set lo up
	ip netns exec kwarp-probe kwarpctl fault add reset >/dev/null || fail "no rule in a namespace without links"
	# Root in a namespace of his own must not delay the work of the others.
	local own_root=(n0 "${FAULT_USER[@]}" unshare --user --map-root-user --net)
	if n0 "${FAULT_USER[@]}" unshare --user --map-root-user --net true; then
		check_fails 1 "only root" "${own_root[@]}" kwarpctl fault add late-work 600000 >"$CASE_DIR/own.log" 2>&1
		expect_in own 'only root .CAP_NET_ADMIN. may inject this kind of fault'
	fi
	ip netns del kwarp-probe
	data_pair -n 20 -m 20000 -S 32
	no_rules
}

testcase fault-app-terminate 120 fault_terminate_case
testcase fault-app-end 120 fault_end_case
testcase fault-app-no-receive 90 fault_no_receive_case
testcase fault-app-delay 180 fault_delay_case
testcase fault-app-errno 120 fault_errno_case
testcase fault-app-rights 180 fault_rights_case
testcase fault-app-ends 150 fault_ends_case
