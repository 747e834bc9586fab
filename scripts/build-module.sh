#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build kwarp.ko for one kernel in build/RELEASE, a tree of links to the sources. So builds for
# several kernels and checkers do not mix their objects. Prints the path of the module, and copies
# the module to the driver's folder.
#
#   scripts/build-module.sh KDIR [MAKE ARGUMENTS, such as W=1 C=2 ARCH=... CROSS_COMPILE=...]
#
#   KWARP_BUILD=NAME   build in build/NAME instead of build/RELEASE, and do not copy the module
#   KWARP_QUIET=1      show the build's output only if it fails
#
# The module has no debug information, which would take a third of the time, and which DKMS removes
# again. KCFLAGS=-g as an argument gives it. If the kernel's vmlinux is there, BTF is made from it.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in -h | --help) head_comment; exit ;; esac
driver=drivers/infiniband/sw/kwarp

# Make the links to all sources in TREE. Links to files that were renamed or removed since the last
# build are deleted, so that they are not compiled.
link_sources() {
	local tree=$1 top
	mkdir -p "$tree"
	for top in "$driver" include; do
		(cd "$KWARP_ROOT" && find "$top" -type f \( -name '*.[chS]' -o -name Kbuild -o -name Makefile \) \
			! -name '*.mod.c' ! -name .module-common.c -print0) |
			while IFS= read -r -d '' f; do
				[ -L "$tree/$f" ] || { mkdir -p "$tree/$(dirname "$f")"; ln -sfn "$KWARP_ROOT/$f" "$tree/$f"; }
			done
	done
	find "$tree" -xtype l -delete
}

# same_kernel_or_wipe TREE ID: delete the objects in TREE if ID has changed, that is, if they were
# built for another configuration of the same release, or with other arguments.
same_kernel_or_wipe() {
	local tree=$1 id=$2
	if [ "$(cat "$tree/kernel-id" 2>/dev/null)" != "$id" ]; then
		rm -rf "$tree"
		mkdir -p "$tree"
		echo "$id" >"$tree/kernel-id"
	fi
}

compile() {
	local kdir=$1 tree=$2
	shift 2
	kernel_make "$kdir" "M=$tree/$driver" "KWARP_CONFIG_DIR=$tree" "KWARP_VERSION=$version" \
		-j "$KWARP_JOBS" "$@" modules </dev/null
}

build() {
	local kdir=$1 tree=$2
	shift 2
	[ -e "$kdir/vmlinux" ] || set -- "KCFLAGS=-g0 ${KCFLAGS:-}" "$@"
	same_kernel_or_wipe "$tree" "$(realpath "$kdir") $(kdir_id "$kdir") $*"
	link_sources "$tree"
	"$here/kernel/probe.sh" "$kdir" "$tree/kwarp_config.h" "$@"
	if [ "${KWARP_QUIET:-0}" = 1 ]; then
		logged "$tree/build.log" compile "$kdir" "$tree" "$@"
	else
		compile "$kdir" "$tree" "$@" >&2
	fi
}

# Fail if there is no compiler on this machine, unless another one is named. Debian's kernel headers
# bring one of their own, such as gcc-14, which kbuild uses.
need_compiler() {
	local arg gcc=gcc:build-essential
	for arg; do
		case $arg in
		CC=* | LLVM=*) gcc='' ;;
		CROSS_COMPILE=*) gcc=${arg#*=}gcc:gcc-${arg#*=} gcc=${gcc%-} ;;
		esac
	done
	[ "$gcc" != gcc:build-essential ] || [ -z "$(compgen -c gcc-)" ] || gcc=''
	need_tools make:build-essential ${gcc:+"$gcc"}
}

[ $# -gt 0 ] || die "usage: $0 KDIR [MAKE ARGUMENTS]"
kdir=$1
shift
[ -e "$kdir/Makefile" ] || die "no kernel build directory at $kdir: install the kernel's headers, or give KDIR=..."
[ -e "$KWARP_ROOT/$driver/Kbuild" ] || die "no $driver/Kbuild in this checkout"
need_compiler "$@"
kdir=$(realpath "$kdir")
release=$(kernel_release "$kdir" 2>/dev/null) && [[ $release =~ ^([0-9]+)\.([0-9]+) ]] ||
	die "$kdir is not the build directory of a kernel, or not all of it: install the kernel's headers, or give KDIR=..."
[ $((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2])) -ge 6001 ] || die "kwarp needs Linux 6.1 or newer, and $kdir is of $release"
version=$("$here/version.sh")
name=${KWARP_BUILD:-$release}
tree=$KWARP_ROOT/build/$name
mkdir -p "$KWARP_ROOT/build"
exec 8>"$KWARP_ROOT/build/$name.lock"
flock 8
build "$kdir" "$tree" "$@"
[ -n "${KWARP_BUILD:-}" ] || cp "$tree/$driver/kwarp.ko" "$KWARP_ROOT/$driver/kwarp.ko"
echo "$tree/$driver/kwarp.ko"
