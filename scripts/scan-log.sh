#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Fail if a kernel log holds a report of a bug: one BUG, WARNING, lockdep report,
# sanitizer report, stall or leak is a failure, whoever caused it.
#
#   scripts/scan-log.sh LOG...
set -euo pipefail
. "$(dirname "$0")/lib.sh"

reports=(
	'BUG:' 'WARNING:' 'INFO: task .* blocked' 'INFO: rcu' 'rcu: .*stall' 'stall on CPU'
	'INFO: possible ' 'possible recursive locking' 'possible circular locking' 'suspicious RCU usage'
	'inconsistent lock state' 'INFO: trying to register non-static key' 'bad unlock balance'
	'held lock freed' 'Invalid wait context' 'lock held when returning' 'still has locks held'
	'KASAN:' 'UBSAN:' 'KCSAN:' 'KFENCE:' 'kmemleak: [1-9][0-9]* new suspected' 'unreferenced object'
	'general protection fault' 'Oops' 'Kernel panic' 'Unable to handle kernel' 'invalid opcode:' 'divide error:'
	'refcount_t:' 'list_add corruption' 'list_del corruption' 'ODEBUG:' 'DEBUG_LOCKS_WARN_ON'
	'sleeping function called from invalid' 'scheduling while atomic' 'soft lockup' 'hard LOCKUP'
	'workqueue lockup' 'unregister_netdevice: waiting' 'ref_tracker: .*has [1-9]' 'leaked reference'
	'Bad page state' 'Bad rss-counter' 'Objects remaining in' 'Slab .* still in use' 'Poison overwritten'
	'page allocation failure' 'Out of memory:' 'cut here'
)

# Lines of other parts of the system that look like reports and are none.
harmless=(
	'RETBleed: WARNING:' 'Spectre V2 : WARNING:' 'MDS: WARNING' 'TAA: WARNING' 'MMIO Stale Data: WARNING'
	'lockdep: BUG: key' 'WARNING: running on an emulated'
	# A program's own crash: the case that ran it has judged that.
	' traps: [^ ]*\[[0-9]+\] general protection fault ip:'
)

join() {
	local IFS='|'
	echo "$*"
}

status=0
for log in "$@"; do
	[ -r "$log" ] || die "no log at $log"
	if grep -anE "$(join "${reports[@]}")" "$log" | grep -vE "$(join "${harmless[@]}")" >"$log.reports"; then
		echo "the kernel log reports $(wc -l <"$log.reports") problem lines; first ones, with what follows:" >&2
		first=$(head -n 1 "$log.reports" | cut -d: -f1)
		head -n 5 "$log.reports" >&2
		sed -n "$first,$((first + 45))p" "$log" | tr -d '\r' >&2
		echo "the whole log is $log" >&2
		status=1
	else
		rm -f "$log.reports"
	fi
done
exit $status
