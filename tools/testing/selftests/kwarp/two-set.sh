# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Which cases run on two machines (KWARP_TWO=1). The others need both ends on one machine: network
# namespaces, interfaces that they delete, files that both ends use. Sourced by run.sh.

# on_two_machines NAME: true if the case runs there.
on_two_machines() {
	case $1 in
	two-*) ;;
	rping-*) ;;
	data-plain-* | data-mixed-* | data-ipv6 | data-events | data-4qp | data-small) ;;
	interop-siw-is-*-rping-ipv? | interop-siw-is-*-data) ;;
	*) return 1 ;;
	esac
}

# out_of_two_check NAME: true if make check leaves the case out.
out_of_two_check() {
	case $1 in
	rping-persistent | rping-crowd) ;;
	*) return 1 ;;
	esac
}
