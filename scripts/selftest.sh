#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The tests' own tests: what they must not let pass, they do not. Output is TAP.
#
#   scripts/selftest.sh [TEST...]      (all)
#
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" there, for make check
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
tests=(reports harmless leak-case counting lint-dead-tools lint-words bench-judge bench-retry bench-excuse bench-rfc7306 perf-race order kwarpctl reference leaks)
out=$KWARP_ROOT/build/selftest

# ---------------------------------------------------------------- the log scan

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

# wrongly_judged STATUS: put each line of standard input into an otherwise clean log, and print
# those for which the scan has another status.
wrongly_judged() {
	local want=$1 line log=$out/line.log status
	while IFS= read -r line; do
		printf '[    1.0] Linux version\n[   12.345678] %s\n[   13.0] the end\n' "$line" >"$log"
		status=0
		"$here/results/scan-log.sh" "$log" >/dev/null 2>&1 || status=1
		[ "$status" = "$want" ] || echo "$line"
	done
}

test_reports() {
	report_lines | wrongly_judged 1
}

test_harmless() {
	harmless_lines | wrongly_judged 0
}

# A leak is attributed to the case that ran when the object was allocated.
test_leak-case() {
	cat >"$out/leak.log" <<-'END'
		[   10.0] kwarp-e2e: rping, jiffies 4294900000
		[   20.0] kwarp-e2e: fuzz-uverbs, jiffies 4294902500
		[   30.0] kwarp-e2e: hold, jiffies 4294905000
		[   40.0] unreferenced object 0xffff888114dcbe00 (size 136):
		[   40.1]   comm "ip", pid 4211, jiffies 4294903000
		[   40.2] kwarp-init: leaks were looked for
	END
	! "$here/results/scan-log.sh" "$out/leak.log" >"$out/leak.out" 2>&1 || echo "a leak passes"
	grep -q 'a leak of "ip", pid 4211, in case fuzz-uverbs$' "$out/leak.out" || echo "a leak is not that of its case"
}

# ------------------------------------------------------------------- the counts

test_counting() {
	local got
	got=$(printf '1..5\nok 1 a\nnot ok 2 b\nok 3 c # SKIP no\n' | "$here/results/tap-count.sh")
	[ "$got" = "1 3 1" ] || echo "two results that are missing in a plan are not counted as failed: $got"
}

# --------------------------------------------------------------------- the lint

# A lint tool that dies at once finds nothing. The check must fail.
test_lint-dead-tools() {
	local dead=$out/dead tool check
	rm -rf "$dead"
	mkdir -p "$dead"
	for tool in perl shellcheck sphinx-build; do
		printf '#!/bin/sh\nexit 139\n' >"$dead/$tool"
		chmod +x "$dead/$tool"
	done
	for check in checkpatch kernel-doc shellcheck docs; do
		! KWARP_RESULTS='' PATH=$dead:$PATH "$here/lint.sh" "$check" >/dev/null 2>&1 || echo "lint/$check passes without its tool"
	done
}

# scripts/tests/test_words.py tests which words and file names lint finds. This test shows that a
# finding makes the check fail.
test_lint-words() {
	local tree=$out/words word=nor
	PYTHONPATH=$here python3 -B -m unittest -q tests.test_words >"$out/words.log" 2>&1 || cat "$out/words.log"
	rm -rf "$tree"
	mkdir -p "$tree/scripts/lint"
	cp "$here"/{lint.sh,lib.sh} "$tree/scripts/"
	cp "$here/lint/words.py" "$tree/scripts/lint/"
	printf '#!/bin/sh\n' >"$tree/scripts/host-packages.sh"
	chmod +x "$tree/scripts/host-packages.sh"
	git -C "$tree" init -q
	# Git ignores scripts/ here, so that only the page is checked.
	printf '/scripts/\n/build/\n' >"$tree/.gitignore"
	echo 'A link ends.' >"$tree/page.rst"
	KWARP_RESULTS='' "$tree/scripts/lint.sh" words >"$out/words.log" 2>&1 || cat "$out/words.log"
	echo "${word^} does it stay." >>"$tree/page.rst"
	! KWARP_RESULTS='' "$tree/scripts/lint.sh" words >"$out/words.log" 2>&1 || echo "lint/words passes with a bad word"
	grep -q '^  page[.]rst:2: ' "$out/words.log" || cat "$out/words.log"
}

