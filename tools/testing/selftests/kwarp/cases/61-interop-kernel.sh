# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Consumers in the kernel with another implementation (KWARP_PEER, siw) at one end. Most of these
# consumers know only the first network namespace, so both links are in it, on the two ends of a
# veth pair. With NVMe:
#
#     dd -- /dev/nvmeXn1 -- nvme-rdma -- kwhost, 10.99.1.1 ..TCP.. kwtarget, 10.99.2.1 -- nvmet-rdma -- /dev/ram0
#
# Linux sends packets for a local address over lo. Rules of routing change that for these two
# addresses: they are local only for packets that the pair has delivered. All other packets for
# them are sent over the pair. On two machines there is no pair: the links are those of the other
# cases.

PAIR_HOST=10.99.1.1
PAIR_TARGET=10.99.2.1
PAIR_HOST6=fd99:1::1
PAIR_TARGET6=fd99:2::1
PAIR_TABLE=99
# File with the former value of rp_filter, which pair_up saves and pair_down restores.
PAIR_RP_FILTER=$RUN/pair-rp-filter
# Types of the two links.
PAIR_HOST_TYPE=
PAIR_TARGET_TYPE=

pair_up() {
	local name
	ip link set lo up
	check "adding the pair" ip link add kwhost type veth peer name kwtarget
	[ -s "$PAIR_RP_FILTER" ] || mark "$PAIR_RP_FILTER" "$(sysctl -n net.ipv4.conf.all.rp_filter)"
	sysctl -qw net.ipv4.conf.all.rp_filter=0
	for name in kwhost kwtarget; do
		sysctl -qw "net.ipv4.conf.$name.accept_local=1" "net.ipv4.conf.$name.rp_filter=0"
		ip link set "$name" up
	done
	pair_routes -4 "$PAIR_HOST" "$PAIR_TARGET"
	pair_routes -6 "$PAIR_HOST6" "$PAIR_TARGET6"
	# An interface that has just come up cannot resolve IPv6 neighbours at once, so wait.
	wait_until 10 "the target's address answers" pair_answers
}

pair_answers() {
	ping -6 -U -q -c 1 -W 1 "$PAIR_TARGET6" >/dev/null
}

# pair_routes -4|-6 HOST TARGET: add the two addresses, routes to them over the pair, and the rules
# of routing that the head of this file describes.
pair_routes() {
	local family=$1 host=$2 target=$3 nodad=
	[ "$family" = -4 ] || nodad=nodad
	ip addr add "$host" dev kwhost $nodad
	ip addr add "$target" dev kwtarget $nodad
	ip "$family" route add "$target" dev kwhost src "$host" table "$PAIR_TABLE"
	ip "$family" route add "$host" dev kwtarget src "$target" table "$PAIR_TABLE"
	ip "$family" rule add pref 1 iif kwhost lookup local
	ip "$family" rule add pref 2 iif kwtarget lookup local
	ip "$family" rule add pref 3 to "$host" lookup "$PAIR_TABLE"
	ip "$family" rule add pref 4 to "$target" lookup "$PAIR_TABLE"
	ip "$family" rule add pref 5 lookup local
	ip "$family" rule del pref 0
}

# Delete the rules of pair_routes, so that local routes come first again, and the pair. Do nothing
# if there is no pair.
pair_down() {
	local pref family
	[ -e /sys/class/net/kwhost ] || return 0
	for family in -4 -6; do
		ip "$family" rule add pref 0 lookup local
		for pref in 1 2 3 4 5; do
			ip "$family" rule del pref "$pref"
		done
	done
	ip link del kwhost
	sysctl -qw "net.ipv4.conf.all.rp_filter=$(<"$PAIR_RP_FILTER")"
	unmark "$PAIR_RP_FILTER"
}

