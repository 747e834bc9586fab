#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Pack folders into one cpio archive for a guest. If several folders have the same file, that of the
# last one is used. modprobe in the guest finds the modules in usr/lib/modules/RELEASE/extra.
#
#   tools/testing/guest/pack-overlay.sh OUT.cpio RELEASE MODULES_ROOT DIR...
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"

# Move the folders lib, bin, sbin and lib64 below usr/. In the guest, these names are links into
# /usr. A folder of that name in the archive would replace the link, and the guest would not find
# its programs.
usr_merge() {
	local stage=$1 d
	for d in lib bin sbin lib64; do
		[ -d "$stage/$d" ] || continue
		mkdir -p "$stage/usr/$d"
		cp -a "$stage/$d/." "$stage/usr/$d/"
		rm -rf "${stage:?}/$d"
	done
}

# index_modules STAGE RELEASE ROOT: make the indexes for modprobe. depmod needs the kernel's own
# modules for that, so a link to them is in STAGE while depmod runs. The modules themselves do not
# get into the archive.
index_modules() {
	local stage=$1 release=$2 base=$3/usr/lib/modules/$2 dir=$1/usr/lib/modules/$2
	[ -d "$dir" ] || return 0
	ln -s "$base/kernel" "$dir/kernel"
	cp "$base"/modules.{order,builtin} "$dir/"
	cp "$base"/modules.builtin.modinfo "$dir/" 2>/dev/null || true
	depmod -b "$stage/usr" "$release"
	rm "$dir/kernel"
}

out=$1 release=$2 modules=$3
shift 3
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
for dir in "$@"; do
	[ -d "$dir" ] || die "no overlay folder $dir"
	cp -aL "$dir/." "$stage/"
	usr_merge "$stage"
done
index_modules "$stage" "$release" "$modules"
(cd "$stage" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$out"