# -------------------------------------------------------------------- the bench

# bench_example KIND: print the figures of a short run. "errors": kwarp has no result at MTU 9000;
# "retried": one run of kwarp was repeated; "siw": siw has no result at MTU 9000; "slow": kwarp is
# 80 times slower.
bench_example() {
	python3 - "$1" <<-'END'
		import json, sys
		cells = []
		for mtu in (1500, 9000):
		    for who, op, ops in (("kwarp", "write", 4000), ("siw", "write", 100), ("tcp", "stream", 2000)):
		        cell = {"mtu": mtu, "who": who, "kind": "rate", "op": op, "size": 65536, "qps": 1, "runs": {}}
		        if who == "kwarp" and sys.argv[1] == "slow":
		            ops = 50
		        lost = {"errors": "kwarp", "siw": "siw"}.get(sys.argv[1])
		        if who == lost and mtu == 9000:
		            cell["errors"] = ["no end after 20 s"]
		        else:
		            cell["runs"] = {str(r): {"ops": ops, "seconds": 1.0, "busy": 1.0} for r in range(2)}
		        if who == "kwarp" and mtu == 1500 and sys.argv[1] == "retried":
		            cell["retried"] = ["no end after 20 s"]
		        cells.append(cell)
		print(json.dumps({"format": 1, "cells": cells}))
	END
}

# judged_of NAME COUNTS KIND...: the verdict on runs of these kinds must have these counts.
judged_of() {
	local name=$1 want=$2 kind counts files=()
	shift 2
	for kind; do
		mkdir -p "$out/${#files[@]}"
		bench_example "$kind" >"$out/${#files[@]}/6.12.json"
		files+=("$out/${#files[@]}/6.12.json")
	done
	counts=$("$here/results/bench-report.py" judge "${files[@]}" | "$here/results/tap-count.sh")
	[ "$counts" = "$want" ] || echo "runs of '$name' are judged '$counts', not '$want'"
}

# judged KIND COUNTS: the same for one run.
judged() {
	judged_of "$1" "$2" "$1"
}

# The verdict has four results for large Writes, and one that says whether kwarp had errors.
test_bench-judge() {
	judged good "5 0 0"
	judged errors "2 3 0"
	judged retried "4 1 0"
	judged siw "4 0 1"
	# Of several runs the best figures count, and the errors of all.
	judged_of slow "1 4 0" slow slow
	judged_of again "5 0 0" slow good
	judged_of again-errors "4 1 0" retried slow
}

# bench_of_fakes WHO FAILURES: print the benchmark's records if so many tries of WHO's first large
# Write fail, one after the other. If the servers are not started again, later tries fail, too.
bench_of_fakes() {
	python3 -B - "$KWARP_ROOT/tools/testing/bench" "$@" <<-'END' | sed -n 's/^@//p'
		import sys, types
		sys.path.insert(0, sys.argv[1])
		import run

		class Fake:
		    def __init__(self, name, link, ops):
		        self.name, self.type, self.ops, self.stuck = name, link, ops, False
		        self.failures = int(sys.argv[3]) if name == sys.argv[2] else 0

		    def set_mtu(self, mtu):
		        pass

		    def restart_servers(self):
		        self.stuck = False

		    def measure(self, cell, seconds):
		        if self.stuck or self.failures:
		            self.stuck, self.failures = True, max(0, self.failures - 1)
		            raise run.Failed("no end after 20 s")
		        return {"ops": self.ops, "seconds": 1.0, "busy": 1.0}

		fakes = [Fake("kwarp", "kwarp", 4000), Fake("siw", "siw", 100), Fake("tcp", None, 2000)]
		cells = [{"kind": "rate", "op": op, "size": 65536, "qps": 1} for op in ("stream", "write")]
		mtu = [1500, 9000]
		bench = run.Bench(types.SimpleNamespace(rounds=2, seconds=1, mtu=mtu, chosen=dict.fromkeys(mtu, cells)), fakes)
		for number in range(2):
		    bench.round(number)
	END
}

