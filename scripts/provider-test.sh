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
"$here/build-provider.sh" --test "$source" "$KWARP_ROOT/build/provider-test" | tee "$log" || status=$?
read -r passed failed skipped < <("$here/tap-count.sh" <"$log")
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$KWARP_RESULTS"
say "provider test: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
