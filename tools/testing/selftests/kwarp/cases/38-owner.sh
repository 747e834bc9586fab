# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Tests of ownership: which control group is charged for memory, and to which program sockets, ports
# and a type of service belong.

CGROUPS=/sys/fs/cgroup
GROUP=kwarp-e2e

# ------------------------------------------------------------ control groups

# A prefix that runs a command in the control group GROUP. "ip netns exec" hides the mount of the
# control groups, so nsenter enters the mount namespace of process 1.
IN_GROUP=(nsenter --mount=/proc/1/ns/mnt sh -c "echo \$\$ >$CGROUPS/$GROUP/cgroup.procs && exec \"\$@\"" sh)

need_cgroup() {
	mountpoint -q "$CGROUPS" || mount -t cgroup2 none "$CGROUPS" || skip "there are no control groups"
	echo +memory >"$CGROUPS/cgroup.subtree_control" || skip "there is no memory controller"
	mkdir -p "$CGROUPS/$GROUP"
}

group_leave() {
	local pid
	while read -r pid; do echo "$pid" >"$CGROUPS/cgroup.procs"; done <"$CGROUPS/$GROUP/cgroup.procs"
	rmdir "$CGROUPS/$GROUP" || :
}

socket_pages() {
	awk '/^sock / { exit !($2 > 0) }' "$CGROUPS/$GROUP/memory.stat"
}

# TCP's memory of an accepted connection is charged to the control group of the program that
# accepts it.
memcg_accept_case() {
	skip_on siw "nobody answers for its connections"
	need_cgroup
	own_links
	netem delay 10ms
	data_serve t-server
	echo "${PIDS[t-server]}" >"$CGROUPS/$GROUP/cgroup.procs"
	data_client -n 0 -m $((64 << 10)) -S 70 -T 60
	start t-client 0 "${DATA_CLIENT[@]}"
	wait_until 10 "memory of the server's socket is charged" socket_pages
	traffic_stop_good t
	group_leave
	no_netem
}

# A control group has twice as much memory as memory.high allows, and nothing that can be reclaimed.
# Its program has connections pending when the network begins to work. Meanwhile a program outside of
# the group connects, and is not held up.
memcg_full_case() {
	local deaf begin took
	skip_on siw "nobody answers for its connections"
	need_cgroup
	own_links
	new_port
	deaf=$PORT
	start deaf 1 python3 "$HERE/mpa.py" deaf "${IP[1]}" "$deaf"
	wait_until 10 "the peer listens" listens "${PIDS[deaf]}" "$deaf"
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	start hog - "${IN_GROUP[@]}" python3 -c 'import signal
memory = b"x" * (32 << 20)
print("full", flush=True)
signal.pause()'
	wait_until 20 "memory is in use" has_line "$CASE_DIR/hog.log" full
	netem loss 100%
	start full - "${IN_GROUP[@]}" ip netns exec "${NS[0]}" kwpending -a "${IP[1]}" -p "$deaf" -n 200
	wait_until 60 "the program in the group connects" has_line "$CASE_DIR/full.log" pending
	echo 16M >"$CGROUPS/$GROUP/memory.high"
	no_netem
	wait_until 20 "TCP connects" has_line "$CASE_DIR/deaf.log" connected
	begin=${EPOCHREALTIME/./}
	n0 kwconn -c -a "${IP[1]}" -p "$PORT" -n 20
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	tell "20 connections took $took ms"
	[ $took -lt $((1000 * SLOWNESS)) ] || fail "20 connections took $took ms"
	stop full KILL
	stop hog KILL
	stop deaf KILL
	stop server
	group_leave
}

accounted_objects() {
	awk '$1 == "kmalloc-cg-2k" { print $2 }' /proc/slabinfo
}

# many_more BEFORE: true if at least 180 objects more than BEFORE are charged to control groups.
# There are 200 pending connections, and each has one object of this size (kmalloc-cg-2k) in its
# startup.
many_more() {
	[ $(($(accounted_objects) - $1)) -ge 180 ]
}

memcg_connect_case() {
	local before
	skip_on siw "nobody answers for its connections"
	[ -n "$(accounted_objects)" ] || skip "this kernel does not count accounted objects"
	own_links
	new_port
	# Release free objects that processors keep, because the kernel counts them as used.
	echo 1 >/sys/kernel/slab/kmalloc-cg-2k/shrink
	before=$(accounted_objects)
	netem loss 100%
	start client 0 kwconn -c -a "${IP[1]}" -p "$PORT" -n 200 -P 200 -T 100 -x
	wait_until 10 "pending connections are charged" many_more "$before"
	stop client KILL
	no_netem
}

group_memory() {
	awk '$1 == "kernel" { print $2 }' "$CGROUPS/$GROUP/memory.stat"
}

rings_charged() {
	[ "$(group_memory)" -ge "$1" ]
}

rings_given_back() {
	[ "$(group_memory)" -lt "$1" ]
}