# retried WHO FAILURES COUNTS TOLD: the verdict must have these counts, and report TOLD times that
# a second try succeeded.
retried() {
	local verdict counts told
	bench_of_fakes "$1" "$2" >"$out/retry.records"
	: >"$out/retry.machine"
	"$here/results/bench-report.py" collect "$out/retry.records" "$out/retry.machine" "$out/6.12.json"
	verdict=$("$here/results/bench-report.py" judge "$out/6.12.json")
	counts=$("$here/results/tap-count.sh" <<<"$verdict")
	[ "$counts" = "$3" ] || echo "$2 failures of $1 are judged '$counts', not '$3'"
	told=$(grep -c '^# .*, MTU 1500, .* worked when it was tried again' <<<"$verdict") || :
	[ "$told" = "$4" ] || echo "of $2 failures of $1 it is told $told times, not $4, that a try was the second"
}

# There is one second try, and for kwarp it counts as an error.
test_bench-retry() {
	retried kwarp 0 "5 0 0" 0
	retried kwarp 1 "4 1 0" 1
	retried kwarp 2 "2 3 0" 0
	retried siw 1 "5 0 0" 1
	retried siw 2 "4 0 1" 0
}

# excused YES|NO LINE...: with a kernel log of these lines, does the benchmark blame siw, and run
# once more?
excused() {
	local want=$1 got=NO
	shift
	printf '%s\n' "$@" >"$out/excuse.log"
	! names_siw_alone "$out/excuse.log" || got=YES
	[ "$got" = "$want" ] || echo "for the bench the fault is siw's: $got, must be $want, with $*"
}

test_bench-excuse() {
	local siw='RIP: 0010:siw_tx_hdt+0x1a/0x2b0 [siw]' kwarp='RIP: 0010:kwarp_tx_run+0x1/0x9 [kwarp]'
	excused YES 'Oops: 0000 [#1]' "$siw"
	excused NO 'Oops: 0000 [#1]' "$kwarp"
	excused NO "$siw" "$kwarp"
	excused NO "$siw" ' kwarp_fpdu_rx_next+0x40/0x400'
	excused NO 'Oops: 0000 [#1]'
	rm -f "$out/excuse.log"
	names_siw_alone "$out/excuse.log" && echo "a guest without a log is excused"
	return 0
}

