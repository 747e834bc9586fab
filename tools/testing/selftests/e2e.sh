#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run the end-to-end suite (tools/testing/selftests/kwarp) in a virtual machine. A bug report in the
# kernel log is a failure.
#
#   tools/testing/selftests/e2e.sh [--kernel 6.12|6.1|sid|debug|kcsan|uml-up] [CASE...]
#   tools/testing/selftests/e2e.sh --kernel NAME --peer-kernel NAME [--link nic|tso|socket] [CASE...]
#
# There are also the kernels 6.12-rt and 6.12-cloud, the same for 6.1 and sid, and 6.12-arm64, which
# runs on an emulated arm64 machine.
#
# With --peer-kernel the ends are two machines, and --link is the link between them (nic); see two.sh.
#
#   KWARP_E2E_TIME=SECONDS   skip cases that have not begun after this time, builds included
#                            (default: 2400 without builds, on debug and kcsan 7200, on arm64 4800)
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" to FILE, for make check
#   KWARP_MUTATIONS=N    number of changed streams in the cases raw-mutate-*
#   KWARP_RAW_SEED=N     seed of the cases raw-*
#   KWARP_RAW_CASES='NAME ...'   cases of the raw peer (tools/testing/rawpeer) that a case such as
#                        raw-fpdu runs instead of its own
#   KWARP_E2E_SEED=N     seed of the order of cases; on the debug kernel the order is always random,
#                        and the run prints the seed
#   KWARP_E2E_SET=SET    cases to run if none is named: all (default), check (those that make check
#                        has time for) or rest (the others); stock and user-mode are parts of check
#   KWARP_LEAKS=0        do not look for memory leaks at the end on the debug kernel (two minutes)
#   KWARP_FUZZ_CALLS=N KWARP_FUZZ_SEED=N     number and seed of the commands in fuzz-uverbs
#   KWARP_LINK=TYPE      type of link under test instead of kwarp: siw, or kwarp-siw, for which
#                        kwarp's provider is removed from the guest
#   KWARP_ACCEL=icount   emulate one processor, whose clock counts instructions: the other load of this
#                        machine does not matter, so the case coalesce-delay checks how long a
#                        request waits
#   KWARP_OVER=ipsec|wireguard   with --peer-kernel: encrypt and authenticate what is on the link
#   KWARP_APPEND=OPTIONS options for the kernel, such as threadirqs for the cases coalesce-*
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"
suite=$KWARP_ROOT/tools/testing/selftests/kwarp

kernel=6.12 peer='' link=nic
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) head_comment; exit ;;
	--kernel | --peer-kernel | --link) need_value $# "$1" ;;&
	--kernel) kernel=$2 ;;
	--peer-kernel) peer=$2 ;;
	--link) link=$2 ;;
	-*) die "unknown option $1 (see $0 --help)" ;;
	*) break ;;
	esac
	shift 2
done
cases=("$@")

# Seconds for all cases on this kernel. The debug kernel is at least ten times slower.
time_of() {
	case $1 in
	debug | kcsan) echo 7200 ;;
	# An arm64 machine is always emulated, without KVM.
	*-arm64) echo 4800 ;;
	*) echo 3000 ;;
	esac
}
# Seconds for the longest case (raw-mutate) on a slow kernel, plus booting and shutdown. The guest's
# time limit includes these, because a guest that is stopped loses output.
longest=$(((300 + ${KWARP_MUTATIONS:-0} / 20 + ${KWARP_FUZZ_CALLS:-0} / 400) * 5 + 300))

guest_command() {
	local profile=stock
	case $kernel in debug | kcsan) profile=debug ;; esac
	local env="CI=${CI:-} KWARP_MUTATIONS=${KWARP_MUTATIONS:-} KWARP_RAW_SEED=${KWARP_RAW_SEED:-} KWARP_HALF_OPEN=${KWARP_HALF_OPEN:-}"
	[ -z "${KWARP_ACCEL:-}" ] || env+=" KWARP_ACCEL=$KWARP_ACCEL"
	[ -z "${KWARP_RAW_CASES:-}" ] || env+=" KWARP_RAW_CASES='$KWARP_RAW_CASES'"
	env+=" KWARP_FUZZ_CALLS=${KWARP_FUZZ_CALLS:-} KWARP_FUZZ_SEED=${KWARP_FUZZ_SEED:-}"
	[ -z "${KWARP_LINK:-}" ] || env+=" KWARP_LINK=$KWARP_LINK"
	[ -z "$peer" ] || env+=" KWARP_TWO=1 KWARP_OVER=${KWARP_OVER:-}"
	# The debug and kcsan kernels have the patches of Documentation/upstream. KWARP_PATCHED=1
	# enables a case that makes a kernel without these patches crash.
	[ $profile != debug ] || env+=" KWARP_PATCHED=1"
	local options=${KWARP_E2E_SEED:+--seed $KWARP_E2E_SEED}
	[ -z "${KWARP_E2E_SET:-}" ] || options+=" --set $KWARP_E2E_SET"
	# Links of type kwarp-siw are for systems without kwarp's provider, so it is removed.
	[ "${KWARP_LINK:-}" != kwarp-siw ] || echo "rm /etc/libibverbs.d/kwarp.driver"
	echo "cd /opt/kwarp/selftests && $env exec ./run.sh --profile $profile --time $1 $options ${cases[*]@Q}"
}

