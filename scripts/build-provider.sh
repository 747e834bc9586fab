#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build the libibverbs provider. It needs the source of exactly the rdma-core release that will load
# it, because it uses private headers, which may differ even if the ABI numbers are equal. The
# source tree is copied to the cache, and the provider is added to the copy. Prints the output
# folder, whose files have their paths from the root of a file system (usr/lib/...).
#
#   scripts/build-provider.sh [--test] RDMA_CORE_TREE [OUT]     (default of OUT: build/provider)
#
#   KWARP_CC=COMPILER KWARP_SYSROOT=DIR    build for another architecture
#
# --test treats warnings as errors, and also builds and runs the test of the queues (TAP on stderr).
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) head_comment; exit ;; esac

# copy_tree FROM TO: copy the files of rdma-core that have changed since the last copy. The files
# that graft() writes are left alone.
copy_tree() {
	local from=$1 to=$2
	rsync -a --delete --exclude /.git --exclude /build --exclude /providers/kwarp \
		--exclude /kernel-headers/rdma/kwarp-abi.h --exclude /CMakeLists.txt \
		--exclude /kernel-headers/CMakeLists.txt "$from/" "$to/"
}

# graft FROM TO: add the provider to the copy of rdma-core, and to its lists of parts. Files are
# compared by contents, so that several checkouts can share the copy, and only changed files are
# compiled again.
graft() {
	local from=$1 to=$2
	mkdir -p "$to/providers/kwarp"
	rsync -rc --delete "$KWARP_ROOT/rdma-core-provider/" "$to/providers/kwarp/"
	rsync -c "$KWARP_ROOT/include/uapi/rdma/kwarp-abi.h" "$to/kernel-headers/rdma/"
	sed 's|^add_subdirectory(providers/siw)|&\nadd_subdirectory(providers/kwarp)|' \
		"$from/CMakeLists.txt" >"$to/CMakeLists.new"
	sed 's|^  rdma/siw-abi.h|  rdma/kwarp-abi.h\n&|' "$from/kernel-headers/CMakeLists.txt" >"$to/kernel-headers/CMakeLists.new"
	grep -q providers/kwarp "$to/CMakeLists.new" || die "$from: cannot graft onto its CMakeLists.txt"
	rsync -c "$to/CMakeLists.new" "$to/CMakeLists.txt"
	rsync -c "$to/kernel-headers/CMakeLists.new" "$to/kernel-headers/CMakeLists.txt"
}

configure() {
	local tree=$1
	! grep -qsE "^KWARP_WERROR:[A-Z]*=$testing$" "$tree/build/CMakeCache.txt" ||
		[ ! -e "$tree/build/build.ninja" ] || return 0
	say "configuring rdma-core for the provider"
	[ -z "$sysroot" ] || export PKG_CONFIG_SYSROOT_DIR=$sysroot PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$multiarch/pkgconfig
	logged "$tree/build/configure.log" cmake -S "$tree" -B "$tree/build" -G Ninja \
		"${cmake_options[@]}" -DKWARP_WERROR="$testing"
}

compile() {
	local tree=$1
	logged "$tree/build/build.log" ninja -C "$tree/build" -j "$KWARP_JOBS" "kwarp-rdmav$pabi"
	# Show warnings in the provider's code.
	grep -A6 'providers/kwarp.*warning:' "$tree/build/build.log" >&2 || true
}

run_test() {
	local tree=$1
	logged "$tree/build/test-build.log" ninja -C "$tree/build" -j "$KWARP_JOBS" kwarp_queue_test
	"$tree/build/bin/kwarp_queue_test" >&2 || die "the queue test failed"
}

collect() {
	local tree=$1 out=$2 so=libkwarp-rdmav$pabi.so
	rm -rf "$out"
	install -D -m 644 "$tree/build/lib/$so" "$out/usr/lib/$multiarch/libibverbs/$so"
	# In the build tree the provider finds libibverbs through an RPATH. An installed provider
	# must not have one.
	echo "file(RPATH_REMOVE FILE \"$(realpath "$out")/usr/lib/$multiarch/libibverbs/$so\")" >"$tree/build/no-rpath.cmake"
	logged "$tree/build/no-rpath.log" cmake -P "$tree/build/no-rpath.cmake"
	mkdir -p "$out/etc/libibverbs.d"
	echo 'driver kwarp' >"$out/etc/libibverbs.d/kwarp.driver"
	if [ -d "$KWARP_ROOT/rdma-core-provider/man" ]; then
		mkdir -p "$out/usr/share/man/man7"
		find "$KWARP_ROOT/rdma-core-provider/man" -name '*.7' -exec cp {} "$out/usr/share/man/man7/" \;
	fi
}

cmake_options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX=/usr -DNO_PYVERBS=1 -DNO_MAN_PAGES=1
	-DENABLE_RESOLVE_NEIGH=0 -DKWARP_TESTS=ON)
compiler=${KWARP_CC:-gcc} sysroot=${KWARP_SYSROOT:-} testing=0
[ "${1:-}" != --test ] || { testing=1; shift; }
[ $# -gt 0 ] || die "usage: $0 [--test] RDMA_CORE_TREE [OUT]"
from=$(realpath -m "$1")
out=${2:-$KWARP_ROOT/build/provider}
[ -e "$from/providers/siw/CMakeLists.txt" ] || die "$from is no source tree of rdma-core (scripts/get-source.sh rdma-core fetches the test guest's)"
[ -e "$KWARP_ROOT/rdma-core-provider/CMakeLists.txt" ] || die "no rdma-core-provider in this checkout"
pabi=$(sed -n 's/^set(IBVERBS_PABI_VERSION "\([0-9]*\)")/\1/p' "$from/CMakeLists.txt")
[ -n "$pabi" ] || die "$from/CMakeLists.txt does not tell its private ABI number"
need_tools "$compiler:$([ "$compiler" = gcc ] && echo build-essential || echo "gcc-${compiler%-gcc}")" \
	cmake ninja:ninja-build pkg-config rsync
multiarch=$("$compiler" -print-multiarch)
[ -z "$sysroot" ] || cmake_options+=(-DCMAKE_SYSTEM_NAME=Linux "-DCMAKE_SYSTEM_PROCESSOR=${multiarch%%-*}"
	"-DCMAKE_C_COMPILER=$compiler" "-DCMAKE_SYSROOT=$sysroot" "-DCMAKE_LIBRARY_ARCHITECTURE=$multiarch"
	"-DCMAKE_SHARED_LINKER_FLAGS=-L$sysroot/usr/lib/$multiarch")
# The copy's folder has a name of its own for each set of options. cmake stores the flags of a
# package's build (CFLAGS, LDFLAGS) in its configuration, so these are options here, too.
options="${cmake_options[*]}${CFLAGS:+ $CFLAGS}${LDFLAGS:+ $LDFLAGS}"
tree=$KWARP_CACHE/provider/$(basename "$from")-$(sha256sum <<<"$from $options" | cut -c1-8)
need_cache
mkdir -p "$tree"
exec 8>"$KWARP_CACHE/lock/provider-$(basename "$tree")"
flock 8
copy_tree "$from" "$tree"
graft "$from" "$tree"
configure "$tree"
compile "$tree"
collect "$tree" "$out"
[ $testing = 0 ] || run_test "$tree"
echo "$out"
