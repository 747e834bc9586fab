# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# A neighbour on this host that uses its socket as no peer should (rawpeer/cases/neighbour.c):
# urgent data, segments of one octet, a window that never opens, pages that it gives to
# TCP by reference and changes while the device reads them. Streams may end by that; the
# device works afterwards, and the kernel says nothing.

neighbour_data() {
	data_pair -n "$(by_profile 200 20)" "$@"
}

neighbour_group() {
	skip_on siw "its table of known differences is one without these"
	own_links
	raw_run -w "$@" -S "${KWARP_RAW_SEED:-1}" neighbour
	neighbour_data
}

# rmem MIN DEFAULT MAX: receive buffers of connections to come, at both ends.
rmem() {
	both_ends set_rmem "$*"
}

set_rmem() {
	in_ns "$1" sysctl -q -w net.ipv4.tcp_rmem="$2"
}

# FPDUs that the links have kept for TCP so far, or, with _now, keep.
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

# TCP cannot keep an FPDU that is larger than its receive buffer may be. What is kept for it
# is given back.
neighbour_short_of_room() {
	local before
	skip_on siw "its table of known differences is one without these"
	own_links
	before=$(stashes)
	rmem 4096 4096 8192
	raw_run -w small-mss octets fpdu-longest
	# A window may become smaller than a segment, and is filled once in 200 ms then. A message
	# of 4 MiB may need more than the 30 s after which kwdata takes that for the end.
	neighbour_data -m 65536
	[ "$(stashes)" -gt "$before" ] || fail "TCP had room for all"
	wait_until 5 "what was kept is given back" no_stash_now
	rmem 4096 131072 6291456
}

# The same, and segments are lost and come late.
neighbour_short_and_lossy() {
	own_links
	rmem 4096 8192 16384
	netem delay 2ms 1ms loss 3%
	neighbour_data -m 20000
	rmem 4096 131072 6291456
}

# The peer's TCP acknowledges octets selectively and then throws them away (RFC 2018 section
# 8): what has been sent must be there, unchanged, until it is acknowledged.
neighbour_reneging() {
	local before
	# shellcheck disable=SC2034 # for make_tun
	TUNPIPE_MODE=(renege)
	netdev_pair tun
	netdev_links
	no_hardware_address "${NETDEV_IP[1]}"
	# How often it has found that a peer took a SACK back.
	before=$(tcp_count 0 TcpExtTCPSACKReneging)
	# Each time costs a retransmission timeout, and a debug kernel's packets wait long for tunpipe.py.
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