# The guest's root "wide" has the programs of upper layers. The debug kernels do not have these
# layers.
root_of() {
	case $1 in
	debug | kcsan) echo plain ;;
	*-arm64) echo arm64 ;;
	*) echo wide ;;
	esac
}

run_suite() {
	local overlay=$1 logs=$2 left leaks=() run=("$KWARP_ROOT/tools/testing/guest/vm.sh")
	local accel=(${KWARP_ACCEL:+--accel "$KWARP_ACCEL"})
	if [ "$kernel" = debug ] && [ "${KWARP_LEAKS:-1}" = 1 ]; then leaks=(--leaks); fi
	left=$(time_of "$kernel")
	[ -z "${KWARP_E2E_TIME:-}" ] || left=$((KWARP_E2E_TIME - SECONDS))
	[ "$left" -gt 0 ] || left=0
	[ -z "$peer" ] || run=("$KWARP_ROOT/tools/testing/guest/two.sh" --link "$link" --peer-kernel "$peer" --peer-overlay "$peer_overlay")
	# A slow machine takes a minute to boot a debug kernel, hence 60 s less for the cases.
	"${run[@]}" --kernel "$kernel" --root "$(root_of "$kernel")" "${leaks[@]}" "${accel[@]}" --overlay "$overlay" --logs "$logs" --out "$logs/out" \
		--timeout $((left + longest)) --append "${KWARP_APPEND:-}" -- "$(guest_command $((left - 60)))"
}

# decode NAME FILE on|off: decode a capture with tshark, and print one result.
decode() {
	if "$suite/decode-capture.sh" "$2" "$3"; then echo "ok $1"; else echo "not ok $1"; fi
}

# Decode the captures of the guest, which has no tshark itself, and print a result for each case
# that made one. One capture is also decoded with two segments swapped, to show that tshark
# puts them into order.
decode_captures() {
	local logs=$1 file crc
	for crc in on off; do
		file=$logs/out/capture-crc-$crc/wire-crc-$crc.pcap
		case $(grep -m1 -E "^ok [0-9]+ capture-crc-$crc( |$)" "$logs/output.log" || :) in
		'') ;;
		*SKIP*) echo "ok decode-crc-$crc # SKIP there is no capture" ;;
		*)
			decode "decode-crc-$crc" "$file" "$crc"
			[ "$crc" = off ] || decode_swapped "$file" "$crc"
			;;
		esac
	done
}

# Look for the Terminate of the case mistake-key: of the DDP layer, for a tagged buffer, "Invalid
# STag", which is 0x1100.
decode_terminate() {
	local file=$1/out/mistake-key/wire.pcap
	grep -qE '^ok [0-9]+ mistake-key$' "$1/output.log" || return 0
	if [ "$(tshark -r "$file" -Y iwarp_rdma.terminate -T fields -e iwarp_rdma.term_layer -e iwarp_rdma.term_etype_ddp \
		-e iwarp_rdma.term_errcode_ddp_tagged 2>/dev/null | tr '\t' ' ')" = "0x01 0x01 0x00" ]; then
		echo "ok decode-terminate"
	else
		echo "not ok decode-terminate"
	fi
}

decode_swapped() {
	local swapped=${1%.pcap}-swapped.pcap
	if "$suite/fpdus.py" swap "$1" "$(cat "$(dirname "$1")/port")" "$swapped"; then
		decode decode-swapped "$swapped" "$2"
	else
		echo "not ok decode-swapped"
	fi
}

# True if cases failed, and the kernel log has no report.
clean_failure() {
	[ "$2" -gt 0 ] && "$KWARP_ROOT/tools/testing/guest/scan-log.sh" "$1/console.log" 2>/dev/null
}

