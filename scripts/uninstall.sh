#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make uninstall: take away what scripts/install.sh put on this machine. Packages stay.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || die "run as root: sudo make uninstall"
if grep -q '^kwarp ' /proc/modules; then
	modprobe -r kwarp || die "a program has a kwarp device open: end it, or delete the link (rdma link delete <name>)"
fi
if command -v dkms >/dev/null; then
	dkms status -m kwarp | sed -n 's|^kwarp[/,] *\([^,:]*\).*|\1|p' | sort -u | while read -r version; do
		dkms remove -m kwarp -v "$version" --all
	done
fi
rm -rf /usr/src/kwarp-[0-9]*
rm -f /usr/lib/*/libibverbs/libkwarp-rdmav*.so /etc/libibverbs.d/kwarp.driver /usr/local/share/man/man7/kwarp.7
say "kwarp is no longer on this machine"
