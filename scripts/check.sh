#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make check: all tests that CI runs. A failed step does not stop the others. The last line is
# "N passed, N failed, N skipped", counted by test case; the lines before it repeat the failures, and
# say which cases were skipped, and why, and how long each step took.
#
#   scripts/check.sh [STEP...]       (default: all; a wrong name prints the list)
#
# Two steps run at the same time as others: the tests of make install and of the packages, which
# take long. The end-to-end suites and the benchmark run alone, because their cases have time
# limits: when the suite on the debug kernel ran at the same time as others on two processors, cases
# exceeded their limits.
#
# Output files: build/check/STEP.log, and build/check-results (one line of counts for each step).
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in -h | --help) head_comment; exit ;; esac

results=$KWARP_ROOT/build/check-results
logs=$KWARP_ROOT/build/check
names=(lint selftest kunit fuzz provider-test install packages e2e e2e-icount e2e-two bench e2e-debug)

chosen() {
	[[ " ${names[*]} " = *" $1 "* ]]
}

# step NAME COMMAND...: run the command, show its output, and keep its counts, the numbers of
# passed, failed and skipped cases, which it writes to the file KWARP_RESULTS. If it writes none,
# its exit status is one result.
step() {
	local name=$1 status=0 start=$SECONDS counts=$logs/$1.counts
	shift
	chosen "$name" || return 0
	echo "=== $name"
	: >"$counts"
	KWARP_RESULTS=$counts "$@" 2>&1 </dev/null | tee "$logs/$name.log" || status=${PIPESTATUS[0]}
	echo "=== $name took $((SECONDS - start)) s"
	echo "$name $((SECONDS - start)) s" >"$logs/$name.time"
	if [ ! -s "$counts" ]; then
		if [ "$status" -eq 0 ]; then echo "1 0 0"; else echo "0 1 0"; fi >"$counts"
	fi
	[ "$status" -eq 0 ] || echo "=== $name failed (exit status $status)" | tee -a "$logs/$name.log"
}

# Print the end of each failure's own output. If a step names no failure, print the end of its
# output.
tell_failures() {
	local name
	for name in "${names[@]}"; do
		awk '$2 > 0 { bad = 1 } END { exit !bad }' "$logs/$name.counts" || continue
		echo "=== failures of $name"
		awk '
			function tell(    i) { for (i = n > 12 ? n - 12 : 0; i < n; i++) print said[i]; n = 0 }
			/^not ok/ { tell(); print; on = found = 1; next }
			on && /^(#|  )/ { said[n++] = $0; next }
			{ tell(); on = 0; last[NR % 12] = $0 }
			END { tell(); if (!found) for (i = NR - 11; i <= NR; i++) if (i % 12 in last) print last[i % 12] }' "$logs/$name.log"
	done
}

# Print the reasons for skipped cases, with the names of the cases.
tell_skipped() {
	local name
	for name in "${names[@]}"; do
		tr -d '\r' <"$logs/$name.log" | awk -v step="$name" '
			/^ok .*# *SKIP/ {
				why = $0; sub(/.*# *SKIP */, "", why)
				which = $0; sub(/^ok +([0-9]+ +)?(- +)?/, "", which); sub(/ *# *SKIP.*/, "", which)
				if (!n[why]++) whys[++w] = why
				cases[why] = cases[why] " " which
			}
			END { for (i = 1; i <= w; i++) print "=== skipped in " step ": " whys[i] ":" cases[whys[i]] }'
	done
}

# Print how long each step took, and all of them.
tell_times() {
	local name times=()
	for name in "${names[@]}"; do
		[ ! -s "$logs/$name.time" ] || times+=("$(cat "$logs/$name.time")")
	done
	echo "=== times: $(printf '%s, ' "${times[@]}")in all $SECONDS s"
}

for name in "$@"; do
	chosen "$name" || die "no step '$name': there are ${names[*]}"
done
[ $# -eq 0 ] || names=("$@")
need_root
need_cache
[ $# -gt 0 ] || [ -e "$KWARP_CACHE/kunit" ] || need_space "the first check" 9000 "$KWARP_CACHE" 1000 "$KWARP_ROOT/build"
rm -rf "$logs"
mkdir -p "$logs"
# Install the packages now, because two steps that run at the same time would both do it.
"$here/host-packages.sh" check
# After Ctrl-C, end the whole process group: the terminal's interrupt does not reach jobs in the
# background.
trap 'trap - TERM; kill 0' INT TERM
# These two steps run at the same time as the steps from lint to provider-test. They work in
# chroots, and use one processor most of the time.
steps_beside() {
	step install "$here/debian/install-test.sh"
	step packages "$here/debian/package-test.sh" trixie
}
steps_beside >"$logs/beside.told" 2>&1 &
beside=$!
step lint "$here/lint.sh"
step selftest "$here/selftest.sh"
step kunit "$here/kunit.sh"
step fuzz "$here/fuzz.sh" 60
step provider-test "$here/provider-test.sh"
! chosen install && ! chosen packages || say "waiting for the tests of make install and of the packages, which have run at the same time"
wait "$beside" || echo "=== the tests of make install and of the packages have ended early" >>"$logs/beside.told"
cat "$logs/beside.told"
# A step that did not begin counts as failed, too.
for name in install packages; do
	chosen "$name" || continue
	[ -s "$logs/$name.counts" ] || echo "0 1 0" >"$logs/$name.counts"
	touch "$logs/$name.log"
done
export KWARP_E2E_SET=check
step e2e "$here/e2e.sh" --kernel 6.12
step e2e-icount env KWARP_ACCEL=icount "$here/e2e.sh" --kernel 6.12 coalesce-delay coalesce-server coalesce-sleep coalesce-poll
step e2e-two "$here/e2e.sh" --kernel 6.12 --peer-kernel 6.12
step bench "$here/bench.sh" --short
# On a slow host this step takes by far the longest, so it gets what is left of 85 minutes. Cases
# that it has no time for are reported as skipped.
export KWARP_E2E_TIME=${KWARP_E2E_TIME:-$((5100 - SECONDS))}
step e2e-debug "$here/e2e.sh" --kernel debug

tell_skipped
tell_times
tell_failures
for name in "${names[@]}"; do
	cat "$logs/$name.counts"
done >"$results"
read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$results")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
