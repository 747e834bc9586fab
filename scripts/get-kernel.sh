#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Download a stock Debian kernel to the cache: image, modules, and a build directory for modules.
# Nothing is installed. The kernel of sid needs a newer compiler, so it comes with a folder
# "system", a small Debian sid with that compiler, in which kernel_make (lib.sh) builds modules.
#
#   scripts/get-kernel.sh [NAME]          print the build directory (KDIR)
#   scripts/get-kernel.sh --dir [NAME]    print the folder that has vmlinuz, release, kdir,
#       modules/usr/lib/modules/RELEASE, modules.cpio, and for some kernels make-args and system
#
# NAME is 6.12 (default), 6.1 or sid, or one of these with suffix -rt or -cloud (flavours), or
# 6.12-arm64 or 6.1-arm64. The build directory of the latter has build tools that run on this
# machine; make-args has the arguments for cross-compiling.
#
# KWARP_REFRESH=1: ask the mirror whether there is a newer build of that kernel.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in -h | --help) head_comment; exit ;; esac

# headers_package NAME: print the meta package of the kernel's headers, and the suite that has it.
headers_package() {
	local flavour
	case $1 in
	*-rt | *-cloud) flavour=-${1##*-}-amd64 ;;
	*-arm64) flavour=-arm64 ;;
	*) flavour=-amd64 ;;
	esac
	case ${1%%-*} in
	6.12) echo "linux-headers-6.12$flavour" bookworm-security ;;
	6.1) echo "linux-headers$flavour" bookworm-security ;;
	sid) echo "linux-headers$flavour" sid ;;
	esac
}

