#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Test the packages' module under Secure Boot, in a guest: firmware with Microsoft's keys starts
# Debian's kernel through shim and GRUB. The kernel refuses the module that apt has installed, which
# DKMS has signed with its own key. mokutil then requests the key, a program confirms it on shim's
# screen, and the module loads. A module without a signature and one signed with another key are
# refused as before. Prints TAP; the guest's consoles are in build/secure-boot.
#
#   tools/testing/secure-boot/secure-boot.sh
#
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" to FILE, for make check
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"
. "$KWARP_ROOT/scripts/debian/chroot.sh"
here=$(cd "$(dirname "$0")" && pwd)
root=''
suite=trixie
out=$KWARP_ROOT/build/secure-boot
firmware_packages=(ovmf shim-signed shim-helpers-amd64-signed grub-efi-amd64-signed)

make_firmware() {
	local dir=$1 deb
	say "downloading firmware, shim and GRUB"
	"$KWARP_ROOT/scripts/apt-private.sh" download "$suite" "$dir/debs" "${firmware_packages[@]}"
	for deb in "$dir"/debs/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -rf "$dir/debs"
}

# Make a module without a signature, and one that is signed with a key which is not enrolled.
spoil_module() {
	local kernel=$1 to=/lib/modules/spoilt
	root bash -c "set -e
		mkdir $to
		cd $to
		xz -dc /lib/modules/$kernel/updates/dkms/kwarp.ko.xz >kwarp.ko
		strip -g -o unsigned.ko kwarp.ko
		openssl req -new -x509 -newkey rsa:2048 -nodes -subj /CN=foreign/ \\
			-keyout key.pem -out key.der -outform DER
		/lib/modules/$kernel/build/scripts/sign-file sha256 key.pem key.der \\
			unsigned.ko foreign.ko
		rm key.pem kwarp.ko"
}

# Pack the guest's file system from the chroot, with the needed kernel modules and their
# dependencies.
pack() {
	local kernel=$1 to=$2 path unneeded=()
	(
		cd "$root"
		root modprobe -S "$kernel" -a --show-depends kwarp rdma_ucm dummy efivarfs |
			sed -n 's|^insmod /\(usr/\)*\([^ ]*\).*|usr/\2|p' >"$work/files"
		find usr/lib/modules/"$kernel" -maxdepth 1 -name 'modules.*' >>"$work/files"
		for path in ./{proc,sys,dev,debs,boot,var/cache,var/lib/apt} ./usr/{src,include} \
			./usr/libexec/gcc './usr/lib/gcc*' './usr/lib/linux-kbuild*' './usr/lib/*/perl*' \
			./usr/share/{doc,perl} "./usr/lib/modules/$kernel"; do
			unneeded+=(-path "$path" -prune -o)
		done
		find . -xdev "${unneeded[@]}" -print >>"$work/files"
		find usr/lib/modules/"$kernel" -type d >>"$work/files"
		printf '%s\n' ./proc ./sys ./dev >>"$work/files"
		sed 's|^\./||' "$work/files" | sort -u | cpio -o -H newc --quiet |
			zstd -q -3 -T0 -o "$to"
	)
}

