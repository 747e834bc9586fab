# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Lack of memory, on the debug kernel only, by the kernel's fault injection. Either a call is
# repeated, by the program kwfault, and each time the next one of its allocations fails (fail-nth);
# or allocations fail at random while data flows. Only allocations with a module in their call
# trace fail: how the kernel's own code reacts is not tested here. Also, on all kernels, the faults of
# "kwarpctl fault" for kwarp's own developers, such as a short send or a late work item.

# Mount point of debugfs. It is not below /sys, because "ip netns exec" mounts another /sys.
FAULT_DEBUGFS=$RUN/debugfs
FAULT_KINDS=(failslab fail_page_alloc fail_usercopy)

# Address range of modules, which begins after the largest possible kernel image.
MODULES_FROM=0xffffffffa0000000 MODULES_TO=0xffffffffff000000

fault_set() {
	echo "$3" >"$FAULT_DEBUGFS/$1/$2" || fail "cannot set $1/$2 to $3"
}

# Print the address range of kmemleak's functions, whose allocations must not fail. kmemleak
# allocates memory for each allocation that it observes; if that fails, it logs an error and
# switches itself off. The range ends 0x400 octets after the begin of kmemleak's last function.
leak_detector() {
	local from to
	read -r from to < <(awk '$3 == "kmemleak_alloc" { from = $1 } $3 == "kmemleak_scan_area" { to = $1 }
		END { if (from && to) print "0x" from, "0x" to }' /proc/kallsyms) || return 0
	printf '%#x %#x\n' "$from" $((to + 0x400))
}

# Prepare fault injection: no random failures; fail-nth counts allocations that have a module in
# their call trace.
faults_ready() {
	local kind from to
	[ -e /proc/self/fail-nth ] || skip "the kernel has no fault injection"
	mkdir -p "$FAULT_DEBUGFS"
	mountpoint -q "$FAULT_DEBUGFS" || mount -t debugfs none "$FAULT_DEBUGFS"
	read -r from to < <(leak_detector) || from=0 to=0
	for kind in "${FAULT_KINDS[@]}"; do
		fault_set "$kind" probability 0
		fault_set "$kind" reject-start "$from"
		fault_set "$kind" reject-end "$to"
		fault_set "$kind" verbose 0
		fault_set "$kind" times -1
		fault_set "$kind" interval 1
		fault_set "$kind" task-filter N
		fault_set "$kind" require-start "$MODULES_FROM"
		fault_set "$kind" require-end "$MODULES_TO"
		fault_set "$kind" stacktrace-depth 32
	done
	fault_set failslab ignore-gfp-wait N
	fault_set fail_page_alloc ignore-gfp-wait N
	fault_set fail_page_alloc ignore-gfp-highmem N
	fault_set fail_page_alloc min-order 0
	trap faults_cleanup EXIT
}

# Switch faults off before case_cleanup, and pass on the exit status.
faults_cleanup() {
	local rc=$?
	set +e
	faults_off
	(exit "$rc")
	case_cleanup
}

faults_off() {
	local kind
	for kind in "${FAULT_KINDS[@]}"; do
		echo 0 >"$FAULT_DEBUGFS/$kind/probability"
	done
}

# points_in NAME: check that at least one allocation failed, as kwfault says in the log NAME.
# Without a failure the case would have tested nothing.
points_in() {
	[ "$(sed -nE 's/.*: all: ([0-9]+) points.*/\1/p' "$CASE_DIR/$1.log")" -gt 0 ] ||
		fail "no allocation was made to fail"
}

# Check that no object is left after the faults, and that data can be sent and verified.
works_after_faults() {
	note "and now it works"
	no_objects || holds_within 10 no_objects || fail "objects are left: $OBJECTS"
	data_pair -n 20 -m 20000 -S 88
}

# ------------------------------------------------------------------- one by one

fault_verbs_case() {
	own_links
	faults_ready
	fault_set fail_page_alloc min-order "$1"
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client kwfault verbs -a "${IP[1]}" -p "$PORT" -m $((256 << 10))
	cat "$CASE_DIR/client.log"
	points_in client
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	works_after_faults
}

fault_connect_case() {
	own_links
	faults_ready
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client kwfault connect -a "${IP[1]}" -p "$PORT"
	cat "$CASE_DIR/client.log"
	points_in client
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	works_after_faults
}

# In the server, each allocation of rdma_accept() fails in turn. The client connects again and again
# until the server has tried all of them and ends.
fault_accept_case() {
	own_links
	faults_ready
	new_port
	serve server "$PORT" kwfault accept -a "${IP[1]}" -p "$PORT"
	until gone "${PIDS[server]}"; do
		client kwfault connect -a "${IP[1]}" -p "$PORT" -n 4
	done
	reap 5 server
	cat "$CASE_DIR/server.log"
	points_in server
	works_after_faults
}

# each_point WHAT UNDO COMMAND...: run the command again and again: first its first allocation
# fails, next its second one, until no allocation fails. After each success with a fault run UNDO.
# Set POINTS to the number of allocations that failed.
each_point() {
	local what=$1 undo=$2 n rc refused=0
	shift 2
	for ((n = 1; n <= 1000; n++)); do
		rc=0
		timeout 60 kwfault nth "$n" "$@" >"$CASE_DIR/nth.log" 2>&1 || rc=$?
		[ $rc -ne 124 ] || fail "$what does not end when allocation $n fails"
		if ! grep -q 'it failed' "$CASE_DIR/nth.log"; then
			[ $rc = 0 ] || fail "$what failed without a fault: $(cat "$CASE_DIR/nth.log")"
			break
		fi
		refused=$((refused + (rc != 0)))
		[ $rc -ne 0 ] || "$undo"
	done
	POINTS=$((n - 1))
	note "$what: $POINTS points, $refused refused"
	[ "$POINTS" -gt 0 ] || fail "no allocation of $what was made to fail"
}

delete_link_0() {
	rdma link delete "${LINK[0]}"
}

add_link_0() {
	n0 rdma link add "${LINK[0]}" type "$KWARP_LINK" netdev "${DEV[0]}"
}

# Let only those allocations fail that have a module among the innermost 10 functions of their call
# trace. This leaves out several hundred allocations deep below ib_register_device(), for sysfs and
# for a table of uverbs. If one of the table's nodes cannot be allocated, Linux 6.12 leaks others.
calls_near_modules() {
	local kind
	for kind in "${FAULT_KINDS[@]}"; do
		fault_set "$kind" stacktrace-depth 10
	done
}

fault_link_case() {
	own_links
	faults_ready
	calls_near_modules
	del_link 0
	each_point "adding a link" delete_link_0 \
		ip netns exec "${NS[0]}" rdma link add "${LINK[0]}" type "$KWARP_LINK" netdev "${DEV[0]}"
	echo "$KWARP_LINK" >"$RUN/link.0"
	wait_until 5 "the link is active" link_active 0
	works_after_faults
	# Deleting a link has to succeed without memory.
	rm -f "$RUN/link.0"
	each_point_or_none "deleting a link" add_link_0 rdma link delete "${LINK[0]}"
	own_links
	works_after_faults
}

# each_point_or_none WHAT UNDO COMMAND...: like each_point, but the command must succeed although an
# allocation fails, and it may have no allocation at all.
each_point_or_none() {
	local what=$1 undo=$2 n
	shift 2
	for ((n = 1; n <= 200; n++)); do
		check "$what, allocation $n failing" timeout 60 kwfault nth "$n" "$@" >"$CASE_DIR/nth.log" 2>&1
		grep -q 'it failed' "$CASE_DIR/nth.log" || break
		"$undo"
	done
	note "$what: $((n - 1)) points"
}

unload_type() {
	rm -f "$RUN"/link.*
	rmmod "$KWARP_MODULE"
}

load_type_again() {
	modprobe "$KWARP_MODULE"
}

fault_module_case() {
	own_links
	faults_ready
	unload_type
	each_point "loading the module" unload_type modprobe "$KWARP_MODULE"
	own_links
	unload_type
	modprobe "$KWARP_MODULE"
	each_point_or_none "unloading the module" load_type_again rmmod "$KWARP_MODULE"
	own_links
	works_after_faults
}

# --------------------------------------------------------------------- by chance

# by_chance PERCENT KIND...: from now on let this share of the allocations of these kinds fail, in
# all contexts. A KIND is one of FAULT_KINDS.
by_chance() {
	local percent=$1 kind
	shift
	for kind; do
		fault_set "$kind" probability "$percent"
	done
}

# fault_chance_cm_case ORDER PERCENT COUNT KIND...: make COUNT connections while PERCENT of the
# allocations fail, those of workers and softirqs included. Of page allocations, only those of at
# least 2^ORDER pages fail. Each connection must succeed or fail within its time limit.
fault_chance_cm_case() {
	own_links
	faults_ready
	fault_set fail_page_alloc min-order "$1"
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	# The first connection, without faults, allocates what all connections of the server share.
	client kwfault connect -a "${IP[1]}" -p "$PORT" -n 1
	expect_in client '1 of 1 connected'
	by_chance "$2" "${@:4}"
	client kwfault connect -a "${IP[1]}" -p "$PORT" -n "$3"
	cat "$CASE_DIR/client.log"
	faults_off
	client kwfault connect -a "${IP[1]}" -p "$PORT" -n 3
	expect_in client '3 of 3 connected'
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	works_after_faults
}

# connected NUMBER: true if the link at end 0 has this number of connected queue pairs.
connected() {
	[ "$(rdma resource show qp link "${LINK[0]}" | grep -c 'state RTS')" = "$1" ]
}

# fault_traffic_case ORDER PERCENT SECONDS KIND...: let PERCENT of the allocations fail for SECONDS
# while data flows. Of page allocations, only those of at least 2^ORDER pages fail. The traffic must
# continue, and all data must be right: what cannot be sent or received for lack of memory is sent
# or received later.
fault_traffic_case() {
	local order=$1 percent=$2 count=$3
	shift 3
	own_links
	faults_ready
	fault_set fail_page_alloc min-order "$order"
	data_serve
	data_client -n 0 -m $((64 << 10)) -S 89 -T 120 -q 2
	start client 0 "${DATA_CLIENT[@]}"
	# Faults begin after both connections exist, because a connection may fail for lack of
	# memory.
	wait_until 60 "both connections are there" connected 2
	wait_until 60 "data flows" flows
	by_chance "$percent" "$@"
	holds_within "$count" gone "${PIDS[client]}" || :
	faults_off
	kill -TERM "${PIDS[client]}" || fail "the client has ended"
	reap 120 client
	reap 60 server
	grep -h ': ok: ' "$CASE_DIR"/client.log "$CASE_DIR"/server.log
	works_after_faults
}

nothing_on() {
	! rdma resource show "${LINK[$1]}" | grep -q ' [1-9][0-9]* '
}

# fault_teardown_case ORDER KIND...: programs are killed and a link is deleted while all
# allocations of these kinds fail; of page allocations, only those of at least 2^ORDER pages.
fault_teardown_case() {
	local order=$1
	shift
	own_links
	faults_ready
	fault_set fail_page_alloc min-order "$order"
	traffic t
	by_chance 100 "$@"
	stop t-client KILL
	wait_until 20 "what the killed program had is gone" nothing_on 0
	# TCP may not have been able to send a FIN or reset. Without faults it answers the other
	# end's data, which ends that connection.
	faults_off
	ended 60 t-server
	holds_within $((20 * SLOWNESS)) no_objects || fail "objects are left: $OBJECTS"
	traffic u
	by_chance 100 "$@"
	rm -f "$RUN/link.1"
	check "deleting the link" timeout 60 rdma link delete "${LINK[1]}"
	faults_off
	ended 60 u-client
	ended 60 u-server
	own_links
	works_after_faults
}

# ------------------------------------------------------------ kwarp's own faults

# Add a rule at both ends, with the arguments of "kwarpctl fault add".
fault_at_ends() {
	local end
	for end in 0 1; do
		in_ns "$end" kwarpctl fault add "$@" || fail "'kwarpctl fault add $*' failed"
	done
}

# faults_injected KIND: the rules of this kind have had an effect at both ends; remove all rules.
faults_injected() {
	local end
	for end in 0 1; do
		in_ns "$end" kwarpctl fault --json >"$CASE_DIR/rules.log" || fail "'kwarpctl fault' failed"
		python3 -c 'import json, sys; assert [r for r in json.load(sys.stdin) if r["kind"] == sys.argv[1] and r["hits"]]' \
			"$1" <"$CASE_DIR/rules.log" || fail "no $1 was injected at end $end: $(<"$CASE_DIR/rules.log")"
		in_ns "$end" kwarpctl fault del all || fail "'kwarpctl fault del all' failed"
	done
}

# fault_point_case KIND...: inject a fault of kwarp in half of its uses, and check that data is right,
# and that connections can be made and ended.
fault_point_case() {
	skip_on siw "it injects nothing"
	own_links
	fault_at_ends "$@" --probability 50
	data_pair -n "$(by_profile 500 40)" -m 100000 -S 90 -q 2
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n 5
	expect_in client ' 5 echoed'
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	faults_injected "$1"
	works_after_faults
}

fault_once_case() {
	skip_on siw "it injects nothing"
	skip_on kwarp-siw "kwfault needs kwarp's provider"
	own_links
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client kwfault "$1" -a "${IP[1]}" -p "$PORT"
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	works_after_faults
}

# Optional cases take minutes, or are similar to the case before them: with "order-1" only
# allocations of two pages or more fail.
testcase fault-verbs 120 fault_verbs_case 0
optional_testcase fault-verbs-order-1 120 fault_verbs_case 1
testcase fault-connect 60 fault_connect_case
testcase fault-accept 90 fault_accept_case
optional_testcase fault-link 300 fault_link_case
# Loading the module makes more than a hundred allocations, and takes seconds each time.
optional_testcase fault-module 300 fault_module_case
testcase fault-chance-cm 120 fault_chance_cm_case 0 10 20 failslab fail_page_alloc
optional_testcase fault-chance-cm-order-1 60 fault_chance_cm_case 1 100 10 fail_page_alloc
testcase fault-traffic-slab 60 fault_traffic_case 0 10 8 failslab
testcase fault-traffic-pages 60 fault_traffic_case 0 10 8 fail_page_alloc
optional_testcase fault-traffic-order-1 60 fault_traffic_case 1 100 8 fail_page_alloc
testcase fault-teardown 90 fault_teardown_case 0 failslab fail_page_alloc
optional_testcase fault-teardown-order-1 90 fault_teardown_case 1 fail_page_alloc
testcase fault-short-send 60 fault_point_case short-send
testcase fault-full-send 60 fault_point_case full-send
testcase fault-late-work 60 fault_point_case late-work 20
testcase fault-lost-kick 60 fault_once_case lost-kick
testcase fault-bad-crc 60 fault_once_case bad-crc
