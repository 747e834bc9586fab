#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Print the accelerator for QEMU: kvm if a stock kernel boots to its first process under KVM within
# ten seconds, else tcg. The test is needed because KVM may not work even if /dev/kvm exists. The
# cache keeps the answer until the host boots again.
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

probe() {
	[ -e /dev/kvm ] || return 1
	# The time limit below is for booting alone.
	"$KWARP_ROOT/scripts/get-kernel.sh" 6.12 >/dev/null && "$here/root.sh" plain >/dev/null ||
		die "the guest that would show whether KVM works cannot be made"
	say "probing whether KVM works here, ten seconds at most; without it the guest runs in emulation, which is slower"
	timeout 40 "$here/vm.sh" --accel kvm --timeout 10 --no-scan \
		--logs "$KWARP_CACHE/log/kvm-probe" -- true >/dev/null 2>&1
}

answer() {
	local dir=$1
	if probe; then
		echo kvm >"$dir/accel"
	else
		say "$([ -e /dev/kvm ] && echo "KVM does not work here" || echo "no KVM here (/dev/kvm)"); using emulation, which is slower (rm -r $KWARP_CACHE/accel to probe again)"
		echo tcg >"$dir/accel"
	fi
}

# Without access to /dev/kvm the answer is tcg. It is not cached, because access rights can change
# at any time.
if [ -e /dev/kvm ] && { [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; }; then
	say "no access to /dev/kvm (group kvm?); using emulation, which is slower"
	echo tcg
	exit
fi
boot=$(tr -d - </proc/sys/kernel/random/boot_id)
version=$(qemu-system-x86_64 --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')
dir=$(cached "accel/$version-$boot" answer)
cat "$dir/accel"
