#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# For debian/rules: build the provider for the libibverbs1 of this system into OUT. The file
# OUT/depends says which versions of libibverbs1 the package depends on.
#
#   RDMA_CORE=TREE scripts/debian/package-provider.sh OUT
#
# A provider works with all Debian revisions of the upstream release that it was built from, because
# only a new upstream release changes the private headers. So the dependency allows any revision.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
here=$KWARP_ROOT/scripts

[ $# -eq 1 ] || die "usage: RDMA_CORE=TREE $0 OUT"
out=$1
# shellcheck disable=SC2016
release=$(dpkg-query -W -f '${source:Upstream-Version}' libibverbs1 2>/dev/null) ||
	die "libibverbs1 is not installed: install libibverbs-dev"
[ -n "${RDMA_CORE:-}" ] || die "give the source tree of rdma-core $release as RDMA_CORE" \
	"(apt-get source rdma-core), or build all but the provider: dpkg-buildpackage -A"
of=$(rdma_core_release "$RDMA_CORE")
[ -n "$of" ] ||
	die "RDMA_CORE=$RDMA_CORE is no rdma-core source tree: give that of rdma-core $release"
[ "$of" = "$release" ] || die "RDMA_CORE=$RDMA_CORE is rdma-core $of," \
	"and libibverbs1 is of $release: give that one's tree"

"$here/build-provider.sh" "$RDMA_CORE" "$out" >/dev/null
next=${release%.*}.$((${release##*.} + 1))
echo "libibverbs1 (>= $release), libibverbs1 (<< $next~)" >"$out/depends"
