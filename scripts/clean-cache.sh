#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make clean-cache: remove the cache. Parts of it belong to root, so root is needed if there are such
# parts. The folder itself is removed only if nothing else is in it.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) head_comment; exit ;; esac

# All folders that the scripts make in the cache.
parts=(accel apt apt-arm64 ceph guest in-tree install kernel kunit kunit-be lock log machine packages provider
	secure-boot siw source system upstream)

[ -d "$KWARP_CACHE" ] || { say "there is no cache $KWARP_CACHE"; exit; }
cd "$KWARP_CACHE"
size=$(du -sh . 2>/dev/null | cut -f1) || :
for part in "${parts[@]}"; do
	[ -e "$part" ] || continue
	rm -rf --one-file-system "$part" 2>/dev/null || as_root rm -rf --one-file-system "$KWARP_CACHE/$part"
done
cd /
rmdir "$KWARP_CACHE" 2>/dev/null || say "$KWARP_CACHE has other files, which stay: $(ls -A "$KWARP_CACHE" | paste -sd ' ')"
say "removed $size from $KWARP_CACHE"
