#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run a test of your own RDMA program in a virtual machine with kwarp: nothing of kwarp is needed on
# this machine. In the machine there are two links in two network namespaces (kwarpctl lab): kwlab-a
# with the address 10.77.0.1, and kwlab-b with 10.77.0.2.
#
#   scripts/in-guest.sh [OPTIONS] COMMAND...
#
# The command runs in a shell as root, in the folder /work, a copy of the current folder. Files that
# it leaves in /out are copied to kwarp-out, with the kernel log. The machine is Debian 13: compile
# on a system with the same libraries, or statically.
#
#   --lab 'OPTIONS'      options of "kwarpctl lab up", such as '--loss 1 --delay 5'
#   --overlay FOLDER     what overlay.sh has made before, instead of what this checkout makes now
#   --kernel NAME        6.12 (default) or another that tools/testing/guest/vm.sh knows
#   --timeout SECONDS    end the machine after this time (600)
#
# Exit status: the command's; 124 after the timeout; 125 if the machine died; 126 if the command
# succeeded, but the kernel log has a bug report.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

lab='' overlay='' kernel=6.12 timeout=600
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) head_comment; exit ;;
	--lab | --overlay | --kernel | --timeout) need_value $# "$1" ;;&
	--lab) lab=$2 ;;
	--overlay) overlay=$2 ;;
	--kernel) kernel=$2 ;;
	--timeout) timeout=$2 ;;
	-*) die "unknown option $1 (see $0 --help)" ;;
	*) break ;;
	esac
	shift 2
done
[ $# -gt 0 ] || die "no command (see $0 --help)"
out=$PWD/kwarp-out
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$out" "$stage/work"
# Without the results of the last run.
tar -cf - --exclude=./kwarp-out . | tar -xf - -C "$stage/work"
[ -n "$overlay" ] || overlay=$("$KWARP_ROOT/tools/testing/guest/overlay.sh" "$kernel")
"$KWARP_ROOT/tools/testing/guest/vm.sh" --kernel "$kernel" --overlay "$overlay" --overlay "$stage" --logs "$out" --out "$out" \
	--timeout "$timeout" -- "kwarpctl lab up $lab >/dev/null && cd /work && $*"
