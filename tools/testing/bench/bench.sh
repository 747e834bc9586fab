#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make bench: measure kwarp, siw, rxe and plain TCP, one after the other in the same boot of a
# guest. Writes the figures as JSON, and a report.
#
#   tools/testing/bench/bench.sh [OPTIONS] [-- OPTIONS OF tools/testing/bench/run.py]
#
#     --guest NAME     measure in this guest; may be repeated (default: uml-up, uml-steer and uml)
#         uml-up       a user-mode kernel (native code) for one processor: figures repeat well, and
#                      a throughput shows how much processor time both ends need together
#         uml-steer    a user-mode kernel for two processors; packets for each end are received on
#                      the processor of its program, as on two machines
#         uml          a user-mode kernel for two processors
#         6.12, 6.1, sid   a stock kernel in QEMU
#         icount       6.12 in QEMU with one processor, whose clock counts instructions: a time is a
#                      number of instructions, and does not depend on the load of the host
#         icount-nic, icount-gro   the same with a link that delivers each packet in memory of its
#                      own, as a network card does, without and with GRO (see links.py)
#         two, two-tso two machines with 6.12 and one processor each (two.sh): their link delivers one
#                      packet per buffer, or packets of 64 KiB. Both ends sleep until an event comes
#     --storage        measure NVMe over Fabrics, NFS, SMB, SRP and RNBD with fio instead; the file
#                      is GUEST-storage.json, tools/testing/bench/storage.py has the options
#     --out DIR        folder for GUEST.json and report.md (build/bench)
#     --timeout SECONDS  time limit for one guest (36000)
#     --short          one minute on guest icount, files in build/bench-short: fails if a message of
#                      kwarp takes more instructions than targets.py allows
#
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" to FILE, for make check
#
# Options of run.py: --rounds 5, --seconds 1, --mtu 1500 9000 65000, --who kwarp siw ...,
# --cells REGEX: names such as 1500-rate-write-65536-1 (MTU, kind, operation, size, queue pairs) or
# 9000-latency-send-64-1; the operations of RFC 7306 are 'write-imm|fetch-add|cmp-swap',
# --steer: receive packets for each end on the processor of its program.
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

guests=() out=$KWARP_ROOT/build/bench timeout=36000 short=0 program=run.py suffix='' root=plain

known_guest() {
	case $1 in
	uml-up | uml-steer | uml | icount | icount-nic | icount-gro | two | two-tso | 6.12 | 6.1 | sid) ;;
	*) die "there is no guest '$1': uml-up, uml-steer, uml, icount, icount-nic, icount-gro, two, two-tso, 6.12, 6.1 or sid" ;;
	esac
}

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) head_comment; exit ;;
		--guest | --out | --timeout) need_value $# "$1" ;;&
		--guest) known_guest "$2"; guests+=("$2"); shift ;;
		--out) out=$2; shift ;;
		--timeout) timeout=$2; shift ;;
		--short) short=1 ;;
		--storage) program=storage.py suffix=-storage root=wide ;;
		--) shift; options=("$@"); break ;;
		*) die "unknown option $1 (see $0 --help)" ;;
		esac
		shift
	done
	if [ "$program" = storage.py ] && [[ " ${guests[*]} " = *[\ -]@(two|two-tso|nic|gro)\ * ]]; then
		die "--storage measures on one machine with a veth pair: not in the guests two, two-tso, icount-nic and icount-gro"
	fi
}

# machine GUEST: print facts about the host, which the guest cannot know.
machine() {
	local guest=$1 accel=icount
	echo "host: $(uname -s) $(uname -r | sed 's/-.*//'), $(nproc) processors, $(awk '/MemTotal/ { print int($2 / 1048576) }' /proc/meminfo) GiB"
	echo "processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
	if [[ $guest = uml* ]]; then
		echo "guest: user-mode kernel, native code, the host's processors kept awake"
	else
		[[ $guest = icount* ]] || accel=$("$KWARP_ROOT/tools/testing/guest/accel.sh")
		echo "guest: QEMU $(qemu-system-x86_64 --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p'), accel $accel"
	fi
	echo "kwarp: $("$KWARP_ROOT/scripts/version.sh") $(git -C "$KWARP_ROOT" describe --always --dirty 2>/dev/null || true)"
	echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
	echo "options: \`${options[*]:-none}\`"
}

