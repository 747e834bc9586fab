# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154
#
# Tests of the benchmark: its verdict, its second try after a failure, its report. Sourced by
# scripts/selftest.sh, which sets "out" (a folder for files).

# bench_example KIND: print the figures of a short run of the benchmark. "good": each message takes
# one instruction per octet; "errors": there are no Reads; "retried": one run was repeated; "slow": a
# Read takes a thousand times as many instructions.
bench_example() {
	python3 -B - "$1" "$KWARP_ROOT/tools/testing/bench" <<-'END'
		import json, sys
		cells = []
		sys.path.insert(0, sys.argv[2])
		from targets import INSTRUCTIONS
		for kind, op, size in INSTRUCTIONS:
		    cell = {"mtu": 1500, "who": "kwarp", "kind": kind, "op": op, "size": size, "qps": 1, "runs": {}}
		    each = size * (1000 if (op, sys.argv[1]) == ("read", "slow") else 1)
		    if (op, sys.argv[1]) == ("read", "errors"):
		        cell["errors"] = ["no end after 20 s"]
		    else:
		        cell["runs"] = {"0": {"ops": 1000, "seconds": each * 1e-6, "busy": 1.0}}
		    if (op, size, sys.argv[1]) == ("read", 64, "retried"):
		        cell["retried"] = ["no end after 20 s"]
		    cells.append(cell)
		print(json.dumps({"format": 1, "cells": cells}))
	END
}

# judged KIND COUNTS: the verdict on a run of this kind must have COUNTS, the numbers of passed, failed
# and skipped results.
judged() {
	local counts
	bench_example "$1" >"$out/icount.json"
	counts=$("$KWARP_ROOT/tools/testing/bench/report.py" judge "$out/icount.json" | "$KWARP_ROOT/scripts/tap-count.sh")
	[ "$counts" = "$2" ] || echo "a run of '$1' is judged '$counts', not '$2'"
}

# The verdict has ten results: nine numbers of instructions, and whether there were errors.
test_bench-judge() {
	judged good "10 0 0"
	judged errors "7 3 0"
	judged retried "9 1 0"
	judged slow "8 2 0"
}

# bench_of_fakes FAILURES: run the benchmark with a fake instead of a device, and print its records.
# The first FAILURES tries of the first cell fail. If the servers are not started again after a
# failure, later tries fail, too.
bench_of_fakes() {
	python3 -B - "$KWARP_ROOT/tools/testing/bench" "$@" <<-'END' | sed -n 's/^@//p'
		import sys, types
		sys.path.insert(0, sys.argv[1])
		import run

		class Fake:
		    name, type, stuck, failures = "kwarp", "kwarp", False, int(sys.argv[2])

		    def set_mtu(self, mtu):
		        pass

		    def restart_servers(self):
		        self.stuck = False

		    def measure(self, cell, seconds):
		        if self.stuck or self.failures:
		            self.stuck, self.failures = True, max(0, self.failures - 1)
		            raise run.Failed("no end after 20 s")
		        return {"ops": 10 ** 9, "seconds": 1.0, "busy": 1.0}

		from targets import INSTRUCTIONS
		cells = [{"kind": kind, "op": op, "size": size, "qps": 1} for kind, op, size in INSTRUCTIONS]
		run.Bench(types.SimpleNamespace(rounds=1, seconds=1, mtu=[1500], chosen={1500: cells}), [Fake()]).round(0)
	END
}

# retried FAILURES COUNTS TOLD: if the first FAILURES tries fail, the verdict must have COUNTS, and
# report TOLD times that a second try succeeded.
retried() {
	local verdict counts told
	bench_of_fakes "$1" >"$out/retry.records"
	: >"$out/retry.machine"
	"$KWARP_ROOT/tools/testing/bench/report.py" collect "$out/retry.records" "$out/retry.machine" "$out/icount.json"
	verdict=$("$KWARP_ROOT/tools/testing/bench/report.py" judge "$out/icount.json")
	counts=$("$KWARP_ROOT/scripts/tap-count.sh" <<<"$verdict")
	[ "$counts" = "$2" ] || echo "$1 failures are judged '$counts', not '$2'"
	told=$(grep -c '^# .*, MTU 1500, .* worked when it was tried again' <<<"$verdict") || :
	[ "$told" = "$3" ] || echo "of $1 failures it is told $told times, not $3, that a try was the second"
}

# After a failure the benchmark tries once more, which counts as an error, even if it succeeds. After a
# second failure the benchmark gives this measurement up.
test_bench-retry() {
	retried 0 "10 0 0" 0
	retried 1 "9 1 0" 1
	retried 2 "8 2 0" 0
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