make_disk() {
	local disk=$1 firmware=$2 base work kernel debs
	base=$(machine_base "$suite")
	work=$(mktemp -d "$KWARP_CACHE/machine/run-secure-boot.XXXXXX")
	# shellcheck disable=SC2064
	trap "chroot_leave '$work'" EXIT
	chroot_enter "$base" "$work"
	kernel=$(chroot_kernels)
	chroot_kernel "$kernel"
	cp -r "$out/debs" "$root/debs"
	say "installing the packages, as an administrator would"
	mapfile -t debs < <(cd "$root" && printf '/%s\n' "debs/$suite"/*.deb)
	logged "$out/install.log" root apt-get -y --no-install-recommends install "${debs[@]}" \
		mokutil kmod
	mv "$root/usr/bin/uname.own" "$root/usr/bin/uname"
	logged "$out/spoil.log" spoil_module "$kernel"
	install -m 755 "$here/init.sh" "$root/init"
	mkdir -p "$disk"/EFI/{BOOT,debian}
	cp "$firmware/usr/lib/shim/shimx64.efi.signed" "$disk/EFI/BOOT/BOOTX64.EFI"
	cp "$firmware/usr/lib/shim/mmx64.efi.signed" "$disk/EFI/BOOT/mmx64.efi"
	cp "$firmware/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" \
		"$disk/EFI/BOOT/grubx64.efi"
	cp "$root/boot/vmlinuz-$kernel" "$disk/vmlinuz"
	say "packing the guest"
	pack "$kernel" "$disk/initrd"
	chroot_leave "$work"
	trap - EXIT
}

# boot PHASE [COMMAND...]: run the guest once. Firmware variables are kept between runs. COMMAND, if
# given, starts QEMU, and so gets the guest's console.
boot() {
	local phase=$1
	shift
	cat >"$out/disk/EFI/debian/grub.cfg" <<-END
		search --file --set=root /vmlinuz
		linux /vmlinuz console=ttyS0 quiet panic=-1 phase=$phase rdinit=/init
		initrd /initrd
		boot
	END
	"$@" timeout 300 qemu-system-x86_64 -machine q35,smm=on -accel tcg,thread=multi -cpu max \
		-smp 2 -m 2G -nographic -no-reboot -nic none \
		-global driver=cfi.pflash01,property=secure,value=on \
		-drive "if=pflash,format=raw,unit=0,file=$ovmf/OVMF_CODE_4M.ms.fd,readonly=on" \
		-drive "if=pflash,format=raw,unit=1,file=$out/vars.fd" \
		-drive "format=raw,file=fat:$out/disk,if=virtio,readonly=on"
}

case ${1:-} in -h | --help) head_comment; exit ;; esac
if [ "${KWARP_SECURE_BOOT_NS:-}" != 1 ]; then
	"$KWARP_ROOT/scripts/host-packages.sh" demo
	need_mounts
	need_cache
	rm -rf "$out"
	mkdir -p "$out" "$KWARP_CACHE/machine"
	"$KWARP_ROOT/scripts/debian/build-packages.sh" --out "$out/debs" "$suite" >/dev/null
	machine_base "$suite" >/dev/null
	id=$(echo "${firmware_packages[@]}" "$suite" | sha256sum | cut -c1-10)
	firmware=$(cached "secure-boot/$id" make_firmware)
	as_root env KWARP_SECURE_BOOT_NS=1 KWARP_CACHE="$KWARP_CACHE" KWARP_T0="$KWARP_T0" \
		KWARP_RESULTS="${KWARP_RESULTS:-}" firmware="$firmware" \
		unshare -m "$here/secure-boot.sh"
	exit
fi
make_disk "$out/disk" "$firmware"
ovmf=$firmware/usr/share/OVMF
cp "$ovmf/OVMF_VARS_4M.ms.fd" "$out/vars.fd"
say "booting: the key is not enrolled"
boot before >"$out/before.log" 2>&1 </dev/null || true
say "confirming the key on shim's screen"
if boot enrol "$here/enrol.py" "$out/enrol.log" kwarp 2>"$out/enrol.said"; then
	echo "ok secure-boot/enrol"
else
	echo "not ok secure-boot/enrol: $(tail -n 1 "$out/enrol.said")"
fi >"$out/enrol.tap"
say "booting: the key is enrolled"
boot after >"$out/after.log" 2>&1 </dev/null || true
# If the guest printed no plan, one failure is counted.
passed=0 failed=0
for phase in before enrol after; do
	tap=$out/$phase.tap log=$out/$phase.log
	if [ "$phase" != enrol ]; then
		tr -d '\r' <"$log" | sed -n '/^1\.\./,/^secure-boot: end/p' >"$tap"
		[ -s "$tap" ] || echo "not ok secure-boot/$phase: see $log" >"$tap"
	fi
	grep -v '^1\.\.' "$tap"
	read -r p f _ < <("$KWARP_ROOT/scripts/tap-count.sh" <"$tap")
	passed=$((passed + p)) failed=$((failed + f))
done
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed 0" >>"$KWARP_RESULTS"
say "secure boot: $passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
