#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run a command in a virtual machine. The guest has a kernel, a root file system in memory, and
# overlays. Output and exit status of the command are those of this script. The kernel log is kept,
# and a bug report in it is a failure even if the command succeeds.
#
#   tools/testing/guest/vm.sh [OPTIONS] -- 'SHELL COMMAND'
#   tools/testing/guest/vm.sh [OPTIONS] --shell
#
#     --kernel 6.12|6.1|sid|debug|kcsan|uml|uml-up   (6.12); 6.12, 6.1 and sid are stock kernels,
#                        also with suffix -rt or -cloud (flavours); 6.12-arm64 runs on an emulated
#                        arm64 machine; uml and uml-up are user-mode kernels, which run as programs
#                        of this machine without emulation; uml-up has one processor
#     --root plain|wide  root file system (plain); wide also has the programs of upper layers; the
#                        kernel 6.12-arm64 always gets the root arm64
#     --overlay DIR      copy this folder over the root; may be repeated; modprobe finds modules in
#                        its folder lib/modules/RELEASE/extra
#     --siw              add siw.ko for this kernel
#     --out DIR          copy files that the command leaves in /out to DIR
#     --logs DIR         folder for console.log (build/vm/<time>)
#     --timeout SECONDS  end the guest after this time (600; with --shell: never)
#     --mem SIZE (4G)  --smp N (2)  --append 'KERNEL OPTIONS'
#     --accel kvm|tcg    use this accelerator without probing; icount: emulation of one processor
#                        whose clock counts each instruction as one nanosecond, so that time in the
#                        guest does not depend on the load of the host
#     --leaks            debug kernel only: at the end unload kwarp, and let kmemleak look for
#                        memory that nothing refers to (two minutes)
#     --no-scan          do not fail if the kernel log has a bug report
#     --qemu 'OPTIONS'   more options for QEMU, without spaces in them
#
# Exit status: the command's; 124 after a timeout; 125 if the guest died; 126 if the command
# succeeded, but the kernel log has a bug report.
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

kernel=6.12 root=plain overlays=() siw=0 out='' logs='' timeout='' mem=4G smp=2 append='' accel='' scan=1 leaks=0 shell=0 more=()
command=''

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		--kernel | --root | --overlay | --out | --logs | --timeout | --mem | --smp | --append | --accel | --qemu) need_value $# "$1" ;;&
		-h | --help) head_comment; exit ;;
		--kernel) kernel=$2; shift ;;
		--root) root=$2; shift ;;
		--overlay) overlays+=("$2"); shift ;;
		--siw) siw=1 ;;
		--out) out=$2; shift ;;
		--logs) logs=$2; shift ;;
		--timeout) timeout=$2; shift ;;
		--mem) mem=$2; shift ;;
		--smp) smp=$2; shift ;;
		--append) append=$2; shift ;;
		--accel) accel=$2; shift ;;
		--qemu) read -ra more <<<"$2"; shift ;;
		--no-scan) scan=0 ;;
		--leaks) leaks=1 ;;
		--shell) shell=1 ;;
		--) shift; command="$*"; return ;;
		*) die "unknown option $1 (see $0 --help)" ;;
		esac
		shift
	done
}

accelerator() {
	case $kernel in
	uml*) accel=none ;;
	*-arm64) accel=arm64 ;;
	esac
	[ -z "$accel" ] || { echo "$accel"; return; }
	"$here/accel.sh"
}

# Print type and size of the terminal that the shell will be used on.
terminal_of_host() {
	local size
	size=$(stty size 2>/dev/null) || size=
	[ -n "$size" ] && [ "$size" != "0 0" ] || size='24 80'
	echo "${TERM:-vt100} $size"
}

# write_job JOB: make the folder with the first process and the command for the guest.
write_job() {
	local job=$1
	mkdir -p "$job/run-kwarp"
	install -m 755 "$here/init" "$job/init"
	[ "$leaks" = 0 ] || touch "$job/run-kwarp/leaks"
	if [ "$shell" = 1 ]; then
		terminal_of_host >"$job/run-kwarp/shell"
		cat >"$job/run-kwarp/command" <<-'END'
			cd /opt/kwarp 2>/dev/null || cd
			shell=(bash -i)
			if type kwarpctl >/dev/null 2>&1 && kwarpctl lab up; then
				shell=(ip netns exec kwlab-a "${shell[@]}")
				ip netns exec kwlab-b setsid rping -s -P -a 10.77.0.2 >/dev/null 2>&1 </dev/null &
				for _ in {1..50}; do
					[ -z "$(ip netns exec kwlab-b ss -Hltn sport = :7174)" ] || break
					sleep 0.2
				done
				echo "This shell is at kwlab-a, and rping is a server at kwlab-b: rping -c -a 10.77.0.2 -C 3 -v"
				[ ! -d examples ] || echo "examples/ has the programs of Documentation/first-program.rst"
			fi
			echo "exit ends the machine"
			"${shell[@]}"
		END
	else
		printf '%s\n' "$command" >"$job/run-kwarp/command"
	fi
}

