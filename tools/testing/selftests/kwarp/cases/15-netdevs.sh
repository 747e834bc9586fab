# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Links on network devices other than veth. END is 0 or 1, the number of a namespace and of what
# belongs to it. The device under test is NETDEV in both namespaces. It uses the veth pair of the
# other cases (kwv0, kwv1) or a second pair (kwy0, kwy1):
#
#     netns kwarp-0                                   netns kwarp-1
#     kwx 198.51.100.1 ----- kwv0, kwy0 ..veth.. kwv1, kwy1 ----- kwx 198.51.100.2

NETDEV=kwx
NETDEV_IP=(198.51.100.1 198.51.100.2)
# Names of the links on the veth pair, in cases in which the usual names of links (LINK: kwt0, kwt1)
# are those of links on NETDEV.
LINK2=(kwu0 kwu1)
# Options of tunpipe.py, the process that forwards packets between two tun devices.
TUNPIPE_MODE=()

# ------------------------------------------------------------------- devices

make_vlan() {
	ip_at "$1" link add link "${DEV[$1]}" name "$NETDEV" type vlan id 5
}

# arp_ignore END VALUE: set arp_ignore of the veth device (kwv0 or kwv1) at that end. With 0, the
# device below a macvlan also answers ARP requests for the macvlan's address. A peer that uses this
# answer sends to a device that has no listener.
arp_ignore() {
	in_ns "$1" sysctl -qw "net.ipv4.conf.${DEV[$1]}.arp_ignore=$2"
}

make_macvlan() {
	arp_ignore "$1" 1
	ip_at "$1" link add link "${DEV[$1]}" name "$NETDEV" type macvlan mode bridge
}

make_second_veth() {
	[ "$1" = 0 ] || return 0
	ip link add kwy0 netns "${NS[0]}" type veth peer name kwy1 netns "${NS[1]}"
}

enslave() {
	ip_at "$1" link set "kwy$1" down
	ip_at "$1" link set "kwy$1" master "$NETDEV"
	ip_at "$1" link set "kwy$1" up
}

make_bridge() {
	make_second_veth "$1"
	ip_at "$1" link add "$NETDEV" type bridge forward_delay 0 stp_state 0
	enslave "$1"
}

make_bond() {
	make_second_veth "$1"
	ip_at "$1" link add "$NETDEV" type bond mode active-backup miimon 100
	enslave "$1"
}

make_tun() {
	modprobe -q tun || :
	ip_at "$1" tuntap add "$NETDEV" mode tun
	[ "$1" = 1 ] || return 0
	"$HERE/tunpipe.py" "${NS[@]}" "$NETDEV" "${TUNPIPE_MODE[@]}" >"$CASE_DIR/tunpipe.log" 2>&1 </dev/null &
	PIDS["tunpipe"]=$!
	wait_until 10 "the tun devices are connected" grep -q ready "$CASE_DIR/tunpipe.log"
}

make_wireguard() {
	local i
	ip_at "$1" link add "$NETDEV" type wireguard || skip "there is no wireguard"
	wg genkey >"$CASE_DIR/key$1"
	[ "$1" = 1 ] || return 0
	for i in 0 1; do
		in_ns "$i" wg set "$NETDEV" listen-port 51820 private-key /proc/self/fd/0 <"$CASE_DIR/key$i" \
			peer "$(wg pubkey <"$CASE_DIR/key$((1 - i))")" \
			endpoint "${IP[1 - i]}:51820" allowed-ips 198.51.100.0/24
	done
}

# make_tunnel END TYPE OPTIONS...: make a tunnel over the veth pair. The tunnels of IPv6 have
# addresses of IPv6 as their own.
make_tunnel() {
	local end=$1 ends=("${IP[@]}")
	[[ $2 != ip6* ]] || ends=("${IP6[@]}")
	ip_at "$end" link add "$NETDEV" type "$2" local "${ends[end]}" remote "${ends[1 - end]}" "${@:3}" ||
		skip "there is no $2"
}

make_gre() {
	make_tunnel "$1" gre
}

make_ipip() {
	make_tunnel "$1" ipip
}

make_sit() {
	make_tunnel "$1" sit mode any
}

make_ip6gre() {
	make_tunnel "$1" ip6gre
}

make_ip6tnl() {
	make_tunnel "$1" ip6tnl mode any
}

