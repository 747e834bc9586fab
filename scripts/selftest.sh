#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Test the test tools: given a fault, each tool must report a failure. Output is TAP.
#
#   scripts/selftest.sh [TEST...]      (default: all; a wrong name prints the list)
#
#   KWARP_SELFTEST_DEBUG=0   leave out the test that needs the debug kernel
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" to FILE, for make check
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
tests=(reports harmless leak-case counting lint-dead-tools lint-file-names lint-names bench-judge bench-retry bench-rfc7306 perf-race order kwarpctl scripts
	no-kernel apt-trouble apt-suites ticks no-root packages-of packages-fail no-tools no-mounts space clean-cache
	check-steps shell two-logs leaks)
out=$KWARP_ROOT/build/selftest

# shellcheck source=../tools/testing/guest/selftest.sh
. "$KWARP_ROOT/tools/testing/guest/selftest.sh"
# shellcheck source=../tools/testing/bench/selftest.sh
. "$KWARP_ROOT/tools/testing/bench/selftest.sh"
# shellcheck source=tests/first-steps.sh
. "$here/tests/first-steps.sh"

# ------------------------------------------------------------------- the counts

test_counting() {
	local got
	got=$(printf '1..5\nok 1 a\nnot ok 2 b\nok 3 c # SKIP no\n' | "$here/tap-count.sh")
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

# The name of a file that does not exist is a finding; names in other forms, and files of the
# kernel, are not.
test_lint-file-names() {
	local tree=$out/file-names
	rm -rf "$tree"
	mkdir -p "$tree/scripts/lint" "$tree/deep"
	cp "$here"/{lint.sh,lib.sh} "$tree/scripts/"
	cp "$here/lint/file_names.py" "$tree/scripts/lint/"
	printf '#!/bin/sh\n' >"$tree/scripts/host-packages.sh"
	chmod +x "$tree/scripts/host-packages.sh"
	git -C "$tree" init -q
	# Git ignores scripts/ here, so that only the files below are checked.
	printf '/scripts/\n/build/\n' >"$tree/.gitignore"
	printf '/* See there.c, deep/there.c, {over,t}here.c, net/ipv4/none.c and NAME.c. */\n#include "none.h"\n' >"$tree/deep/there.c"
	KWARP_RESULTS='' "$tree/scripts/lint.sh" file-names >"$out/file-names.log" 2>&1 || cat "$out/file-names.log"
	printf '\nSee deep/gone.c.\n' >"$tree/page.rst"
	! KWARP_RESULTS='' "$tree/scripts/lint.sh" file-names >"$out/file-names.log" 2>&1 || echo "lint/file-names passes with a name of no file"
	grep -q '^  page[.]rst:2: ' "$out/file-names.log" || cat "$out/file-names.log"
}

# In each page of the reference, and in kwarp(7), one name or text is changed.
test_lint-names() {
	local tree=$out/names driver=drivers/infiniband/sw/kwarp page
	rm -rf "$tree"
	mkdir -p "$tree"
	(cd "$KWARP_ROOT" && cp -r --parents Documentation/reference include/uapi scripts/lint/names.py \
		rdma-core-provider/man tools/kwarpctl/{__init__,causes,statuses,terms}.py $driver/{knobs.c,knobs.h,stats.c,trace.h,proto/ddp.h} "$tree")
	"$tree/scripts/lint/names.py"
	sed -i 's/^``tos``$/``tosses``/' "$tree/Documentation/reference/knobs.rst"
	sed -i 's/^``crc_errors``$/``crc_faults``/' "$tree/Documentation/reference/counters.rst"
	sed -i 's/^``payload`` /``load``    /; s/3 SEND/3 SENT/' "$tree/Documentation/reference/traces.rst"
	sed -i 's/Nothing listens/Nobody listens/' "$tree/Documentation/reference/codes.rst"
	sed -i 's/(default .fI1024/(default \\fI1023/' "$tree/rdma-core-provider/man/kwarp.7"
	"$tree/scripts/lint/names.py" >"$out/names.log"
	for page in 'knobs.rst: a text for .*tosses' 'counters.rst: no text for crc_errors' \
		'traces.rst, kwarp_rx_segment: no text for payload' 'traces.rst, Numbers: no text for .*SEND' \
		'codes.rst: ``RDMA_CM_EVENT_REJECTED`` is' 'kwarp.7: no text for .*1024'; do
		grep -q "^$page" "$out/names.log" || echo "lint/names does not find: $page"
	done
}

# -------------------------------------------------------------------- the suite

# state_line EVENT AT: print the event, a change of state of a socket of port 20000, as the kernel's
# trace shows it; AT is its time in seconds.
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

# raced YES|NO EVENT...: perfrace.awk must decide that these events show (YES) or do not show (NO) a
# race in perftest. perftest's server accepts a control connection, deletes that listener, and later
# listens on the same port again, for the queue pairs. In the race, the client connects for the
# queue pairs too early: there is no listener, or still the first one. Each event is one second
# after the event before it, or 20 ms if it ends in an exclamation mark.
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
	# The second listener's state is LISTEN, but for a few milliseconds TCP does not find it.
	raced YES "${control[@]}" ends listens asks! refused
	raced NO listens asks! refused
	# A listener exists when the client is refused, so the reason is another one.
	raced NO "${control[@]}" asks refused ends listens
	raced NO "${control[@]}" ends listens asks refused
	# The second listener accepts the client, so a later failure is not the race.
	raced NO "${control[@]}" ends listens asks takes in
	raced NO "${control[@]}" ends listens asks takes in ends asks refused
	# The control connection is lost, or was never made, so the race cannot occur.
	raced NO "${control[@]}" lost asks takes in
	raced NO "${control[@]}" ends lost asks refused
	raced NO asks refused
	raced NO listens asks refused
	raced NO
}

