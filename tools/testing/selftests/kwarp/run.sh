#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The end-to-end suite: real RDMA programs over real TCP between two network
# namespaces, on the running kernel. Run as root on a machine that may be broken.
#
#   run.sh [--list] [--link TYPE] [--peer TYPE] [--profile stock|debug] [--time SECONDS] [PATTERN...]
#
#   PATTERN   runs the cases whose name matches: "perf-*", or a prefix "perf"
#   --link    type of link under test (kwarp)
#   --peer    type of link on the other end of interop cases (siw)
#   --time    cases that have not begun by then are skipped; fewer than half
#   --logs    where logs go (/out where it exists, else /tmp/kwarp-e2e)
#
# Output is TAP. Exit status: 0 all passed or skipped, 1 some failed,
# 2 no case is named so, 3 no time for half of them.
HERE=$(cd "$(dirname "$0")" && pwd)
export PATH=$PATH:$HERE/../bin:$HERE/../tools:/usr/sbin:/sbin LC_ALL=C.UTF-8

CASES=()
declare -A CASE_CODE=() CASE_LIMIT=()

# testcase NAME SECONDS FUNCTION [ARGS...]: a case and its time limit on an idle machine.
testcase() {
	local name=$1
	CASES+=("$name")
	CASE_LIMIT[$name]=$2
	shift 2
	printf -v "CASE_CODE[$name]" '%q ' "$@"
}