# Print which case ran, and the first lines of the kernel's report, because a summary shows only the
# end of a long log. scan-log.sh has written the lines of reports, with their line numbers, to
# console.log.reports.
first_report() {
	local log=$1/console.log at
	[ -s "$log.reports" ] || return 0
	at=$(head -n 1 "$log.reports" | cut -d: -f1)
	{
		head -n "$at" "$log" | grep -a 'kwarp-e2e: ' | tail -n 1
		head -n 3 "$log.reports" | cut -d: -f2-
		sed -n "$at,$((at + 20))p" "$log" | grep -am1 'RIP: '
	} | tr -d '\r' | sed 's/^/# /' || :
}

# Describe in words which cases were chosen.
scope() {
	local what
	case ${#cases[@]}-${KWARP_E2E_SET:-all} in
	0-all) what="all cases" ;;
	0-check) what="the cases of make check" ;;
	0-stock | 0-user-mode) what="the cases of make check for a ${KWARP_E2E_SET/-/ } kernel" ;;
	0-rest) what="what make check has no time for" ;;
	*) what="${cases[*]}" ;;
	esac
	[ -z "${KWARP_LINK:-}" ] || what+=", link type $KWARP_LINK"
	[ -z "${KWARP_ACCEL:-}" ] || what+=", accelerator $KWARP_ACCEL"
	[ -z "${KWARP_APPEND:-}" ] || what+=", with $KWARP_APPEND"
	[ -z "$peer" ] || what+=", on two machines (link $link, the other kernel $peer${KWARP_OVER:+, over $KWARP_OVER})"
	echo "$what"
}

# record LOGS PASSED FAILED SKIPPED: record the run for the table of kernels. The release of the
# kernel is in the guest's output.
record() {
	local logs=$1 release arch names
	shift
	release=$(sed -nE 's/^# kernel ([^,]+), .*/\1/p' "$logs/output.log" | head -n 1)
	arch=$(arch_of "$kernel")
	[[ $kernel != uml* ]] || arch=um
	names=$(sed -nE 's/^not ok ([0-9]+ )?([^ ]+).*/\2/p' "$logs/output.log" | tr -d '\r' |
		paste -sd ' ')
	[ -n "$names" ] || [ "$2" -eq 0 ] || names="the run as a whole"
	record_run "${release:-$kernel}" "$arch" e2e "$(scope)" "$@" "$names"
}

# The run as a whole is one more result: it passed if it ended properly and the kernel log has no
# report.
summarise() {
	local logs=$1 status=$2 passed failed skipped cases_failed
	read -r passed failed skipped < <("$KWARP_ROOT/scripts/tap-count.sh" <"$logs/output.log")
	cases_failed=$failed
	case $status in
	0) passed=$((passed + 1)) ;;
	1) clean_failure "$logs" "$cases_failed" && passed=$((passed + 1)) || failed=$((failed + 1)) ;;
	3) failed=$((failed + 1)); echo "not ok whole run ($kernel): it had no time for more than a tenth of the cases" ;;
	126) failed=$((failed + 1)); echo "not ok kernel log ($kernel): it holds a bug report, see $logs/console.log" ;;
	*) failed=$((failed + 1)); echo "not ok whole run ($kernel): exit status $status, see $logs"; first_report "$logs" ;;
	esac
	[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$KWARP_RESULTS"
	record "$logs" "$passed" "$failed" "$skipped"
	say "e2e on $kernel: $passed passed, $failed failed, $skipped skipped (logs: $logs)"
	[ "$failed" -eq 0 ]
}

[ -e "$suite/run.sh" ] || die "no tools/testing/selftests/kwarp/run.sh in this checkout"
need_root
need_cache
logs=$KWARP_ROOT/build/e2e/$kernel-$(date +%Y%m%d-%H%M%S)-$$
mkdir -p "$logs"
ln -sfnT "$(basename "$logs")" "$KWARP_ROOT/build/e2e/$kernel-latest"
"$KWARP_ROOT/scripts/host-packages.sh" check
[ "$(root_of "$kernel")" != wide ] || export KWARP_WITH_MPI=1
# Ceph is downloaded only if its case is named.
[[ " ${cases[*]} " != *" consumer-ceph "* ]] || export KWARP_WITH_CEPH=1
overlay=$("$KWARP_ROOT/tools/testing/guest/overlay.sh" "$kernel")
[ -z "$peer" ] || peer_overlay=$("$KWARP_ROOT/tools/testing/guest/overlay.sh" "$peer")
say "running the end-to-end suite on kernel $kernel"
status=0
run_suite "$overlay" "$logs" | tee "$logs/output.log" || status=${PIPESTATUS[0]}
{ decode_captures "$logs"; decode_terminate "$logs"; } | tee -a "$logs/output.log"
summarise "$logs" "$status"
