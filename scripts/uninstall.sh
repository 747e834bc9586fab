#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make uninstall: remove what scripts/install.sh has installed on this machine. Debian packages
# stay, and so do files of the administrator: those in /etc/modprobe.d, and drop-ins of the systemd
# unit.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# Delete the links of this RDMA namespace. rmmod ends those of other namespaces.
delete_links() {
	local link
	for link in /sys/class/infiniband/*/kwarp; do
		[ -d "$link" ] || continue
		link=${link%/kwarp}
		rdma link delete "${link##*/}" || true
	done
}

# Unload the module. Programs get an event that the device is removed. The module is in use until
# they have closed the device.
unload_module() {
	local try
	grep -qs '^kwarp ' /proc/modules || return 0
	say "deleting the links and unloading the module: connections end, and listeners with them"
	delete_links
	for ((try = 0; try < 50; try++)); do
		# Not "modprobe -r", which would also unload rdma_ucm, and other devices may need
		# that.
		! rmmod kwarp 2>/dev/null || return 0
		sleep 0.2
	done
	rmmod kwarp || die "rmmod refuses, see above: stop the programs that have a device open (lsof | grep kwarp_doorbell), then run make uninstall again"
}

remove_module() {
	local version
	command -v dkms >/dev/null || return 0
	dkms status -m kwarp | sed -n 's|^kwarp[/,] *\([^,:]*\).*|\1|p' | sort -u | while read -r version; do
		dkms remove -m kwarp -v "$version" --all
	done
}

stop_units() {
	[ -d /run/systemd/system ] || return 0
	systemctl stop 'kwarp@*.service' || true
}

case ${1:-} in
'') ;;
-h | --help) echo "usage: sudo make uninstall"; exit ;;
*) die "unknown argument '$1'; usage: sudo make uninstall" ;;
esac
[ "$(id -u)" -eq 0 ] || die "run as root: sudo make uninstall"
found=$(kwarp_packages)
[ -z "$found" ] || die "kwarp is here from packages, not from make install: run apt-get purge $found"
stop_units
unload_module
remove_module
rm -rf /usr/src/kwarp-[0-9]* /var/cache/kwarp /run/kwarp /usr/local/lib/kwarpctl /usr/local/share/kwarp
rm -f /usr/lib/*/libibverbs/libkwarp-rdmav*.so /etc/libibverbs.d/kwarp.driver /usr/local/share/man/man7/kwarp.7 \
	/usr/local/bin/kwarpctl /usr/local/share/man/man8/kwarpctl.8 /usr/local/share/bash-completion/completions/kwarpctl \
	/etc/systemd/system/kwarp@.service /etc/systemd/system/sys-subsystem-net-devices-*.device.wants/kwarp@*.service
[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
say "kwarp is no longer on this machine"
