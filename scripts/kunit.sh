#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run the unit tests (KUnit) of the driver with the kernel's kunit.py in user-mode Linux. The driver
# is copied into a private copy of the kernel source, and built as a part of that kernel.
#
#   scripts/kunit.sh [--coverage|--big-endian] [KUNIT.PY ARGUMENTS, such as the filter 'kwarp_mpa*'
#                    or --raw_output]
#
#   --coverage     also report which lines and branches were reached (llvm-cov)
#   --big-endian   run only the suites of proto/, on an emulated s390x machine, which is big-endian
#
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" to FILE, for make check
#
# The kernel's configuration is the driver's .kunitconfig; the driver's Kconfig defines its symbols.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
driver=drivers/infiniband/sw/kwarp

# Make the copy of the kernel source from hard links. To change a file in it, replace the file: a
# write would change the original, too.
make_tree() {
	local dir=$1 source=$2
	say "copying the kernel source for unit tests"
	cp -al "$source/." "$dir/"
	sed '/^endmenu/i source "'"$driver"'/Kconfig"' "$source/drivers/Kconfig" >"$dir/Kconfig.new"
	mv -f "$dir/Kconfig.new" "$dir/drivers/Kconfig"
	cp "$source/drivers/Makefile" "$dir/Makefile.orig"
}

# Copy the driver's files that differ in contents. So several checkouts can use the tree in turns,
# and only files that differ are compiled again.
put_driver() {
	local tree=$1
	mkdir -p "$tree/$driver"
	rsync -rc --delete --include '*/' --include '*.[ch]' --include Kbuild --include Makefile \
		--include Kconfig --include .kunitconfig --exclude '*' \
		"$KWARP_ROOT/$driver/" "$tree/$driver/"
	rsync -rc "$KWARP_ROOT/include/uapi/rdma/" "$tree/include/uapi/rdma/"
	{ cat "$tree/Makefile.orig"; echo "obj-y += ${driver#drivers/}/"; } >"$tree/Makefile.new"
	rsync -c "$tree/Makefile.new" "$tree/drivers/Makefile"
}

# Only the driver is built with sanitizers: a kernel without them takes half of the time to build.
run_kunit() {
	local tree=$1
	shift
	cd "$tree"
	KWARP_CONFIG_DIR=$tree/kwarp-config ./tools/testing/kunit/kunit.py run \
		--build_dir="$build" --kunitconfig="$config" --jobs "$KWARP_JOBS" \
		--make_options KASAN_SANITIZE=n --make_options UBSAN_SANITIZE=n --timeout 900 "$@" </dev/null
}

# Limit the log to 32 MiB; a good run writes 100 KiB. If the kernel dies in a parameterized case,
# kunit.py prints "CRASHED" without end, and this limit ends it.
limited_log() {
	(ulimit -f $((32 * 1024)) && exec tee "$1")
}

# Drop what modpost says of the sections with coverage data, four lines for each function.
without_modpost() {
	[ $coverage = 1 ] || exec cat
	grep -a --line-buffered -vE '^(WARNING: modpost: vmlinux \(__llvm.*|Did you forget to use "ax".*|Note that for example <linux.init.h> contains|section definitions for use in .*|)$' || true
}

# kunit.py shows nothing of the build.
objects() {
	echo "$(find "$1" -name '*.o' | wc -l) objects are built"
}

# Show suites, and cases that did not pass. The log file has all lines.
brief() {
	grep --line-buffered -vE '^\[[0-9:]+\] (\[PASSED\] |=* \[PASSED\] test|=* test.* =*$)' || true
}

# Use LLVM's source-based coverage, because user-mode Linux does not write gcc's coverage data. Only
# the driver counts, and functions of headers only if they are used: with data of all functions, the
# linker needs 8 GiB and more than half an hour.
set_coverage_args() {
	echo "src:*/$driver/*" >"$tree/kwarp-config/counted"
	args+=(--make_options=LLVM=1 --kunitconfig=tools/testing/kunit/configs/coverage_uml.config
		--make_options "GCOV_OPT=-fprofile-instr-generate -fcoverage-mapping -mllvm -limited-coverage-experimental -fprofile-list=$tree/kwarp-config/counted")
}

# Report the coverage of the driver's files, except tests.
report_coverage() {
	local files
	llvm-profdata merge -sparse -o "$build/profdata" "$tree/default.profraw"
	mapfile -t files < <(find "$tree/$driver" -name '*.[ch]' -not -path '*/tests/*')
	llvm-cov report "$build/vmlinux" -instr-profile="$build/profdata" -show-branch-summary \
		-show-region-summary=false "${files[@]}" | sed "s,$tree/$driver/,,"
}

