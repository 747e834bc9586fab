#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make check: all tests that CI runs. A failed step does not stop the others. The last line is
# "N passed, N failed, N skipped", counted by test case; the lines before it repeat the failures, and
# say which cases were skipped, and why, and how long each step took.
#
#   scripts/check.sh [STEP...]       (default: all; a wrong name prints the list)
#
# Where KVM works, the end-to-end suite runs on the stock kernel (e2e). Elsewhere that kernel is
# emulated, and runs the cases that need it (on_stock in check-set.sh); the others run on a user-mode
# kernel (e2e-um).
#
# Three steps run at the same time as others: the tests of make install and of the provider, and
# e2e-um, which uses one processor. The fuzzers and the other end-to-end suites run alone, because
# their cases have time limits. With builds beside an emulated machine cases take half as long again,
# also if the builds have the lowest priority.
#
#   KWARP_CHECK_TIME=5100      seconds for all steps; steps that would not end in time are skipped
#   KWARP_JUNIT=FILE           write the results of all cases to FILE as JUnit's XML (junit.sh)
#
# Output files: build/check/STEP.log, build/check/index (for each failed case its step, its name and
# the file or folder of its logs), and build/check-results (one line of counts for each step).
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
e2e=$KWARP_ROOT/tools/testing/selftests/e2e.sh
case ${1:-} in -h | --help) head_comment; exit ;; esac

results=$KWARP_ROOT/build/check-results
logs=$KWARP_ROOT/build/check
# Seconds for all steps.
most=${KWARP_CHECK_TIME:-5100}
names=(lint kunit fuzz provider-test install packages e2e-um e2e e2e-icount bench selftest e2e-two)

chosen() {
	[[ " ${names[*]} " = *" $1 "* ]]
}

# True if the step NAME has counted failures.
has_failures() {
	awk '$2 > 0 { bad = 1 } END { exit !bad }' "$logs/$1.counts"
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
	[ "$status" -ne 0 ] || return 0
	echo "=== $name failed (exit status $status)" | tee -a "$logs/$name.log"
	has_failures "$name" || echo "0 1 0" >>"$counts"
}

no_time() {
	echo "ok whole run # SKIP no time left: $SECONDS of $most s have gone by"
	echo "0 0 1" >>"$KWARP_RESULTS"
}

# step_in SECONDS NAME COMMAND...: a step that takes so long, or is skipped if that is too long.
step_in() {
	local need=$1 name=$2
	shift 2
	[ $((SECONDS + need)) -le $most ] || set -- no_time
	step "$name" "$@"
}

# Print the end of each failure's own output. If a step names no failure, print the end of its
# output.
tell_failures() {
	local name
	for name in "${names[@]}"; do
		has_failures "$name" || continue
		echo "=== failures of $name"
		awk '
			function tell(    i) { for (i = n > 12 ? n - 12 : 0; i < n; i++) print said[i]; n = 0 }
			/^not ok/ { tell(); print; on = found = 1; next }
			on && /^(#|  )/ { said[n++] = $0; next }
			{ tell(); on = 0; last[NR % 12] = $0 }
			END { tell(); if (!found) for (i = NR - 11; i <= NR; i++) if (i % 12 in last) print last[i % 12] }' "$logs/$name.log"
	done
}

# Write and print the index of failed cases. The logs of an end-to-end case are a folder.
index_failures() {
	local name case of_cases
	for name in "${names[@]}"; do
		of_cases=$(sed -nE 's/.*\(logs: ([^)]+)\)$/\1/p' "$logs/$name.log" | tail -n 1)/out
		tr -d '\r' <"$logs/$name.log" | sed -nE 's/^not ok ([0-9]+ )?(- )?([^ :]+).*/\3/p' | while read -r case; do
			if [ -d "$of_cases/$case" ]; then
				printf '%s\t%s\t%s\n' "$name" "$case" "$of_cases/$case"
			else
				printf '%s\t%s\t%s\n' "$name" "$case" "$logs/$name.log"
			fi
		done
	done >"$logs/index"
	[ ! -s "$logs/index" ] || { echo "=== logs of failed cases (build/check/index)"; cat "$logs/index"; }
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
[ $# -gt 0 ] || [ -e "$KWARP_CACHE/kunit" ] || need_space "the first check" 11000 "$KWARP_CACHE" 1000 "$KWARP_ROOT/build"
rm -rf "$logs"
mkdir -p "$logs"
# Install the packages now, because two steps that run at the same time would both do it.
"$here/host-packages.sh" check
# Without e2e-um the step e2e runs all cases of the set check.
if [ $# -eq 0 ] && [ "$("$KWARP_ROOT/tools/testing/guest/accel.sh")" = kvm ]; then
	mapfile -t names < <(printf '%s\n' "${names[@]}" | grep -vx e2e-um)
fi
e2e_set=check
! chosen e2e-um || e2e_set=stock
# After Ctrl-C, end the whole process group: the terminal's interrupt does not reach jobs in the
# background.
trap 'trap - TERM; kill 0' INT TERM
# Two lists of steps, which run at the same time and take about as long.
beside=(install provider-test e2e-um)
steps_beside() {
	step install "$here/debian/install-test.sh" bookworm
	step provider-test "$here/provider-test.sh"
	step e2e-um env KWARP_E2E_SET=user-mode "$e2e" --kernel uml-up
}
steps_beside >"$logs/beside.told" 2>&1 &
step lint "$here/lint.sh"
step packages "$here/debian/package-test.sh" trixie
step kunit "$here/kunit.sh"
wait
cat "$logs/beside.told"
# A step that did not begin, or died with its list, counts as failed, too.
for name in "${beside[@]}"; do
	chosen "$name" && [ ! -s "$logs/$name.counts" ] || continue
	echo "0 1 0" >"$logs/$name.counts"
	echo "=== $name did not run to its end" | tee -a "$logs/$name.log"
done
step fuzz "$KWARP_ROOT/tools/testing/fuzz/fuzz.sh" 60
step e2e env KWARP_E2E_SET=$e2e_set "$e2e" --kernel 6.12
step e2e-icount env KWARP_ACCEL=icount "$e2e" --kernel 6.12 coalesce-delay coalesce-server coalesce-sleep coalesce-poll
step_in 180 bench "$KWARP_ROOT/tools/testing/bench/bench.sh" --short
step_in 400 selftest env KWARP_SELFTEST_DEBUG=0 "$here/selftest.sh"
step_in 700 e2e-two env KWARP_E2E_SET=check "$e2e" --kernel 6.12 --peer-kernel 6.12

tell_skipped
tell_times
tell_failures
index_failures
files=("${names[@]/#/$logs/}")
[ -z "${KWARP_JUNIT:-}" ] || "$here/junit.sh" "${files[@]/%/.log}" >"$KWARP_JUNIT" || echo "=== $KWARP_JUNIT was not written"
for name in "${names[@]}"; do
	cat "$logs/$name.counts"
done >"$results"
read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$results")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
