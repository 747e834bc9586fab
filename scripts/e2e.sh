#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The end-to-end suite in a virtual machine; a report in the kernel log fails it.
#
#   scripts/e2e.sh [--kernel 6.12|6.1|sid|debug] [CASE...]
#
#   KWARP_E2E_TIME=SECONDS   cases that have not begun by then are skipped
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" there, for make check
#   KWARP_MUTATIONS=N KWARP_RAW_SEED=N   for raw-mutate and the other raw cases
#   KWARP_LINK=siw       another type of link under test
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

kernel=6.12
case ${1:-} in
-h | --help) head_comment; exit ;;
--kernel) need_value $# "$1"; kernel=$2; shift 2 ;;
-*) die "unknown option $1 (see $0 --help)" ;;
esac
cases=("$@")

# The debug kernel is ten times slower or more.
timeout_of() {
	case $1 in
	debug) echo "${KWARP_E2E_TIMEOUT:-3600}" ;;
	*) echo "${KWARP_E2E_TIMEOUT:-2400}" ;;
	esac
}

guest_command() {
	local profile=stock limit=''
	[ "$kernel" != debug ] || profile=debug
	local env="CI=${CI:-} KWARP_MUTATIONS=${KWARP_MUTATIONS:-} KWARP_RAW_SEED=${KWARP_RAW_SEED:-}"
	[ -z "${KWARP_LINK:-}" ] || env+=" KWARP_LINK=$KWARP_LINK"
	# A slow machine boots a debug kernel in a minute.
	[ -z "${KWARP_E2E_TIME:-}" ] || limit="--time $((KWARP_E2E_TIME - SECONDS - 60))"
	echo "cd /opt/kwarp/selftests && $env exec ./run.sh --profile $profile $limit ${cases[*]@Q}"
}

run_suite() {
	local overlay=$1 logs=$2
	"$here/vm.sh" --kernel "$kernel" --overlay "$overlay" --logs "$logs" --out "$logs/out" \
		--timeout "$(timeout_of "$kernel")" -- "$(guest_command)"
}

# The guest has no decoder: its captures are read here, a result for each.
decode_captures() {
	local logs=$1 file crc
	for file in "$logs"/out/capture-*/wire-crc-*.pcap; do
		[ -e "$file" ] || continue
		crc=${file##*-}
		if "$KWARP_ROOT/tools/testing/selftests/kwarp/decode-capture.sh" "$file" "${crc%.pcap}"; then
			echo "ok decode-crc-${crc%.pcap}"
		else
			echo "not ok decode-crc-${crc%.pcap}"
		fi
	done
}

# Beside the cases, the run itself is one result: it ended well, and the log is clean.
summarise() {
	local logs=$1 status=$2 passed failed skipped cases_failed
	read -r passed failed skipped < <("$here/tap-count.sh" <"$logs/output.log")
	cases_failed=$failed
	case $status in
	0) passed=$((passed + 1)) ;;
	1) [ "$cases_failed" -gt 0 ] && passed=$((passed + 1)) || failed=$((failed + 1)) ;;
	126) failed=$((failed + 1)); echo "not ok kernel log ($kernel): it holds a bug report, see $logs/console.log" ;;
	*) failed=$((failed + 1)); echo "not ok whole run ($kernel): exit status $status, see $logs" ;;
	esac
	[ "$passed$failed" != 00 ] || failed=1
	[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$KWARP_RESULTS"
	say "e2e on $kernel: $passed passed, $failed failed, $skipped skipped (logs: $logs)"
	[ "$failed" -eq 0 ]
}

[ -e "$KWARP_ROOT/tools/testing/selftests/kwarp/run.sh" ] || die "no tools/testing/selftests/kwarp/run.sh in this checkout"
need_root
need_cache
logs=$KWARP_ROOT/build/e2e/$kernel-$(date +%Y%m%d-%H%M%S)-$$
mkdir -p "$logs"
ln -sfnT "$(basename "$logs")" "$KWARP_ROOT/build/e2e/$kernel-latest"
"$here/host-packages.sh" check
overlay=$("$here/guest-overlay.sh" "$kernel")
say "running the end-to-end suite on kernel $kernel"
status=0
run_suite "$overlay" "$logs" | tee "$logs/output.log" || status=${PIPESTATUS[0]}
decode_captures "$logs" | tee -a "$logs/output.log"
summarise "$logs" "$status"
