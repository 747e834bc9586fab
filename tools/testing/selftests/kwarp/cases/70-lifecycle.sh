# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Ends of all kinds: killed programs, vanishing peers, links and modules taken away
# under traffic, many cycles. Each case ends with a working pair of links.

# ------------------------------------------------------------ endless traffic

# traffic NAME: kwdata between the two ends until stopped, as NAME-server and NAME-client.
traffic() {
	data_serve "$1-server"
	data_client -n 0 -m $((64 << 10)) -S 70 -T 60
	start "$1-client" 0 "${DATA_CLIENT[@]}"
	wait_until 20 "$1 flows" flows
}

# More than start-ups and acknowledgements has arrived since the last look.
flows() {
	local before
	before=$(rx_octets)
	pause
	[ $(($(rx_octets) - before)) -gt 20000 ]
}

rx_octets() {
	n1 cat "/sys/class/net/${DEV[1]}/statistics/rx_bytes"
}

# Both ends finish what they have begun and are content.
traffic_stop_good() {
	kill -TERM "${PIDS[$1-client]}"
	reap 60 "$1-client"
	reap 30 "$1-server"
}

# traffic_lost NAME END...: these processes end soon, because the connection is gone.
traffic_lost() {
	local name=$1 end
	shift
	for end; do
		ended 30 "$name-$end"
		[ "$STATUS" = 3 ] || fail "$name-$end ended with status $STATUS, not because of a lost connection"
	done
}

still_works() {
	note "and now it works"
	rping_pair "${IP[1]}"
	rping_pair "${IP6[1]}"
}

# --------------------------------------------------------------------- cases

killed_case() {
	local victim=$1 other=$2
	own_links
	traffic t
	stop "t-$victim" KILL
	traffic_lost t "$other"
	still_works
}

# Nothing gets through for some seconds: TCP carries the connection over it.
blackhole_case() {
	own_links
	traffic t
	netem loss 100%
	holds_within 3 false || :
	no_netem
	wait_until 60 "traffic flows again" flows
	traffic_stop_good t
	still_works
}

# The peer's interface goes down and comes back. The connection may survive or be
# lost; the programs must learn of it, and new connections must work.
link_down_case() {
	local end=$1
	own_links
	traffic t
	ip -n "${NS[end]}" link set "${DEV[end]}" down
	holds_within 3 false || :
	ip -n "${NS[end]}" link set "${DEV[end]}" up
	ip -n "${NS[end]}" addr replace "${IP6[end]}/64" dev "${DEV[end]}" nodad
	wait_until 10 "the link is active again" link_active "$end"
	kill -TERM "${PIDS[t-client]}"
	either_end t-client
	either_end t-server
	still_works
}

either_end() {
	ended 90 "$1"
	[[ $STATUS = [03] ]] || fail "$1 ended with status $STATUS"
}

# The peer is gone for good, and both programs are killed: nothing may hang.
dead_peer_case() {
	own_links
	traffic t
	netem loss 100%
	stop t-client KILL
	stop t-server KILL
	holds_within 20 no_objects || fail "objects are left: $OBJECTS"
	no_netem
	still_works
}

link_delete_case() {
	local end=$1
	own_links
	traffic t
	rm -f "$RUN/link.$end"
	check "deleting the link" timeout 40 rdma link delete "${LINK[end]}"
	traffic_lost t client server
	! link_exists "$end" || fail "the link is still there"
	own_links
	still_works
}

# The interface under the link is unregistered.
netdev_delete_case() {
	own_links
	traffic t
	rm -f "$RUN/net" "$RUN"/link.*
	check "deleting the interface" timeout 40 ip -n "${NS[0]}" link del "${DEV[0]}"
	traffic_lost t client server
	wait_until 10 "the links are gone" links_gone
	own_links
	still_works
}

links_gone() {
	! link_exists 0 && ! link_exists 1
}

# The interface's address changes: so does the GID, and the link goes on.
mac_change_case() {
	local mac=02:00:00:00:$((RANDOM % 90 + 10)):$((RANDOM % 90 + 10))
	own_links
	traffic t
	check "changing the address" ip -n "${NS[0]}" link set dev "${DEV[0]}" address "$mac"
	wait_until 5 "the GID is the new address" gid_is 0 "$mac"
	n1 ip neigh flush dev "${DEV[1]}"
	wait_until 20 "the namespaces reach each other" neighbours_known
	wait_until 60 "traffic flows on" flows
	traffic_stop_good t
	still_works
}