# Inbound connections whose MPA Request has not arrived are charged to the program that listens.
# Each of these connections uses more than 2 KiB of kwarp's memory until its Request has arrived.
memcg_listen_case() {
	local count before
	count=$(by_profile 300 100)
	skip_on siw "nobody answers for its connections"
	need_cgroup
	[ -n "$(group_memory)" ] || skip "this kernel does not tell kernel memory of a group"
	own_links
	new_port
	serve server "$PORT" "${IN_GROUP[@]}" kwconn -s -a "${IP[1]}" -p "$PORT"
	before=$(group_memory)
	start crowd 0 python3 "$HERE/crowd.py" "${IP[1]}" "$PORT" "$count"
	wait_until 10 "connections that say nothing are charged" rings_charged $((before + count * 2048))
	note "$((($(group_memory) - before) / count)) octets for each"
	stop crowd KILL
	stop server KILL
	group_leave
}

# The memory of a ring, here a completion queue of 65,536 entries of 32 octets, is charged to the
# program that creates the queue.
memcg_rings_case() {
	local entries=65536 ring
	ring=$((entries * 32))
	skip_on siw "its queues are not charged"
	need_cgroup
	[ -n "$(group_memory)" ] || skip "this kernel does not tell kernel memory of a group"
	own_links
	start small 0 "${IN_GROUP[@]}" kwobjects -d "${LINK[0]}" -k
	holds_within 3 rings_charged "$ring" && fail "a program with small rings has $(group_memory) octets"
	start large 0 "${IN_GROUP[@]}" kwobjects -d "${LINK[0]}" -e $entries -k
	wait_until 10 "the large ring is charged" rings_charged "$ring"
	note "$(group_memory) octets with a ring of $ring"
	stop large KILL
	wait_until 10 "the large ring is given back" rings_given_back "$ring"
	stop small KILL
	group_leave
}