# Keep the host's processors awake. If the host is a virtual machine, waking a sleeping processor
# takes longer than a round trip of a message, so latency figures would depend on the host. A busy
# loop of the lowest scheduling class (idle) on each processor prevents sleep; any other program
# runs before it. Only user-mode guests need this: the processors of a QEMU guest are hardly ever
# idle.
#
# The scheduler also gives each session a share of the processor (autogroup), whatever the
# scheduling class. The guest is a session of its own, so the loops get sessions with the smallest
# share.
keep_awake() {
	local cpu
	for ((cpu = 0; cpu < $(nproc --all); cpu++)); do
		taskset -c "$cpu" chrt --idle 0 setpriv --pdeathsig KILL setsid sh -c '
			# For users other than root, this write succeeds once in 100 ms.
			for try in 1 2 3; do
				echo 19 >/proc/self/autogroup && break
				sleep 0.2
			done
			while :; do :; done' 2>/dev/null &
	done
	trap 'kill $(jobs -pr) 2>/dev/null || true' EXIT
}

# split RECORDS: lines of the guest that begin with @ are records and go to the file; the others
# are printed.
split() {
	local records=$1 line
	while IFS= read -r line; do
		case $line in
		@*) echo "${line#@}" >>"$records" ;;
		*) echo "$line" ;;
		esac
	done
}

run_guest() {
	local guest=$1 kernel=$1 more=() machine=("$KWARP_ROOT/tools/testing/guest/vm.sh") overlay name=$1$suffix status=0
	local records=$out/$name.records
	# The caller has switched "set -e" off, so errors are checked here.
	case $guest in
	uml-steer) kernel=uml more=(--steer) ;;
	icount*) kernel=6.12 machine+=(--accel icount) ;;&
	icount-nic) more=(--link packets) ;;
	icount-gro) more=(--link gro) ;;
	two*) kernel=6.12 more=(--link wire --sleep) machine=("$KWARP_ROOT/tools/testing/guest/two.sh") ;;&
	two) machine+=(--link nic) ;;
	two-tso) machine+=(--link tso) ;;
	esac
	overlay=$("$KWARP_ROOT/tools/testing/guest/overlay.sh" "$kernel") || return 1
	: >"$records"
	machine "$guest" >"$out/$name.machine"
	[[ $guest != two* ]] || machine+=(--peer-overlay "$overlay")
	[[ $guest != uml* ]] || keep_awake
	say "measuring in guest $guest"
	"${machine[@]}" --kernel "$kernel" --root "$root" --overlay "$overlay" --logs "$out/$name-logs" --timeout "$timeout" \
		-- "/opt/kwarp/bench/$program ${more[*]} ${options[*]@Q}" | sed -u 's/\r$//' | split "$records" || status=$?
	# If nothing was measured, keep the figures of an earlier run.
	grep -q '"round"' "$records" || return $((status ? status : 1))
	"$here/report.py" collect "$records" "$out/$name.machine" "$out/$name.json" || return 1
	return "$status"
}

# Measure in one guest after the other. If a kernel log shows a fault, or a guest dies, what has
# been measured so far is still collected, and the status is a failure.
run_guests() {
	local guest status=0
	for guest in "${guests[@]}"; do
		(run_guest "$guest") || status=$?
	done
	return "$status"
}

judge() {
	local passed failed skipped
	{
		[ ! -e "$out/icount.json" ] || "$here/report.py" judge "$out/icount.json"
		[ "$status" -eq 0 ] || echo "not ok bench/guest: exit status $status, see $out/icount-logs"
	} | tee "$out/verdict.tap"
	read -r passed failed skipped < <("$KWARP_ROOT/scripts/tap-count.sh" <"$out/verdict.tap")
	[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$KWARP_RESULTS"
	say "bench, short: $passed passed, $failed failed, $skipped skipped ($out)"
	[ "$failed" -eq 0 ]
}

options=()
parse "$@"
"$KWARP_ROOT/scripts/host-packages.sh" check
if [ "$short" = 1 ]; then
	[ $((${#guests[@]} + ${#options[@]})) -eq 0 ] || die "--short chooses guest and cells itself"
	out=$KWARP_ROOT/build/bench-short guests=(icount) timeout=600
	rm -rf "$out"
	options=(--rounds 1 --seconds 0.2 --mtu 1500 --who kwarp --cells '1500-(rate-(write|read|send)-(64|65536)|(rate-write-imm|connect-connect|latency-send)-64|(rate-fetch-add|latency-cmp-swap)-8)-1$')
fi
[ ${#guests[@]} -gt 0 ] || guests=(uml-up uml-steer uml)
# Check the options now, before a guest boots.
"$here/$program" --dry-run "${options[@]}" || die "see the head of $0"
mkdir -p "$out"
out=$(realpath "$out")
status=0
run_guests || status=$?
if [ "$short" = 1 ]; then
	judge
else
	[ -n "$(find "$out" -maxdepth 1 -name '*.json')" ] || die "nothing was measured: see $out/*-logs"
	"$here/report.py" report "$out"
	say "the report is $out/report.md"
	exit "$status"
fi
