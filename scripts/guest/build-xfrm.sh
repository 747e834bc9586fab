#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build xfrm_user, by which "ip xfrm" configures IPsec, for a stock kernel, from the distribution's
# kernel source into the cache. The kernel's package has this module, but modules.sh does not keep
# it, and the cache has no package. Prints the path of xfrm_user.ko.
#
#   scripts/guest/build-xfrm.sh KDIR
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
here=$KWARP_ROOT/scripts

make_xfrm() {
	local dir=$1 kdir=$2 source
	source=$("$here/get-source.sh" linux "$3")
	say "building xfrm_user for $(kernel_release "$kdir")"
	mkdir "$dir/src"
	cp "$source/net/xfrm/xfrm_user.c" "$dir/src/"
	echo 'obj-m := xfrm_user.o' >"$dir/src/Makefile"
	logged "$KWARP_CACHE/log/xfrm.log" kernel_make "$kdir" "M=$dir/src" modules
	mv "$dir/src/xfrm_user.ko" "$dir/"
	rm -rf "$dir/src"
}

kdir=${1:?usage: $0 KDIR}
release=$(kernel_release "$kdir")
dir=$(cached "xfrm/1-$release-$(kdir_id "$kdir")" make_xfrm "$kdir" "$(cut -d. -f1,2 <<<"$release")")
echo "$dir/xfrm_user.ko"