# netdev_pair TYPE: delete all links, and make a device of this type at both ends, up and with
# addresses. The caller adds links.
netdev_pair() {
	local i
	own_links
	both_ends del_link
	both_ends "make_$1"
	for i in 0 1; do
		ip_at "$i" addr add "${NETDEV_IP[i]}/24" dev "$NETDEV"
		ip_at "$i" link set "$NETDEV" up
	done
	wait_until 10 "$NETDEV of both ends reach each other" reachable "${NETDEV_IP[1]}"
}

netdevs_down() {
	local i
	for i in 0 1; do
		at "$i" rdma link delete "${LINK2[i]}" 2>/dev/null || :
		! link_exists "$i" || check "deleting a link" at "$i" rdma link delete "${LINK[i]}"
		ip_at "$i" link del "$NETDEV" 2>/dev/null || :
		ip_at "$i" link del "kwy$i" 2>/dev/null || :
		arp_ignore "$i" 0
	done
}

# ------------------------------------------------------------------- links

# port_is NAME STATE [END]: true if the port of link NAME has this state, for example ACTIVE.
port_is() {
	at "${3:-0}" grep -q "$2" "/sys/class/infiniband/$1/ports/1/state"
}

# link_on END NAME NETDEV: add the link NAME on NETDEV at that end.
link_on() {
	check "adding a link on $3" in_ns "$1" rdma link add "$2" type "$KWARP_LINK" netdev "$3"
	wait_until 5 "link $2 is active" port_is "$2" ACTIVE "$1"
}

netdev_links() {
	local i
	for i in 0 1; do link_on "$i" "${LINK[i]}" "$NETDEV"; done
}

veth_links() {
	local i
	for i in 0 1; do link_on "$i" "$1$i" "${DEV[i]}"; done
}

sent_by() {
	in_ns "$1" cat "/sys/class/net/$NETDEV/statistics/tx_packets"
}

# echo_over NAME SERVER-END LISTEN-ADDRESS ADDRESS: start a server at that end, and make three
# connections to ADDRESS from the other end.
echo_over() {
	new_port
	SERVER_END=$2 serve "$1-server" "$PORT" kwconn -s -a "$3" -p "$PORT"
	start "$1-client" $((1 - $2)) kwconn -c -a "$4" -p "$PORT" -n 3
	reap 20 "$1-client"
	stop "$1-server"
	[ "$STATUS" = 0 ] || fail "$1-server ended with status $STATUS"
}

# both_roles NAME ADDRESS0 ADDRESS1 [wildcard]: make connections between these addresses of the two
# ends, first with the server at end 1, then at end 0. With "wildcard" the servers listen on 0.0.0.0
# instead of their addresses.
both_roles() {
	local name=$1 addr=("$2" "$3") listen=("$2" "$3")
	[ "${4:-}" = "" ] || listen=(0.0.0.0 0.0.0.0)
	echo_over "$name-1" 1 "${listen[1]}" "${addr[1]}"
	echo_over "$name-0" 0 "${listen[0]}" "${addr[0]}"
}

# over_netdev [wildcard]: call both_roles with the addresses of NETDEV, and check that NETDEV has
# sent the packets.
over_netdev() {
	local before
	before=("$(sent_by 0)" "$(sent_by 1)")
	both_roles "netdev${1:-}" "${NETDEV_IP[@]}" "$@"
	[ $(($(sent_by 0) - before[0])) -gt 30 ] && [ $(($(sent_by 1) - before[1])) -gt 30 ] ||
		fail "connections did not go through $NETDEV"
}

# ------------------------------------------------------------------- cases

# no_hardware_address ADDRESS: before Linux 6.6, check that a connection fails, and skip the rest of
# the case. rdma_cm of these kernels finds a device by the interface's hardware address, and this
# interface has none.
no_hardware_address() {
	! kernel_since 6.6 || return 0
	check_fails "2 3" "connecting from an interface without a hardware address" \
		n0 kwconn -c -a "$1" -n 1 -T 5
	netdevs_down
	skip "this kernel's rdma_cm finds no device without a hardware address"
}

netdev_case() {
	netdev_pair "$1"
	netdev_links
	case $1 in tun | wireguard) no_hardware_address "${NETDEV_IP[1]}" ;; esac
	over_netdev
	over_netdev wildcard
	netdevs_down
}

# The link is on the device below a VLAN. Connections to the VLAN's address and to the device's own
# address go through this link.
vlan_on_parent_case() {
	netdev_pair vlan
	veth_links kwt
	over_netdev
	both_roles parent "${IP[@]}"
	netdevs_down
}