# AS_USER ID PROGRAM...: run the program as a user who may lock 64 KiB and has no capability.
AS_USER=(sh -c 'ulimit -l 64 && id=$1 && shift &&
	exec setpriv --reuid "$id" --regid "$id" --clear-groups --bounding-set=-all --inh-caps=-all "$@"' sh)

# user_memory_case KIND...: the objects of a user may hold 64 MiB, and what may be locked. The kernel
# has about that much memory less, not more. Another process of the user can make no object then,
# another user can.
user_memory_case() {
	local kind before lost most=$(((64 << 20) + (64 << 10)))
	skip_on siw "it counts no memory"
	own_links
	for kind; do
		[ "$KWARP_LINK $kind" != "kwarp-siw mw" ] || continue
		before=$(available)
		start "$kind" 0 "${AS_USER[@]}" 65534 kwhold -d "${LINK[0]}" -k $kind -m $most -w
		wait_until 60 "the program holds what it may of kind $kind" holding "$kind"
		lost=$((before - $(available)))
		note "$(head -n 1 "$CASE_DIR/$kind.log"); $lost KiB less are available"
		[ $lost -lt $(((most >> 10) + (48 << 10))) ] || fail "that is too much"
		start again 0 "${AS_USER[@]}" 65534 kwhold -d "${LINK[0]}" -k $kind
		reap 20 again
		start other 0 "${AS_USER[@]}" 65533 kwhold -d "${LINK[0]}" -k cq -m $most
		reap 20 other
		stop "$kind"
	done
}

# Print the available memory of the machine, KiB.
available() {
	awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo
}

holding() {
	! gone "${PIDS[$1]}" || fail "$(<"$CASE_DIR/$1.log")"
	grep -q ': holding$' "$CASE_DIR/$1.log"
}

user_rping_try() {
	new_port
	serve server "$PORT" "${AS_USER[@]}" 65534 rping -s -a "${IP[1]}" -p "$PORT" -C 10 -S 4096 -V
	try_client 5 siw_is_deaf "${AS_USER[@]}" 65534 rping -c -a "${IP[1]}" -p "$PORT" -C 10 -S 4096 -V
}

user_perf_try() {
	local tool=(ib_write_bw -R -F -s 4096 -n 100)
	new_port
	perf_trace
	serve server "$PORT" "${AS_USER[@]}" 65534 "${tool[@]}" -p "$PORT" -d "${LINK[1]}" --bind_source_ip "${IP[1]}"
	try_client 10 perf_stuck "${AS_USER[@]}" 65534 stdbuf -oL "${tool[@]}" -p "$PORT" -d "${LINK[0]}" "${IP[1]}"
}

# Programs of a user who may lock only 64 KiB work.
user_programs_case() {
	own_links
	pair_retried user_rping_try
	pair_retried user_perf_try
	perf_rows 100 4096
}

# The peer closes each connection after the MPA Request. After the first close the device connects
# once more, with revision 1 of MPA. The SYNs of both attempts must belong to the control group of
# the program.
reconnect_owner_case() {
	skip_on siw "it makes no second attempt"
	need_cgroup
	own_links
	new_port
	nsenter --net=/run/netns/"${NS[0]}" nft -f - <<-END || skip "nft cannot match control groups"
		table ip kwarp-e2e {
			chain out {
				type filter hook output priority 0
				tcp dport $PORT tcp flags & (syn|ack) == syn counter name all_syns
				tcp dport $PORT tcp flags & (syn|ack) == syn socket cgroupv2 level 1 "$GROUP" counter name own_syns
			}
			counter all_syns { }
			counter own_syns { }
		}
	END
	serve closer "$PORT" python3 -c "import socket
s = socket.create_server(('${IP[1]}', $PORT))
while True:
    c = s.accept()[0]
    c.recv(20)
    c.close()"
	start client 0 "${IN_GROUP[@]}" kwconn -c -a "${IP[1]}" -p "$PORT" -n 1 -x -T 20
	reap 20 client
	nsenter --net=/run/netns/"${NS[0]}" nft list counters table ip kwarp-e2e
	[ "$(syns all_syns)" = 2 ] || fail "there were not two attempts"
	[ "$(syns own_syns)" = 2 ] || fail "an attempt was not the program's"
	nsenter --net=/run/netns/"${NS[0]}" nft delete table ip kwarp-e2e
	stop closer KILL
	group_leave
}

syns() {
	nsenter --net=/run/netns/"${NS[0]}" nft list counter ip kwarp-e2e "$1" |
		sed -n 's/.*packets \([0-9]*\) .*/\1/p'
}

# A BPF program of the control group puts each established connection and each listener into a
# sockmap, which takes over the socket's callbacks. kwarp has already set its own callbacks and
# sk_user_data in its outgoing connections and listeners, so the BPF program cannot take these.
# kwarp must refuse an inbound connection whose socket the BPF program has taken first.
sockmap_case() {
	skip_on siw "it takes the socket away from its owner"
	need_cgroup
	own_links
	start sockmap 0 nsenter --mount=/proc/1/ns/mnt python3 "$HERE/sockmap.py" "$CGROUPS/$GROUP"
	wait_until 10 "the program is attached" attached_or_gone
	! gone "${PIDS[sockmap]}" || skip "this kernel does not take the program"
	new_port
	start server 1 "${IN_GROUP[@]}" kwconn -s -a "${IP[1]}" -p "$PORT"
	wait_until 15 "the server listens" listens "$PID" "$PORT"
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n 2 -x -T 20
	stop server
	serve other "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	start client 0 "${IN_GROUP[@]}" kwconn -c -a "${IP[1]}" -p "$PORT" -n 2
	reap 20 client
	stop other
	stop sockmap
	group_leave
}

attached_or_gone() {
	grep -q attached "$CASE_DIR/sockmap.log" || gone "${PIDS[sockmap]}"
}

# ------------------------------------------------------------ ports and service

# A siw link on the same network device already listens on the port. The call to listen fails, and
# the kernel log gives the reason. After the siw link is deleted, kwarp can listen on a port.
shared_netdev_case() {
	[ "$KWARP_LINK" = kwarp ] || skip "it is about both types"
	load_type siw
	own_links
	del_link 1
	check "adding a siw link" n1 rdma link add kwsiw type siw netdev "${DEV[1]}"
	add_link 1 kwarp
	new_port
	check_fails 2 "listening on both" n1 timeout 10 kwconn -s -a 0.0.0.0 -p "$PORT"
	dmesg | tail -n 20 | grep -q "another RDMA link of ${DEV[1]}" || fail "the log does not say why"
	check "deleting the siw link" rdma link delete kwsiw
	works_to_server
}

# A program sets a type of service for a listener of both address families. The packets of its IPv4
# connections must have this type of service, too.
tos_case() {
	local file=$CASE_DIR/wire.pcap
	own_links
	new_port
	begin_capture "$file"
	SERVER_END=1 serve server "$PORT" kwconn -s -a :: -p "$PORT" -t 32
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n 2
	client kwconn -c -a "${IP6[1]}" -p "$PORT" -n 2
	stop server
	end_capture
	of_service "$file" 'ip and ip[1] & 0xfc == 32' || fail "no IPv4 packet has the type of service"
	! of_service "$file" 'ip and ip[1] & 0xfc != 32' || fail "an IPv4 packet has another type of service"
	of_service "$file" 'ip6 and ip6[0:2] & 0xfc0 == 0x200' || fail "no IPv6 packet has it"
}

# of_service FILE FILTER: true if the capture has packets with data of the server that match the
# filter.
of_service() {
	tcpdump -nr "$1" "($2) and src port $PORT" 2>/dev/null | grep -q 'length [1-9]'
}

testcase owner-memory-accept 90 memcg_accept_case
testcase owner-memory-connect 90 memcg_connect_case
testcase owner-memory-full 120 memcg_full_case
testcase owner-memory-listen 60 memcg_listen_case
testcase owner-memory-rings 90 memcg_rings_case
testcase owner-memory-user 90 user_memory_case cq srq qp
testcase owner-memory-small 90 user_memory_case pd mw
testcase owner-memory-left 90 user_memory_case left
testcase owner-memory-programs 60 user_programs_case
testcase owner-sockmap 90 sockmap_case
testcase owner-reconnect 90 reconnect_owner_case
testcase owner-port 90 shared_netdev_case
testcase owner-tos 90 tos_case
