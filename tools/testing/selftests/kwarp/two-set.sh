# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Which cases run on two machines (KWARP_TWO=1), and which of them the step e2e-two runs. The cases that
# are not listed need both ends on one machine: they use network namespaces, delete interfaces, or
# look at files of both ends. Sourced by run.sh.

# on_two_machines NAME: true if the case runs there.
on_two_machines() {
	case $1 in
	two-ipsec) return 1 ;;
	two-*) ;;
	rping-*) ;;
	data-plain-* | data-loss-* | data-mixed-* | data-ipv6 | data-events | data-4qp | data-small) ;;
	perf-write-bw-1 | perf-write-bw-4qp | perf-write-bw-both-ways) ;;
	cm-ucmatose-ipv?) ;;
	stats-write | stats-read | stats-send | stats-imm | stats-atomic) ;;
	life-kill-client | life-kill-server | life-blackhole | life-delete-link-* | life-link-down-*) ;;
	interop-siw-is-*-rping-ipv? | interop-siw-is-*-data) ;;
	interop-siw-is-*-nvme | interop-siw-is-*-nfs | interop-siw-is-*-iser | interop-siw-is-*-srp) ;;
	kernel-nvme | kernel-nfs | kernel-nfs-loss | kernel-iser | kernel-srp) ;;
	raw-start-responder | raw-fpdu | raw-tagged | raw-close) ;;
	wire-pingpong | wire-perf-bw | wire-perf-lat) ;;
	*) return 1 ;;
	esac
}

# out_of_two_check NAME: true if the step e2e-two leaves the case out. It keeps one case of each kind: that
# is what ten minutes are sufficient for.
out_of_two_check() {
	case $1 in
	rping-ipv4 | rping-ipv6 | data-events | data-mixed-9000 | stats-write) return 1 ;;
	interop-siw-is-server-crc-on-rping-ipv4 | interop-siw-is-client-crc-on-data) return 1 ;;
	kernel-nvme | kernel-nfs) return 1 ;;
	raw-fpdu | raw-close | wire-pingpong) return 1 ;;
	two-mtu-9000-1500 | two-connect) return 1 ;;
	two-unplug-there | two-reload-there | two-power) return 1 ;;
	*) ;;
	esac
}
