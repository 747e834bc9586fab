#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run mixed traffic for a long time in a virtual machine, while the network loses, delays and
# reorders packets, and links, interfaces, programs and namespaces are removed and made again.
#
#   tools/testing/selftests/soak.sh [--kernel 6.12|6.1|sid|debug] [SECONDS]   (6.12, 7200 s)
#
#   KWARP_RESULTS=FILE     append "PASSED FAILED SKIPPED" to FILE
#   KWARP_SOAK_SEED=N      seed of the sequence of disturbances
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"

kernel=6.12
case ${1:-} in
-h | --help) head_comment; exit ;;
--kernel) need_value $# "$1"; kernel=$2; shift 2 ;;
-*) die "unknown option $1 (see $0 --help)" ;;
esac
seconds=${1:-7200}
[[ $seconds =~ ^[0-9]+$ ]] || die "'$seconds' is not a number of seconds"

need_root
need_cache
logs=$KWARP_ROOT/build/soak/$kernel-$(date +%Y%m%d-%H%M%S)-$$
mkdir -p "$logs"
"$KWARP_ROOT/scripts/host-packages.sh" check
overlay=$("$KWARP_ROOT/tools/testing/guest/overlay.sh" "$kernel")
profile=stock
[ "$kernel" != debug ] || profile=debug
say "soak of $seconds s on kernel $kernel"
status=0
# The guest's time limit is 1200 s longer than the soak. The soak consists of rounds of traffic, the
# last of which ends after these seconds, and a program that hangs ends only after a time limit of
# its own.
"$KWARP_ROOT/tools/testing/guest/vm.sh" --kernel "$kernel" --overlay "$overlay" --logs "$logs" --out "$logs/out" \
	--timeout $((seconds + 1200)) -- \
	"cd /opt/kwarp/selftests && KWARP_PROFILE=$profile exec ./soak.sh $seconds ${KWARP_SOAK_SEED:-1}" |
	tee "$logs/output.log" || status=${PIPESTATUS[0]}
result="1 0 0"
if [ "$status" -ne 0 ]; then
	result="0 1 0"
	echo "not ok soak ($kernel): exit status $status, see $logs"
fi
[ -z "${KWARP_RESULTS:-}" ] || echo "$result" >>"$KWARP_RESULTS"
exit "$status"
