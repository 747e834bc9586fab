#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Make the overlay of a guest: the files that are built from this checkout and copied over the
# guest's root. These are kwarp.ko and siw.ko for the guest's kernel, the provider for its
# rdma-core, the tests and their programs. Prints the folder.
#
#   tools/testing/guest/overlay.sh [KERNEL]      6.12 (default) or another that vm.sh knows
#
#   KWARP_WITH_SIW=0     leave siw out, for which the source of a kernel is downloaded
#   KWARP_WITH_MPI=1     add the test program for MPI, which needs the guest's root "wide"
#   KWARP_WITH_CEPH=1    add Ceph's messenger, which is downloaded
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in -h | --help) head_comment; exit ;; esac

add_modules() {
	local out=$1 dir=$2 extra kwarp siw args=() release long=''
	release=$(cat "$dir/release")
	extra=$out/usr/lib/modules/$release/extra
	mkdir -p "$extra"
	[ -e "$KWARP_ROOT/build/$release" ] || long=", which takes one to three minutes"
	say "building the module for $release$long"
	[ ! -e "$dir/make-args" ] || mapfile -t args <"$dir/make-args"
	kwarp=$(KWARP_QUIET=1 "$KWARP_ROOT/scripts/build-module.sh" "$dir/kdir" "${args[@]}")
	cp "$kwarp" "$extra/"
	# The project's user-mode kernel has siw already.
	[ "${KWARP_WITH_SIW:-1}" = 1 ] && [[ $kernel != uml* ]] || return 0
	siw=$("$here/build-siw.sh" "$dir/kdir" "${args[@]}")
	cp "$siw" "$extra/"
}

add_provider() {
	local out=$1 guest=$2 source built
	source=$("$KWARP_ROOT/scripts/get-source.sh" rdma-core "$(cat "$guest/rdma-core-version")")
	say "building the provider for rdma-core $(cat "$guest/rdma-core-version")"
	[ "$arch" = amd64 ] || export KWARP_CC=$compiler KWARP_SYSROOT=$guest/sysroot
	built=$("$KWARP_ROOT/scripts/build-provider.sh" "$source" "$KWARP_ROOT/build/provider-guest$suffix")
	unset KWARP_CC KWARP_SYSROOT
	cp -a "$built/." "$out/"
	# Add rdma-core's own Python tests, which are not in its packages.
	mkdir -p "$out/opt/kwarp/rdma-core"
	cp -r "$source/tests" "$out/opt/kwarp/rdma-core/"
}

# Compile the test programs against the guest's headers and libraries. The option -L is needed,
# because the compiler looks for libraries in its own folders before it looks in the sysroot.
add_tools() {
	local out=$1 guest=$2 tools=$KWARP_ROOT/tools/testing lib
	lib=$guest/sysroot/usr/lib/$("$compiler" -print-multiarch)
	[ -e "$tools/Makefile" ] || return 0
	say "building the test programs"
	logged "$KWARP_ROOT/build/tools$suffix.log" make -C "$tools" "SYSROOT=$guest/sysroot" \
		"CC=$compiler --sysroot=$guest/sysroot -L$lib" "OUT=$KWARP_ROOT/build/tools$suffix"
	mkdir -p "$out/opt/kwarp/tools" "$out/opt/kwarp/examples"
	cp -a "$KWARP_ROOT/build/tools$suffix/." "$out/opt/kwarp/tools/"
	logged "$KWARP_ROOT/build/examples$suffix.log" make -C "$KWARP_ROOT/examples" all broken \
		"CC=$compiler --sysroot=$guest/sysroot -L$lib -Wl,--unresolved-symbols=ignore-in-shared-libs" \
		"OUT=$KWARP_ROOT/build/examples$suffix"
	cp -a "$KWARP_ROOT/build/examples$suffix/." "$KWARP_ROOT/examples/first.py" "$out/opt/kwarp/examples/"
}

add_mpi() {
	local out=$1 root lib
	[ "${KWARP_WITH_MPI:-0}" = 1 ] || return 0
	root=$("$here/root.sh" wide)/sysroot
	lib=$root/usr/lib/$(gcc -print-multiarch)
	logged "$KWARP_ROOT/build/tools-mpi.log" make -C "$KWARP_ROOT/tools/testing" mpi "MPI=$lib/openmpi" \
		"CC=gcc --sysroot=$root -L$lib" "OUT=$KWARP_ROOT/build/tools-mpi"
	cp -a "$KWARP_ROOT/build/tools-mpi/." "$out/opt/kwarp/tools/"
}

add_ceph() {
	local out=$1 ceph
	[ "${KWARP_WITH_CEPH:-0}" = 1 ] || return 0
	ceph=$("$here/get-ceph.sh")
	cp -a "$ceph/." "$out/"
}

add_tests() {
	local out=$1 tests=$KWARP_ROOT/tools/testing
	mkdir -p "$out/opt/kwarp"
	[ ! -d "$tests/selftests/kwarp" ] || cp -a "$tests/selftests/kwarp" "$out/opt/kwarp/selftests"
	cp "$KWARP_ROOT/packaging/kwarp@.service" "$out/opt/kwarp/selftests/"
	cp -r "$KWARP_ROOT/tools/kwarpctl" "$out/opt/kwarp/"
	mkdir -p "$out/usr/local/bin"
	# kwarpctl leaves no compiled files behind, and compiling its files takes an emulated processor
	# two seconds each time.
	cat >"$out/usr/local/bin/kwarpctl" <<-'END'
		#!/bin/sh
		[ -e /opt/kwarp/kwarpctl/__pycache__ ] || python3 -m compileall -q /opt/kwarp/kwarpctl
		exec /opt/kwarp/kwarpctl/kwarpctl "$@"
	END
	chmod 755 "$out/usr/local/bin/kwarpctl"
	[ ! -e "$tests/demo/guest.sh" ] || cp "$tests/demo/guest.sh" "$out/opt/kwarp/demo.sh"
	[ ! -d "$tests/bench" ] || cp -a "$tests/bench" "$out/opt/kwarp/"
}

kernel=${1:-6.12}
arch=$(arch_of "$kernel")
suffix=-$arch
[ "$arch" != amd64 ] || suffix=
[ "$arch" = amd64 ] || "$KWARP_ROOT/scripts/host-packages.sh" "$arch"
compiler=$(compiler_of "$arch")
dir=$(kernel_dir "$kernel")
guest=$("$here/root.sh" "${suffix#-}")
out=$KWARP_ROOT/build/overlay-$kernel
mkdir -p "$KWARP_ROOT/build"
exec 7>"$out.lock"
flock 7
rm -rf "$out.new"
mkdir -p "$out.new"
add_modules "$out.new" "$dir"
add_provider "$out.new" "$guest"
add_tools "$out.new" "$guest"
add_mpi "$out.new"
add_ceph "$out.new"
add_tests "$out.new"
rm -rf "$out"
mv "$out.new" "$out"
echo "$out"
