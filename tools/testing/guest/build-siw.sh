#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build siw, the peer of the interop tests, for a kernel that has none, from the distribution's
# kernel source into the cache. Prints the path of siw.ko. The code of siw is never copied into this
# repository.
#
#   tools/testing/guest/build-siw.sh KDIR [MAKE ARGUMENTS]
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"

# True if the kernel has lockdep. siw's callbacks take sk_callback_lock in process context (the
# backlog) with softirqs enabled. lockdep reports that, in whatever case is running, and then
# stops checking. So for such a kernel the calls are changed to the _bh variants, which other
# drivers use.
watches_locks() {
	grep -qsx CONFIG_PROVE_LOCKING=y "$1/.config"
}

make_siw() {
	local dir=$1 kdir=$2 source
	source=$("$KWARP_ROOT/scripts/get-source.sh" siw "$3")
	say "building siw for $(kernel_release "$kdir")"
	cp -r "$source" "$dir/src"
	# Out of tree the configuration option is not set, so obj-$(CONFIG_RDMA_SIW) would build
	# nothing.
	sed -i 's/^obj-.*/obj-m += siw.o/' "$dir/src/Makefile"
	! watches_locks "$kdir" || sed -i -E 's/\<(read_(un)?lock)\(&sk->sk_callback_lock/\1_bh(\&sk->sk_callback_lock/' \
		"$dir"/src/*.c
	logged "$KWARP_CACHE/log/siw.log" kernel_make "$kdir" "M=$dir/src" -j "$KWARP_JOBS" "${@:4}" modules
	mv "$dir/src/siw.ko" "$dir/siw.ko"
	rm -rf "$dir/src"
}

kdir=${1:?usage: $0 KDIR [MAKE ARGUMENTS]}
shift
[ -e "$kdir/Makefile" ] || die "$kdir is not a kernel build directory"
release=$(kernel_release "$kdir")
# siw must be built from the source of the same kernel version.
line=$(cut -d. -f1,2 <<<"$release")
dir=$(cached "siw/2-$release-$(kdir_id "$kdir")" make_siw "$kdir" "$line" "$@")
echo "$dir/siw.ko"
