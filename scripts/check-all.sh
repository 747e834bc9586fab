#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make check-all: all tests, which takes several hours: make check, and tests that take too long for
# it. Prints a table with counts and time of each step, and a last line "N passed, N failed,
# N skipped".
#
#   scripts/check-all.sh [STEP...]       (default: all; a wrong name prints the list)
#
# If only some steps are run, the table has the last results of the others, with the commit that
# they ran on. The last line and the exit status are about all steps in the table.
#
#   KWARP_FUZZ_SECONDS=1800      run each fuzz target for this time
#   KWARP_FUZZ_CALLS=1000000     number of commands in the case fuzz-uverbs on the debug kernel
#   KWARP_MUTATIONS=20000        number of streams in raw-mutate-1 and -2 on the debug kernel
#   KWARP_MUTANTS=40             number of rows that scripts/mutate.py draws from the conformance
#                                tables; for each row it breaks a function and runs the row's tests
#   KWARP_MUTANT_SEED=N          seed by which the rows are drawn (random)
#   KWARP_SOAK_SECONDS=7200      duration of the soak
#
# Output files in build/check-all: STEP.log, STEP.row (the step's row of the table), and summary,
# the table as it is in Documentation/testing.rst.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
e2e=$KWARP_ROOT/tools/testing/selftests/e2e.sh
out=$KWARP_ROOT/build/check-all
steps=(check e2e-rest e2e-debug e2e-uml e2e-libsiw e2e-long e2e-threadirqs e2e-6.1 e2e-sid e2e-flavours e2e-arm64 e2e-two in-tree upstream-series kunit-be install packages secure-boot kcsan faults fuzz-uverbs mutate-streams fuzz-long mutants soak)

step_check() {
	KWARP_CHECK_TIME=14400 "$here/check.sh"
}

# Run the end-to-end cases that make check leaves out, or without KVM runs on a user-mode kernel.
step_e2e-rest() {
	local set sets=(rest) status=0
	[ "$("$KWARP_ROOT/tools/testing/guest/accel.sh")" = kvm ] || sets+=(user-mode)
	for set in "${sets[@]}"; do
		KWARP_E2E_SET=$set "$e2e" --kernel 6.12 || status=$?
	done
	return "$status"
}

step_e2e-debug() {
	local status=0
	"$here/selftest.sh" leaks || status=$?
	KWARP_E2E_TIME=18000 "$e2e" --kernel debug || status=$?
	return "$status"
}

# Test consumers of RDMA in the kernel that stock kernels do not have: SMB Direct and RNBD.
step_e2e-uml() {
	"$e2e" --kernel uml-up kernel-smb kernel-rnbd \
		interop-siw-is-server-smb interop-siw-is-client-smb
}

# Test links of type kwarp-siw, which programs use through libsiw, the libibverbs provider of siw.
# The provider of kwarp is removed from the guest.
step_e2e-libsiw() {
	KWARP_LINK=kwarp-siw "$e2e" --kernel 6.12
}

# Run cases that run only if they are named, because they take minutes or need a download.
step_e2e-long() {
	KWARP_HALF_OPEN=100000 "$e2e" --kernel 6.12 bad-timer-verdict bad-half-open scale-connections-10000 \
		consumer-ceph
}

# With threaded interrupts, softirqs run in threads, and a real-time program can keep these from
# running.
step_e2e-threadirqs() {
	KWARP_APPEND=threadirqs "$e2e" --kernel 6.12 coalesce rping data-events
}

step_e2e-6.1() {
	"$e2e" --kernel 6.1
}

step_e2e-sid() {
	"$e2e" --kernel sid
}

# Test on real-time kernels, in which most locks may sleep and interrupts are threads, and on
# Debian's kernels for cloud machines.
step_e2e-flavours() {
	local kernel status=0
	for kernel in 6.12-rt 6.12-cloud; do
		"$e2e" --kernel "$kernel" rping data-mixed-1500 life-rmmod stats libsiw-data coalesce || status=$?
	done
	return "$status"
}

# Test on arm64: its memory model is weaker than that of x86, and module and tools are
# cross-compiled.
step_e2e-arm64() {
	"$e2e" --kernel 6.12-arm64 rping data life-rmmod stats edge
}

# Test two machines: what make check leaves out, with both kinds of link, with different kernels,
# and with what is on the link encrypted.
step_e2e-two() {
	local pair status=0
	KWARP_E2E_SET=rest "$e2e" --kernel 6.12 --peer-kernel 6.12 || status=$?
	"$e2e" --kernel 6.12 --peer-kernel 6.12 --link tso || status=$?
	for pair in "6.1 sid" "6.12 6.1" "sid 6.12"; do
		"$e2e" --kernel "${pair% *}" --peer-kernel "${pair#* }" || status=$?
	done
	"$e2e" --kernel 6.12 --peer-kernel 6.12 two-ipsec || status=$?
	for pair in ipsec wireguard; do
		KWARP_OVER=$pair "$e2e" --kernel 6.12 --peer-kernel 6.12 rping data interop-siw kernel stats two-connect || status=$?
	done
	return "$status"
}

