#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make demo: run unchanged RDMA programs over kwarp in a virtual machine with a stock Debian kernel.
# Works on a fresh Debian machine, on which it installs packages and changes nothing else.
#
#   tools/testing/demo/demo.sh            run the demo
#   tools/testing/demo/demo.sh --compare  run it for longer, also with Reads and Sends, and at MTU
#                                         9000
set -euo pipefail
own_cache=${KWARP_CACHE:-}
. "$(dirname "$0")/../../../scripts/lib.sh"

log=$KWARP_ROOT/build/demo

# signal ARGUMENTS OF kill...: send a signal. If the script is not root, processes under sudo can
# only be signalled through sudo.
signal() {
	kill "$@" 2>/dev/null || [ "$(id -u)" -eq 0 ] || sudo -n kill "$@" 2>/dev/null || true
}

# stop_tree PID: stop the process and its descendants, and print their ids. Each process is stopped
# before its children are looked up, so that it cannot start new children meanwhile.
stop_tree() {
	local child
	signal -STOP "$1"
	echo "$1"
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		stop_tree "$child"
	done
}

# End the jobs in the background: Ctrl-C does not reach them, so they would outlive the script.
end_jobs() {
	local pids pid i
	mapfile -t pids < <(for pid in "${jobs[@]}"; do stop_tree "$pid"; done)
	for pid in "${pids[@]}"; do
		signal -TERM "$pid"
		signal -CONT "$pid"
	done
	for ((i = 0; i < 300; i++)); do
		# A process that has ended, but was not waited for, has no command line.
		(cd /proc && cat "${pids[@]/%//cmdline}" 2>/dev/null | tr -d '\0' | grep -q .) || return 0
		sleep 0.1
	done
	say "some of it still runs: ${pids[*]}"
}

# Download all parts at the same time. The package lists come first, so that a mirror that does
# not answer gives one error, not four.
prefetch() {
	"$KWARP_ROOT/scripts/apt-private.sh" prepare bookworm-security trixie trixie-src
	"$KWARP_ROOT/tools/testing/guest/root.sh" >/dev/null &
	jobs+=($!)
	"$KWARP_ROOT/scripts/get-kernel.sh" 6.12 >/dev/null &
	jobs+=($!)
	"$KWARP_ROOT/scripts/get-source.sh" rdma-core >/dev/null &
	jobs+=($!)
	"$KWARP_ROOT/scripts/get-source.sh" siw 6.12 >/dev/null &
	jobs+=($!)
	for _ in "${jobs[@]}"; do
		wait -n
	done
	jobs=()
}

# Print the command for the guest. The command contains the path of the host's log folder, which the
# guest's messages about failures name.
guest_command() {
	local link=${KWARP_DEMO_LINK:+KWARP_DEMO_LINK=$KWARP_DEMO_LINK}
	echo "$link KWARP_DEMO_LOGS_AT=${log@Q} /opt/kwarp/demo.sh $compare"
}

# Print facts about the host that may have influenced the figures.
what_it_was() {
	[ -z "$busy" ] || echo "This machine had other work (load $busy): the figures are low, and their order may be wrong."
	if [ "$("$KWARP_ROOT/tools/testing/guest/accel.sh")" = kvm ]; then
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
# The load of the host before the script starts anything; empty if a processor is free.
busy=$(awk -v cpus="$(nproc)" '$1 >= cpus { print $1 }' /proc/loadavg)
[ -z "$busy" ] || say "this machine is busy (load $busy): it will take longer, and the figures will be low"
[ -e /dev/kvm ] || say "this machine has no KVM (/dev/kvm): the virtual machine will be an emulated one, which is slower"
need_root
need_cache
[ -e "$KWARP_CACHE/kernel/6.12" ] || need_space "the demo" 1000 "$KWARP_CACHE" 300 "$KWARP_ROOT/build" 600 "${TMPDIR:-/tmp}"
rm -rf "$log"
mkdir -p "$log"
jobs=()
trap '[ ${#jobs[@]} -eq 0 ] || end_jobs' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$KWARP_ROOT/scripts/host-packages.sh" demo
prefetch
overlay=$("$KWARP_ROOT/tools/testing/guest/overlay.sh" 6.12)
say "booting a stock Debian kernel in QEMU"
"$KWARP_ROOT/tools/testing/guest/vm.sh" --overlay "$overlay" --logs "$log" --out "$log" --timeout 600 -- "$(guest_command)"
shell="tools/testing/guest/vm.sh --overlay ${overlay#"$KWARP_ROOT/"} --shell"
[ -z "$own_cache" ] || shell="KWARP_CACHE=${KWARP_CACHE@Q} $shell"
cat <<-END

	$(what_it_was)
	Its kernel log and the last programs' output are in ${log#"$KWARP_ROOT/"}.
	To go on:
	  $shell
	                              a shell in that machine
	  tools/testing/demo/demo.sh --compare
	                              longer, with Reads and Sends, and at MTU 9000, too
	  sudo make install           on this machine, with DKMS
	  README.md, Documentation/   what it is and how it works
END
say "the demo is done"
