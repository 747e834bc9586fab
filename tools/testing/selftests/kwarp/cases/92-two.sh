# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases that need two machines (tools/testing/guest/two.sh): one of them ends, the link is
# unplugged, the module is reloaded at one end. Other cases that run on two machines are listed in
# two-set.sh. END is 0 or 1; the machines of tools/testing/guest/two.sh have the numbers 1 and 2.

# Seconds without an answer after which a connection ends, idle or not, in cases that wait for that.
two_patience=10

# The ends have different MTUs: 9000 at this end, 1500 at the other.
two_mtu_case() {
	own_links
	ip_at "$1" link set "${DEV[$1]}" mtu 9000
	rping_pair "${IP[1]}"
	data_pair -n 800 -m $((1 << 20)) -S 21
	ip_at "$1" link set "${DEV[$1]}" mtu 1500
}

two_connect_case() {
	own_links
	both_roles connect "${IP[@]}"
	both_roles connect6 "${IP6[@]}"
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n 200
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
}

# both_since VERSION: true if the kernels of both ends have this version or a later one.
both_since() {
	local release
	release=$(each_machine uname -r | sort -V | head -n 1)
	[ "$(printf '%s\n' "$1" "$release" | sort -V | head -n 1)" = "$1" ]
}

# two_over_case TYPE: verified data over links on network devices of this type, on the link between
# the machines.
two_over_case() {
	[ "$1" != wireguard ] || both_since 6.6 ||
		skip "rdma_cm of a kernel before 6.6 finds no device without a hardware address"
	netdev_pair "$1"
	netdev_links
	over_netdev
	DATA_ADDR=${NETDEV_IP[1]} data_pair -n 400 -m $((1 << 20)) -S 22
	netdevs_down
}

# IPsec in transport mode. Nothing of the data is visible on the link, and packets that come without
# IPsec are dropped.
ipsec_case() {
	own_links
	ipsec_up
	start tcpdump 1 tcpdump -i "${DEV[1]}" -n -l tcp
	wait_until 20 "tcpdump listens" has_line "$CASE_DIR/tcpdump.log" 'listening on'
	rping_pair "${IP[1]}"
	data_pair -n 300 -m $((256 << 10)) -S 23
	stop tcpdump INT
	expect_in tcpdump '^0 packets captured'
	ipsec_end_down 0
	new_port
	serve server "$PORT" rping -s -a "${IP[1]}" -p "$PORT" -C 1
	check_fails "124 255 1" "connecting without IPsec" n0 timeout 10 rping -c -a "${IP[1]}" -p "$PORT" -C 1
	stop server KILL
	ipsec_end_down 1
	still_works
}

# Packets do not arrive any more, and then arrive again. The port of the unplugged link is not
# active meanwhile. The connection continues.
two_unplug_case() {
	local end=$1
	own_links
	traffic t
	unplug "$end"
	wait_until 10 "the port is down" port_is "${LINK[end]}" DOWN "$end"
	# Not longer on a slow host: TCP doubles its waits, and the traffic has to go on in 30 s.
	sleep 3
	plug
	wait_until 10 "the port is active" port_is "${LINK[end]}" ACTIVE "$end"
	wait_until 60 "traffic flows again" flows
	traffic_stop_good t
	still_works
}

# The link stays unplugged for longer than kwarp waits: both ends lose the connection.
two_unplug_long_case() {
	own_links
	knob keepalive $two_patience
	traffic t
	unplug 1
	traffic_lost t client server
	plug
	own_links
	still_works
}

# two_reload_case END: the link at this end is deleted under traffic, and the module there is
# unloaded and loaded again. The other end keeps its link.
two_reload_case() {
	local end=$1
	own_links
	traffic t
	at "$end" timeout 40 rdma link delete "${LINK[end]}" || fail "deleting the link"
	unmark "$RUN/link.$end"
	traffic_lost t client server
	check "unloading the module" at "$end" timeout 40 rmmod "$KWARP_MODULE"
	link_exists "$((1 - end))" || fail "the other end has lost its link"
	own_links
	still_works
}

# The power of the other machine fails under traffic. This end loses the connection by its timers,
# destroys everything, and works with the machine after that has been booted again.
two_power_case() {
	own_links
	knob keepalive $two_patience
	traffic t
	ask_host "peer kill"
	traffic_lost t client
	ended 30 t-server
	at 0 rdma resource show qp
	[ "$(rdma resource show qp link "${LINK[0]}" | grep -c lqpn)" = 0 ] || fail "queue pairs are left"
	two_back
}

# The other machine is booted again before this end has noticed that its power has failed. The
# connection ends by the answer of the machine, which does not know it.
two_power_back_case() {
	own_links
	traffic t
	ask_host "peer kill"
	two_back_up
	traffic_lost t client
	ended 30 t-server
	links_again
}

# Boot the other machine, and give it its addresses.
two_back_up() {
	peer_boot
	up_end 1
	unmark "$RUN/link.1"
}

two_back() {
	two_back_up
	links_again
}

links_again() {
	wait_until 20 "the machines reach each other" neighbours_known
	own_links
	still_works
}

if [ "$TWO" = 1 ]; then
	testcase two-mtu-9000-1500 60 two_mtu_case 0
	testcase two-mtu-1500-9000 60 two_mtu_case 1
	testcase two-connect 60 two_connect_case
	testcase two-vlan 90 two_over_case vlan
	testcase two-wireguard 90 two_over_case wireguard
	optional_testcase two-ipsec 90 ipsec_case
	testcase two-unplug-here 90 two_unplug_case 0
	testcase two-unplug-there 90 two_unplug_case 1
	testcase two-unplug-long 90 two_unplug_long_case
	testcase two-reload-here 90 two_reload_case 0
	testcase two-reload-there 90 two_reload_case 1
	testcase two-power 180 two_power_case
	testcase two-power-back 180 two_power_back_case
fi