step_in-tree() {
	KWARP_IN_TREE='7.2 6.12' "$here/lint.sh" in-tree
}

# Compile the series for upstream patch by patch.
step_upstream-series() {
	"$here/upstream-series.sh" --check
}

step_kunit-be() {
	"$here/kunit.sh" --big-endian
}

# Build, install and remove the packages on each release of Debian. apt must refuse to install the
# provider that was built for another release.
step_install() {
	"$here/debian/install-test.sh"
}

step_packages() {
	"$here/debian/package-test.sh"
}

step_secure-boot() {
	"$KWARP_ROOT/tools/testing/secure-boot/secure-boot.sh"
}

# Look for data races with KCSAN, in cases in which several processors use the same data at the same
# time: data path and memory windows.
step_kcsan() {
	KWARP_E2E_TIME=7200 "$e2e" --kernel kcsan 'data-*' rping perf-write-bw-4qp perf-send-bw-both-ways \
		edge life-connect-cycles windows
}

# Make allocations fail: each one in turn while a link is added or the module is loaded, and in the
# cases *-order-1 large ones only (two pages or more).
step_faults() {
	KWARP_E2E_TIME=7200 "$e2e" --kernel debug fault-link fault-module fault-verbs-order-1 fault-chance-cm-order-1 \
		fault-traffic-order-1 fault-teardown-order-1
}

# Give a million random commands to uverbs, by four processes, with traffic at the same time.
step_fuzz-uverbs() {
	KWARP_FUZZ_CALLS=${KWARP_FUZZ_CALLS:-1000000} KWARP_E2E_TIME=14400 "$e2e" --kernel debug fuzz-uverbs
}

step_mutate-streams() {
	KWARP_MUTATIONS=${KWARP_MUTATIONS:-20000} KWARP_E2E_TIME=14400 "$e2e" --kernel debug raw-mutate-1 raw-mutate-2
}

step_fuzz-long() {
	"$KWARP_ROOT/tools/testing/fuzz/fuzz.sh" "${KWARP_FUZZ_SECONDS:-1800}"
}

step_mutants() {
	"$here/mutate.py" --rows "${KWARP_MUTANTS:-40}" ${KWARP_MUTANT_SEED:+--seed "$KWARP_MUTANT_SEED"}
}

step_soak() {
	"$KWARP_ROOT/tools/testing/selftests/soak.sh" "${KWARP_SOAK_SECONDS:-7200}"
}

# counts STEP STATUS: print the sum of the counts that the step wrote, or one result if it wrote
# none.
counts() {
	local status=$2
	awk '{ p += $1; f += $2; s += $3; n++ } END { if (n) print p, f, s }' "$out/$1.results" | grep . ||
		{ if [ "$status" -eq 0 ]; then echo 1 0 0; else echo 0 1 0; fi; }
}

run_step() {
	local name=$1 start=$SECONDS status=0 passed failed skipped
	: >"$out/$name.results"
	echo "=== $name"
	KWARP_RESULTS=$out/$name.results "step_$name" >"$out/$name.log" 2>&1 </dev/null || status=$?
	# make check keeps its counts in a file of its own.
	[ "$name" != check ] || cp "$KWARP_ROOT/build/check-results" "$out/$name.results"
	read -r passed failed skipped < <(counts "$name" "$status")
	# A step with a failing exit status has at least one failure.
	[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
	printf '%-16s %7d %6d %7d %7d s  %s, %s\n' "$name" "$passed" "$failed" "$skipped" $((SECONDS - start)) \
		"$commit" "$(date -u +%Y-%m-%d)" | tee "$out/$name.row"
}

# Print the rows of all steps that have run, in order, and their sum.
summary() {
	local name
	printf '%-16s %7s %6s %7s %9s  %s\n' step passed failed skipped time commit
	for name in "${steps[@]}"; do
		[ ! -e "$out/$name.row" ] || cat "$out/$name.row"
	done | awk '{ print; p += $2; f += $3; s += $4 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }'
}

case ${1:-} in -h | --help) head_comment; exit ;; esac
for name in "$@"; do
	[[ " ${steps[*]} " = *" $name "* ]] || die "no step '$name': there are ${steps[*]}"
done
need_root
need_cache
mkdir -p "$out"
commit=$(git -C "$KWARP_ROOT" describe --always --dirty 2>/dev/null || echo unknown)
chosen=("$@")
[ $# -gt 0 ] || chosen=("${steps[@]}")
for name in "${chosen[@]}"; do
	rm -f "$out/$name.row"
done
for name in "${chosen[@]}"; do
	run_step "$name"
done
status=0
summary >"$out/summary" || status=$?
cat "$out/summary"
exit "$status"