# apt_for NAME ARGUMENTS...: run apt-private.sh for the architecture of kernel NAME.
apt_for() {
	local arch
	arch=$(arch_of "$1")
	KWARP_APT_ARCH=${arch#amd64} "$here/apt-private.sh" "${@:2}"
}

# Print the name and version of the package that a meta package depends on. The name contains the
# kernel's ABI version.
resolve() {
	local package meta suite offered version
	package=$(headers_package "$1")
	read -r meta suite <<<"$package"
	offered=$(apt_for "$1" cache "$suite" madison "$meta")
	version=$(awk '{ print $3; exit }' <<<"$offered")
	[ -n "$version" ] || die "the mirror has no $meta in $suite: run scripts/apt-private.sh refresh, or use another mirror"
	apt_for "$1" cache "$suite" show "$meta=$version" |
		grep -oE 'linux-headers-[0-9][^ ]*-(amd64|arm64) \(= [^)]*\)' | tr -d '(=)' | head -n 1
}

# companions NAME HEADERS VERSION SUITE: print the packages that are needed besides the headers. The names
# are in the dependencies of headers and image, which differ between releases. If a dependency has a
# version, it is printed, too.
companions() {
	local headers=$2 version=$3 image=linux-image-${2#linux-headers-}
	echo "$image=$version"
	apt_for "$1" cache "$4" show "$headers=$version" "$image=$version" | grep '^Depends:' |
		grep -oE '(linux-headers-[^ ,]*-common(-rt)?|linux-kbuild-[^ ,]*|linux-(base|binary|modules)-[^ ,]*)( \(= [^)]*\))?' |
		sed -E 's/ \(= (.*)\)/=\1/' | sort -u
}

# Write a Makefile with relative paths, and make the link kdir. The headers are three packages that
# refer to each other by absolute path, which is wrong in the cache. Headers of newer kernels also
# store their own place as an absolute path.
relocate_headers() {
	local root=$1 release=$2 common output=
	local makefile=$root/usr/src/linux-headers-$release/Makefile
	common=$(cd "$root/usr/src" && echo linux-headers-*-common*)
	[ -d "$root/usr/src/$common" ] || die "no common headers in the packages of $release"
	# make, not the shell, expands the parameters.
	# shellcheck disable=SC2016
	! grep -q '^KBUILD_OUTPUT' "$makefile" ||
		output='KBUILD_OUTPUT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))'
	cat >"$makefile" <<-END
		$output
		include \$(dir \$(abspath \$(lastword \$(MAKEFILE_LIST))))../$common/Makefile
	END
	# If vmlinux exists, every module build needs pahole for BTF.
	rm -f "$root/usr/src/linux-headers-$release/vmlinux"
	ln -s "usr/src/linux-headers-$release" "$root/kdir"
}

unpack_modules() {
	local root=$1 release=$2 from
	mkdir -p "$root/modules/usr/lib/modules"
	for from in "$root/lib/modules" "$root/usr/lib/modules"; do
		[ -d "$from/$release/kernel" ] || continue
		cp -al "$from/$release" "$root/modules/usr/lib/modules/"
	done
	rm -f "$root/modules/usr/lib/modules/$release"/{build,source}
	"$KWARP_ROOT/tools/testing/guest/modules.sh" "$root/modules" "$release"
	rm -rf "${root:?}/lib" "${root:?}/usr/lib/modules"
	(cd "$root/modules" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$root/modules.cpio"
}

# Make a system with the compiler that the kernel was built with, and what its build tools need.
make_system() {
	local dir=$1 suite=$2 compiler=$3 check=true
	# Accept outdated release files if apt on this machine does.
	eval "$(apt-config shell check Acquire::Check-Valid-Until)"
	say "making a system of Debian $suite with $compiler"
	"$here/apt-private.sh" sources "$suite" | grep '^deb ' >"$dir.list"
	logged "$KWARP_CACHE/log/system-$suite.log" as_root mmdebstrap --variant=minbase \
		--aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"' \
		--aptopt="Acquire::Check-Valid-Until \"$check\"" \
		--include="make,$compiler,libelf1t64" "$suite" "$dir/root" "$dir.list"
	rm -f "$dir.list"
	as_root sh -c 'rm -rf "$1"/dev/* && chown -R "$2" "$1"' sh "$dir/root" "$(id -u):$(id -g)"
}

# add_system ROOT HEADERS VERSION SUITE: for a kernel of sid, which needs a newer compiler than this
# machine has, make the link ROOT/system to a system with that compiler.
add_system() {
	local root=$1 suite=$4 compiler entry
	[ "$suite" = sid ] || return 0
	compiler=$("$here/apt-private.sh" cache "$suite" show "$2=$3" | grep '^Depends:' | grep -oE 'gcc-[0-9]+-for-host' | head -n 1)
	[ -n "$compiler" ] || die "cannot tell which compiler $2 wants"
	entry=$(cached "system/$suite-$compiler" make_system "$suite" "$compiler")
	ln -s "$entry/root" "$root/system"
}

# native_tools DEBS SUITE: replace build tools of the other architecture by tools that run on this
# machine.
native_tools() {
	local debs=$1 suite=$2 deb package version
	for deb in "$debs"/linux-kbuild-*_arm64.deb; do
		[ -e "$deb" ] || continue
		package=$(dpkg-deb -f "$deb" Package) version=$(dpkg-deb -f "$deb" Version)
		rm "$deb"
		"$here/apt-private.sh" download "$suite" "$debs" "$package=$version"
	done
}

make_kernel() {
	local root=$1 name=$2 headers=$3 version=$4 suite=$5 release=${3#linux-headers-} deb
	local debs=$root/debs others image
	say "downloading the stock kernel $release"
	mapfile -t others < <(companions "$name" "$headers" "$version" "$suite")
	apt_for "$name" download "$suite" "$debs" "$headers=$version" "${others[@]}"
	native_tools "$debs" "$suite"
	say "unpacking the kernel $release"
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$root"
	done
	image=$(find "$root" -name 'vmlinuz*' -type f | head -n 1)
	[ -n "$image" ] || die "no kernel image in the packages of $release"
	cp -l "$image" "$root/vmlinuz"
	echo "$release" >"$root/release"
	relocate_headers "$root" "$release"
	[ "$(arch_of "$name")" != arm64 ] ||
		printf '%s\n' ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- >"$root/make-args"
	add_system "$root" "$headers" "$version" "$suite"
	unpack_modules "$root" "$release"
	rm -rf "$debs" "${root:?}/boot" "${root:?}/usr/share"
}

get_kernel() {
	local name=$1 link=$KWARP_CACHE/kernel/$1 found headers version package suite key kept
	kept=$(sha256sum <"$KWARP_ROOT/tools/testing/guest/modules.sh" | cut -c1-8)
	if [ -e "$link" ] && [[ $(readlink "$link") = *-$kept ]] && [ "${KWARP_REFRESH:-0}" = 0 ]; then
		return
	fi
	need_tools dpkg-deb:dpkg cpio depmod:kmod unxz:xz-utils
	package=$(headers_package "$name")
	suite=${package##* }
	[ "${KWARP_REFRESH:-0}" = 0 ] || apt_for "$name" refresh "$suite"
	found=$(resolve "$name")
	read -r headers version <<<"$found"
	[ -n "$version" ] || die "cannot tell which package kernel '$name' is"
	key=${headers#linux-headers-}
	[ "$suite" != sid ] || key+=-with-system
	key+=-$kept
	cached "kernel/$key" make_kernel "$name" "$headers" "$version" "$suite" >/dev/null
	ln -sfnT "$key" "$link"
}

what=kdir
[ "${1:-}" != --dir ] || { what=.; shift; }
name=${1:-6.12}
[[ $name != 7.2* ]] || name=sid${name#7.2}
is_stock_kernel "$name" || die "no stock kernel '$name': there are 6.12, 6.1 and sid, -rt and" \
	"-cloud of each, 6.12-arm64 and 6.1-arm64"
get_kernel "$name"
realpath "$KWARP_CACHE/kernel/$name/$what"
