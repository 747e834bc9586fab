#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The debug kernel: linux-source-6.12 with tools/testing/qemu/debug.config, built
# once into the cache. Same answers as get-kernel.sh.
#
#   scripts/build-debug-kernel.sh           prints KDIR
#   scripts/build-debug-kernel.sh --dir     prints the folder of vmlinuz, kdir, modules ...
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
fragment=$KWARP_ROOT/tools/testing/qemu/debug.config

configure() {
	local source=$1 out=$2
	make -C "$source" "O=$out" allnoconfig "KCONFIG_ALLCONFIG=$fragment"
}

# An option that Kconfig dropped would be a check that silently does not run.
verify_config() {
	local config=$1 line lost=()
	while read -r line; do
		case $line in
		CONFIG_*=n) ! grep -q "^${line%=n}=" "$config" || lost+=("$line") ;;
		CONFIG_*) grep -qxF -- "$line" "$config" || lost+=("$line") ;;
		esac
	done <"$fragment"
	[ ${#lost[@]} -eq 0 ] || die "the kernel did not take: ${lost[*]}"
}

# A module build needs the build tree without its objects.
trim() {
	local kdir=$1
	find "$kdir" -path "$kdir/scripts" -prune -o -path "$kdir/tools" -prune -o \
		\( -name '*.o' -o -name '*.a' -o -name '*.cmd' -o -name '*.ko' -o -name 'vmlinux*' \) \
		-not -name module-common.o -type f -print0 | xargs -0 rm -f
}

package() {
	local dir=$1 out=$2 release
	release=$(cat "$out/include/config/kernel.release")
	echo "$release" >"$dir/release"
	cp "$out/arch/x86/boot/bzImage" "$dir/vmlinuz"
	cp "$out/.config" "$dir/config"
	make -C "$out" modules_install "INSTALL_MOD_PATH=$dir/modules/usr" DEPMOD=true
	rm -f "$dir/modules/usr/lib/modules/$release"/{build,source}
	depmod -b "$dir/modules/usr" "$release"
	(cd "$dir/modules" && find . | sort | cpio -o -H newc -R 0:0 --quiet) >"$dir/modules.cpio"
}

make_debug_kernel() {
	local dir=$1 source=$2 log=$KWARP_CACHE/log/debug-kernel.log
	say "building the debug kernel: 10 to 20 minutes on two cores, once (log: $log)"
	configure "$source" "$dir/kdir" >"$log" 2>&1 || { tail "$log" >&2; die "configuration failed: $log"; }
	verify_config "$dir/kdir/.config"
	logged "$log" nice make -C "$source" "O=$dir/kdir" -j "$KWARP_JOBS" bzImage modules
	logged "$log.install" package "$dir" "$dir/kdir"
	trim "$dir/kdir"
	say "the debug kernel $(cat "$dir/release") is built"
}

what=kdir
[ "${1:-}" != --dir ] || what=.
source=$("$here/get-source.sh" linux 6.12)
key=kernel/debug-$(basename "$source")-$(sha256sum <"$fragment" | cut -c1-12)
dir=$(cached "$key" make_debug_kernel "$source")
realpath "$dir/$what"
