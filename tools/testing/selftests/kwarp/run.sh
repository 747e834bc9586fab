#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The end-to-end suite: RDMA programs over TCP between two network namespaces, on the running
# kernel. Run it as root, on a machine that a failure may damage.
#
#   run.sh [OPTIONS] [PATTERN...]     run the cases whose names match: "perf-*", or a prefix "perf";
#                                     without a pattern, all cases of the set
#
#   --list             print the names of these cases in their order, and run nothing
#   --link TYPE        type of link under test: kwarp (default), kwarp-siw or siw
#   --peer TYPE        type of link at the other end of interop cases: siw (default)
#   --profile stock|debug
#                      debug is for kernels that are ten to a hundred times slower: cases do less
#                      and have longer time limits; the default is stock
#   --set all|check|rest|stock|user-mode
#                      all cases (default), those that make check has time for, or the others;
#                      stock and user-mode are the two parts of check (check-set.sh)
#   --seed N           run the cases in a random order that N determines; with --profile debug the
#                      order is always random
#   --time SECONDS     skip cases that have not begun after this time
#   --logs DIR         folder for logs: /out if it exists, else /run/kwarp-e2e/logs
#   -h, --help         print this text
#
# Output is TAP. Exit status: 0 if all cases passed or were skipped, 1 if some failed or an option
# is wrong, 2 if no name matches, 3 if more than a tenth were skipped for want of time.
HERE=$(cd "$(dirname "$0")" && pwd)
export PATH=$PATH:$HERE/../bin:$HERE/../tools:/usr/sbin:/sbin LC_ALL=C.UTF-8

CASES=()
declare -A CASE_CODE=() CASE_LIMIT=() OPTIONAL=()

# testcase NAME SECONDS FUNCTION [ARGS...]: define a case. SECONDS is its time limit on an idle
# machine.
testcase() {
	local name=$1
	CASES+=("$name")
	CASE_LIMIT[$name]=$2
	shift 2
	printf -v "CASE_CODE[$name]" '%q ' "$@"
}

# optional_testcase NAME SECONDS FUNCTION [ARGS...]: define a case that runs only if its whole
# name is given.
optional_testcase() {
	OPTIONAL[$1]=1
	testcase "$@"
}

