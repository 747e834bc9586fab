# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases in which programs are killed, peers vanish, or links, interfaces, namespaces and modules are
# removed under traffic. Each case ends with a check that links work.

# ------------------------------------------------------------ endless traffic

# traffic NAME: run kwdata, which makes random operations and verifies the data, between the two
# ends until it is stopped. The programs are named NAME-server and NAME-client.
traffic() {
	data_serve "$1-server"
	data_client -n 0 -m $((64 << 10)) -S 70 -T 60
	start "$1-client" 0 "${DATA_CLIENT[@]}"
	wait_until 20 "$1 flows" flows
}

# True if end 1 receives more than 20,000 octets during a short pause. So many octets are data, and
# not only startup frames or acknowledgements.
flows() {
	local before
	before=$(rx_octets)
	pause
	[ $(($(rx_octets) - before)) -gt 20000 ]
}

# Print how many octets end 1 has received. The number is in /proc/PID/net/dev of any process at end
# 1, so no program has to be started, which would take longer.
rx_octets() {
	local pid lines line
	for pid in "${PIDS[@]}"; do
		mapfile -t lines <"/proc/$pid/net/dev" || continue
		for line in "${lines[@]}"; do
			[[ ! $line =~ ^\ *${DEV[1]}:\ *([0-9]+) ]] || { echo "${BASH_REMATCH[1]}"; return; }
		done
	done 2>/dev/null
	n1 cat "/sys/class/net/${DEV[1]}/statistics/rx_bytes"
}

# traffic_stop_good NAME: end the traffic of this name. Both programs finish the operations that
# they have begun, and must succeed.
traffic_stop_good() {
	kill -TERM "${PIDS[$1-client]}"
	reap 60 "$1-client"
	reap 30 "$1-server"
}

# traffic_lost NAME client|server...: wait for these programs of the traffic NAME. They must end
# within 30 s with the status for a lost connection.
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
	[ "$KWARP_PROFILE" = debug ] || rping_pair "${IP6[1]}"
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

# All packets are lost for some seconds. TCP retransmits, and the connection continues.
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

# An interface goes down and comes up again before TCP gives up. The connection continues.
link_down_case() {
	local end=$1
	own_links
	traffic t
	ip_at "$end" link set "${DEV[end]}" down
	holds_within 3 false || :
	ip_at "$end" link set "${DEV[end]}" up
	ip_at "$end" addr replace "${IP6[end]}/64" dev "${DEV[end]}" nodad
	wait_until 10 "the link is active again" link_active "$end"
	wait_until 60 "traffic flows again" flows
	traffic_stop_good t
	still_works
}

# All packets are lost, and then both programs are killed. Their RDMA objects must be gone within
# 20 s, although neither end learns that the other one has closed.
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
	check "deleting the link" at "$end" timeout 40 rdma link delete "${LINK[end]}"
	traffic_lost t client server
	! link_exists "$end" || fail "the link is still there"
	own_links
	still_works
}

# The network device of the link is deleted under traffic. Both links end with it, because it is one
# end of a veth pair.
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

# The interface's hardware address changes, and the connection continues. The GID changes, too,
# unless the core has the interface in the GID's entry (Linux 6.6 and later).
mac_change_case() {
	local mac=02:00:00:00:$((RANDOM % 90 + 10)):$((RANDOM % 90 + 10)) before
	own_links
	before=$(gid_of 0)
	traffic t
	check "changing the address" ip_at 0 link set dev "${DEV[0]}" address "$mac"
	if gid_has_interface 0; then
		holds_within 1 false || :
		[ "$(gid_of 0)" = "$before" ] || fail "the GID has changed"
	else
		wait_until 5 "the GID is the new address" gid_is 0 "$mac"
	fi
	# Flushing may fail: under traffic, entries are made again while others are flushed. The
	# new entries have the new address.
	n1 ip neigh flush dev "${DEV[1]}" || note "the neighbours came back"
	wait_until 20 "the namespaces reach each other" neighbours_known
	wait_until 60 "traffic flows on" flows
	traffic_stop_good t
	still_works
}

