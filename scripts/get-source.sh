#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Unpack the source of a Debian package in the cache, and print its path. Many scripts share these
# trees, so never write to them.
#
#   scripts/get-source.sh linux [6.12]           the kernel with Debian's patches
#   scripts/get-source.sh siw [6.12]             only the driver siw, which takes less room
#   scripts/get-source.sh rdma-core [VERSION]    upstream's source; default: the guest's version
#   scripts/get-source.sh rdma-core --suite SUITE VERSION   the same from another suite
#   scripts/get-source.sh rdma-core --own VERSION   the same from the suites of this machine
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in -h | --help) head_comment; exit ;; esac
guest_suite=${KWARP_GUEST_SUITE:-trixie}

# suite_of LINE: print the suite that has the newest source of this line of kernels.
suite_of() {
	case $1 in
	6.1) echo bookworm-security ;;
	6.12) echo trixie ;;
	*) echo sid ;;
	esac
}

# make_linux DIR SUITE PACKAGE VERSION [ARGUMENTS of tar]: download the package, and unpack its tarball in
# DIR.
make_linux() {
	local dir=$1 suite=$2 pkg=$3 version=$4
	say "downloading $pkg $version"
	"$here/apt-private.sh" download "$suite" "$dir/debs" "$pkg=$version"
	say "unpacking $pkg"
	dpkg-deb --fsys-tarfile "$dir"/debs/*.deb | tar -xO --wildcards "./usr/src/$pkg.tar.*" |
		xz -dc -T0 | tar -x -C "$dir" --strip-components=1 "${@:5}"
	rm -rf "$dir/debs"
}

# get_linux NAME LINE [ARGUMENTS of tar]: make the tree source/NAME-VERSION and the link
# source/NAME-LINE to it, and print the path.
get_linux() {
	local name=$1 pkg=linux-source-$2 link=$KWARP_CACHE/source/$1-$2 offered suite version
	if [ ! -e "$link" ] || [ "${KWARP_REFRESH:-0}" != 0 ]; then
		suite=$(suite_of "$2")
		offered=$("$here/apt-private.sh" cache "$suite" madison "$pkg")
		version=$(awk '{ print $3; exit }' <<<"$offered")
		[ -n "$version" ] || die "the mirror has no $pkg: run scripts/apt-private.sh refresh, or use another mirror"
		cached "source/$name-$version" make_linux "$suite" "$pkg" "$version" "${@:3}" >/dev/null
		ln -sfnT "$name-$version" "$link"
	fi
	realpath "$link"
}

# get_siw LINE: print the path of siw's source. It is in the whole kernel tree if the cache has that
# tree, else in a tree with nothing but siw.
get_siw() {
	local dir=drivers/infiniband/sw/siw tree=$KWARP_CACHE/source/linux-$1
	[ -e "$tree" ] && [ "${KWARP_REFRESH:-0}" = 0 ] || tree=$(get_linux siw "$1" --wildcards "*/$dir")
	realpath "$tree/$dir"
}

make_rdma_core() {
	local dir=$1 version=$2 from=$3
	say "downloading the source of rdma-core $version"
	mkdir "$dir/dl"
	if [ "$from" = own ]; then
		"$here/apt-private.sh" own-source "$dir/dl" rdma-core "$version"
	else
		"$here/apt-private.sh" source "$from" "$dir/dl" "rdma-core=$version"
	fi
	tar -xf "$dir"/dl/*.orig.tar.* -C "$dir" --strip-components=1
	rm -rf "$dir/dl"
}

# The provider must be built from exactly the source that the guest's libibverbs is from.
guest_rdma_core() {
	local offered
	offered=$("$here/apt-private.sh" cache "$guest_suite" madison rdma-core)
	awk '{ print $3; exit }' <<<"$offered"
}

get_rdma_core() {
	local from=$guest_suite version
	case ${1:-} in
	--own) from=own; shift ;;
	--suite) from=$2; shift 2 ;;
	esac
	version=${1:-}
	# If guest_rdma_core fails, set -e ends the script in this assignment. A call inside the
	# [ -n ... ] of the line with "die" would fail unnoticed, as if the version were empty.
	[ -n "$version" ] || version=$(guest_rdma_core)
	[ -n "$version" ] || die "the mirror has no rdma-core of $guest_suite: run scripts/apt-private.sh refresh, or use another mirror"
	cached "source/rdma-core-$version" make_rdma_core "$version" "$from"
}

case ${1:-} in
linux) get_linux linux "${2:-6.12}" ;;
siw) get_siw "${2:-6.12}" ;;
rdma-core) get_rdma_core "${@:2}" ;;
*) die "usage: $0 linux|siw|rdma-core [--own|--suite SUITE] [VERSION]" ;;
esac