# The report's table of RFC 7306 has ratios within each round, and marks what siw cannot do.
test_bench-rfc7306() {
	local dir=$out/rfc7306 line
	rm -rf "$dir"
	mkdir -p "$dir"
	python3 - >"$dir/uml-up.json" <<-'END'
		import json
		def cell(who, kind, op, size, runs):
		    return {"mtu": 1500, "who": who, "kind": kind, "op": op, "size": size, "qps": 1, "runs": runs}
		def rates(*ops):
		    return {str(r): {"ops": n, "seconds": 1.0, "busy": 1.0} for r, n in enumerate(ops)}
		def latencies(*us):
		    return {str(r): {"median": n, "p99": 10 * n} for r, n in enumerate(us)}
		cells = [cell("kwarp", "rate", "write-imm", 65536, rates(16000, 32000)),
		         cell("rxe", "rate", "write-imm", 65536, rates(8000, 4000)),
		         cell("kwarp", "latency", "cmp-swap", 8, latencies(10, 30)),
		         cell("rxe", "latency", "cmp-swap", 8, latencies(20, 20)),
		         cell("kwarp", "rate", "fetch-add", 8, rates(1000, 1000))]
		print(json.dumps({"format": 1, "date": "", "machine": {}, "absent": {}, "cells": cells}))
	END
	"$here/results/bench-report.py" report "$dir"
	for line in 'latency of Writes: half of to and fro | kwarp | siw | rxe | kwarp to rxe' \
		'write-imm 64 KiB, thousands/s | 24 ±33% | cannot | 6 ±33% | 5.00' \
		'write-imm 64 KiB, MiB/s | 1500 ±33% | cannot | 375 ±33% | 5.00' \
		'fetch-add 8, thousands/s | 1 ±0% | cannot | – | –' \
		'cmp-swap 8, latency, median, µs | 20 ±50% | cannot | 20 ±0% | 1.00'; do
		grep -qxF "| $line |" "$dir/report.md" || echo "$dir/report.md lacks '$line'"
	done
	[ "$(grep -c cannot "$dir/report.md")" = 5 ] || echo "$dir/report.md has other rows, too"
}

# -------------------------------------------------------------------- the suite

# state_line EVENT AT: print the event as the kernel's trace shows it, for port 20000.
state_line() {
	local ports='sport=40000 dport=20000' change
	case $1 in
	listens) ports='sport=20000 dport=0' change='CLOSE LISTEN' ;;
	ends) ports='sport=20000 dport=0' change='LISTEN CLOSE' ;;
	takes) ports='sport=20000 dport=40000' change='LISTEN SYN_RECV' ;;
	asks) change='CLOSE SYN_SENT' ;;
	refused) change='SYN_SENT CLOSE' ;;
	in) change='SYN_SENT ESTABLISHED' ;;
	lost) change='ESTABLISHED CLOSE' ;;
	esac
	printf '  <idle>-0  [001] ..s2.  %s: inet_sock_set_state: family=AF_INET protocol=IPPROTO_TCP %s saddr=192.0.2.1 oldstate=TCP_%s newstate=TCP_%s\n' \
		"$2" "$ports" ${change% *} ${change#* }
}

# raced YES|NO EVENT...: do these events show perftest's own race? Each event is one second after
# the one before; with an exclamation mark 20 ms.
raced() {
	local want=$1 got=NO event at=12000
	shift
	for event in "$@"; do
		if [[ $event = *! ]]; then at=$((at + 20)); else at=$((at + 1000)); fi
		state_line "${event%!}" "${at:0:2}.${at:2}"
	done >"$out/sockets.log"
	! awk -v port=20000 -f "$KWARP_ROOT/tools/testing/selftests/kwarp/perfrace.awk" "$out/sockets.log" || got=YES
	[ "$got" = "$want" ] || echo "perftest's race: $got, must be $want, with $*"
}

test_perf-race() {
	local control=(listens asks takes in)
	raced YES "${control[@]}" ends asks refused
	raced YES "${control[@]}" ends asks listens refused
	raced YES "${control[@]}" asks ends refused
	raced YES "${control[@]}" asks takes in ends listens
	# The second listener's state has changed, but it does not accept connections yet.
	raced YES "${control[@]}" ends listens asks! refused
	raced NO listens asks! refused
	# A listener that exists refuses the client.
	raced NO "${control[@]}" asks refused ends listens
	raced NO "${control[@]}" ends listens asks refused
	# The second listener accepts the client. A failure after that is not the race.
	raced NO "${control[@]}" ends listens asks takes in
	raced NO "${control[@]}" ends listens asks takes in ends asks refused
	# The control connection is lost, or was never made.
	raced NO "${control[@]}" lost asks takes in
	raced NO "${control[@]}" ends lost asks refused
	raced NO asks refused
	raced NO listens asks refused
	raced NO
}