load_cases() {
	local f
	# shellcheck source=lib.sh
	. "$HERE/lib.sh"
	# shellcheck source=reports.sh
	. "$HERE/reports.sh"
	# shellcheck source=two-set.sh
	. "$HERE/two-set.sh"
	# shellcheck source=check-set.sh
	. "$HERE/check-set.sh"
	for f in "$HERE"/cases/*.sh; do
		# shellcheck source=/dev/null
		. "$f"
	done
}

# one_case NAME: run the case. The caller runs this function in a fork of this shell. A new shell
# would have to read all files of the suite again, which on a slow machine takes longer than many
# cases do.
one_case() {
	set +m
	case_begin
	eval "${CASE_CODE[$1]}"
	case_end
}

selected() {
	local name=$1 p
	shift
	if [ -n "${OPTIONAL[$name]:-}" ]; then
		[[ " $* " = *" $name "* ]]
		return
	fi
	[ $# -gt 0 ] || return 0
	for p in "$@"; do
		# shellcheck disable=SC2053
		[[ $name = $p || $name = $p-* ]] && return 0
	done
	return 1
}

# kernel_log_since NAME: print the lines of the kernel log since that case began.
kernel_log_since() {
	dmesg | awk -v mark="kwarp-e2e: $1," 'index($0, mark) { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }'
}

# Remove namespaces, links, and the module of the links under test. Called after a failed case,
# which may have left them damaged, and after an interrupt.
reset_world() {
	(
		net_down
		consumers_reset
		both_ends at timeout 60 modprobe -r "$KWARP_MODULE" || :
	) >>"$LOGS/reset.log" 2>&1 </dev/null
}

verdict() {
	local k=$1 name=$2 rc=$3 seconds=$4 dir=$5
	kernel_log_since "$name" >"$dir/kernel.log"
	if [ -s "$dir/kernel.log" ] && bad_lines "$dir/kernel.log" >"$dir/kernel.bad"; then
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

# Process groups of the running case (job), and of the timer that ends it after its time limit
# (watch). Empty: no case is running.
job='' watch=''

interrupted() {
	local group
	for group in $job $watch; do
		kill -KILL -- "-$group"
	done 2>/dev/null
	reset_world
	exit 130
}

# within SECONDS COMMAND...: run the command in a process group of its own, and end that group
# after SECONDS.
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
	local k=$1 name=$2 limit=$((CASE_LIMIT[$2] * SLOWNESS)) dir=$LOGS/$2 rc begin=$SECONDS line lines
	[ ! -e "$dir" ] || rm -rf "$dir"
	mkdir -p "$dir"
	# Read the whole file at once: each read of a part would show another time.
	mapfile -t lines </proc/timer_list
	for line in "${lines[@]}"; do
		[[ $line != jiffies:* ]] || break
	done
	# tools/testing/guest/scan-log.sh compares these times with the times at which leaked objects
	# were allocated, to name the case.
	echo "kwarp-e2e: $name, jiffies ${line#jiffies: }" >/dev/kmsg
	[ "$TWO" = 0 ] || write_at 1 /dev/kmsg "kwarp-e2e: $name"
	export CASE_DIR=$dir
	# shellcheck disable=SC2034 # for lib.sh
	next_port=$((20100 + k * 50 % 12600))
	# The call must not be part of a condition, which would switch errexit off in the case.
	within "$limit" one_case "$name" >"$dir/log" 2>&1 </dev/null
	rc=$?
	# If the case was killed, its clean-up may not have finished.
	[ $rc -lt 124 ] || both_ends kill_in_ns
	verdict "$k" "$name" "$rc" $((SECONDS - begin)) "$dir"
}

# Print the head comment of this file, without the licence.
usage() {
	sed -n '4,/^[^#]/s/^#\( \|$\)//p' "$0"
}

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		--list) list=1 ;;
		--link) export KWARP_LINK=$2; shift ;;
		--peer) export KWARP_PEER=$2; shift ;;
		--profile) export KWARP_PROFILE=$2; shift ;;
		--time) time=$2; shift ;;
		--seed) seed=$2; shift ;;
		--set) set=$2; shift ;;
		--logs) LOGS=$2; shift ;;
		-h | --help) usage; exit ;;
		-*) echo "unknown option $1" >&2; usage >&2; exit 1 ;;
		*) patterns+=("$1") ;;
		esac
		shift
	done
}

# shuffled NAME...: print the names in a random order, which the seed determines.
shuffled() {
	local names=("$@") i j name
	for ((i = $# - 1; i > 0; i--)); do
		j=$((RANDOM % (i + 1)))
		name=${names[i]} names[i]=${names[j]} names[j]=$name
	done
	[ $# -eq 0 ] || printf '%s\n' "${names[@]}"
}

# choose PATTERN...: set "chosen" to the cases to run, in their order. On a debug kernel, or with a
# seed, the order is random: that finds cases that work only after another one, and if the time is
# not sufficient, each run leaves out other cases. In a random order the cases of teardown (life-*,
# edge-*) come first, because the debug kernel finds most bugs in them.
choose() {
	local name first=() others=()
	for name in "${CASES[@]}"; do
		selected "$name" "$@" || continue
		[ $# -gt 0 ] || in_set "$name" "$set" || continue
		# On two machines a pattern stands for the cases that can run there.
		[ "$TWO" = 0 ] || [[ " $* " = *" $name "* ]] || on_two_machines "$name" || continue
		case $name in
		life-* | edge-*) first+=("$name") ;;
		*) others+=("$name") ;;
		esac
		chosen+=("$name")
	done
	[ "$KWARP_PROFILE" != debug ] || [ -n "$seed" ] || seed=$((SRANDOM % 100000))
	[ -n "$seed" ] || return 0
	mapfile -t chosen < <(RANDOM=$seed; shuffled "${first[@]}"; shuffled "${others[@]}")
}

# Print what cases have reported with "tell" about the whole run.
tell_notes() {
	[ ! -e "$RUN/told" ] || sed 's/^/# /' "$RUN/told"
}

main() {
	local list=0 set=all patterns=() chosen=() name time='' seed='' k=0 late=0
	failed=0 LOGS=$RUN/logs
	[ ! -d /out ] || LOGS=/out
	parse "$@"
	load_cases
	mkdir -p "$RUN"

	choose "${patterns[@]}"
	[ $list = 0 ] || { [ ${#chosen[@]} -eq 0 ] || printf '%s\n' "${chosen[@]}"; return; }

	[ ${#chosen[@]} -gt 0 ] || { echo "no case is named, or begins with: ${patterns[*]}"; return 2; }
	mkdir -p "$LOGS"
	export KWARP_LINK KWARP_PEER KWARP_PROFILE
	echo "TAP version 13"
	echo "1..${#chosen[@]}"
	echo "# kernel $(uname -r), link type $KWARP_LINK, peer $KWARP_PEER, profile $KWARP_PROFILE"
	[ -z "$seed" ] || echo "# the order is that of KWARP_E2E_SEED=$seed"
	trap interrupted INT TERM
	modprobe -a rdma_ucm ib_uverbs veth 2>/dev/null
	[ "$TWO" = 0 ] || at 1 modprobe -a rdma_ucm ib_uverbs
	rm -f "$RUN/net" "$RUN/knobs" "$RUN/told" "$RUN"/link.*
	for name in "${chosen[@]}"; do
		if [ -n "$time" ] && [ "$SECONDS" -ge "$time" ]; then
			echo "ok $((++k)) $name # SKIP no time left: $SECONDS s have gone by"
			late=$((late + 1))
		else
			run_case $((++k)) "$name"
		fi
	done
	net_down >/dev/null 2>&1
	tell_notes
	echo "# $failed of $k failed, $late had no time, $SECONDS s"
	[ $failed -eq 0 ] || return 1
	[ $((10 * late)) -le $k ] || return 3
}

main "$@"
