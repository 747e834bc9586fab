#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build kwarp as a part of a kernel, and print the path of kwarp.ko: copy the driver to
# drivers/infiniband/sw/kwarp in a copy of the kernel's source, add two lines there, and build only
# this folder. A warning is an error.
#
#   scripts/build-in-tree.sh VERSION      7.2 or 6.12
#
# The driver is written for 7.2. Its copy for 7.2 has no compat.h, compat_ops.h and compat/, and no
# macro of these. The copy for another kernel has them, and a kwarp_config.h.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
case ${1:-} in -h | --help) head_comment; exit ;; esac
# shellcheck source=kernel/in-tree.sh
. "$here/kernel/in-tree.sh"
driver=drivers/infiniband/sw/kwarp
written_for=7.2

# make_enabled DIR SOURCE: make the copy, and name the driver in it.
make_enabled() {
	local dir=$1 infiniband=$1/drivers/infiniband
	make_tree "$@"
	sed '/^source.*sw\/siw\/Kconfig/a source "'"$driver"'/Kconfig"' "$infiniband/Kconfig" >"$dir/Kconfig.new"
	mv "$dir/Kconfig.new" "$infiniband/Kconfig"
	# make, not the shell, expands the variable.
	# shellcheck disable=SC2016
	sed '$a obj-$(CONFIG_INFINIBAND_KWARP)		+= kwarp/' "$infiniband/sw/Makefile" >"$dir/Makefile.new"
	mv "$dir/Makefile.new" "$infiniband/sw/Makefile"
}

# without_compat DIR: change the sources in DIR to those for the kernel that the driver is written
# for.
without_compat() {
	rm -r "$1"/compat.h "$1"/compat_ops.h "$1"/compat
	find "$1" -name '*.[ch]' -exec sed -i \
		-e '/^#include "[./]*compat\(_ops\)\?\.h"$/d' \
		-e '/^[[:space:]]*KWARP_BEFORE_ROW(.*)$/d' \
		-e 's/^\([[:space:]]*\)KWARP_SINCE_ROW([A-Z_0-9]*, \(.*\))$/\1\2,/' \
		-e 's/^\([[:space:]]*\)KWARP_SINCE([A-Z_0-9]*, \(.*\));$/\1\2;/' {} +
	! grep -rnE 'KWARP_(SINCE|BEFORE|LACKS)|include ".*compat' "$1" >&2 || die "these lines still need compat.h"
}

# put_driver TREE: copy the driver's files that differ in contents, so that only files that differ
# are compiled again.
put_driver() {
	local tree=$1 copy=$1.copy
	rm -rf "$copy"
	mkdir "$copy"
	(cd "$KWARP_ROOT/$driver" && find . -type f \( -name '*.[ch]' -o -name Kbuild -o -name Kconfig \) ! -name '*.mod.c' -print0 |
		cpio -pdm0 --quiet "$copy")
	[ "$version" != "$written_for" ] || without_compat "$copy"
	mkdir -p "$tree/$driver"
	rsync -rc --delete --exclude /kwarp_config.h "$copy/" "$tree/$driver/"
	rsync -rc "$KWARP_ROOT/include/uapi/rdma/" "$tree/include/uapi/rdma/"
	rm -r "$copy"
}

version=${1:-}
case $version in
7.2 | 6.12) ;;
*) die "no kernel '$version': give 7.2 or 6.12" ;;
esac
"$here/host-packages.sh" kunit
source=$("$here/get-source.sh" linux "$version")
tree=$(cached "in-tree/$(basename "$source")" make_enabled "$source")
build=$tree.build
log=$KWARP_ROOT/build/in-tree-$version.log
mkdir -p "$build" "$KWARP_ROOT/build"
exec 8>"$tree.lock"
flock 8
put_driver "$tree"
say "building kwarp in linux-$version"
logged "$log" prepare
if [ "$version" != "$written_for" ]; then
	logged "$log" "$here/kernel/probe.sh" "$build" "$build/kwarp_config.h" ARCH=x86
	rsync -c "$build/kwarp_config.h" "$tree/$driver/"
fi
found=$(build_module "$log")
[ -z "$found" ] || die "linux-$version: $found"
echo "$build/$driver/kwarp.ko"
