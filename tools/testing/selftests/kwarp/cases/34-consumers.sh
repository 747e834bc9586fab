# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Functions that the cases of consumers in the kernel share (files 35 to 39, 61): links, RAM disks,
# and the end of a case. A consumer is a kernel module that uses RDMA, such as nvme-rdma. Target (or
# server) and host (or client) are on the same machine, in the first network namespace, because most
# of these modules work in no other namespace. Both ends use one link:
#
#     consumer -- kwlo ..TCP, 10.99.0.1.. kwlo -- consumer
#
# The link is on the loopback interface. Before Linux 6.6, rdma_cm finds no device on an interface
# without a hardware address; so there the link is on an interface of type dummy. Packets for the
# dummy's address pass over the loopback interface all the same. 61-interop-kernel.sh has two links
# instead. On two machines the target is at end 1, the host at end 0, and the links are those of the
# other cases.

# Kind of links, which names the functions KIND_up, KIND_delete, KIND_end and KIND_clean: one_link,
# two_links (in this file) or pair_links (61-interop-kernel.sh).
CONSUMER_LINKS=one_link
TARGET_LINK=kwlo
HOST_LINK=$TARGET_LINK
CONSUMER_NETDEV=lo
: "${TARGET_ADDR:=10.99.0.1}"
RAM_DISK=/dev/ram0
# Types of the links of host and target on two machines.
HOST_TYPE=$KWARP_LINK
TARGET_TYPE=$KWARP_LINK
if [ "$TWO" = 1 ]; then
	CONSUMER_LINKS=two_links HOST_LINK=${LINK[0]} TARGET_LINK=${LINK[1]} CONSUMER_NETDEV=${DEV[0]}
	export TARGET_ADDR=${IP[1]}
fi

# on_target FUNCTION ARGUMENTS...: run the function on the target's machine.
on_target() {
	on_machine_of 1 "$@"
}

# -------------------------------------------------------------------- links

# kernel_link_up NAME TYPE NETDEV: add a link, and wait until it is active.
kernel_link_up() {
	check "adding the link $1" rdma link add "$1" type "$2" netdev "$3"
	wait_until 5 "link $1 is active" device_active "$1"
}

kernel_link_delete() {
	check "deleting the link $1" timeout 60 rdma link delete "$1"
	[ ! -e "/sys/class/infiniband/$1" ] || fail "the link $1 is still there"
}

one_link_up() {
	ip link set lo up
	if ! kernel_since 6.6; then
		CONSUMER_NETDEV=kwdummy
		[ -e "/sys/class/net/$CONSUMER_NETDEV" ] || ip link add "$CONSUMER_NETDEV" up type dummy
	fi
	ip addr replace "$TARGET_ADDR/24" dev "$CONSUMER_NETDEV"
	kernel_link_up "$TARGET_LINK" "$KWARP_LINK" "$CONSUMER_NETDEV"
}

one_link_delete() {
	kernel_link_delete "$TARGET_LINK"
}

one_link_end() {
	one_link_delete
	ip addr del "$TARGET_ADDR/24" dev "$CONSUMER_NETDEV"
}

one_link_clean() {
	tc qdisc del dev lo root
	[ ! -e "/sys/class/infiniband/$TARGET_LINK" ] || timeout 60 rdma link delete "$TARGET_LINK"
	ip addr del "$TARGET_ADDR/24" dev "$CONSUMER_NETDEV"
	[ "$CONSUMER_NETDEV" = lo ] || ip link del "$CONSUMER_NETDEV"
}

two_links_up() {
	links "$HOST_TYPE" "$TARGET_TYPE"
	[ "$HOST_TYPE" = "$TARGET_TYPE" ] || two_links_interop
}

# The same settings as in pair_links_up, for the same reasons.
two_links_interop() {
	knob crc off
	knob peer_to_peer off
	[ "$TARGET_TYPE" != siw ] || netem delay "$(by_profile 5ms 30ms)"
}

two_links_delete() {
	both_ends del_link
}

two_links_end() {
	two_links_delete
}

two_links_clean() {
	tc qdisc del dev "$CONSUMER_NETDEV" root
	net_down
}

consumer_links_up() {
	"${CONSUMER_LINKS}_up"
}

consumer_links_delete() {
	"${CONSUMER_LINKS}_delete"
}

# Delete what a failed case has left of links, addresses and interfaces.
consumer_links_clean() {
	"${CONSUMER_LINKS}_clean"
}

# Print how many queue pairs target and host have together.
consumer_qps() {
	local name end=0
	for name in $(printf '%s\n' "$HOST_LINK" "$TARGET_LINK" | sort -u); do
		at $((end++)) rdma resource show qp link "$name"
	done | grep -c lqpn || :
}

consumer_no_qps() {
	[ "$(consumer_qps)" = 0 ]
}

# ------------------------------------------------------------ disks, network

# ram_disks N: make N empty RAM disks, /dev/ram0 and following, on this machine.
ram_disks() {
	modprobe -r brd 2>/dev/null || :
	modprobe brd rd_nr="$1" rd_size=65536 2>/dev/null || skip "there is no module brd"
	wait_until 5 "RAM disks are there" test -b "/dev/ram$(($1 - 1))"
}

# print_ram OCTETS: print the beginning of the target's RAM disk. The RAM disk is read with O_DIRECT,
# because the page cache may have older data.
print_ram() {
	at 1 dd if="$RAM_DISK" iflag=direct,count_bytes bs=1M count="$1" 2>/dev/null
}

# lossy_lo [SHAPE...]: let netem lose and delay packets of this machine, by default "loss 0.5% delay
# 2ms". They are those of both ends, unless the target is on another machine.
lossy_lo() {
	local dev=lo
	[ "$TWO" = 0 ] || dev=$CONSUMER_NETDEV
	[ $# -gt 0 ] || set -- loss 0.5% delay 2ms
	add_netem qdisc add dev "$dev" root netem "$@"
}

no_lossy_lo() {
	local dev=lo
	[ "$TWO" = 0 ] || dev=$CONSUMER_NETDEV
	tc qdisc del dev "$dev" root
}

# consumer_mib STOCK DEBUG: print how much data a case writes: by profile, and on two machines, which
# are slower, a quarter.
consumer_mib() {
	by_profile $(($1 / (1 + 3 * TWO))) "$2"
}

# ------------------------------------------------------------ end of a case

# clean_at_end FUNCTION: run the function at the end of the case, also after a failure, and ignore
# errors in it.
clean_at_end() {
	CONSUMER_CLEAN=$1
	trap consumer_case_end EXIT
}

consumer_case_end() {
	local rc=$?
	trap - TERM INT
	set +eu
	"$CONSUMER_CLEAN" >>"$CASE_DIR/clean.log" 2>&1
	(exit $rc)
	case_cleanup
}

# consumers_down MODULE...: wait until target and host have destroyed their queue pairs, and check
# that the links can be deleted and these modules can be unloaded.
consumers_down() {
	wait_until 10 "both ends have destroyed their queue pairs" consumer_no_qps
	"${CONSUMER_LINKS}_end"
	check "unloading the consumers" each_machine modprobe -r "$@"
}

# Delete what a case that was killed has left of links and interfaces.
consumers_reset() {
	[ "$TWO" = 0 ] || return 0
	pair_down
	one_link_clean
	ip link del kwdummy
}
