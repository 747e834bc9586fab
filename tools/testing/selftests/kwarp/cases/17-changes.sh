# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Interfaces that change under a connection: size, address, the path below; the machine that
# sleeps. And addresses that hold on one interface only. What happens when an interface goes down,
# or away, is in 70-lifecycle.sh.

# link_local END: that address of the interface, once no other machine has it.
link_local() {
	ip -n "${NS[$1]}" -6 -o addr show dev "${DEV[$1]}" scope link -tentative |
		awk '{ sub("/.*", "", $4); print $4; exit }'
}

has_link_local() {
	[ -n "$(link_local "$1")" ]
}

# Such an address says nothing without the interface, also where the server listens on any.
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

# FPDUs follow the path's size (edge-mtu looks at them); here the interfaces change.
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

# The server's address goes away and another one comes, which is good for new connections; when
# the first one is back the old connection goes on.
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

# bond_moves DOWN UP: both ends go over to the other pair, and traffic goes on there.
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

# The interface below a bond fails: kwarp's, the bond, stays.
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

# All tasks are frozen and all devices suspended, for the seconds of the kernel's own test of
# that, and woken again: a connection goes on. Both ends sleep; a peer that sleeps alone is one that
# does not answer (life-blackhole).
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

# suspended: by suspend-to-idle, and the kernel says that it was.
suspended() {
	local before after
	before=$(cat /sys/power/suspend_stats/success)
	echo freeze >/sys/power/state
	after=$(cat /sys/power/suspend_stats/success)
	[ "$after" -gt "$before" ]
}

testcase change-link-local 60 link_local_case
testcase change-mtu 90 mtu_change_case
testcase change-address 90 address_change_case
testcase change-bond-failover 90 bond_failover_case
testcase change-suspend 90 suspend_case
