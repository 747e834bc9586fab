#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make demo: from a fresh machine to unchanged RDMA programs over kwarp, in a virtual
# machine on a stock Debian kernel. The host gets packages and nothing else.
#
#   scripts/demo.sh [--compare]     --compare: beside plain TCP and siw, in one boot
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

log=$KWARP_ROOT/build/demo
mkdir -p "$log"

# What has to be downloaded does not wait for each other.
prefetch() {
	local guest kernel
	"$here/guest-root.sh" >/dev/null &
	guest=$!
	"$here/get-kernel.sh" 6.12 >/dev/null &
	kernel=$!
	"$here/get-source.sh" rdma-core >/dev/null
	wait "$guest"
	wait "$kernel"
}

say "kwarp demo: nothing is changed on this machine but packages"
"$here/host-packages.sh" demo
prefetch
siw=0
[ $# -eq 0 ] || siw=1
overlay=$(KWARP_WITH_SIW=$siw "$here/guest-overlay.sh" 6.12)
say "booting a stock Debian kernel in QEMU"
env=''
[ -z "${KWARP_DEMO_LINK:-}" ] || env="KWARP_DEMO_LINK=$KWARP_DEMO_LINK"
"$here/vm.sh" --overlay "$overlay" --logs "$log" --timeout 400 -- "$env /opt/kwarp/demo.sh $*"
cat <<-END

	That was an emulated or virtual machine: compare figures within it only.
	To go on:
	  scripts/vm.sh --overlay ${overlay#"$KWARP_ROOT/"} --shell     a shell in that machine
	  scripts/demo.sh --compare                          beside plain TCP and siw
	  sudo make install                                  on this machine, with DKMS
	  README.md, Documentation/                          what it is and how it works
END
say "the demo is done"
