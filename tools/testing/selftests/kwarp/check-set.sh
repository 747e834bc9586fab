# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Which cases make check runs, and on which kernel. Sourced by run.sh. The other cases run in make
# check-all, and whenever no set is chosen.
#
# Kept: make check runs the case, so out_of_check() returns 1 for it. Of similar cases, which differ
# only in a value, an address family, a program or an interface, one is kept. On the stock kernel,
# of the cases that end a connection, one is kept for each cause and end.

# out_of_check NAME: true if make check leaves the case out on all kernels.
out_of_check() {
	case $1 in
	# Six cases run a program of perftest for each message size. kwdata sends all lengths.
	perf-*-sizes) ;;
	# With completion events and with inline data, one program of perftest is kept.
	perf-read-bw-events | perf-write-bw-inline) return 1 ;;
	perf-*-events | perf-*-inline) ;;
	# Of perftest's programs with other sizes, several queue pairs or both ways, these are kept.
	perf-write-bw-4qp | perf-send-bw-both-ways | perf-read-bw-1MiB | perf-send-lat-1) return 1 ;;
	perf-*-4qp | perf-*-both-ways | perf-*-1MiB | perf-write-bw-1 | perf-read-bw-1 | perf-send-bw-1 | perf-*-lat-1) ;;
	# Of the tests of RFC 7306, one program of perftest for each operation is kept, and the case
	# with four queue pairs.
	perf-atomic-bw-cmp-and-swap | perf-atomic-lat-fetch-and-add | perf-write-imm-lat | atomic-one) ;;
	# make check-all runs the whole suite on links of type kwarp-siw, which programs use through
	# libsiw, siw's provider.
	libsiw-server | libsiw-client | libsiw-rmmod) ;;
	# This case waits for the startup timers with their default values, which takes long. The
	# case with shorter timers is kept.
	bad-timers) ;;
	# The cases that check the counts of Writes, immediate data and atomic operations are kept.
	stats-read | stats-send | stats-frames | stats-qp | stats-details) ;;
	# The exporter of Prometheus takes half a minute to start in an emulated machine.
	sysfs-node-exporter) ;;
	# The case of "kwarpctl set" is kept. Unit tests check the output of the other commands.
	kwarpctl-show | kwarpctl-waits | kwarpctl-doctor | kwarpctl-bench | kwarpctl-bad) ;;
	doctor-other | doctor-siw | doctor-firewall | doctor-ways | doctor-server) ;;
	why-message | why-startup | fault-app-no-receive | fault-app-delay) ;;
	# Of the correct programs in strict mode, one of each kind is kept.
	strict-clean-rping | strict-clean-data | strict-clean-rstream | strict-clean-write-bw) return 1 ;;
	strict-clean-*) ;;
	# The Python tests of rdma-core take minutes; the time of a wired connection is no verdict.
	wire-pyverbs | wire-speed | wire-perf-lat) ;;
	# Of the mistakes in examples, one that the peer finds and one that this end finds are kept.
	mistake-beyond | mistake-right | mistake-short | mistake-receive) ;;
	# Of the types of interfaces, bond, lo and VLAN are kept, and a link on the device below a
	# VLAN.
	netdev-bridge | netdev-macvlan | netdev-tun | netdev-wireguard | netdev-gre | netdev-vrf) ;;
	netdev-two-links | netdev-lo-any | change-mac-bind) ;;
	netdev-ipip | netdev-sit | netdev-ip6gre | netdev-ip6tnl) ;;
	netdev-vlan-address-only | netdev-vlan-after-parent | netdev-vlan-before-parent | netdev-vlan-not-parent) ;;
	change-mtu | change-bond-failover) ;;
	# Of the cases with siw at one end, these are kept: rping with siw in each role (server and
	# client); kwdata, NVMe and iSER with siw in one role.
	interop-siw-is-server-crc-on-rping-ipv4 | interop-siw-is-server-crc-on-data) return 1 ;;
	interop-siw-is-client-crc-off-rping-ipv6 | interop-siw-is-client-nvme | interop-siw-is-server-iser) return 1 ;;
	interop-*) ;;
	# TCP repairs loss, delay and duplicates in the same way for each MTU and each consumer.
	data-mixed-1500 | data-mixed-9000) return 1 ;;
	data-*-1500 | data-*-9000 | atomic-loss | neighbour-short-and-lossy | cm-lossy | kernel-nfs-loss | kernel-iser-loss | kernel-srp-loss) ;;
	# Cases of kernel consumers whose link is deleted and added again, or that have several NVMe
	# controllers. For each of the two, one other case of NVMe is kept.
	kernel-nfs-link | kernel-iser-link | kernel-srp-link | kernel-nvme-many | kernel-nvme-reset | kernel-nvme-steal) ;;
	# Variants of kept cases (IPv6, huge pages, markers, no CRC, another seed), and rare uses
	# (the daemon iwpmd, a change of the route's MTU).
	data-ipv6 | data-dmabuf-huge | edge-srq-limit-spoilt | device-iwpmd | raw-markers) ;;
	edge-long-srq-recv) ;;
	edge-mtu | raw-no-crc | raw-mutate-2 | bad-scribble-2 | neighbour-no-crc | windows-no-crc) ;;
	# Similar to a case that is kept: the connection ends at another octet, by another segment
	# or at the other end.
	bad-req-fin | bad-req-whole-fin | bad-req-whole-rst | bad-rdma-fin | bad-rep-fin | life-link-down-local) ;;
	# Variants of two kept cases: modules loaded in another order; a siw link on the same
	# device.
	device-pending-netdev-ucm | device-port-events-beside-siw) ;;
	# make check does not use the debug kernel, which alone makes allocations fail.
	fault-verbs | fault-connect | fault-accept | fault-chance-cm | fault-traffic-* | fault-teardown) ;;
	# No stock kernel has SMB Direct and RTRS.
	kernel-smb* | kernel-rnbd*) ;;
	# Of the programs of others one of each library is kept: MPI with all ranks on one machine,
	# libfabric's reliable datagrams, and perftest without rdma_cm.
	consumer-mpi-machines | consumer-qperf | consumer-libfabric-msg | consumer-rc-pingpong | consumer-pyverbs) ;;
	rsock-rstream-nonblocking | rsock-rcopy | rping-crowd | rping-persistent | cm-cmtime | cm-rdma-client-ipv6) ;;
	# The cases of one program that is killed, and of a test program, are kept.
	kill-rping | kill-rstream | kill-many | kill-ib-write-bw) ;;
	# Similar to a kept case of the same kind, with another number, order or end.
	data-one-read | data-window-1 | data-window-32 | data-small | data-spoilt-read | data-spoilt-send) ;;
	libsiw-perf | libsiw-paced-end | libsiw-second | libsiw-again) ;;
	life-kill-server | life-link-down-peer | life-rmmod-idle | life-link-cycles | life-connect-cycles) ;;
	life-rejected-cycles | life-refused-host | vanish-idle-keepalive | vanish-not-idle) ;;
	bad-listener-few | bad-req-octets | bad-rep-rst | capture-aligned | owner-memory-programs) ;;
	# These take minutes, because they make many objects or wait for timers.
	edge-most-cq | edge-most-srq | edge-most-qp | owner-memory-small) ;;
	scale-qps | bad-rep-silence) ;;
	*) return 1 ;;
	esac
}