# count LOG WORD: print a number from kunit.py's last line, "Testing complete. Ran 12 tests:
# passed: 10, failed: 1, skipped: 1". Numbers that are zero are not in this line. "kunit.py --json"
# of 6.12 has no such numbers, and does not report the parser's errors.
count() {
	local n
	n=$(sed -n "s/.*Testing complete.*[ ,]$2: \([0-9]*\).*/\1/p" "$1" | tail -n 1)
	echo "${n:-0}"
}

# Look for bug reports in the kernel's output: no case fails because of a lockdep report, for
# example, and lockdep is off after its first report. Lines before the first suite do not count,
# because user-mode Linux prints warnings at boot.
scan_kernel() {
	local log=$KWARP_ROOT/build/$name-kernel.log
	sed -n '/KTAP version/,$p' "$build/test.log" >"$log"
	[ -s "$log" ] || { say "no kernel log in $build/test.log"; return 1; }
	"$KWARP_ROOT/tools/testing/guest/scan-log.sh" "$log"
}

# Print the layers whose suites are configured.
layers_of() {
	sed -n 's/^CONFIG_KWARP_\(.*\)_KUNIT_TEST=y/\L\1/p' "$KWARP_ROOT/$config" | paste -sd ' '
}

summarise() {
	local log=$1 status=$2 passed failed skipped
	passed=$(count "$log" passed) skipped=$(count "$log" skipped)
	failed=$(($(count "$log" failed) + $(count "$log" crashed) + $(count "$log" errors)))
	scan_kernel || failed=$((failed + 1))
	if [ "$failed" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$passed" -eq 0 ]; }; then
		failed=1
	fi
	[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$KWARP_RESULTS"
	# The kernel's version is that of its source. A run with a filter is not recorded.
	[ -n "$filtered" ] ||
		record_run "${source##*/linux-}" "$arch" "$name" "$(layers_of)" "$passed" "$failed" "$skipped" ""
	say "$name: $passed passed, $failed failed, $skipped skipped (log: $log)"
	[ "$failed" -eq 0 ]
}

case ${1:-} in -h | --help) head_comment; exit ;; esac
coverage=0 packages=kunit config=$driver/.kunitconfig name=kunit arch=um filtered="$*"
# On the emulated machine cases take twenty times longer, and on a busy host all wait. That must not
# count as a stall.
patient=--kernel_args=rcupdate.rcu_cpu_stall_timeout=300
case ${1:-} in
--coverage)
	shift
	coverage=1 packages=coverage
	;;
--big-endian)
	shift
	packages=big-endian config=$driver/proto/.kunitconfig name=kunit-be arch=s390x filtered="${*:2}"
	set -- --arch=s390 --cross_compile=s390x-linux-gnu- "$@"
	;;
esac
[ -e "$KWARP_ROOT/$config" ] || die "no $config in this checkout"
"$here/host-packages.sh" $packages
[ -e "$KWARP_CACHE/source/linux-6.12" ] || need_space "the first run" 4000 "$KWARP_CACHE"
source=$("$here/get-source.sh" linux 6.12)
# The copy of the kernel source, and what was built in it, stay in the cache, because a whole build
# takes long. Below, a lock lets only one run at a time use them.
tree=$(cached "$name/$(basename "$source")" make_tree "$source")
# The build folder depends on the configuration. Otherwise checkouts with different configurations
# would rebuild all objects in turns.
build=$tree.build-$(sha256sum "$KWARP_ROOT/$config" | cut -c1-8)
[ $coverage = 0 ] || build=$tree.coverage
mkdir -p "$KWARP_ROOT/build"
log=$KWARP_ROOT/build/$name.log
exec 8>"$tree.lock"
flock 8
put_driver "$tree"
# Probe the stock kernel: it is of the same version, so it offers the same functions.
"$here/kernel/probe.sh" "$("$here/get-kernel.sh" 6.12)" "$tree/kwarp-config/kwarp_config.h"
say "building a kernel with the suites and running it$([ -e "$build/vmlinux" ] || echo ", which takes 7 to 25 minutes the first time")"
args=("$patient" "$@")
if [ $coverage = 1 ]; then
	rm -f "$tree/default.profraw"
	set_coverage_args
fi
status=0
start_ticks "$log" "building and running" objects "$build"
run_kunit "$tree" "${args[@]}" 2>&1 | without_modpost | limited_log "$log" | brief || status=1
end_ticks
[ $coverage = 0 ] || report_coverage
summarise "$log" "$status"
