# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Which lines of a kernel log report a bug. tools/testing/guest/scan-log.sh sources this file on the
# host, for the log of a whole run, and run.sh in the guest, for the lines that a case added.
# tools/testing/guest/selftest.sh has examples of such lines.

reports=(
	'BUG:' 'WARNING:' 'INFO: task .* blocked' 'INFO: rcu' 'rcu: .*stall' 'stall on CPU'
	'INFO: possible ' 'possible recursive locking' 'possible circular locking' 'suspicious RCU usage'
	'inconsistent lock state' 'INFO: trying to register non-static key' 'bad unlock balance'
	'held lock freed' 'Invalid wait context' 'lock held when returning' 'still has locks held'
	'KASAN:' 'UBSAN:' 'KCSAN:' 'KFENCE:' 'kmemleak: [1-9][0-9]* new suspected' 'unreferenced object'
	'memory leak detector disabled' 'kmemleak: (Memory pool empty|Cannot allocate)'
	'general protection fault' 'Oops' 'Kernel panic' 'Unable to handle kernel' 'invalid opcode:' 'divide error:'
	'kernel BUG at' 'double fault' 'stack segment:' 'corrupted stack end'
	'refcount_t:' 'list_add corruption' 'list_del corruption' 'ODEBUG:' 'DEBUG_LOCKS_WARN_ON'
	'sleeping function called from invalid' 'scheduling while atomic' 'soft lockup' 'hard LOCKUP'
	'workqueue lockup' 'workqueue: .*kwarp.* hogged CPU' 'unregister_netdevice: waiting'
	'ref_tracker: .*has [1-9]' 'leaked reference'
	'Bad page state' 'Bad rss-counter' 'Objects remaining in' 'Slab .* still in use'
	'BUG [A-Za-z0-9_:-]+ \((Not tainted|Tainted)' '(Redzone|Poison|Padding) overwritten' 'Object already free'
	'pagealloc: (single bit error|memory corruption)' 'buffer overflow' 'usercopy: Kernel memory'
	'cannot create duplicate filename' 'kobject_add_internal failed .*(EEXIST|error: -([02-9]|1[013-9]|1 |12[0-9]))' 'debugfs: .*already present'
	'page allocation failure' 'Out of memory:' 'cut here'
)

# Lines that look like reports but are harmless; they come from other parts of the system.
harmless=(
	'RETBleed: WARNING:' 'Spectre V2 : WARNING:' 'MDS: WARNING' 'TAA: WARNING' 'MMIO Stale Data: WARNING'
	'lockdep: BUG: key' 'WARNING: running on an emulated'
	# A crash of a program. The case that ran the program has judged the crash.
	' traps: [^ ]*\[[0-9]+\] general protection fault ip:'
	# Data races in the kernel's own code. A race in kwarp has "[kwarp]" after one of the two
	# functions.
	'BUG: KCSAN: [a-z: -]+ in [^[]*$'
)

join_reports() {
	local IFS='|'
	echo "$*"
}

# bad_lines FILE [GREP OPTIONS]: print the lines that report a bug; false if there are none.
bad_lines() {
	local file=$1
	shift
	grep -aE "$@" -e "$(join_reports "${reports[@]}")" "$file" | grep -avE "$(join_reports "${harmless[@]}")"
}
