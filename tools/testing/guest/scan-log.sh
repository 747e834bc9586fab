#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Fail if a kernel log holds a report of a bug. One BUG, WARNING, lockdep report, sanitizer report,
# stall or leak is a failure, whether kwarp caused it or not. The list of such lines is in
# tools/testing/selftests/kwarp/reports.sh.
#
#   tools/testing/guest/scan-log.sh LOG...
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"

. "$KWARP_ROOT/tools/testing/selftests/kwarp/reports.sh"

# Print the case of each leaked object, by the time at which the object was allocated.
leaks_of() {
	awk '
		/kwarp-e2e: .*, jiffies [0-9]/ { n++; begin[n] = $NF; name[n] = $0; sub(/.*kwarp-e2e: /, "", name[n]); sub(/, .*/, "", name[n]) }
		/comm ".*, jiffies [0-9]/ { of = "before the first"; for (i = 1; i <= n; i++) if (begin[i] <= $NF) of = name[i]
			sub(/.*comm /, ""); sub(/, jiffies.*/, ""); print "a leak of " $0 ", in case " of }' "$1" | sort | uniq -c
}

status=0
for log in "$@"; do
	[ -r "$log" ] || die "no log at $log"
	if bad_lines "$log" -n >"$log.reports"; then
		echo "the kernel log reports $(wc -l <"$log.reports") problem lines; first ones, with what follows:" >&2
		first=$(head -n 1 "$log.reports" | cut -d: -f1)
		head -n 5 "$log.reports" >&2
		sed -n "$first,$((first + 45))p" "$log" | tr -d '\r' >&2
		tr -d '\r' <"$log" | leaks_of /dev/stdin >&2
		echo "the whole log is $log" >&2
		status=1
	else
		rm -f "$log.reports"
	fi
done
exit $status
