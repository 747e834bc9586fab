# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases that change an interface while a connection exists: MTU, addresses, the device below;
# suspend and resume. Also link-local addresses, which are valid on one interface only. The file
# 70-lifecycle.sh is about interfaces that go down or are deleted.

# link_local END: print the link-local address of the interface in namespace END (0 or 1). Print
# nothing while duplicate address detection runs.
link_local() {
	ip -n "${NS[$1]}" -6 -o addr show dev "${DEV[$1]}" scope link -tentative |
		awk '{ sub("/.*", "", $4); print $4; exit }'
}

has_link_local() {
	[ -n "$(link_local "$1")" ]
}

# A link-local address is complete only with the interface, ADDRESS%INTERFACE. A client connects to
# such an address of a server that listens on it, and of one that listens on the wildcard address.
link_local_case() {
	local i addr listen
	own_links
	for i in 0 1; do
		wait_until 10 "end $i has a link-local address" has_link_local "$i"
	done
	addr=$(link_local 1)
	for listen in "$addr%${DEV[1]}" ::; do
		new_port
		serve server "$PORT" kwconn -s -a "$listen" -p "$PORT"
		start client 0 kwconn -c -a "$addr%${DEV[0]}" -p "$PORT" -n 3
		reap 20 client
		stop server
		[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	done
}

# The interfaces' MTU changes under traffic (the case edge-mtu changes the MTU of the route).
mtu_change_case() {
	local mtu
	own_links
	traffic t
	for mtu in 9000 1280 1500; do
		set_mtu $mtu
		wait_until 60 "traffic flows with $mtu octets" flows
	done
	traffic_stop_good t
	still_works
}

# The server's address is deleted and another one is added. New connections use the new address.
# After the first address has been added again, the connection to it continues.
address_change_case() {
	local other=192.0.2.3
	own_links
	traffic t
	ip -n "${NS[1]}" addr del "${IP[1]}/24" dev "${DEV[1]}"
	ip -n "${NS[1]}" addr add "$other/24" dev "${DEV[1]}"
	rping_pair "$other"
	ip -n "${NS[1]}" addr del "$other/24" dev "${DEV[1]}"
	ip -n "${NS[1]}" addr add "${IP[1]}/24" dev "${DEV[1]}"
	wait_until 60 "traffic flows again" flows
	traffic_stop_good t
	still_works
}

bond_uses() {
	[ "$(in_ns "$1" cat "/sys/class/net/$NETDEV/bonding/active_slave")" = "$2" ]
}

# bond_moves DOWN UP: take the pair of interfaces DOWN down. Both bonds must change to the pair UP,
# and the traffic must continue over it.
bond_moves() {
	local i
	ip -n "${NS[0]}" link set "${1}0" down
	for i in 0 1; do
		wait_until 10 "end $i has moved to $2$i" bond_uses "$i" "$2$i"
	done
	wait_until 60 "traffic flows over $2" flows
	ip -n "${NS[0]}" link set "${1}0" up
}

bond_traffic() {
	local DEV=("$NETDEV" "$NETDEV")
	DATA_ADDR=${NETDEV_IP[1]} traffic t
	bond_moves kwy kwz
	bond_moves kwz kwy
	traffic_stop_good t
}

# An interface below a bond goes down, and the bond uses its other interface. The link is on the
# bond, so its connections continue.
bond_failover_case() {
	local i
	netdev_pair bond
	ip link add kwz0 netns "${NS[0]}" type veth peer name kwz1 netns "${NS[1]}"
	for i in 0 1; do
		ip -n "${NS[i]}" link set "kwz$i" master "$NETDEV"
		ip -n "${NS[i]}" link set "kwz$i" up
		wait_until 10 "end $i uses the first pair" bond_uses "$i" "kwy$i"
	done
	netdev_links
	bond_traffic
	netdevs_down
	ip -n "${NS[0]}" link del kwz0
}

# The kernel's test mode for suspend freezes all tasks and suspends all devices for some seconds.
# After that the connection continues. Both ends are suspended at the same time; a suspended peer
# alone would only be a peer that does not answer, which the case life-blackhole tests.
suspend_case() {
	local power=/sys/power seconds=2 slept=0
	[ -w $power/pm_test ] || skip "this kernel cannot test suspending"
	own_links
	traffic t
	echo $seconds >/sys/module/suspend/parameters/pm_test_delay
	echo devices >$power/pm_test
	suspended || slept=$?
	echo none >$power/pm_test
	[ "$slept" = 0 ] || fail "the machine was not suspended"
	wait_until 60 "traffic flows after that" flows
	traffic_stop_good t
	still_works
}

# suspended: suspend to idle, and check the kernel's count of suspends.
suspended() {
	local before after
	before=$(cat /sys/power/suspend_stats/success)
	echo freeze >/sys/power/state
	after=$(cat /sys/power/suspend_stats/success)
	[ "$after" -gt "$before" ]
}

# mac_load_case bind|request: the interface's hardware address changes all the time, while programs
# bind to its address, or while requests come in. For each, rdma_cm looks for the device.
# A core that reads the GIDs again at each change crashes here.
mac_load_case() {
	local i seconds before
	seconds=$(by_profile 10 20)
	own_links
	gid_has_interface 0 || skip "rdma_cm looks for the hardware address itself before Linux 6.6"
	before=$(gid_of 0)
	new_port
	if [ "$1" = bind ]; then
		for i in 1 2 3; do
			start "load$i" 0 kwbind -a "${IP[0]}" -t "$seconds"
		done
	else
		start load1 0 kwbind -s -a "${IP[0]}" -p "$PORT" -t "$seconds"
		wait_until 10 "the server listens" listens "${PIDS[load1]}" "$PORT"
		# Packets between the two namespaces would be lost: they have an old address.
		start load2 0 python3 "$HERE/churn.py" "${IP[0]}" "$PORT" 1000000 "${DEV[0]}"
	fi
	start macs 0 python3 "$HERE/macs.py" "${DEV[0]}" "$((seconds - 1))"
	reap 40 macs
	[ "$1" = bind ] || stop load2 KILL
	for i in 1 2 3; do
		[ -z "${PIDS[load$i]:-}" ] || reap 40 "load$i"
	done
	cat "$CASE_DIR"/{macs,load*}.log
	[ "$(sed -n 's/ changes//p' "$CASE_DIR/macs.log")" -ge "$(by_profile 500 50)" ] ||
		fail "the address has not changed often"
	[ "$(gid_of 0)" = "$before" ] || fail "the core has read the GIDs again"
	rm -f "$RUN/net" "$RUN"/link.*
	own_links
	rping_pair "${IP[1]}"
}

testcase change-link-local 60 link_local_case
testcase change-mtu 90 mtu_change_case
testcase change-address 90 address_change_case
testcase change-bond-failover 90 bond_failover_case
testcase change-suspend 90 suspend_case
testcase change-mac-bind 60 mac_load_case bind
testcase change-mac-request 60 mac_load_case request