add_siw() {
	local job=$1 dir=$2 ko args=()
	[ ! -e "$dir/make-args" ] || mapfile -t args <"$dir/make-args"
	ko=$("$here/build-siw.sh" "$dir/kdir" "${args[@]}")
	install -D -m 644 "$ko" "$job/usr/lib/modules/$(cat "$dir/release")/extra/siw.ko"
}

# The initramfs is several archives, one after the other, not compressed. Only the last one is
# made for each run.
make_initrd() {
	local work=$1 dir=$2 guest=$3 release
	release=$(cat "$dir/release")
	write_job "$work/job"
	[ "$siw" = 0 ] || add_siw "$work/job" "$dir"
	"$here/pack-overlay.sh" "$work/overlay.cpio" "$release" "$dir/modules" "${overlays[@]}" "$work/job"
	cat "$guest/root.cpio" "$dir/modules.cpio" "$work/overlay.cpio" >"$work/initrd"
}

boot_options() {
	local line="console=$console rdinit=/init panic=-1 mitigations=off random.trust_cpu=on net.ifnames=0"
	line+=" printk.time=1 printk.devkmsg=on log_buf_len=4M loglevel=7"
	# slab_debug does not have the letter U, which would store a call trace for each object,
	# because kmemleak already does that.
	[ "$kernel" != debug ] || line+=" panic_on_warn=1 kmemleak=on slab_debug=FZP page_poison=1"
	echo "$line $append"
}

# tsc=reliable: under emulation the kernel's clock watchdog soon marks the TSC as unstable, although
# the TSC follows the host's clock. The kernel would then read the time from the HPET, an emulated
# device, which is slow.
boot_qemu() {
	local work=$1 dir=$2 how=$3 cpu=max clock=tsc=reliable
	# shellcheck disable=SC2054
	local args=(-accel tcg,thread=multi)
	# icount: the processor lacks erms and fsrm. With these, the kernel copies by "rep movsb",
	# which counts as one instruction for each octet.
	# shellcheck disable=SC2054
	case $how in
	kvm) args=(-accel kvm) cpu=host clock='' ;;
	icount) args=(-accel tcg,thread=single -icount "shift=0,sleep=off") cpu+=,-erms,-fsrm smp=1 ;;
	esac
	[ -z "$out" ] || args+=(-drive "if=virtio,format=raw,cache=unsafe,file=$work/disk")
	args+=("${more[@]}")
	timeout --foreground -k 5 "$timeout" qemu-system-x86_64 -machine q35 "${args[@]}" -cpu "$cpu" -smp "$smp" -m "$mem" \
		-nodefaults -no-user-config -display none -no-reboot \
		-kernel "$dir/vmlinuz" -initrd "$work/initrd" -append "$clock $(boot_options)" \
		-serial "file:$logs/console.log" -serial "$terminal" -serial "file:$work/status" 2>"$work/qemu.log"
}

# The board has one serial line (ttyAMA0), which is the console. A PCI card adds four lines. The
# guest's first process uses the second and third line of the card, ttyS1 and ttyS2.
boot_arm64() {
	local work=$1 dir=$2 disk=()
	[ -z "$out" ] || disk=(-drive "if=virtio,format=raw,cache=unsafe,file=$work/disk")
	timeout --foreground -k 5 "$timeout" qemu-system-aarch64 -machine virt \
		-accel tcg,thread=multi -cpu max,pauth-impdef=on -smp "$smp" -m "$mem" \
		-nodefaults -no-user-config -display none -no-reboot "${disk[@]}" \
		-kernel "$dir/vmlinuz" -initrd "$work/initrd" -append "$(boot_options)" \
		-serial "file:$logs/console.log" -chardev "$terminal,id=terminal" \
		-chardev "file,path=$work/status,id=status" -chardev null,id=first -chardev null,id=last \
		-device pci-serial-4x,chardev1=first,chardev2=terminal,chardev3=status,chardev4=last \
		2>"$work/qemu.log"
}

