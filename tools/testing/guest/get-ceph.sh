#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Download Ceph's messenger for the guest to the cache: two programs that measure the messenger, and
# libraries that they need and the guest's root lacks. Prints the folder, which is an overlay.
#
#   tools/testing/guest/get-ceph.sh
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"

suite=${KWARP_GUEST_SUITE:-trixie}
packages=(ceph-test librados2 libgoogle-perftools4t64 libunwind8)
lib=usr/lib/x86_64-linux-gnu
kept=(./usr/bin/ceph_perf_msgr_server ./usr/bin/ceph_perf_msgr_client "./$lib/ceph/libceph-common.so.*"
	"./$lib/libtcmalloc.so.*" "./$lib/libunwind.so.*")

# Unpack the files of "kept". Each package has only some of these, so the status of tar is ignored;
# the check at the end finds files that no package has.
make_ceph() {
	local dir=$1 deb
	say "downloading Ceph's messenger, 42 MB"
	"$KWARP_ROOT/scripts/apt-private.sh" download "$suite" "$dir/debs" "${packages[@]}"
	for deb in "$dir"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | { tar -x -C "$dir" --wildcards "${kept[@]}" 2>/dev/null || :; }
	done
	rm -rf "$dir/debs"
	for deb in "${kept[@]}"; do
		compgen -G "$dir/$deb" >/dev/null || die "the packages ${packages[*]} have no $deb"
	done
}

offered=$("$KWARP_ROOT/scripts/apt-private.sh" cache "$suite" madison ceph-test)
version=$(awk '{ print $3; exit }' <<<"$offered")
[ -n "$version" ] || die "the mirror has no ceph-test of $suite: run scripts/apt-private.sh refresh, or use another mirror"
id=$({ declare -p packages kept; declare -f make_ceph; } | sha256sum | cut -c1-12)
cached "ceph/$version-$id" make_ceph
