#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run the fuzz targets for the protocol layer (tools/testing/fuzz, libFuzzer). Each target is one
# result.
#
#   tools/testing/fuzz/fuzz.sh [SECONDS]    all targets in parallel, for this time (default: 60)
#
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" to FILE, for make check
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"
case ${1:-} in -h | --help) head_comment; exit ;; esac
[[ ${1:-60} =~ ^[1-9][0-9]*$ ]] || die "fuzz for how many seconds? '$1' is no number"

"$KWARP_ROOT/scripts/host-packages.sh" fuzz
log=$KWARP_ROOT/build/fuzz.log
mkdir -p "$KWARP_ROOT/build"
say "fuzzing for ${1:-60} s"
status=0
make -k -C "$KWARP_ROOT/tools/testing/fuzz" fuzz "BUILD=$KWARP_ROOT/build/fuzz" "FUZZ_SECONDS=${1:-60}" \
	2>&1 </dev/null | tee "$log" | grep -v '^make' || status=$?
failed=$(grep -c '^fuzz [a-z_]*: FAILED' "$log" || true)
passed=$(grep -c '^fuzz .*no finding' "$log" || true)
if [ "$failed" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$passed" -eq 0 ]; }; then
	failed=1
fi
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed 0" >>"$KWARP_RESULTS"
say "fuzz: $passed passed, $failed failed, 0 skipped (log: $log)"
[ "$failed" -eq 0 ]
