# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# A peer on the same host ("neighbour") uses its socket in unusual ways (rawpeer/cases/neighbour.c):
# urgent data, segments of one octet, a window that never opens, pages that it passes to TCP by
# reference and changes while the device reads them. Its stream may end because of that. After that
# the device must work, and the kernel log must have no bug report.

neighbour_data() {
	data_pair -n "$(by_profile 200 20)" "$@"
}

neighbour_group() {
	skip_on siw "its table of known differences is one without these"
	own_links
	raw_run -w "$@" -S "${KWARP_RAW_SEED:-1}" neighbour
	neighbour_data
}

# rmem MIN DEFAULT MAX: set the sizes of TCP's receive buffers for new connections, at both ends.
rmem() {
	both_ends set_rmem "$*"
}

set_rmem() {
	in_ns "$1" sysctl -q -w net.ipv4.tcp_rmem="$2"
}

# stashes [_now]: print how many FPDUs the links have copied and kept so far, because TCP's receive
# buffer had no room for them; with _now: how many copies they keep at this moment.
stashes() {
	local i sum=0
	for i in 0 1; do
		sum=$((sum + $(in_ns "$i" cat "/sys/class/infiniband/${LINK[i]}/kwarp/stashes${1:-}")))
	done
	echo "$sum"
}

no_stash_now() {
	[ "$(stashes _now)" = 0 ]
}

# FPDUs are larger than TCP's receive buffers can become. So the links keep copies of FPDUs, and
# must free this memory later.
neighbour_short_of_room() {
	local before
	skip_on siw "its table of known differences is one without these"
	own_links
	before=$(stashes)
	rmem 4096 4096 8192
	raw_run -w small-mss octets fpdu-longest
	# The window may become smaller than a segment. Then the peer sends only once in 200 ms,
	# and a message of 4 MiB may take more than 30 s, the time limit of kwdata. So messages
	# are smaller.
	neighbour_data -m 65536
	[ "$(stashes)" -gt "$before" ] || fail "TCP had room for all"
	wait_until 5 "what was kept is given back" no_stash_now
	rmem 4096 131072 6291456
}

# Data must arrive although TCP's receive buffers are small, and the network loses and delays
# segments.
neighbour_short_and_lossy() {
	own_links
	rmem 4096 8192 16384
	netem delay 2ms 1ms loss 3%
	neighbour_data -m 20000
	rmem 4096 131072 6291456
}

# The peer's TCP acknowledges octets selectively (SACK) and then discards them (RFC 2018 section
# 8). The sender must keep the octets unchanged until they are acknowledged.
neighbour_reneging() {
	local before
	# shellcheck disable=SC2034 # for make_tun
	TUNPIPE_MODE=(renege)
	netdev_pair tun
	netdev_links
	no_hardware_address "${NETDEV_IP[1]}"
	# TCP counts how often a peer has discarded octets that it had acknowledged selectively.
	before=$(tcp_count 0 TcpExtTCPSACKReneging)
	# The time limit is long (-T 120): each time that the peer discards octets, the sender has
	# to wait for a retransmission timeout, and on a debug kernel tunpipe.py delays packets.
	DATA_ADDR=${NETDEV_IP[1]} data_pair -n "$(by_profile 200 60)" -m 50000 -T 120
	[ "$(tcp_count 0 TcpExtTCPSACKReneging)" -gt "$before" ] || fail "TCP has seen no peer that takes a SACK back"
	note "$(($(tcp_count 0 TcpExtTCPSACKReneging) - before)) times"
	netdevs_down
}

testcase neighbour 120 neighbour_group
testcase neighbour-no-crc 120 neighbour_group -C 0
testcase neighbour-short-of-room 90 neighbour_short_of_room
testcase neighbour-short-and-lossy 90 neighbour_short_and_lossy
testcase neighbour-reneging 180 neighbour_reneging