# sets_are WHOLE PART PART: fail unless each case of the set WHOLE is in exactly one of the two.
sets_are() {
	local whole=$1 set
	shift
	for set in "$@"; do "$run" --list --set "$set"; done | sort | cmp -s - <("$run" --list --set "$whole" | sort) ||
		echo "the sets $* are not the set $whole"
}

# Tests of the suite's order and sets.
test_order() {
	local run=$KWARP_ROOT/tools/testing/selftests/kwarp/run.sh one two other
	one=$("$run" --list --profile debug --seed 5)
	two=$("$run" --list --profile debug --seed 5)
	other=$("$run" --list --profile debug --seed 6)
	[ "$one" = "$two" ] || echo "a seed gives two orders"
	[ "$one" != "$other" ] || echo "two seeds give one order"
	[ "$(sort <<<"$one")" = "$(sort <<<"$other")" ] || echo "two seeds give different cases"
	sets_are all check rest
	sets_are check stock user-mode
	[ "$(sort <<<"$one")" = "$("$run" --list | sort)" ] || echo "the debug kernel lacks cases of the stock one"
}

# unit_tests FOLDER TOP: run the unit tests in Python in FOLDER/tests. TOP is the folder from which
# they are imported. They need neither the kernel module nor an RDMA link.
unit_tests() {
	local folder=$1 top=$2 log=$out/${1##*/}.log
	python3 -B -m unittest discover -s "$folder/tests" -t "$top" >"$log" 2>&1 || { cat "$log"; return; }
	# A run in which no test was found must not pass.
	grep -qE '^Ran [0-9]{2,} tests' "$log" || cat "$log"
}

test_kwarpctl() {
	unit_tests "$KWARP_ROOT/tools/kwarpctl" "$KWARP_ROOT/tools"
}

# Tests of the Python scripts.
test_scripts() {
	unit_tests "$here" "$here"
}

# A report in the kernel log of the second of two machines must make the run fail.
test_two-logs() {
	local logs=$out/two status=0
	rm -rf "$logs"
	"$KWARP_ROOT/tools/testing/guest/two.sh" --logs "$logs" -- 'peer run sh -c "echo BUG: a test >/dev/kmsg"' >"$out/two.log" 2>&1 || status=$?
	[ "$status" = 126 ] || { echo "exit status $status instead of 126"; tail "$out/two.log"; }
}

# The kernel's module kmemleak-test allocates memory and loses it. The run in the guest must fail
# because of that, and the kernel's checks of slabs must be on.
test_leaks() {
	local logs=$out/leaks status=0
	rm -rf "$logs"
	"$KWARP_ROOT/tools/testing/guest/vm.sh" --kernel debug --leaks --logs "$logs" --timeout 900 -- \
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
[ "${KWARP_SELFTEST_DEBUG:-1}" = 1 ] || mapfile -t tests < <(printf '%s\n' "${tests[@]}" | grep -vx leaks)
[ $# -eq 0 ] || tests=("$@")
# Two tests run in a guest.
[[ ! " ${tests[*]} " =~ " shell "|" leaks " ]] || need_root
need_cache
mkdir -p "$out"
passed=0 failed=0
for name in "${tests[@]}"; do
	run_test "$name"
done
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed 0" >>"$KWARP_RESULTS"
say "selftest: $passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