load_cases() {
	local f
	# shellcheck source=lib.sh
	. "$HERE/lib.sh"
	for f in "$HERE"/cases/*.sh; do
		# shellcheck source=/dev/null
		. "$f"
	done
}

# The process of one case: a fork of ours, since to read all this again takes a slow machine
# longer than many a case.
one_case() {
	set +m
	case_begin
	eval "${CASE_CODE[$1]}"
	case_end
}

selected() {
	local name=$1 p
	shift
	[ $# -gt 0 ] || return 0
	for p in "$@"; do
		# shellcheck disable=SC2053
		[[ $name = $p || $name = $p-* ]] && return 0
	done
	return 1
}

# Lines of the kernel log since the case began.
kernel_log_since() {
	dmesg | awk -v mark="kwarp-e2e: $1." 'index($0, mark) { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }'
}

# What a program did to itself ("traps:") is for the case to judge.
bad_in_kernel_log() {
	grep -v 'traps: ' | grep -E 'BUG:|WARNING:|Oops|KASAN:|UBSAN:|INFO: (task|possible|rcu)|general protection|refcount_t:|list_(add|del) corruption|scheduling while atomic|sleeping function|suspicious RCU|lockup|unregister_netdevice: waiting|ODEBUG:|Call Trace:'
}

# After a failure nothing that stands is trusted.
reset_world() {
	(
		net_down
		timeout 60 modprobe -r "$KWARP_LINK" || :
	) >>"$LOGS/reset.log" 2>&1 </dev/null
}

verdict() {
	local k=$1 name=$2 rc=$3 seconds=$4 dir=$5
	kernel_log_since "$name" >"$dir/kernel.log"
	if bad_in_kernel_log <"$dir/kernel.log" >"$dir/kernel.bad"; then
		echo "FAILED: the kernel log reports a problem" >>"$dir/log"
		head -n 60 "$dir/kernel.log" >>"$dir/log"
		rc=1
	fi
	case $rc in
	0) echo "ok $k $name" ;;
	"$SKIP_STATUS") echo "ok $k $name # SKIP $(cat "$dir/skip" 2>/dev/null)" ;;
	*)
		echo "not ok $k $name"
		tail -n 60 "$dir/log" | sed 's/^/# /'
		failed=$((failed + 1))
		reset_world
		;;
	esac
	[ "$rc" = "$SKIP_STATUS" ] || echo "# $name took $seconds s"
}

# Process groups of the case and of what ends it.
job='' watch=''

interrupted() {
	local group
	for group in $job $watch; do
		kill -KILL -- "-$group"
	done 2>/dev/null
	reset_world
	exit 130
}

# within SECONDS COMMAND...: in a process group of its own, which is ended when time is up.
within() {
	local seconds=$1 rc=0
	shift
	set -m
	"$@" &
	job=$!
	(
		sleep "$seconds"
		kill -TERM -- "-$job"
		sleep 30
		kill -KILL -- "-$job"
	) >/dev/null 2>&1 &
	watch=$!
	set +m
	wait "$job" || rc=$?
	kill -KILL -- "-$watch"
	wait "$watch" 2>/dev/null
	job='' watch=''
	return "$rc"
}

run_case() {
	local k=$1 name=$2 limit=$((CASE_LIMIT[$2] * SLOWNESS)) dir=$LOGS/$2 rc begin=$SECONDS
	rm -rf "$dir"
	mkdir -p "$dir"
	echo "kwarp-e2e: $name." >/dev/kmsg
	export CASE_DIR=$dir
	# shellcheck disable=SC2034 # for lib.sh
	next_port=$((20000 + k * 50))
	# Not as a condition, which would switch errexit off in the case.
	within "$limit" one_case "$name" >"$dir/log" 2>&1 </dev/null
	rc=$?
	# The clean-up may not have come to its end.
	[ $rc -lt 124 ] || both_ends kill_in_ns
	verdict "$k" "$name" "$rc" $((SECONDS - begin)) "$dir"
}

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		--list) list=1 ;;
		--link) export KWARP_LINK=$2; shift ;;
		--peer) export KWARP_PEER=$2; shift ;;
		--profile) export KWARP_PROFILE=$2; shift ;;
		--time) time=$2; shift ;;
		--logs) LOGS=$2; shift ;;
		-*) sed -n '3,/^HERE/{/^#/p}' "$0"; exit 1 ;;
		*) patterns+=("$1") ;;
		esac
		shift
	done
}

# What hostile peers do comes first on a debug kernel: it is there for that, and time may run out.
choose() {
	local name raw=() others=()
	for name in "${CASES[@]}"; do
		selected "$name" "$@" || continue
		if [ "$KWARP_PROFILE" = debug ] && [[ $name = raw-* ]]; then raw+=("$name"); else others+=("$name"); fi
	done
	chosen=("${raw[@]}" "${others[@]}")
}

main() {
	local list=0 patterns=() chosen=() name time='' k=0 late=0
	failed=0 LOGS=/tmp/kwarp-e2e
	[ ! -d /out ] || LOGS=/out
	parse "$@"
	load_cases
	mkdir -p "$RUN"

	choose "${patterns[@]}"
	[ $list = 0 ] || { printf '%s\n' "${chosen[@]}"; return; }

	[ ${#chosen[@]} -gt 0 ] || { echo "no case is named, or begins with: ${patterns[*]}"; return 2; }
	mkdir -p "$LOGS"
	export KWARP_LINK KWARP_PEER KWARP_PROFILE
	echo "TAP version 13"
	echo "1..${#chosen[@]}"
	echo "# kernel $(uname -r), link type $KWARP_LINK, peer $KWARP_PEER, profile $KWARP_PROFILE"
	trap interrupted INT TERM
	modprobe -a rdma_ucm ib_uverbs veth 2>/dev/null
	rm -f "$RUN/net" "$RUN/knobs" "$RUN"/link.*
	for name in "${chosen[@]}"; do
		if [ -n "$time" ] && [ "$SECONDS" -ge "$time" ]; then
			echo "ok $((++k)) $name # SKIP no time left: $SECONDS s have gone by"
			late=$((late + 1))
		else
			run_case $((++k)) "$name"
		fi
	done
	net_down >/dev/null 2>&1
	echo "# $failed of $k failed, $late had no time, $SECONDS s"
	[ $failed -eq 0 ] || return 1
	[ $((2 * late)) -lt $k ] || return 3
}

main "$@"