# Print the first six octets of the link's GID, without colons.
gid_of() {
	local gid
	gid=$(<"/sys/class/infiniband/${LINK[$1]}/ports/1/gids/0")
	gid=${gid//:/}
	echo "${gid:0:12}"
}

gid_has_interface() {
	cat "/sys/class/infiniband/${LINK[$1]}/ports/1/gid_attrs/ndevs/0" 2>/dev/null
}

gid_is() {
	[ "$(gid_of "$1")" = "${2//:/}" ]
}

# The device has no firmware. It reports the module's version as the firmware's.
version_case() {
	skip_on siw "it has a version of its own"
	own_links
	client ibv_devinfo -d "${LINK[0]}"
	expect_in client "fw_ver:[[:space:]]+$(<"/sys/module/$KWARP_MODULE/version")\$"
}

# Wait until all deleted namespaces have ended: "ip netns del" returns earlier. The kernel ends
# namespaces in the order of their deletion, so this function makes and deletes another one, and
# waits for its end.
namespaces_end() {
	ip netns add kwarp-probe
	ip link add kwprobe type veth peer name kwprobe1 netns kwarp-probe
	ip netns del kwarp-probe
	wait_until 30 "ended namespaces are gone" no_probe
}

no_probe() {
	! [ -e /sys/class/net/kwprobe ]
}

# A namespace is deleted, with its interface and link, while data flows.
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

# The interface moves to another namespace, and the old namespace is deleted while the device
# still has connections there.
netns_moved_case() {
	local i cycles
	cycles=$(by_profile 2 1)
	for ((i = 0; i < cycles; i++)); do
		own_links
		traffic t
		rm -f "$RUN/net" "$RUN"/link.*
		check "moving the interface" ip_at 1 link set "${DEV[1]}" netns 1
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

# Links are added and deleted while their interface moves between namespaces.
netns_races_case() {
	local i cycles
	cycles=$(by_profile 12 4)
	own_links
	del_link 1
	for ((i = 0; i < cycles; i++)); do
		n1 rdma link add "${LINK[1]}" type "$KWARP_LINK" netdev "${DEV[1]}" &
		ip_at 1 link set "${DEV[1]}" netns 1
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
	check "unloading the module" timeout 40 rmmod "$KWARP_MODULE"
	wait_until 5 "the links are gone" links_gone
	rm -f "$RUN"/link.*
	own_links
	still_works
}

# Check that rmmod fails. The caller has started a program that keeps the module in use, because it
# has a doorbell file open, a ring mapped or, if it uses siw's provider (libsiw), the device open.
rmmod_refused() {
	! timeout 60 rmmod "$KWARP_MODULE" 2>"$CASE_DIR/rmmod.log" || fail "the module went"
	expect_in rmmod 'in use|busy|temporarily unavailable'
}

# Under traffic the module cannot be unloaded, and the traffic continues. After the links are
# deleted, the programs get an event and end, and the module can be unloaded. (With lockdep, a
# module that has set the names of a socket's locks cannot be unloaded while the socket exists.)
rmmod_traffic_case() {
	skip_on siw "its programs have no doorbell"
	own_links
	traffic t
	rmmod_refused
	wait_until 10 "traffic flows after the refused rmmod" flows
	both_ends del_link
	traffic_lost t client server
	wait_until 20 "the module is unloaded" module_gone
	own_links
	still_works
}

# in_background NAME COMMAND...: start the command. Its output is in the logs, and no check looks
# at it.
in_background() {
	start "$1" - timeout 60 "${@:2}"
}

# The module is unloaded while a link, or an interface, or both are deleted. Each of these commands
# (rmmod, deleting a link, deleting an interface) unregisters RDMA devices in another way. The
# module may be gone only after all devices have been unregistered.
rmmod_races_case() {
	local i cycles
	skip_on siw "it is about the module of kwarp"
	cycles=$(by_profile 12 4)
	for ((i = 0; i < cycles; i++)); do
		own_links
		rm -f "$RUN"/link.*
		[ $((i % 3)) = 1 ] || in_background deleter rdma link delete "${LINK[0]}"
		if [ $((i % 3)) != 0 ]; then
			rm -f "$RUN/net"
			in_background unplugger ip -n "${NS[1]}" link del "${DEV[1]}"
		fi
		[ $((i % 4)) -lt 2 ] || pause
		wait_until 20 "the module is unloaded in cycle $i" module_gone
		# The command may fail, because the link may have been deleted with the module.
		[ $((i % 3)) = 1 ] || ended 20 deleter
		[ $((i % 3)) = 0 ] || reap 20 unplugger
		links_gone || fail "there are links without a module in cycle $i"
	done
	own_links
	still_works
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
testcase life-rmmod-races 120 rmmod_races_case