# As in QEMU, the guest has three serial lines: the console, the command's input and output, and
# what the first process reports (booted, exit status). User-mode Linux keeps the guest's memory in
# a file in TMPDIR, so TMPDIR is a file system in memory. It names a root device by itself; the root
# would then be of type ramfs, which nfsd cannot export as the root of NFSv4.
boot_uml() {
	local work=$1 dir=$2 disk=() pin=() options
	read -ra options < <(boot_options)
	if [ "$kernel" = uml-up ]; then
		# The guest's kernel and its programs are processes of the host that run in turns,
		# so they share one processor.
		pin=(taskset -c $(($(nproc) - 1)))
	else
		options+=("ncpus=$smp")
	fi
	[ -z "$out" ] || disk=("ubd0=$work/disk")
	TMPDIR=/dev/shm timeout --foreground -k 5 "$timeout" "${pin[@]}" "$dir/vmlinuz" "mem=$mem" seccomp=on noreboot rootfstype=tmpfs \
		"initrd=$work/initrd" "${disk[@]}" con=null ssl=null "ssl0=null,fd:5" "ssl1=$terminal" "ssl2=null,fd:6" \
		"${options[@]}" 5>"$logs/console.log" 6>"$work/status" 2>"$work/qemu.log"
}

run() {
	local work=$1 how=$3 boot=boot_qemu
	local interactive=mon:stdio output=stdio
	: >"$work/status"
	case $how in
	none) boot=boot_uml interactive=fd:0,fd:1 output=null,fd:1 ;;
	arm64) boot=boot_arm64 interactive=stdio,mux=on ;;
	esac
	if [ "$shell" = 1 ]; then
		terminal=$interactive
		"$boot" "$@"
	else
		terminal=$output
		# The emulator makes its standard output non-blocking. The pipe protects the file
		# or terminal of the caller from that.
		"$boot" "$@" </dev/null | cat
	fi
}

# booted WORK: true if the guest has booted. On some hosts the emulator fails during boot, because
# it runs code that the kernel is patching. The command has not run yet in this case, so the guest
# can be started again.
booted() {
	grep -q '^boot' "$1/status"
}

run_until_booted() {
	local work=$1 tries qemu=0
	for tries in 3 2 1; do
		qemu=0
		run "$@" || qemu=$?
		if booted "$work" || [ "$qemu" -ne 0 ] || [ "$tries" = 1 ] || [ "$shell" = 1 ]; then
			break
		fi
		mv "$logs/console.log" "$logs/console-no-boot-$tries.log"
		say "the guest did not come up; once more (log: $logs/console-no-boot-$tries.log)"
	done
	return "$qemu"
}

collect_out() {
	local work=$1
	[ -n "$out" ] || return 0
	mkdir -p "$out"
	tar -xf "$work/disk" -C "$out" 2>/dev/null || true
}

# Print one line that says what went wrong, and where the log is; exit with the status.
verdict() {
	local work=$1 qemu=$2 status
	status=$(sed -n 's/^exit \([0-9]*\).*/\1/p' "$work/status" | tail -n 1)
	if [ "$qemu" -eq 124 ] || [ "$qemu" -eq 137 ]; then
		echo "the guest was stopped after $timeout s; kernel log: $logs/console.log" >&2
		status=124
	elif [ -z "$status" ]; then
		echo "the guest died (kernel log: $logs/console.log)" >&2
		! grep -q 'Oops: int3' "$logs/console.log" || echo "int3: the emulator has run code that the kernel was patching; QEMU 8.1 and later do not" >&2
		tail -n 5 "$logs/console.log" | tr -d '\r' >&2
		cat "$work/qemu.log" >&2
		status=125
	fi
	if [ "$scan" = 1 ] && ! "$here/scan-log.sh" "$logs/console.log"; then
		[ "$status" -ne 0 ] || status=126
	fi
	exit "$status"
}

parse "$@"
[ "$shell" = 1 ] || [ -n "$command" ] || die "nothing to run (see $0 --help)"
[ "$leaks" = 0 ] || [ "$kernel" = debug ] || die "--leaks is for the debug kernel: no other has kmemleak"
timeout=${timeout:-$([ "$shell" = 1 ] && echo 0 || echo 600)}
dir=$(kernel_dir "$kernel")
console=ttyS0
case $kernel in *-arm64) root=arm64 console=ttyAMA0; "$KWARP_ROOT/scripts/host-packages.sh" arm64 ;; esac
guest=$("$here/root.sh" "$root")
how=$(accelerator)
[ "$how" != none ] || need_space "a user-mode kernel (in a container: --shm-size)" 1500 /dev/shm
logs=${logs:-$KWARP_ROOT/build/vm/$(date +%Y%m%d-%H%M%S)-$$}
mkdir -p "$logs"
logs=$(realpath "$logs")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make_initrd "$work" "$dir" "$guest"
[ -z "$out" ] || truncate -s 1G "$work/disk"
# Ctrl-C ends the guest, too. That is no fault of the guest, so there is no verdict.
trap 'exit 130' INT
qemu=0
run_until_booted "$work" "$dir" "$how" || qemu=$?
collect_out "$work"
verdict "$work" "$qemu"
