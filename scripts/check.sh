#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Everything that CI runs, one step after the other, none left out because another
# failed. The last line is "N passed, N failed, N skipped", counted by test case.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

need_root
need_cache
mkdir -p "$KWARP_ROOT/build"
results=$KWARP_ROOT/build/check-results
: >"$results"
export KWARP_RESULTS=$results

# A step that ends without writing its counts has itself failed.
step() {
	local name=$1 before status=0 start=$SECONDS
	shift
	before=$(wc -l <"$results")
	echo "=== $name"
	"$@" </dev/null || status=$?
	echo "=== $name took $((SECONDS - start)) s"
	if [ "$(wc -l <"$results")" -eq "$before" ]; then
		if [ "$status" -eq 0 ]; then echo "1 0 0"; else echo "0 1 0"; fi >>"$results"
	fi
	[ "$status" -eq 0 ] || echo "=== $name failed (exit status $status)"
}

step lint "$here/lint.sh"
step kunit "$here/kunit.sh"
step fuzz "$here/fuzz.sh" 60
step provider-test "$here/provider-test.sh"
step e2e "$here/e2e.sh" --kernel 6.12
step bench "$here/bench.sh" --short
# It takes the longest by far where the host gives little of its processors. What it has no time
# for it tells.
export KWARP_E2E_TIME=${KWARP_E2E_TIME:-$((5000 - SECONDS))}
step e2e-debug "$here/e2e.sh" --kernel debug

read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$results")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
