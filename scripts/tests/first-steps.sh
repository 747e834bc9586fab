# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154
#
# Tests of what the scripts say when a first step fails: apt's failures, missing packages, no root,
# no space. Sourced by selftest.sh, which sets "here" (scripts/) and "out" (a folder for files).
# Programs that these tests replace are stubs in a folder of their own, first in PATH.

# -------------------------------------------------------------------- progress

slow_step() {
	echo 'CC first.o'
	sleep 2.5
}

# A long step says how long it has run, and what it does. Nothing of that is left after the step: a
# process would keep the caller's lock, and the pipe of the command substitution open.
test_ticks() {
	local said start
	said=$(KWARP_TICK=1 logged "$out/ticks.log" slow_step 2>&1)
	grep -qE '^\[ *[0-9]+s\] slow_step: [12] s so far, at: CC first.o \(log: .*/ticks.log\)$' <<<"$said" ||
		echo "a step of 2.5 s said: $said"
	start=$SECONDS
	said=$(logged "$out/ticks.log" true 2>&1)
	[ $((SECONDS - start)) -lt 5 ] || echo "something is left for $((SECONDS - start)) s"
	[ -z "$said" ] || echo "a short step said: $said"
	exec 9>"$out/ticks.lock"
	flock 9
	start_ticks "$out/ticks.log" step
	exec 9>&-
	flock -w 5 "$out/ticks.lock" true || echo "the lock is kept"
	end_ticks
}
