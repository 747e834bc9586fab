# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Links, connections and objects are made and destroyed many times; the kernel's memory must not
# grow. Also connections that are refused, because no program listens or no machine has the address.

link_cycles_case() {
	local i cycles
	cycles=$(by_profile 100 10)
	load_type "$KWARP_LINK"
	own_links
	del_link 0
	for ((i = 0; i < cycles; i++)); do
		n0 rdma link add "${LINK[0]}" type "$KWARP_LINK" netdev "${DEV[0]}" || fail "adding failed in cycle $i"
		rdma link delete "${LINK[0]}" || fail "deleting failed in cycle $i"
	done
	own_links
	still_works
}

# A link is added and deleted again and again while two programs try to open its device.
open_races_case() {
	local i cycles
	cycles=$(by_profile 40 4)
	own_links
	for i in 1 2; do
		start "opener$i" 0 sh -c "while :; do ibv_devinfo -v -d ${LINK[0]}; done"
	done
	del_link 0
	for ((i = 0; i < cycles; i++)); do
		n0 rdma link add "${LINK[0]}" type "$KWARP_LINK" netdev "${DEV[0]}" || fail "adding failed in cycle $i"
		sleep "0.$((RANDOM % 10))"
		timeout 60 rdma link delete "${LINK[0]}" || fail "deleting failed in cycle $i"
	done
	stop opener1 KILL
	stop opener2 KILL
	grep -q 'hca_id' "$CASE_DIR/opener1.log" || fail "no program has opened the device"
	grep -c 'Failed to open' "$CASE_DIR/opener1.log" "$CASE_DIR/opener2.log" || :
	own_links
	still_works
}

# Print the kernel's memory in KiB that cannot be reclaimed: slabs and vmalloc. KASAN keeps freed
# objects until their slab is shrunk.
kernel_memory() {
	local shrink
	echo 3 >/proc/sys/vm/drop_caches
	if [ "$KWARP_PROFILE" = debug ]; then
		for shrink in /sys/kernel/slab/kmalloc-*/shrink; do
			echo 1 >"$shrink"
		done 2>/dev/null
	fi
	awk '/^(SUnreclaim|VmallocUsed):/ { sum += $2 } END { print sum }' /proc/meminfo
}

memory_within() {
	GROWN=$(($(kernel_memory) - $1))
	[ "$GROWN" -le "$2" ]
}

# no_growth WHAT COMMAND...: run COMMAND twice with a number of cycles as its last argument. The
# first run fills the kernel's caches, for which 250 cycles are not enough. In the second run the
# kernel's memory may grow by half a KiB for each cycle on a stock kernel; a lost queue pair with
# its queues and socket would be several KiB. On a debug kernel the bound is larger, because the
# memory of the checkers grows, too; there kmemleak finds lost objects at the end of the run.
no_growth() {
	local what=$1 cycles before bound
	shift
	cycles=$(by_profile 1000 40)
	bound=$((cycles * $(by_profile 512 32768) / 1024))
	"$@" "$cycles"
	before=$(kernel_memory)
	"$@" "$cycles"
	holds_within 30 memory_within "$before" "$bound" ||
		fail "$cycles $what left $GROWN KiB of kernel memory, more than $bound"
	tell "$cycles $what: kernel memory grew by $GROWN KiB, at most $bound"
}

connect_cycles() {
	client kwconn -c -a "${IP[1]}" -p "$PORT" -P 4 -n "$1"
	expect_in client " $1 echoed"
}

rejected_cycles() {
	client kwconn -c -x -a "${IP[1]}" -p "$PORT" -P 4 -n "$1"
	expect_in client " $1 refused"
}

object_cycles() {
	client kwobjects -d "${LINK[0]}" -n "$1"
}

# Allow no sockets in TIME_WAIT, because their memory, which does not belong to kwarp, would be
# counted. The function "links", which the next case calls, restores the limit.
no_time_wait() {
	local i
	for i in 0 1; do
		[ -s "$RUN/time-wait.$i" ] ||
			mark "$RUN/time-wait.$i" "$(in_ns "$i" sysctl -n net.ipv4.tcp_max_tw_buckets)"
		in_ns "$i" sysctl -qw net.ipv4.tcp_max_tw_buckets=0
	done
}

connect_cycles_case() {
	own_links
	no_time_wait
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	no_growth connections connect_cycles
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	expect_in server " $(by_profile 2000 80) echoed"
}

# The responder rejects each connection, and never makes a queue pair.
rejected_cycles_case() {
	own_links
	no_time_wait
	new_port
	serve server "$PORT" kwconn -s -r -a "${IP[1]}" -p "$PORT"
	no_growth "rejected connections" rejected_cycles
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
}

# Regions, windows and queues of all kinds are made, and destroyed by the program or by the
# kernel.
object_cycles_case() {
	own_links
	no_growth "sets of objects" object_cycles
}

# refused_case ADDRESS SECONDS: connections to ADDRESS must be refused within SECONDS. If no program
# listens there, that happens at once; if no machine has the address, when TCP or ARP gives up.
refused_case() {
	own_links
	new_port
	client kwconn -c -x -a "$1" -p "$PORT" -n 5 -P 5 -T "$2"
	expect_in client ' 5 refused'
}

testcase life-link-cycles 120 link_cycles_case
testcase life-open-races 120 open_races_case
testcase life-connect-cycles 120 connect_cycles_case
testcase life-rejected-cycles 120 rejected_cycles_case
testcase life-object-cycles 120 object_cycles_case
testcase life-refused-port 30 refused_case "${IP[1]}" 10
testcase life-refused-host 60 refused_case 192.0.2.77 60