# user_mode_lacks NAME: true if the user-mode kernel uml-up cannot run the case: it has no nft, control
# groups, tracefs, udmabuf or suspending, and nvme of its version warns about its own work queues.
user_mode_lacks() {
	case $1 in
	netdev-unsupported | change-suspend | stats-trace | doorbell-flip | kernel-nvme-die | kill-fi-pingpong) ;;
	owner-memory-* | owner-sockmap | owner-reconnect | wire-group | data-dmabuf*) ;;
	*) return 1 ;;
	esac
}

# on_stock NAME: true if make check runs the case on the stock kernel in any case. On a machine without
# KVM that kernel is emulated, and each case takes three times as long as on the user-mode kernel,
# which runs the other cases there. That kernel has one processor. So these cases are those in which
# several processors find most bugs: teardown, lack of memory, hostile peers and programs, and one
# run of each part of the data path.
on_stock() {
	! user_mode_lacks "$1" || return 0
	case $1 in
	life-delete-link-server | life-delete-netdev | life-kill-client | life-netns-races) ;;
	life-rmmod-traffic | life-rmmod-races | life-open-races | life-object-cycles | edge-dereg | edge-srq-limit) ;;
	fault-full-send | fault-app-end) ;;
	fuzz-uverbs | vanish-while-closing | device-pending-link) ;;
	kill-accepting | resize-cq | cm-ss-kill) ;;
	bad-req-garbage | bad-rdma-rst | bad-scribble-1 | misuse-accept-reject) ;;
	raw-start-responder | raw-fpdu | raw-tagged | raw-close | raw-imm | raw-mutate-1) ;;
	rping-ipv4 | rping-ipv6 | cm-ucmatose-ipv6 | doorbell-gone | neighbour | windows) ;;
	example-first | mistake-key | mistake-local | why-read) ;;
	wire-pingpong | wire-basic | wire-errors | wire-raw | wire-receive-wait) ;;
	data-mixed-1500 | data-events | libsiw-post | libsiw-netns | stats-details-races) ;;
	kernel-nfs | kernel-iser | kernel-srp | interop-siw-is-server-crc-on-data | perf-write-bw-4qp) ;;
	rsock-rstream-64k | consumer-libfabric-rdm | capture-crc-on | stats-debugfs | coalesce-realtime) ;;
	netdev-bond | life-mac-change | device-port-events | strict-clean-data | kwarpctl-set) ;;
	*) return 1 ;;
	esac
}

# in_set NAME SET: true if the case belongs to the set: all, check or rest; stock or user-mode, the two
# parts of check.
in_set() {
	local out=0
	if [ "$TWO" = 1 ]; then
		on_two_machines "$1" || return 1
		! out_of_two_check "$1" || out=1
	elif out_of_check "$1"; then out=1; fi
	case $2 in
	all) ;;
	check) [ $out = 0 ] ;;
	rest) [ $out = 1 ] ;;
	stock) [ $out = 0 ] && on_stock "$1" ;;
	user-mode) [ $out = 0 ] && ! on_stock "$1" ;;
	*) echo "no set $2: there are all, check, rest, stock and user-mode" >&2; exit 1 ;;
	esac
}