# Only a VLAN has an address, and the link's own network device has none. The link works, and its
# port is ACTIVE.
vlan_address_only_case() {
	skip_on siw "it does not look at addresses"
	netdev_pair vlan
	veth_links kwt
	ip_at 0 addr flush dev "${DEV[0]}"
	ip_at 0 addr flush dev "$NETDEV"
	wait_until 5 "the port has no address" port_is kwt0 INIT
	ip_at 0 addr add "${NETDEV_IP[0]}/24" dev "$NETDEV"
	wait_until 5 "the port is active" port_is kwt0 ACTIVE
	over_netdev
	ip_at 0 link del "$NETDEV"
	wait_until 5 "the VLAN has gone with its address" port_is kwt0 INIT
	netdevs_down
	rm -f "$RUN/net" "$RUN"/link.*
	own_links
	still_works
}

# vlan_and_parent_case vlan|parent: add links on the VLAN and on the device below it ("parent"),
# first the named one. For a listener with a wildcard address, rdma_cm hands a connection to the
# link that was added first of those that could have the address. So with a wildcard address only
# connections through that link arrive.
vlan_and_parent_case() {
	local first=$1
	netdev_pair vlan
	[ "$first" = vlan ] || veth_links kwu
	netdev_links
	[ "$first" = parent ] || veth_links kwu
	over_netdev
	both_roles parent "${IP[@]}"
	case $first in
	vlan) over_netdev wildcard ;;
	parent) both_roles parent-any "${IP[@]}" wildcard ;;
	esac
	netdevs_down
}

# The link on a VLAN does not serve addresses of the device below: a connection to such an address
# is refused, and listening on it fails at once.
vlan_not_parent_case() {
	netdev_pair vlan
	netdev_links
	new_port
	SERVER_END=1 serve server "$PORT" kwconn -s -a 0.0.0.0 -p "$PORT"
	n0 kwconn -c -a "${IP[1]}" -p "$PORT" -n 1 -x -T 4 -v
	stop server
	check_fails 2 "listening on an address of the other device" \
		n1 timeout 10 kwconn -s -a "${IP[1]}" -p "$PORT"
	over_netdev
	netdevs_down
}

# Server and client use one link on lo, with an additional address on lo, because rdma_cm does not
# accept 127.0.0.1.
lo_case() {
	own_links
	both_ends del_link
	ip_at 0 addr replace "${NETDEV_IP[0]}/32" dev lo
	link_on 0 "${LINK[0]}" lo
	no_hardware_address "$2"
	new_port
	SERVER_END=0 serve server "$PORT" kwconn -s -a "$1" -p "$PORT"
	client kwconn -c -a "$2" -p "$PORT" -n 3
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
	netdevs_down
	ip_at 0 addr del "${NETDEV_IP[0]}/32" dev lo
}

# Newer kernels hold the instance lock of some interfaces, such as dummy, while they call notifiers,
# and within such a call also call the notifiers for a VLAN on that interface. kwarp's notifier must
# not take this lock again: each command here would hang.
ops_lock_case() {
	local dev i
	own_links
	both_ends del_link
	ip_at 0 link add kwdummy type dummy || skip "there is no dummy"
	check "VLAN" ip_at 0 link add link kwdummy name kwvlan type vlan id 5
	for dev in kwdummy kwvlan; do
		check "adding a link on $dev" n0 rdma link add "${LINK[0]}" type "$KWARP_LINK" netdev $dev
		for i in 1 2; do
			check "up, try $i" timeout -k 5 20 ip -n "${NS[0]}" link set kwdummy up
			check "VLAN up, try $i" timeout -k 5 20 ip -n "${NS[0]}" link set kwvlan up
			wait_until 5 "the port is active" port_is "${LINK[0]}" ACTIVE
			check "down, try $i" timeout -k 5 20 ip -n "${NS[0]}" link set kwdummy down
			wait_until 5 "the port is down" port_is "${LINK[0]}" DOWN
		done
		del_link 0
	done
	check "no dummy" timeout -k 5 20 ip -n "${NS[0]}" link delete kwdummy
	own_links
	still_works
}

# rping_from SOURCE DESTINATION LISTEN: connections within end SERVER_END or to it, from an address of
# end 0.
rping_from() {
	new_port
	serve server "$PORT" rping -s -a "$3" -p "$PORT" -C 3
	check "connecting from $1 to $2, where $3 listens" \
		n0 timeout $((5 * SLOWNESS)) rping -c -a "$2" -I "$1" -p "$PORT" -C 3
	reap 10 server
}

