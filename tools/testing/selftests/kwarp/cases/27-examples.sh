# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# The programs in examples/, right and with each mistake of the exercises in
# Documentation/first-program.rst, and the laboratory of kwarpctl that these exercises use.

EXAMPLES=$HERE/../examples

# example_pair PORT PROGRAM: run server and client of an example, which must succeed.
example_pair() {
	serve server "$1" "$2" -s "${IP[1]}"
	client "$2" "${IP[1]}"
	reap 15 server
}

example_first() {
	own_links
	example_pair 7471 "$EXAMPLES/first"
	expect_in server '^the board says: RDMA was here$'
	expect_in client '^the server says: I have read it$'
}

example_python() {
	own_links
	python3 -c 'import pyverbs.cmid' 2>/dev/null || skip "there is no pyverbs"
	example_pair 7472 "$EXAMPLES/first.py"
	expect_in server '^the board says: pyverbs was here$'
}

example_wired() {
	skip_on siw "it is for our links"
	skip_on kwarp-siw "libsiw refuses a receive without an element"
	own_links
	knob wire_port 7170
	example_pair 7473 "$EXAMPLES/wired"
	expect_in server '^the board says: wired by hand$'
	expect_in client '^the board says: wired by hand$'
}

# mistake_case MISTAKE CLIENT SERVER: in the pair with this mistake at both ends, the last line of
# each end must match; a server of which "waits" is expected has no line after its start.
mistake_case() {
	local program=$EXAMPLES/broken-$1 client=$2 server=$3
	skip_on siw "it has no vendor_err"
	skip_on kwarp-siw "libsiw has no vendor_err"
	own_links
	# The host looks for the Terminate in this capture. Documentation/wireshark.rst shows it.
	[ "$1" != key ] || begin_capture "$CASE_DIR/wire.pcap"
	serve server 7471 "$program" -s "${IP[1]}"
	start client 0 "$program" "${IP[1]}"
	ended 20 client
	[ "$STATUS" = 1 ] || fail "the client ended with status $STATUS"
	last_line client "$client"
	if [ "$server" = waits ]; then
		sleep 1
		! gone "${PIDS[server]}" || fail "the server has ended"
		stop server KILL
		[ ! -s "$CASE_DIR/server.log" ] || fail "the server has said something"
	else
		ended 20 server
		last_line server "$server"
	fi
	[ "$1" != key ] || end_capture
	why_there "$1"
}

# last_line NAME REGEX
last_line() {
	local lines
	mapfile -t lines <"$CASE_DIR/$1.log"
	[[ ${lines[-1]:-} =~ ^$2$ ]] || fail "$1 says '${lines[-1]:-nothing}', not '$2'"
}

# why_there MISTAKE: if this kwarpctl has the command "why", it must name the program.
why_there() {
	n0 kwarpctl why --help >/dev/null 2>&1 || return 0
	n0 kwarpctl why >"$CASE_DIR/why.log" 2>&1 || fail "kwarpctl why failed"
	expect_in why "broken-$1"
}

example_refused() {
	own_links
	check_fails 1 "nobody listens" n0 "$EXAMPLES/first" "${IP[1]}" 2>"$CASE_DIR/refused.log"
	expect_in refused '^rdma_connect: Connection refused$'
	check_fails 1 "loopback" n0 "$EXAMPLES/first" 127.0.0.1 2>"$CASE_DIR/loopback.log"
	expect_in loopback '^rdma_create_ep: '
	check_fails 2 "no argument" n0 "$EXAMPLES/first" 2>/dev/null
}

# The laboratory has two ends that reach each other, is not made twice, and leaves nothing.
lab_case() {
	skip_on siw "it is for our links"
	[ "$TWO" = 0 ] || skip "it is for one machine"
	own_links
	lab 0 up --loss 0.1 --delay 1 --mtu 4000 --type "$KWARP_LINK"
	expect_in lab 'kwlab-b +10.77.0.2, fd77::2 +ACTIVE'
	[ "$(ip netns exec kwlab-a cat /sys/class/net/kwlab-a/mtu)" = 4000 ] || fail "the MTU is not 4000"
	tc -n kwlab-b qdisc show dev kwlab-b >"$CASE_DIR/tc.log"
	expect_in tc 'netem .*delay 1ms.* loss 0.1%'
	lab 1 up
	expect_in lab-error 'there is a lab already'
	start lab-server - ip netns exec kwlab-b rping -s -a 10.77.0.2 -C 3
	wait_until 15 "rping listens" listening_or_gone "$PID" 7174
	ip netns exec kwlab-a rping -c -a 10.77.0.2 -C 3 >"$CASE_DIR/rping.log" 2>&1 || fail "rping failed"
	reap 20 lab-server
	start lab-stays - ip netns exec kwlab-b sleep 100
	wait_until 10 "sleep runs" lab_sleeps
	lab 0 down
	expect_in lab 'still run: sleep'
	stop lab-stays
	[ ! -e /sys/class/infiniband/kwlab-a ] && [ ! -e /run/netns/kwlab-a ] && [ ! -e /run/netns/kwlab-b ] || fail "something is left"
	! grep -q kwlab /proc/net/dev || fail "a network device is left"
	lab 0 down
	expect_in lab 'there was no lab'
	lab 1 show
	lab 2 sideways
	setpriv --reuid 65534 --clear-groups kwarpctl lab up 2>"$CASE_DIR/rights.log" && fail "it needs no rights"
	expect_in rights '^kwarpctl: only root may make or remove a lab'
}

lab_sleeps() {
	[ "$(<"/proc/${PIDS[lab-stays]}/comm")" = sleep ]
}

# lab STATUS ARGUMENTS...: kwarpctl lab must end with this status and, if that is not 0, with one
# line.
lab() {
	local status=$1
	shift
	note "kwarpctl lab $*"
	check_fails "$status" "lab" kwarpctl lab "$@" >"$CASE_DIR/lab.log" 2>"$CASE_DIR/lab-error.log"
	[ "$status" = 0 ] || [ "$(count_lines "$CASE_DIR/lab-error.log" .)" = 1 ] || fail "not one line"
}

testcase example-first 30 example_first
testcase example-python 60 example_python
testcase example-wired 30 example_wired
testcase example-refused 30 example_refused
testcase mistake-key 40 mistake_case key 'status 5, vendor_err 0x1100' 'status 5, vendor_err 0x1100'
testcase mistake-beyond 40 mistake_case beyond 'status 5, vendor_err 0x1101' 'status 5, vendor_err 0x1101'
testcase mistake-right 40 mistake_case right 'status 5, vendor_err 0x1100' 'status 5, vendor_err 0x1100'
testcase mistake-receive 40 mistake_case receive 'status 5, vendor_err 0x1202' waits
testcase mistake-short 40 mistake_case short 'status 1, vendor_err 0x1205' 'send: success'
testcase mistake-local 40 mistake_case local 'status 4, vendor_err 0x.*' 'status 5, vendor_err 0x.*'
testcase lab 60 lab_case