# pair_link_up LINK TYPE: add a link with the name LINK on the interface of the same name. On a link
# of kwarp, CRC is off, because siw assembles a CRC wrongly that comes in two parts. peer_to_peer is
# off, because a siw target may not read the ready-to-receive message that kwarp would send right
# after the MPA Reply; if the connection ends then, iw_cm stops the machine with a BUG.
pair_link_up() {
	kernel_link_up "$1" "$2" "$1"
	[[ $2 != kwarp* ]] || {
		echo off >"/sys/class/infiniband/$1/kwarp/crc"
		echo off >"/sys/class/infiniband/$1/kwarp/peer_to_peer"
	}
}

pair_links_up() {
	[ -e /sys/class/net/kwhost ] || pair_up
	pair_link_up kwhost "$PAIR_HOST_TYPE"
	pair_link_up kwtarget "$PAIR_TARGET_TYPE"
	# A siw target does not read a message that arrives before it has taken over its socket,
	# which it does after its MPA Reply. With the delay, the host's first message arrives later.
	[ "$PAIR_TARGET_TYPE" != siw ] ||
		add_netem qdisc replace dev kwtarget root netem delay "$(by_profile 5ms 30ms)"
}

# pair_count LINK NAME: print a count of a link of kwarp.
pair_count() {
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

# Check by its counts that kwarp's link was only the initiator (on kwhost), or only the responder
# (on kwtarget), of connections.
pair_roles() {
	local link=kwhost only=cm_replies none=cm_inbound
	[[ $PAIR_HOST_TYPE == kwarp* ]] || link=kwtarget only=cm_accepts none=cm_connects
	[ "$(pair_count $link $only)" -gt 0 ] || fail "link $link has had no connection"
	[ "$(pair_count $link $none)" = 0 ] || fail "link $link has had a connection of the other role"
}

pair_links_delete() {
	pair_roles
	kernel_link_delete kwhost
	kernel_link_delete kwtarget
}

pair_links_end() {
	pair_links_delete
	pair_down
}

pair_links_clean() {
	# Deleting the interfaces also deletes the links. pair_down first removes the rules of
	# routing, so that these are gone even if deleting hangs and is killed.
	pair_down
}

# interop_kernel_case server|client COMMAND...: run a case of a consumer. With "server" the target
# (or server) has the link of type KWARP_PEER, with "client" the host (initiator or client).
interop_kernel_case() {
	[ "$KWARP_LINK" != "$KWARP_PEER" ] || skip "interop needs two different types of link"
	PAIR_HOST_TYPE=$KWARP_LINK PAIR_TARGET_TYPE=$KWARP_PEER
	[ "$1" = server ] || PAIR_HOST_TYPE=$KWARP_PEER PAIR_TARGET_TYPE=$KWARP_LINK
	load_type "$KWARP_PEER"
	if [ "$TWO" = 1 ]; then
		HOST_TYPE=$PAIR_HOST_TYPE TARGET_TYPE=$PAIR_TARGET_TYPE
	else
		CONSUMER_LINKS=pair_links TARGET_LINK=kwtarget HOST_LINK=kwhost TARGET_ADDR=$PAIR_TARGET
	fi
	shift
	"$@"
}

# SRP's target listens for IPv6 and IPv4 with one listener. siw refuses a connection of IPv4 to such
# a listener, so the initiator uses IPv6.
pair_srp_case() {
	if [ "$TWO" = 1 ]; then TARGET_ADDR=[${IP6[1]}]; else TARGET_ADDR=[$PAIR_TARGET6]; fi
	disk_case srp 2
}

# Define the cases in which siw has this role. RNBD is not among them: siw has no immediate data,
# which RTRS needs.
interop_kernel_cases() {
	local role=$1 name=interop-siw-is-$1
	testcase "$name-nvme" 120 interop_kernel_case "$role" nvme_case 2
	testcase "$name-nfs" 180 interop_kernel_case "$role" nfs_case 3 4.2
	testcase "$name-iser" 120 interop_kernel_case "$role" disk_case iser 2
	testcase "$name-srp" 120 interop_kernel_case "$role" pair_srp_case
	testcase "$name-smb" 120 interop_kernel_case "$role" smb_case 2
}

interop_kernel_cases server
interop_kernel_cases client
