#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build a kernel with a configuration of this project, once, from Debian's source into the cache.
#
#   scripts/build-kernel.sh debug|kcsan|uml|uml-up           print the build directory (KDIR)
#   scripts/build-kernel.sh --dir debug|kcsan|uml|uml-up     print the folder that has vmlinuz,
#                                                            release, kdir, modules, modules.cpio
#                                                            and perhaps make-args
#
#   debug   6.12 with tools/testing/guest/debug.config: KASAN, lockdep, kmemleak and more
#   kcsan   6.12 with debug.config and kcsan.config, which replaces some of its lines: KCSAN, which
#           finds data races
#           The kernels debug and kcsan have the patches of Documentation/upstream, which correct
#           known faults of the RDMA core. So tests do not have to avoid these faults.
#   uml     7.2 with tools/testing/guest/uml.config: runs as a program of this machine, with several
#           processors (a user-mode 6.12 has only one)
#   uml-up  7.2 for one processor, with uml.config and uml-up.config, which replaces some lines
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in -h | --help) head_comment; exit ;; esac

choose() {
	name=$1 patches=()
	case $name in
	debug | kcsan) line=6.12 target=bzImage image=arch/x86/boot/bzImage arch=x86 patches=("$KWARP_ROOT"/Documentation/upstream/*.patch) ;;
	uml | uml-up) line=7.2 target=linux image=linux arch=um ;;
	*) die "no kernel '$name' is built here: give debug, kcsan, uml or uml-up" ;;
	esac
	fragments=("$KWARP_ROOT/tools/testing/guest/$name.config")
	# Arguments for building the kernel. The kcsan kernel and its own modules are not
	# instrumented; only modules that are built against it later are. KCSAN watches only one
	# access in many, so with the whole kernel instrumented hardly any access of kwarp is.
	make_args=()
	[ "$name" != kcsan ] || make_args=(KCSAN_SANITIZE=n)
	[ "$name" != kcsan ] || fragments=("$KWARP_ROOT/tools/testing/guest/debug.config" "${fragments[@]}")
	[ "$name" != uml-up ] || fragments=("$KWARP_ROOT/tools/testing/guest/uml.config" "${fragments[@]}")
}

# make_patched DIR SOURCE: copy the source tree to DIR, as hard links, and apply the patches.
make_patched() {
	local dir=$1 source=$2 patch
	cp -al "$source/." "$dir"
	for patch in "${patches[@]}"; do
		patch -sf -p1 -d "$dir" <"$patch" || die "${patch##*/} does not apply to ${source##*/}"
	done
}

# Print one line for each option: the last one that sets it.
options() {
	cat "${fragments[@]}" | awk -F= '/^CONFIG_/ { if (!($1 in line)) name[++n] = $1; line[$1] = $0 }
		END { for (i = 1; i <= n; i++) print line[name[i]] }'
}

configure() {
	local source=$1 out=$2
	mkdir -p "$out"
	options >"$out/fragment"
	make -C "$source" "O=$out" "ARCH=$arch" allnoconfig "KCONFIG_ALLCONFIG=$out/fragment"
}

# Fail if Kconfig has dropped an option, because the check that it enables would silently not run.
verify_config() {
	local config=$1 line lost=()
	while read -r line; do
		case $line in
		CONFIG_*=n) ! grep -q "^${line%=n}=" "$config" || lost+=("$line") ;;
		CONFIG_*) grep -qxF -- "$line" "$config" || lost+=("$line") ;;
		esac
	done < <(options)
	[ ${#lost[@]} -eq 0 ] || die "the kernel did not take: ${lost[*]}"
}

# Remove object files: building a module does not need them.
trim() {
	local kdir=$1
	find "$kdir" -path "$kdir/scripts" -prune -o -path "$kdir/tools" -prune -o \
		\( -name '*.o' -o -name '*.a' -o -name '*.cmd' -o -name '*.ko' -o -name 'vmlinux*' \) \
		-not -name module-common.o -type f -print0 | xargs -0 rm -f
	[ "$image" != linux ] || rm -f "$kdir/linux"
}

# Newer kernels store in their Makefile the path of the folder that they were built in. Replace it
# by the place of the Makefile, because cached() renames the folder when the build is complete.
relocate() {
	local kdir=$1
	# shellcheck disable=SC2016
	sed -i 's|^export KBUILD_OUTPUT = .*|export KBUILD_OUTPUT := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))|' "$kdir/Makefile"
}

package() {
	local dir=$1 out=$2 release
	release=$(cat "$out/include/config/kernel.release")
	echo "$release" >"$dir/release"
	[ "$arch" = x86 ] || echo "ARCH=$arch" >"$dir/make-args"
	cp "$out/$image" "$dir/vmlinuz"
	cp "$out/.config" "$dir/config"
	make -C "$out" "ARCH=$arch" modules_install "INSTALL_MOD_PATH=$dir/modules/usr" DEPMOD=true
	rm -f "$dir/modules/usr/lib/modules/$release"/{build,source}
	depmod -b "$dir/modules/usr" "$release"
	(cd "$dir/modules" && find . | sort | cpio -o -H newc -R 0:0 --quiet) >"$dir/modules.cpio"
}

make_kernel() {
	local dir=$1 source=$2 log=$KWARP_CACHE/log/$name-kernel.log
	need_space "building the $name kernel" 6000 "$KWARP_CACHE"
	say "building the $name kernel: 5 to 20 minutes on two cores, once (log: $log)"
	configure "$source" "$dir/kdir" >"$log" 2>&1 || { tail "$log" >&2; die "configuration failed: $log"; }
	verify_config "$dir/kdir/.config"
	logged "$log" nice make -C "$source" "O=$dir/kdir" "ARCH=$arch" "${make_args[@]}" -j "$KWARP_JOBS" "$target" modules
	logged "$log.install" package "$dir" "$dir/kdir"
	trim "$dir/kdir"
	relocate "$dir/kdir"
	say "the $name kernel $(cat "$dir/release") is built"
}

what=kdir
[ "${1:-}" != --dir ] || { what=.; shift; }
choose "${1:-}"
source=$("$here/get-source.sh" linux "$line")
[ ${#patches[@]} -eq 0 ] ||
	source=$(cached "source/$(basename "$source")-patched-$(cat "${patches[@]}" | sha256sum | cut -c1-12)" make_patched "$source")
# The key of the cache entry contains everything that determines the kernel: the source, the options
# without comments, the arguments of make.
key=kernel/$name-$(basename "$source")-$({ grep -hv '^#' "${fragments[@]}"; printf '%s' "${make_args[*]}"; } | sha256sum | cut -c1-12)
dir=$(cached "$key" make_kernel "$source")
realpath "$dir/$what"
