# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154
#
# Tests of the benchmark: its verdict, its second try after a failure, its report. Sourced by
# scripts/selftest.sh, which sets "out" (a folder for files).

# bench_example KIND: print the figures of a short run of the benchmark. "good": all targets are
# met; "errors": kwarp has no result at MTU 9000; "retried": one run of kwarp was repeated; "siw":
# siw has no result at MTU 9000; "slow": kwarp is 80 times slower than in "good".
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

# judged_of NAME COUNTS KIND...: the verdict on runs of these kinds must have COUNTS, the numbers of
# passed, failed and skipped results.
judged_of() {
	local name=$1 want=$2 kind counts files=()
	shift 2
	for kind; do
		mkdir -p "$out/${#files[@]}"
		bench_example "$kind" >"$out/${#files[@]}/6.12.json"
		files+=("$out/${#files[@]}/6.12.json")
	done
	counts=$("$KWARP_ROOT/tools/testing/bench/report.py" judge "${files[@]}" | "$KWARP_ROOT/scripts/tap-count.sh")
	[ "$counts" = "$want" ] || echo "runs of '$name' are judged '$counts', not '$want'"
}

# judged KIND COUNTS: the verdict on one run of this kind must have COUNTS.
judged() {
	judged_of "$1" "$2" "$1"
}

# The verdict has five results: at each of two MTUs, large Writes of kwarp compared with TCP and
# with siw; and whether kwarp had errors. Without figures of kwarp at one MTU, two comparisons fail,
# too; without figures of siw, one is skipped.
test_bench-judge() {
	judged good "5 0 0"
	judged errors "2 3 0"
	judged retried "4 1 0"
	judged siw "4 0 1"
	# Of several runs the best figures count, and the errors of all runs.
	judged_of slow "1 4 0" slow slow
	judged_of again "5 0 0" slow good
	judged_of again-errors "4 1 0" retried slow
}

# bench_of_fakes WHO FAILURES: run the benchmark with fakes instead of devices, and print its
# records. The first FAILURES tries of WHO's first large Write fail. If the servers are not started
# again after a failure, later tries fail, too.
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

# retried WHO FAILURES COUNTS TOLD: if the first FAILURES tries of WHO fail, the verdict must have
# COUNTS, and report TOLD times that a second try succeeded.
retried() {
	local verdict counts told
	bench_of_fakes "$1" "$2" >"$out/retry.records"
	: >"$out/retry.machine"
	"$KWARP_ROOT/tools/testing/bench/report.py" collect "$out/retry.records" "$out/retry.machine" "$out/6.12.json"
	verdict=$("$KWARP_ROOT/tools/testing/bench/report.py" judge "$out/6.12.json")
	counts=$("$KWARP_ROOT/scripts/tap-count.sh" <<<"$verdict")
	[ "$counts" = "$3" ] || echo "$2 failures of $1 are judged '$counts', not '$3'"
	told=$(grep -c '^# .*, MTU 1500, .* worked when it was tried again' <<<"$verdict") || :
	[ "$told" = "$4" ] || echo "of $2 failures of $1 it is told $told times, not $4, that a try was the second"
}

# After a failure the benchmark tries once more. For kwarp this second try counts as an error, even
# if it succeeds. After a second failure the benchmark gives this measurement up: then two
# comparisons of kwarp fail, or that with siw is skipped.
test_bench-retry() {
	retried kwarp 0 "5 0 0" 0
	retried kwarp 1 "4 1 0" 1
	retried kwarp 2 "2 3 0" 0
	retried siw 1 "5 0 0" 1
	retried siw 2 "4 0 1" 0
}

# excused YES|NO LINE...: from a kernel log of these lines, the benchmark must conclude (YES) or
# must not conclude (NO) that siw caused the failure. If siw did, the benchmark runs once more.
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

# The report's table of RFC 7306 has the ratio of kwarp's value to rxe's. The ratio is made for each
# round, and the table has the median: ratios 2 and 8 give 5, not 4, the ratio of the medians 24 and
# 6. siw's column says "cannot", because siw has neither immediate data nor atomic operations.
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
	"$KWARP_ROOT/tools/testing/bench/report.py" report "$dir"
	for line in 'latency of Writes: half of to and fro | kwarp | siw | rxe | kwarp to rxe' \
		'write-imm 64 KiB, thousands/s | 24 ±33% | cannot | 6 ±33% | 5.00' \
		'write-imm 64 KiB, MiB/s | 1500 ±33% | cannot | 375 ±33% | 5.00' \
		'fetch-add 8, thousands/s | 1 ±0% | cannot | – | –' \
		'cmp-swap 8, latency, median, µs | 20 ±50% | cannot | 20 ±0% | 1.00'; do
		grep -qxF "| $line |" "$dir/report.md" || echo "$dir/report.md lacks '$line'"
	done
	[ "$(grep -c cannot "$dir/report.md")" = 5 ] || echo "$dir/report.md has other rows, too"
}
