#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Everything that CI runs, one step after the other, none left out because another
# failed. The last line is "N passed, N failed, N skipped", counted by test case.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p "$KWARP_ROOT/build"
results=$KWARP_ROOT/build/check-results
: >"$results"
export KWARP_RESULTS=$results

# A step that ends without writing its counts has itself failed.
step() {
	local name=$1 before status=0
	shift
	before=$(wc -l <"$results")
	echo "=== $name"
	"$@" </dev/null || status=$?
	if [ "$(wc -l <"$results")" -eq "$before" ]; then
		if [ "$status" -eq 0 ]; then echo "1 0 0"; else echo "0 1 0"; fi >>"$results"
	fi
	[ "$status" -eq 0 ] || echo "=== $name failed (exit status $status)"
}

# The cases that have been seen to pass, and to pass again; make e2e and make e2e-debug
# run them all. A case joins when it has.
stock_cases=(rping perf cm rsock data interop-siw-is-server interop-siw-is-client-crc-on-rping
	interop-siw-is-client-crc-off-rping life bad-selftest bad-req bad-rdma-fin bad-rdma-rst raw-start raw-fpdu raw-untagged raw-tagged raw-rdmap raw-read raw-close raw-no-crc
	raw-mutate)
debug_cases=(rping perf-write-bw-1 cm data-ipv6 data-events data-small life)

step lint "$here/lint.sh"
step kunit "$here/kunit.sh"
step fuzz "$here/fuzz.sh" 20
step provider-test "$here/provider-test.sh"
step e2e "$here/e2e.sh" --kernel 6.12 "${stock_cases[@]}"
step e2e-debug "$here/e2e.sh" --kernel debug "${debug_cases[@]}"

read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$results")
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
