# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Which cases make check runs, so that it is done within an hour. Sourced by run.sh. The others
# run in make check-all, and wherever nobody asks for a set.
#
# Of cases that differ in a value, a family of addresses, a program or an interface one stays, and,
# on the stock kernel, of the ends of a connection each by one of its causes.

# out_of_check NAME: make check leaves this case out, on any kernel.
out_of_check() {
	case $1 in
	# Each size is a run of perftest: one of the six tables stays.
	perf-write-bw-sizes) return 1 ;;
	perf-*-sizes) ;;
	# Each operation once; several queue pairs stay.
	perf-atomic-bw-cmp-and-swap | perf-atomic-lat-fetch-and-add | perf-write-imm-lat | atomic-one) ;;
	# On libsiw the whole suite runs in make check-all.
	libsiw-server | libsiw-client | libsiw-rmmod) ;;
	# Timers with the knobs as they are.
	bad-timers) ;;
	# Counts of two operations each way stay.
	stats-read | stats-send) ;;
	# That the command changes what it says stays; what it shows has its own tests, too.
	kwarpctl-show | kwarpctl-doctor | kwarpctl-bench) ;;
	# Links on interfaces: bond, lo and VLANs stay.
	netdev-bridge | netdev-macvlan | netdev-tun | netdev-wireguard) ;;
	netdev-vlan-address-only | netdev-vlan-after-parent | netdev-vlan-before-parent | netdev-vlan-not-parent) ;;
	change-mtu | change-bond-failover) ;;
	# rping in each role, kwdata and perftest in one.
	interop-siw-is-server-crc-on-rping-ipv4 | interop-siw-is-server-crc-on-data) return 1 ;;
	interop-siw-is-client-crc-off-rping-ipv6 | interop-siw-is-client-crc-on-perf) return 1 ;;
	interop-*) ;;
	# What is lost, late or twice TCP puts right, whatever the MTU and the consumer.
	data-mixed-9000) return 1 ;;
	data-*-9000 | data-delay-* | data-duplicate-* | kernel-nfs-loss | kernel-iser-loss | kernel-srp-loss) ;;
	# Consumers in the kernel over a link that comes and goes: NVMe stays.
	kernel-nfs-link | kernel-iser-link | kernel-srp-link | kernel-nvme-many | kernel-nvme-reset) ;;
	data-ipv6 | data-dmabuf-huge | edge-srq-limit-spoilt | device-iwpmd | raw-markers) ;;
	edge-mtu | raw-no-crc | raw-mutate-2 | bad-scribble-2 | neighbour-no-crc | windows-no-crc) ;;
	# The same end of a connection at another octet, by another segment or at the other end.
	bad-req-fin | bad-req-whole-fin | bad-req-whole-rst | bad-rdma-fin | bad-rep-fin | life-link-down-local) ;;
	device-pending-netdev-ucm | device-port-events-beside-siw) ;;
	# The kernel that has SMB Direct and RTRS is not the one of make check.
	kernel-smb* | kernel-rnbd*) ;;
	# Ranks on one machine stay.
	consumer-mpi-machines) ;;
	# Minutes, for many or for timers.
	edge-most-cq | edge-most-srq | edge-most-qp | scale-qps | bad-rep-silence) ;;
	*) return 1 ;;
	esac
}

# out_of_debug_check NAME: and these on a debug kernel, too, which needs ten times as long. What
# stays is teardown, memory that is short, peers and programs that are hostile, and a run of each
# part of the data path: what that kernel is there for.
out_of_debug_check() {
	case $1 in
	life-delete-link-server | life-delete-netdev | life-kill-client | life-netns-races) return 1 ;;
	life-rmmod-traffic | life-rmmod-races | life-open-races | life-object-cycles | edge-dereg | edge-srq-limit) return 1 ;;
	fault-verbs | fault-connect | fault-accept | fault-chance-cm | fault-traffic-slab | fault-teardown) return 1 ;;
	fault-short-send | fault-full-send | fault-late-work) return 1 ;;
	fuzz-uverbs | vanish-while-closing | device-pending-link) return 1 ;;
	bad-req-garbage | bad-rdma-rst | bad-scribble-1 | misuse-accept-reject | owner-memory-rings) return 1 ;;
	raw-start-responder | raw-fpdu | raw-tagged | raw-close | raw-mutate-1) return 1 ;;
	rping-ipv4 | cm-ucmatose-ipv6 | coalesce-leave | doorbell-gone | neighbour | windows) return 1 ;;
	data-mixed-1500 | data-events | libsiw-scribble | libsiw-post | libsiw-netns | stats-details-races) return 1 ;;
	*) ;;
	esac
}

# in_set NAME SET: it belongs to the set all, check or rest.
in_set() {
	local out=0
	if out_of_check "$1" || { [ "$KWARP_PROFILE" = debug ] && out_of_debug_check "$1"; }; then out=1; fi
	case $2 in
	all) ;;
	check) [ $out = 0 ] ;;
	rest) [ $out = 1 ] ;;
	*) echo "no set $2: there are all, check and rest" >&2; exit 1 ;;
	esac
}