# The cases of make check and the rest together are all cases, each once, on each kernel.
test_order() {
	local run=$KWARP_ROOT/tools/testing/selftests/kwarp/run.sh one two other all part profile
	one=$("$run" --list --profile debug --seed 5)
	two=$("$run" --list --profile debug --seed 5)
	other=$("$run" --list --profile debug --seed 6)
	[ "$one" = "$two" ] || echo "a seed gives two orders"
	[ "$one" != "$other" ] || echo "two seeds give one order"
	[ "$(sort <<<"$one")" = "$(sort <<<"$other")" ] || echo "two seeds give different cases"
	for profile in stock debug; do
		all=$("$run" --list --profile $profile | sort)
		part=$("$run" --list --profile $profile --set check)
		[ "$(sort <<<"$part"$'\n'"$("$run" --list --profile $profile --set rest)")" = "$all" ] ||
			echo "$profile: make check's cases and the rest are not all cases"
		[ "$(wc -l <<<"$part")" -gt "$(($(wc -l <<<"$all") / 8))" ] || echo "$profile: make check runs less than an eighth"
	done
	[ "$all" = "$("$run" --list --profile stock | sort)" ] || echo "the debug kernel lacks cases of the stock one"
}

# unit_tests FOLDER: run the unit tests in Python below the folder. They need neither module nor
# link.
unit_tests() {
	local folder=$1 log=$out/${1##*/}.log
	python3 -B -m unittest discover -s "$folder/tests" -t "$folder" >"$log" 2>&1 || { cat "$log"; return; }
	# A run in which no test was found must not pass.
	grep -qE '^Ran [0-9]{2,} tests' "$log" || cat "$log"
}

test_kwarpctl() {
	unit_tests "$KWARP_ROOT/tools/kwarpctl"
}

# Tests of reference.py, which makes Documentation/reference, and of the other Python scripts.
test_reference() {
	unit_tests "$here"
}

# The kernel's test module loses memory. The run must fail because of that.
test_leaks() {
	local logs=$out/leaks status=0
	rm -rf "$logs"
	"$here/vm.sh" --kernel debug --leaks --logs "$logs" --timeout 900 -- \
		'cd /sys/kernel/slab/kmalloc-64 && grep . red_zone poison sanity_checks; modprobe kmemleak-test' \
		>"$out/leaks.log" 2>&1 || status=$?
	[ "$status" = 126 ] || echo "the run ended with status $status, see $out/leaks.log"
	grep -q 'unreferenced object' "$logs/console.log" || echo "the log $logs/console.log names no lost object"
	grep -q 'kmemleak_test' "$logs/console.log" || echo "the log $logs/console.log does not say who lost it"
	[ "$(grep -cE '^(red_zone|poison|sanity_checks):1' "$out/leaks.log")" = 3 ] ||
		echo "slab_debug has no effect, see $out/leaks.log"
	! grep 'Unknown kernel command line parameters.*\(page_poison\|slab_debug\|kmemleak\)' "$logs/console.log" ||
		echo "an option of the debug kernel has another name now"
}

# ------------------------------------------------------------------------- main

run_test() {
	local name=$1 found status
	set +e
	found=$(set -e; "test_$name")
	status=$?
	set -e
	if [ "$status" -eq 0 ] && [ -z "$found" ]; then
		echo "ok selftest/$name"
		passed=$((passed + 1))
	else
		echo "not ok selftest/$name: status $status"
		[ -z "$found" ] || sed 's/^/  /' <<<"$found"
		failed=$((failed + 1))
	fi
}

case ${1:-} in -h | --help) head_comment; exit ;; esac
for name in "$@"; do
	[[ " ${tests[*]} " = *" $name "* ]] || die "no test '$name': there are ${tests[*]}"
done
need_root
need_cache
mkdir -p "$out"
passed=0 failed=0
[ $# -eq 0 ] || tests=("$@")
for name in "${tests[@]}"; do
	run_test "$name"
done
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed 0" >>"$KWARP_RESULTS"
say "selftest: $passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
