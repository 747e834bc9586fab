#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The provider's unit test: its queues without a kernel, in this machine's user space.
#
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" there, for make check
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

"$here/host-packages.sh" demo
guest=$("$here/guest-root.sh")
source=$("$here/get-source.sh" rdma-core "$(cat "$guest/rdma-core-version")")
log=$KWARP_ROOT/build/provider-test.log
mkdir -p "$KWARP_ROOT/build"
status=0
"$here/build-provider.sh" --test "$source" "$KWARP_ROOT/build/provider-test" 2>&1 | tee "$log" || status=$?
read -r passed failed skipped < <("$here/tap-count.sh" <"$log")
if [ "$failed" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$passed" -eq 0 ]; }; then
	failed=1
fi
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$KWARP_RESULTS"
say "provider test: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
