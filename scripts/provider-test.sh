#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run the provider's unit test, which tests its queues without a kernel. It runs once with the
# rdma-core of each Debian release, because their declarations differ. Prints the results as TAP.
#
#   scripts/provider-test.sh [bookworm|trixie|sid]...     (default: all three)
#
#   RDMA_CORE_BOOKWORM=TREE   source of rdma-core of that release, if the mirror lacks it; likewise
#                             RDMA_CORE_TRIXIE and RDMA_CORE_SID
#   KWARP_RESULTS=FILE        append "PASSED FAILED SKIPPED" to FILE, for make check
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
log=$KWARP_ROOT/build/provider-test.log

version_in() {
	local offered
	offered=$("$here/apt-private.sh" cache "$1" madison rdma-core)
	awk '{ print $3; exit }' <<<"$offered"
}

# source_of SUITE: print the path of the source tree, or nothing if the mirror does not have it.
source_of() {
	local given=RDMA_CORE_${1^^}
	if [ -n "${!given:-}" ]; then
		realpath "${!given}"
	else
		"$here/get-source.sh" rdma-core --suite "$1" "$2" 2>"$log.source" || true
	fi
}

# Build and test the provider for one release, and print TAP. The test program prints a plan, so
# that results which are missing because it ended early count as failed.
test_release() {
	local suite=$1 version source
	version=$(version_in "$suite")
	[ -n "$version" ] || { echo "not ok - provider on $suite: the mirror has no rdma-core"; return; }
	source=$(source_of "$suite" "$version")
	if [ -z "$source" ]; then
		echo "ok - provider with rdma-core $version of $suite # SKIP $(tail -n 1 "$log.source")"
		return
	fi
	say "building the provider with rdma-core $version of $suite"
	if "$here/build-provider.sh" --test "$source" "$KWARP_ROOT/build/provider-test"; then
		echo "ok - provider builds with rdma-core $version of $suite"
	else
		echo "not ok - provider with rdma-core $version of $suite"
	fi
}

case ${1:-} in -h | --help) head_comment; exit ;; esac
check_suites "$@"
[ $# -gt 0 ] || set -- bookworm trixie sid
"$here/host-packages.sh" provider
mkdir -p "$KWARP_ROOT/build"
: >"$log"
passed=0 failed=0 skipped=0
for suite in "$@"; do
	test_release "$suite" >"$log.$suite" 2>&1
	cat "$log.$suite" | tee -a "$log"
	read -r p f s < <("$here/tap-count.sh" <"$log.$suite")
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
[ "$((passed + failed))" -gt 0 ] || failed=1
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$KWARP_RESULTS"
say "provider test: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
