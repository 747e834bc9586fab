#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make install: kwarp on this machine. The module through DKMS, so that it follows
# kernel updates; the provider for the libibverbs that is installed; the man page.
#
#   scripts/install.sh                 as root
#   scripts/install.sh dkms-tree DIR   only the source that DKMS builds from, into DIR
#
#   RDMA_CORE=TREE   the source of this machine's rdma-core, instead of asking the mirror
set -euo pipefail
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
version=$("$here/version.sh")

# Named one by one: what is not needed to build the module is not installed.
dkms_files=(Makefile LICENSES scripts/lib.sh scripts/version.sh scripts/build-module.sh
	scripts/kernel-probe.sh scripts/probes include drivers/infiniband/sw/kwarp)

dkms_tree() {
	local to=$1 f
	rm -rf "$to"
	mkdir -p "$to"
	for f in "${dkms_files[@]}"; do
		mkdir -p "$to/$(dirname "$f")"
		cp -r "$KWARP_ROOT/$f" "$to/$f"
	done
	find "$to" \( -name '*.ko' -o -name '*.o' -o -name '.*.cmd' \) -delete
	sed "s/@VERSION@/$version/" "$here/dkms.conf.in" >"$to/dkms.conf"
}

packages() {
	"$here/host-packages.sh" install ||
		die "packages are missing, see above (for headers: what provides /lib/modules/$(uname -r)/build will do)"
}

# Without DKMS's own key the kernel refuses the module, and rdma does not say why.
secure_boot_hint() {
	local state
	# Four octets of attributes, then the value.
	state=$(od -An -tu1 -j4 -N1 /sys/firmware/efi/efivars/SecureBoot-* 2>/dev/null) || return 0
	[ "${state// /}" = 1 ] || return 0
	say "Secure Boot is on: the module loads once DKMS's key is enrolled, see README.md"
}

# DKMS takes its log away with the module.
dkms_failed() {
	local log=$KWARP_CACHE/log/dkms.log where=''
	rm -f "$log"
	! cp "/var/lib/dkms/kwarp/$version/build/make.log" "$log" 2>/dev/null || where=" (log: $log)"
	dkms remove -m kwarp -v "$version" --all >/dev/null 2>&1 || true
	rm -rf "/usr/src/kwarp-$version"
	die "DKMS could not build or install the module$where; nothing is left of it, nor of one installed before"
}

install_module() {
	say "building the module with DKMS"
	if dkms status -m kwarp -v "$version" | grep -q .; then
		dkms remove -m kwarp -v "$version" --all
	fi
	dkms_tree "/usr/src/kwarp-$version"
	dkms add -m kwarp -v "$version" || dkms_failed
	dkms install -m kwarp -v "$version" --force || dkms_failed
}

rdma_core_source() {
	local installed
	if [ -n "${RDMA_CORE:-}" ]; then
		echo "$RDMA_CORE"
		return
	fi
	# shellcheck disable=SC2016
	installed=$(dpkg-query -W -f '${source:Version}' libibverbs1)
	"$here/get-source.sh" rdma-core "$installed" ||
		die "no source of rdma-core $installed, see above: unpack it and say make install RDMA_CORE=<tree>"
}

build_provider() {
	local source
	source=$(rdma_core_source)
	say "building the provider"
	"$here/build-provider.sh" "$source" "$out" >/dev/null
}

install_provider() {
	install -m 644 "$out/usr/lib/$multiarch/libibverbs/"libkwarp-rdmav*.so "/usr/lib/$multiarch/libibverbs/"
	install -m 644 "$out/etc/libibverbs.d/kwarp.driver" /etc/libibverbs.d/
	if [ -d "$out/usr/share/man" ]; then
		mkdir -p /usr/local/share/man/man7
		install -m 644 "$out/usr/share/man/man7/"*.7 /usr/local/share/man/man7/
	fi
}

if [ "${1:-}" = dkms-tree ]; then
	dkms_tree "$(realpath -m "$2")"
	exit
fi
[ "$(id -u)" -eq 0 ] || die "run as root: sudo make install"
need_cache
packages
out=$KWARP_ROOT/build/provider-install multiarch=$(gcc -print-multiarch)
# The part that needs network and mirror comes first: if it fails nothing has been installed.
build_provider
install_module
install_provider
secure_boot_hint
! grep -q '^kwarp ' /proc/modules || say "the module that was loaded before stays until: rmmod kwarp"
say "installed: rdma link add kw0 type kwarp netdev <device>"
