# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# The two network namespaces and the veth pair between them: make and remove them, lose and delay
# packets, read TCP's counters. Sourced by ../lib.sh, which has the names and addresses. END is 0 or
# 1, the number of a namespace and of its interface.

up_end() {
	local i=$1
	ip_at "$i" -batch - <<-END
		link set lo up
		addr add ${IP[i]}/24 dev ${DEV[i]}
		addr add ${IP6[i]}/64 dev ${DEV[i]} nodad
		link set ${DEV[i]} mtu 1500 up
	END
}

namespaces_up() {
	ip -batch - <<-END
		netns add ${NS[0]}
		netns add ${NS[1]}
		link add ${DEV[0]} netns ${NS[0]} type veth peer name ${DEV[1]} netns ${NS[1]}
	END
	both_ends up_end
}

net_up() {
	[ ! -s "$RUN/net" ] || return 0
	net_down
	if [ "$TWO" = 1 ]; then two_up; else namespaces_up; fi
	wait_until 10 "the namespaces reach each other" neighbours_known
	unmark "$RUN/netem"
	mark "$RUN/mtu" 1500
	mark "$RUN/net"
}

# reachable ADDRESS: true if a ping is answered. With -U, ping does not use time stamps of the
# socket. When the first socket begins to use time stamps, and when the last such socket is closed,
# the kernel patches its receive path, and QEMU before 8.1 can run a half-patched instruction (under
# traffic, "Oops: int3" in __netif_receive_skb_core()).
reachable() {
	n0 ping -U -q -c 1 -W 1 "$1" >/dev/null
}

# True if both ends can reach each other. The pings also resolve the hardware addresses, so that the
# first connection of a case does not have to wait for neighbour discovery.
neighbours_known() {
	reachable "${IP[1]}" && reachable "${IP6[1]}"
}

net_down() {
	local i
	unmark "$RUN/net" "$RUN/knobs" "$RUN"/link.* "$RUN"/time-wait.*
	# On two machines the interfaces stay, so netem would, too.
	[ "$TWO" = 0 ] || { no_netem; two_down; return; }
	for i in 0 1; do
		[ -e "/run/netns/${NS[i]}" ] || continue
		kill_in_ns "$i"
		rdma link delete "${LINK[i]}" 2>/dev/null || :
		ip netns del "${NS[i]}"
	done
}

# kill_in_ns END: kill all programs in the namespace, or on the other machine. On this machine,
# without a namespace, it is unknown which programs are those of a case.
kill_in_ns() {
	local pids
	[ "$TWO" = 0 ] || { [ "$1" = 0 ] || peer killall; return; }
	pids=$(ip netns pids "${NS[$1]}")
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill -KILL $pids 2>/dev/null || :
}

set_mtu() {
	local i
	[ "$(<"$RUN/mtu")" != "$1" ] || return 0
	for i in 0 1; do
		ip_at "$i" link set "${DEV[i]}" mtu "$1"
	done
	echo "$1" >"$RUN/mtu"
}

# add_netem ARGUMENTS...: run tc with these arguments, which add netem. The case fails if the kernel
# has no netem. All kernels on which the suite runs have it, except the user-mode kernel "uml".
add_netem() {
	check "adding netem" tc "$@"
}

# netem SHAPE...: let netem lose, delay or change packets in both directions, as its words SHAPE
# say, for example "netem loss 1%". With WireGuard that is below it: packets that are changed before
# they are encrypted arrive as its peer's own, and TCP does not check their checksums.
netem() {
	local i
	no_netem
	mark "$RUN/netem"
	for i in 0 1; do
		check "adding netem" tc_at "$i" qdisc add dev "${BELOW[i]}" root netem "$@"
	done
}

# Undo no_time_wait, by which a case allows no sockets in TIME_WAIT: restore the former limit.
default_time_wait() {
	local i
	for i in 0 1; do
		[ -s "$RUN/time-wait.$i" ] || continue
		in_ns "$i" sysctl -qw "net.ipv4.tcp_max_tw_buckets=$(<"$RUN/time-wait.$i")"
		unmark "$RUN/time-wait.$i"
	done
}

no_netem() {
	local i
	[ -s "$RUN/netem" ] || return 0
	for i in 0 1; do
		tc_at "$i" qdisc del dev "${BELOW[i]}" root 2>/dev/null || :
	done
	unmark "$RUN/netem"
}

# tcp_count END NAME: print the counter NAME of TCP (nstat) of that namespace.
tcp_count() {
	in_ns "$1" nstat -asz "$2" | awk -v name="$2" '$1 == name { print $2 }'
}

# offloads on|off: switch segmentation offload of both interfaces. With offload, TCP passes packets
# larger than the MTU to the interface, and a veth pair carries these packets uncut. Without
# offload, each packet is one segment of at most the MTU.
offloads() {
	local i now=on
	[ ! -s "$RUN/no-offloads" ] || now=off
	[ "$now" != "$1" ] || return 0
	for i in 0 1; do
		in_ns "$i" ethtool -K "${DEV[i]}" tso "$1" gso "$1"
	done
	unmark "$RUN/no-offloads"
	[ "$1" = on ] || mark "$RUN/no-offloads"
}
