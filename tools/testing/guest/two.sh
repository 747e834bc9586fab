#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run a command in one of two virtual machines that a link joins. Output and exit status of the
# command are those of this script. In the first machine, "peer run COMMAND..." runs a command in
# the second one (tools/testing/guest/peer.py). In both, the interface on the link is named "wire".
#
#   tools/testing/guest/two.sh [OPTIONS] -- 'SHELL COMMAND'
#
#     --kernel NAME      kernel of the first machine, a stock kernel for x86 (6.12)
#     --peer-kernel NAME kernel of the second machine (that of the first)
#     --root plain|wide  root file system of both (plain)
#     --overlay DIR      overlay of the first machine; may be repeated
#     --peer-overlay DIR overlay of the second machine; may be repeated
#     --link nic|tso|socket   the link (nic). nic: it delivers one packet per buffer, as a network
#                        card without LRO does. tso: packets of 64 KiB pass. Both are tap devices on
#                        a bridge in a network namespace of this script. socket: no tap devices, and
#                        no offloads; this is used, too, where there is no right to make tap devices
#     --out DIR  --timeout SECONDS (600)  --append 'KERNEL OPTIONS'  --accel kvm|tcg
#                        as in vm.sh
#     --mem SIZE (2G)  --smp N (1)   memory and processors of each machine
#     --logs DIR         folder for console.log and, of the second machine, peer-N/console.log and
#                        peer-N.log (build/two/<time>); N counts how often it was booted
#     --no-scan          do not fail if a kernel log has a bug report
#
# The first machine can write requests to the serial line /dev/ttyS3; each is answered by "ok" or by
# a line that says what is wrong:
#
#     peer kill          end the second machine, as if its power failed
#     peer boot          boot it, after ending it if it still runs
#     link N on|off      plug or unplug the link at machine N (1 or 2)
#
# Exit status: that of vm.sh for the first machine. If it is 0: 125 if the second machine died, 126
# if its kernel log has a bug report.
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

kernel=6.12 peer_kernel='' link=nic logs='' timeout=600 accel='' append='' scan=1
root=plain mem=2G smp=1
first=() second=()
command=''

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) head_comment; exit ;;
		--no-scan) scan=0; first+=(--no-scan) ;;
		--) shift; command="$*"; return ;;
		--*) need_value $# "$1"; set_option "$1" "$2"; shift ;;
		*) die "unknown option $1 (see $0 --help)" ;;
		esac
		shift
	done
}

set_option() {
	case $1 in
	--kernel) kernel=$2 ;;
	--peer-kernel) peer_kernel=$2 ;;
	--link) link=$2 ;;
	--overlay) first+=(--overlay "$2") ;;
	--peer-overlay) second+=(--overlay "$2") ;;
	--out) first+=(--out "$2") ;;
	--logs) logs=$2 ;;
	--timeout) timeout=$2 ;;
	--accel) accel=$2 ;;
	--append) append=$2 ;;
	--root) root=$2 ;;
	--mem) mem=$2 ;;
	--smp) smp=$2 ;;
	*) die "unknown option $1 (see $0 --help)" ;;
	esac
}

# ---------------------------------------------------------------- the namespace

# Everything runs in namespaces of its own: when this script ends, the first process of the PID
# namespace ends, and the kernel ends the machines and removes the tap devices. A user other than
# root needs a user namespace for that.
alone=(setsid setpriv --pdeathsig KILL --)
spaces=("${alone[@]}" unshare --net --pid --mount-proc --kill-child)
[ "$(id -u)" -eq 0 ] || spaces+=(--map-root-user)

can_tap() {
	[ "$link" != socket ] && "${spaces[@]}" ip tuntap add probe mode tap vnet_hdr 2>/dev/null
}

# enter OPTIONS...: run this script again, in the namespaces.
enter() {
	local runner=("${spaces[@]}") status=0
	if ! can_tap; then
		[ "$link" = socket ] || say "no tap devices can be made here (/dev/net/tun, namespaces): the link is a socket, without offloads"
		link=socket
		"${spaces[@]}" true 2>/dev/null || runner=("${alone[@]}")
	fi
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	export KWARP_TWO_WORK=$work TMPDIR=$work
	"${runner[@]}" "$0" --inside "$@" --link "$link" -- "$command" &
	inner=$!
	trap 'kill -KILL -- "-$inner" 2>/dev/null; exit 130' INT TERM HUP
	wait "$inner" || status=$?
	exit "$status"
}

make_link() {
	local tap
	[ "$link" != socket ] || return 0
	ip link add kwbridge type bridge
	for tap in kwtap1 kwtap2; do
		ip tuntap add "$tap" mode tap vnet_hdr
		ip link set "$tap" mtu 16000 master kwbridge up
	done
	ip link set kwbridge mtu 16000 up
}

# ----------------------------------------------------------------- the machines

# options_of N: print QEMU's options for the interfaces of machine N. The interface for commands is
# a pair of sockets, which needs no right, and needs no connection that a reboot would break.
options_of() {
	local n=$1 other=$((3 - $1)) card=mrg_rxbuf=on
	local pair="local.type=unix,remote.type=unix"
	if [ "$link" = socket ]; then
		echo "-netdev dgram,id=wire,$pair,local.path=$work/wire$n,remote.path=$work/wire$other"
	else
		echo "-netdev tap,id=wire,ifname=kwtap$n,script=no,downscript=no,vnet_hdr=on"
	fi
	[ "$link" != nic ] || card+=,guest_tso4=off,guest_tso6=off,guest_ufo=off,guest_ecn=off
	echo "-device virtio-net-pci,netdev=wire,id=card,mac=52:54:00:6b:77:0$n,$card"
	echo "-netdev dgram,id=control,$pair,local.path=$work/control$n,remote.path=$work/control$other"
	echo "-device virtio-net-pci,netdev=control,mac=52:54:00:6b:63:0$n"
	echo "-chardev pipe,id=monitor,path=$work/monitor$n -mon chardev=monitor -pidfile $work/pid$n"
	[ "$n" != 1 ] || echo "-chardev pipe,id=requests,path=$work/requests -device pci-serial,chardev=requests"
}