# Two links in one namespace: from the address of one to that of the other, in both directions. On
# dummies, because on others rdma_cm would ask the network for the hardware address.
two_links_case() {
	local i from to any
	own_links
	both_ends del_link
	for i in 0 1; do
		ip_at 0 link add "kwdummy$i" type dummy || skip "there is no dummy"
		ip_at 0 addr add "198.51.10$i.1/24" dev "kwdummy$i"
		ip_at 0 addr add "2001:db8:10$i::1/64" dev "kwdummy$i" nodad
		ip_at 0 link set "kwdummy$i" up
		link_on 0 "${LINK2[i]}" "kwdummy$i"
	done
	for i in "198.51.100.1 198.51.101.1 0.0.0.0" "2001:db8:100::1 2001:db8:101::1 ::"; do
		read -r from to any <<<"$i"
		SERVER_END=0 rping_from "$from" "$to" "$to"
		SERVER_END=0 rping_from "$to" "$from" "$from"
		SERVER_END=0 rping_from "$from" "$to" "$any"
	done
	check_fails "1 255" "connecting where nobody listens" n0 timeout $((5 * SLOWNESS)) \
		rping -c -a 198.51.101.1 -I 198.51.100.1 -p $((PORT + 100)) -C 3
	netdevs_down
	for i in 0 1; do ip_at 0 link del "kwdummy$i"; done
	own_links
	still_works
}

# The interfaces of both links belong to VRFs. A program names its own address, by which rdma_cm
# finds the VRF.
vrf_case() {
	local i
	netdev_pair vlan
	for i in 0 1; do
		ip_at "$i" link add kwvrf type vrf table 77 || skip "there are no VRFs"
		ip_at "$i" link set kwvrf up
		ip_at "$i" link set "$NETDEV" master kwvrf
	done
	netdev_links
	SERVER_END=1 rping_from "${NETDEV_IP[@]}" "${NETDEV_IP[1]}"
	SERVER_END=1 rping_from "${NETDEV_IP[@]}" 0.0.0.0
	netdevs_down
	for i in 0 1; do ip_at "$i" link del kwvrf; done
}

# make_no_ip NAME: make an interface that carries no IP, in the first namespace.
make_no_ip() {
	local type
	for type in nlmon vcan; do
		! ip_at 0 link add "$1" type $type 2>/dev/null || return 0
	done
	skip "this kernel makes no interface without IP"
}

# A link on an interface without IP is refused with EOPNOTSUPP. Nothing is left of it: the
# interface can be deleted, and a link on lo can get the name.
unsupported_case() {
	skip_on siw "it gives another reason"
	own_links
	both_ends del_link
	make_no_ip kwnoip
	! n0 rdma link add "${LINK[0]}" type "$KWARP_LINK" netdev kwnoip >"$CASE_DIR/add.log" 2>&1 ||
		fail "there is a link on an interface that carries no IP"
	expect_in add 'Operation not supported'
	! link_exists 0 || fail "the device is there"
	check "deleting the interface" timeout -k 5 20 ip -n "${NS[0]}" link delete kwnoip
	link_on 0 "${LINK[0]}" lo
	del_link 0
}

testcase netdev-ops-lock 90 ops_lock_case
testcase netdev-unsupported 30 unsupported_case
testcase netdev-vlan 90 netdev_case vlan
testcase netdev-bond 90 netdev_case bond
testcase netdev-bridge 90 netdev_case bridge
testcase netdev-macvlan 90 netdev_case macvlan
testcase netdev-tun 90 netdev_case tun
testcase netdev-wireguard 90 netdev_case wireguard
testcase netdev-gre 90 netdev_case gre
testcase netdev-ipip 90 netdev_case ipip
testcase netdev-sit 90 netdev_case sit
testcase netdev-ip6gre 90 netdev_case ip6gre
testcase netdev-ip6tnl 90 netdev_case ip6tnl
testcase netdev-two-links 120 two_links_case
testcase netdev-vrf 90 vrf_case
testcase netdev-lo 90 lo_case "${NETDEV_IP[0]}" "${NETDEV_IP[0]}"
testcase netdev-lo-any 90 lo_case 0.0.0.0 "${NETDEV_IP[0]}"
testcase netdev-vlan-on-parent 90 vlan_on_parent_case
testcase netdev-vlan-address-only 90 vlan_address_only_case
testcase netdev-vlan-after-parent 90 vlan_and_parent_case parent
testcase netdev-vlan-before-parent 90 vlan_and_parent_case vlan
testcase netdev-vlan-not-parent 90 vlan_not_parent_case
