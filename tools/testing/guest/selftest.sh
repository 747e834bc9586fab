# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154
#
# Tests of scan-log.sh, which judges a kernel log: lines that must fail a run, and lines that must
# not. Sourced by scripts/selftest.sh, which sets "out" (a folder for files).

# Print one line of each kind that must fail a run, as kernels print it.
report_lines() {
	cat <<-'END'
		BUG: KASAN: slab-out-of-bounds in kwarp_rx+0x12/0x40 [kwarp]
		BUG: KCSAN: data-race in kwarp_tx_run [kwarp] / tcp_sendmsg
		BUG: KCSAN: data-race in kwarp_tx_run [kwarp] / kwarp_rx [kwarp]
		BUG: using smp_processor_id() in preemptible [00000000] code: kwdata/77
		BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 33s!
		BUG: sleeping function called from invalid context at mm/slab.h:321
		BUG: scheduling while atomic: kwdata/77/0x00000002
		BUG: Bad page state in process kwdata  pfn:10c
		BUG: Bad rss-counter state mm:0000 type:MM_ANONPAGES val:1
		BUG kmalloc-64 (Not tainted): Right Redzone overwritten
		BUG TCP (Tainted: G           O      ): Poison overwritten
		BUG kmalloc-cg-1k (Tainted: G        W  O      ): Object already free
		[Right Redzone overwritten] 0x00000000-0x00000001 @offset=1. First byte 0x41 instead of 0xcc
		[Padding overwritten] 0x00000000-0x00000001 @offset=1. First byte 0x41 instead of 0x5a
		pagealloc: memory corruption
		WARNING: CPU: 0 PID: 1 at lib/refcount.c:28 refcount_warn_saturate+0xba/0x110
		WARNING: possible circular locking dependency detected
		WARNING: suspicious RCU usage
		UBSAN: array-index-out-of-bounds in drivers/x.c:1:2
		INFO: task kwdata:77 blocked for more than 120 seconds.
		INFO: rcu_preempt detected stalls on CPUs/tasks:
		rcu: INFO: rcu_preempt self-detected stall on CPU
		watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [kwdata:77]
		kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
		unreferenced object 0xffff888003d5a000 (size 64):
		kmemleak: Kernel memory leak detector disabled
		kmemleak: Memory pool empty, consider increasing CONFIG_DEBUG_KMEMLEAK_MEM_POOL_SIZE
		Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1]
		Oops: 0000 [#1] PREEMPT SMP
		Kernel panic - not syncing: Fatal exception
		kernel BUG at mm/slub.c:448!
		invalid opcode: 0000 [#1] SMP
		divide error: 0000 [#1] SMP
		double fault: 0000 [#1] SMP
		traps: PANIC: double fault, error_code: 0x0
		refcount_t: underflow; use-after-free.
		list_add corruption. next->prev should be prev (0), but was 1. (next=2).
		list_del corruption, 0->next is LIST_POISON1 (dead000000000100)
		ODEBUG: free active (active state 0) object: 0 object type: timer_list hint: x
		DEBUG_LOCKS_WARN_ON(lock->magic != lock)
		workqueue: kwarp_sched_work [kwarp] hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND
		unregister_netdevice: waiting for kwv0 to become free. Usage count = 2
		ref_tracker: kwv0@0 has 1/1 users at
		sysfs: cannot create duplicate filename '/class/infiniband/kwt0'
		kobject: kobject_add_internal failed for kwt0 with -EEXIST, don't try to register things with the same name in the same directory.
		kobject: kobject_add_internal failed for kwt0 (error: -2 parent: infiniband)
		debugfs: Directory 'kwt0' with parent 'kwarp' already present!
		Objects remaining in kwarp_mr on __kmem_cache_shutdown()
		kwdata: page allocation failure: order:4, mode:0xdc0
		Out of memory: Killed process 77 (kwdata)
		detected buffer overflow in memcpy
		usercopy: Kernel memory exposure attempt detected from SLUB object 'kmalloc-64'
		------------[ cut here ]------------
	END
}

harmless_lines() {
	cat <<-'END'
		Linux version 6.12.1 (gcc 12.2.0) #1 SMP PREEMPT
		kwarp: loading out-of-tree module taints kernel.
		kwarp-e2e: bad-req-wrong, jiffies 4295165652
		kmemleak: Kernel memory leak detector initialized (mem pool available: 63000)
		kwarp-init: leaks were looked for
		kobject: kobject_add_internal failed for ports (error: -12 parent: kwt0)
		RETBleed: WARNING: Spectre v2 mitigation leaves CPU vulnerable to RETBleed attacks, data leaks possible!
		workqueue: drm_fb_helper_damage_work hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND
		BUG: KCSAN: data-race in tcp_recvmsg_locked / tcp_rcv_established
		BUG: KCSAN: assert: race in tick_nohz_stop_tick / tick_nohz_next_event
		debug_vm_pgtable: [debug_vm_pgtable         ]: Validating architecture page table helpers
		ib_send_bw[77] traps: ib_send_bw[77] general protection fault ip:55 sp:7f error:0
	END
}

# wrongly_judged STATUS: put each line of standard input into an otherwise clean log, scan the log,
# and print the line if the exit status of the scan is not STATUS.
wrongly_judged() {
	local want=$1 line log=$out/line.log status
	while IFS= read -r line; do
		printf '[    1.0] Linux version\n[   12.345678] %s\n[   13.0] the end\n' "$line" >"$log"
		status=0
		"$KWARP_ROOT/tools/testing/guest/scan-log.sh" "$log" >/dev/null 2>&1 || status=1
		[ "$status" = "$want" ] || echo "$line"
	done
}

test_reports() {
	report_lines | wrongly_judged 1
}

test_harmless() {
	harmless_lines | wrongly_judged 0
}

# A leak is attributed to the case that ran when the object was allocated: here at jiffy 4294903000,
# after the case fuzz-uverbs had begun and before the case hold began.
test_leak-case() {
	cat >"$out/leak.log" <<-'END'
		[   10.0] kwarp-e2e: rping, jiffies 4294900000
		[   20.0] kwarp-e2e: fuzz-uverbs, jiffies 4294902500
		[   30.0] kwarp-e2e: hold, jiffies 4294905000
		[   40.0] unreferenced object 0xffff888114dcbe00 (size 136):
		[   40.1]   comm "ip", pid 4211, jiffies 4294903000
		[   40.2] kwarp-init: leaks were looked for
	END
	! "$KWARP_ROOT/tools/testing/guest/scan-log.sh" "$out/leak.log" >"$out/leak.out" 2>&1 || echo "a leak passes"
	grep -q 'a leak of "ip", pid 4211, in case fuzz-uverbs$' "$out/leak.out" || echo "a leak is not that of its case"
}
