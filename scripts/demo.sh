#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make demo: from a fresh machine to unchanged RDMA programs over kwarp, in a virtual
# machine on a stock Debian kernel. The host gets packages and nothing else.
#
#   scripts/demo.sh [--compare]     --compare: longer, with Reads and Sends, and at MTU 9000, too
set -euo pipefail
own_cache=${KWARP_CACHE:-}
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

log=$KWARP_ROOT/build/demo

# What runs under sudo is not ours to signal.
signal() {
	kill "$@" 2>/dev/null || [ "$(id -u)" -eq 0 ] || sudo -n kill "$@" 2>/dev/null || true
}

# PID and all below it, stopped one after the other, so that none is made meanwhile.
stop_tree() {
	local child
	signal -STOP "$1"
	echo "$1"
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		stop_tree "$child"
	done
}

# Jobs in the background do not get Ctrl-C: they would go on after the prompt is back.
end_jobs() {
	local pids pid i
	mapfile -t pids < <(for pid in "${jobs[@]}"; do stop_tree "$pid"; done)
	for pid in "${pids[@]}"; do
		signal -TERM "$pid"
		signal -CONT "$pid"
	done
	for ((i = 0; i < 300; i++)); do
		# Those that have ended and are not yet collected have no command line.
		(cd /proc && cat "${pids[@]/%//cmdline}" 2>/dev/null | tr -d '\0' | grep -q .) || return 0
		sleep 0.1
	done
	say "some of it still runs: ${pids[*]}"
}

# What has to be downloaded does not wait for each other. The lists first: if the mirror
# does not answer, one says so.
prefetch() {
	"$here/apt-private.sh" prepare
	"$here/guest-root.sh" >/dev/null &
	jobs+=($!)
	"$here/get-kernel.sh" 6.12 >/dev/null &
	jobs+=($!)
	"$here/get-source.sh" rdma-core >/dev/null &
	jobs+=($!)
	"$here/get-source.sh" siw 6.12 >/dev/null &
	jobs+=($!)
	for _ in "${jobs[@]}"; do
		wait -n
	done
	jobs=()
}

# What the guest's part says of itself, and where its logs are to be found.
guest_command() {
	local link=${KWARP_DEMO_LINK:+KWARP_DEMO_LINK=$KWARP_DEMO_LINK}
	echo "$link KWARP_DEMO_LOGS_AT=${log@Q} /opt/kwarp/demo.sh $compare"
}

# What the machine did to the figures.
what_it_was() {
	[ -z "$busy" ] || echo "This machine had other work (load $busy): the figures are low, and their order may be wrong."
	if [ "$("$here/guest/accel.sh")" = kvm ]; then
		echo "That was a virtual machine that did the work of both ends: compare figures within it only."
	else
		echo "That was an emulated machine, where each instruction costs ten times as much or more, and those"
		echo "of the CRC still more, and which did the work of both ends: compare figures within it only."
	fi
}

compare=${1:-}
case $* in
'') ;;
-h | --help) head_comment; exit ;;
--compare) ;;
*) die "unknown option $* (see $0 --help)" ;;
esac
say "kwarp demo: nothing is changed on this machine but packages"
# Before anything of ours runs.
busy=$(awk '$1 >= 1 { print $1 }' /proc/loadavg)
[ -z "$busy" ] || say "this machine is busy (load $busy): it will take longer, and the figures will be low"
need_root
need_cache
rm -rf "$log"
mkdir -p "$log"
jobs=()
trap '[ ${#jobs[@]} -eq 0 ] || end_jobs' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$here/host-packages.sh" demo
prefetch
overlay=$("$here/guest/overlay.sh" 6.12)
say "booting a stock Debian kernel in QEMU"
"$here/vm.sh" --overlay "$overlay" --logs "$log" --out "$log" --timeout 600 -- "$(guest_command)"
shell="scripts/vm.sh --overlay ${overlay#"$KWARP_ROOT/"} --shell"
[ -z "$own_cache" ] || shell="KWARP_CACHE=${KWARP_CACHE@Q} $shell"
cat <<-END

	$(what_it_was)
	Its kernel log and the last programs' output are in ${log#"$KWARP_ROOT/"}.
	To go on:
	  $shell
	                              a shell in that machine
	  scripts/demo.sh --compare   longer, with Reads and Sends, and at MTU 9000, too
	  sudo make install           on this machine, with DKMS
	  README.md, Documentation/   what it is and how it works
END
say "the demo is done"