# machine N KERNEL LOGS OPTIONS...: run vm.sh for machine N.
machine() {
	local n=$1 kernel=$2 dir=$3
	shift 3
	"$here/vm.sh" --kernel "$kernel" --root "$root" --accel "$accel" --mem "$mem" --smp "$smp" --append "$append" \
		--logs "$dir" --overlay "$work/overlay" --qemu "$(options_of "$n" | paste -sd ' ')" "$@"
}

boots=0 peer=''

boot_peer() {
	[ -z "$peer" ] || kill_peer
	boots=$((boots + 1))
	machine 2 "$peer_kernel" "$logs/peer-$boots" --no-scan --timeout $((timeout + 120)) "${second[@]}" \
		-- 'exec peer serve 2' >"$logs/peer-$boots.log" 2>&1 </dev/null &
	peer=$!
}

# The machine may be booting still, without a process of the emulator.
kill_peer() {
	local tries
	for tries in {1..100}; do
		[ ! -s "$work/pid2" ] || kill -KILL "$(<"$work/pid2")" 2>/dev/null || :
		kill -0 "$peer" 2>/dev/null || break
		sleep 0.2
	done
	wait "$peer" || :
	peer=''
	rm -f "$work/pid2"
}

# Wait until the second machine has ended by itself; after some seconds, end it. Return the status
# of vm.sh.
end_peer() {
	local tries status=0
	[ -n "$peer" ] || return 0
	for tries in {1..50}; do
		kill -0 "$peer" 2>/dev/null || { wait "$peer" || status=$?; return "$status"; }
		sleep 0.2
	done
	say "the second machine has not ended by itself"
	kill_peer
	return 125
}

# --------------------------------------------------------------------- requests

plug() {
	[[ "$1 $2" =~ ^[12]\ (on|off)$ ]] || return 1
	echo "set_link card $2" >&"${monitors[$1]}"
}

# serve_requests: the second machine belongs to this process. It reads requests until the first
# machine has ended.
serve_requests() {
	local line answer status=0
	boot_peer
	while IFS=$' \r' read -r line; do
		answer=ok
		case $line in
		'peer kill') [ -z "$peer" ] || kill_peer ;;
		'peer boot') boot_peer ;;
		link\ *) plug ${line#link } || answer="link N on|off" ;;
		end) break ;;
		'') continue ;;
		*) answer="unknown request: $line" ;;
		esac
		echo "$answer" >&"$answers"
	done <&"$requests"
	end_peer || status=$?
	exit "$status"
}

# The emulator opens both ends of these pipes. Nobody reads what it prints on its monitors.
make_pipes() {
	local n fd
	mkfifo "$work"/{monitor1,monitor2,requests}.{in,out}
	exec {requests}<>"$work/requests.out" {answers}<>"$work/requests.in"
	monitors=('')
	for n in 1 2; do
		exec {fd}<>"$work/monitor$n.out"
		cat <&"$fd" >/dev/null &
		readers+=($!)
		exec {fd}<>"$work/monitor$n.in"
		monitors+=("$fd")
	done
}

inside() {
	local status=0 peer_status=0 readers=()
	work=$KWARP_TWO_WORK
	install -D -m 755 "$here/peer.py" "$work/overlay/usr/local/bin/peer"
	make_link
	make_pipes
	serve_requests &
	server=$!
	machine 1 "$kernel" "$logs" --timeout "$timeout" "${first[@]}" -- "peer join 1 120 || exit 125
		(
		$command
		)
		status=\$?
		peer end
		exit \$status" || status=$?
	echo end >&"$requests"
	wait "$server" || peer_status=$?
	[ "$peer_status" -eq 0 ] || say "the second machine died (status $peer_status; log: $(ls -d "$logs"/peer-*/ | tail -n 1)console.log)"
	kill "${readers[@]}"
	[ "$scan" = 0 ] || "$here/scan-log.sh" "$logs"/peer-*/console.log || peer_status=126
	[ "$status" -ne 0 ] || status=$peer_status
	exit "$status"
}

if [ "${1:-}" = --inside ]; then
	shift
	parse "$@"
	inside
fi
parse "$@"
[ -n "$command" ] || die "nothing to run (see $0 --help)"
case $link in nic | tso | socket) ;; *) die "no link '$link': there are nic, tso and socket" ;; esac
peer_kernel=${peer_kernel:-$kernel}
for name in "$kernel" "$peer_kernel"; do
	is_stock_kernel "$name" && [ "$(arch_of "$name")" = amd64 ] || die "no stock kernel for x86: $name"
	kernel_dir "$name" >/dev/null
done
"$here/root.sh" "$root" >/dev/null
accel=${accel:-$("$here/accel.sh")}
logs=${logs:-$KWARP_ROOT/build/two/$(date +%Y%m%d-%H%M%S)-$$}
mkdir -p "$logs"
logs=$(realpath "$logs")
enter --kernel "$kernel" --peer-kernel "$peer_kernel" --root "$root" --logs "$logs" --accel "$accel" \
	--timeout "$timeout" --mem "$mem" --smp "$smp" --append "$append" "${first[@]}" "${second[@]/#--overlay/--peer-overlay}"