gid_is() {
	local gid
	gid=$(<"/sys/class/infiniband/${LINK[$1]}/ports/1/gids/0")
	gid=${gid//:/}
	[ "${gid:0:12}" = "${2//:/}" ]
}

# There is no firmware: its version is the module's.
version_case() {
	skip_on siw "it has a version of its own"
	own_links
	client ibv_devinfo -d "${LINK[0]}"
	expect_in client "fw_ver:[[:space:]]+$(<"/sys/module/$KWARP_LINK/version")\$"
}

# ip netns del only begins it. A namespace after it, which takes its interface with it,
# ends after it.
namespaces_end() {
	ip netns add kwarp-probe
	ip link add kwprobe type veth peer name kwprobe1 netns kwarp-probe
	ip netns del kwarp-probe
	wait_until 30 "ended namespaces are gone" no_probe
}

no_probe() {
	! [ -e /sys/class/net/kwprobe ]
}

# A namespace ends with all that is in it, while data flows.
netns_delete_case() {
	own_links
	traffic t
	rm -f "$RUN/net" "$RUN"/link.*
	kill_in_ns 1
	check "deleting the namespace" ip netns del "${NS[1]}"
	ended 30 t-server
	traffic_lost t client
	namespaces_end
	wait_until 10 "the links are gone" links_gone
	own_links
	still_works
}

# The interface leaves the namespace, which ends at once: the device still has
# connections there.
netns_moved_case() {
	local i cycles
	cycles=$(by_profile 4 2)
	for ((i = 0; i < cycles; i++)); do
		own_links
		traffic t
		rm -f "$RUN/net" "$RUN"/link.*
		check "moving the interface" ip -n "${NS[1]}" link set "${DEV[1]}" netns 1
		kill_in_ns 1
		check "deleting the namespace" ip netns del "${NS[1]}"
		ended 30 t-server
		namespaces_end
		wait_until 10 "the link is gone" link_gone 1
		ip link del "${DEV[1]}"
		traffic_lost t client
	done
	own_links
	still_works
}

link_gone() {
	! link_exists "$1"
}

# Links are added and deleted while their interface goes to and fro.
netns_races_case() {
	local i cycles
	cycles=$(by_profile 12 4)
	own_links
	del_link 1
	for ((i = 0; i < cycles; i++)); do
		n1 rdma link add "${LINK[1]}" type "$KWARP_LINK" netdev "${DEV[1]}" &
		ip -n "${NS[1]}" link set "${DEV[1]}" netns 1
		wait $! || :
		[ $((i % 2)) = 0 ] || timeout 20 rdma link delete "${LINK[1]}" 2>/dev/null || :
		ip link set "${DEV[1]}" netns "${NS[1]}"
		wait_until 10 "the link of cycle $i is gone" link_gone 1
	done
	rm -f "$RUN/net" "$RUN"/link.*
	own_links
	still_works
}

rmmod_idle_case() {
	own_links
	check "unloading the module" timeout 40 rmmod "$KWARP_LINK"
	wait_until 5 "the links are gone" links_gone
	rm -f "$RUN"/link.*
	own_links
	still_works
}

# With open devices the module is in use: it must stay, and so must the traffic. A
# module that can go must end the traffic.
rmmod_traffic_case() {
	own_links
	traffic t
	if timeout 60 rmmod "$KWARP_LINK" 2>"$CASE_DIR/rmmod.log"; then
		rm -f "$RUN"/link.*
		traffic_lost t client server
	else
		expect_in rmmod 'in use|busy|temporarily unavailable'
		wait_until 10 "traffic flows after the refused rmmod" flows
		traffic_stop_good t
	fi
	own_links
	still_works
}

link_cycles_case() {
	local i cycles
	cycles=$(by_profile 200 10)
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

# Memory that the kernel cannot take back, KiB: slabs and vmalloc.
kernel_memory() {
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^(SUnreclaim|VmallocUsed):/ { sum += $2 } END { print sum }' /proc/meminfo
}

memory_within() {
	GROWN=$(($(kernel_memory) - $1))
	[ "$GROWN" -le "$2" ]
}

connect_cycles() {
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n "$1" -P 4
	expect_in client " $1 echoed"
}

# A queue pair, its queues and its socket are several KiB: one that leaks in each
# cycle is seen. The first cycles fill caches; TIME_WAIT is not ours and kept out.
connect_cycles_case() {
	local cycles before bound
	cycles=$(by_profile 500 50)
	# A debug kernel keeps freed objects in quarantine; its leak detector looks instead.
	bound=$(by_profile $((cycles)) 1000000)
	own_links
	n0 sysctl -qw net.ipv4.tcp_max_tw_buckets=0
	n1 sysctl -qw net.ipv4.tcp_max_tw_buckets=0
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	connect_cycles "$((cycles / 2))"
	before=$(kernel_memory)
	connect_cycles "$cycles"
	holds_within 30 memory_within "$before" "$bound" ||
		fail "$cycles connections left $GROWN KiB of kernel memory, more than $bound"
	note "memory grew by $GROWN KiB in $cycles cycles"
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	expect_in server " $((cycles + cycles / 2)) echoed"
}

# Nobody listens: refused at once. Nobody is there: refused when TCP or ARP gives up.
refused_case() {
	own_links
	new_port
	client kwconn -c -x -a "$1" -p "$PORT" -n 5 -P 5 -T "$2"
	expect_in client ' 5 refused'
}

testcase life-kill-client 60 killed_case client server
testcase life-kill-server 60 killed_case server client
testcase life-blackhole 60 blackhole_case
testcase life-link-down-peer 90 link_down_case 1
testcase life-link-down-local 90 link_down_case 0
testcase life-dead-peer 60 dead_peer_case
testcase life-delete-link-client 60 link_delete_case 0
testcase life-delete-link-server 60 link_delete_case 1
testcase life-delete-netdev 60 netdev_delete_case
testcase life-version 30 version_case
testcase life-mac-change 90 mac_change_case
testcase life-netns-delete 60 netns_delete_case
testcase life-netns-moved 120 netns_moved_case
testcase life-netns-races 90 netns_races_case
testcase life-rmmod-idle 60 rmmod_idle_case
testcase life-rmmod-traffic 90 rmmod_traffic_case
testcase life-link-cycles 120 link_cycles_case
testcase life-connect-cycles 120 connect_cycles_case
testcase life-refused-port 30 refused_case "${IP[1]}" 10
testcase life-refused-host 60 refused_case 192.0.2.77 60
