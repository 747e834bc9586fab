#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Make the guest's root file system in the cache: Debian with the RDMA programs. The whole tree,
# with headers and libraries for linking, is the sysroot for compiling the test programs. Without
# these parts it is the initramfs.
#
#   tools/testing/guest/root.sh [plain]
#       print the folder of root.cpio, sysroot/ and rdma-core-version
#   tools/testing/guest/root.sh wide
#       the same with the programs of upper layers (NFS, iSCSI, SMB, MPI) and of monitoring, which is
#       half as large again
#   tools/testing/guest/root.sh arm64
#       plain for arm64: packages are only unpacked, because their installation would run arm64
#       programs
set -euo pipefail
. "$(dirname "$0")/../../../scripts/lib.sh"
# The functions below, with this name in them, are part of the key of the cache's entry.
here=$KWARP_ROOT/scripts
case ${1:-} in -h | --help) head_comment; exit ;; esac

suite=${KWARP_GUEST_SUITE:-trixie}
packages=(rdma-core ibverbs-utils rdmacm-utils ibverbs-providers perftest qperf
	iproute2 iperf3 ethtool tcpdump iputils-ping procps kmod nftables wireguard-tools
	python3-minimal python3-pyverbs strace libfabric-bin fio
	libibverbs-dev librdmacm-dev libc6-dev)
wide=(nfs-kernel-server nfs-common rpcbind open-iscsi ksmbd-tools cifs-utils
	openmpi-bin libopenmpi-dev ucx-utils python3 curl prometheus-node-exporter)
# Paths in the root "wide" that dependencies of its packages bring, and the guest does not need:
# compilers, sanitizers, UCX's parts for GPUs.
wide_prune=('./usr/bin/x86_64-linux-gnu-*' './usr/libexec/gcc' './usr/share/perl5' './usr/share/javascript'
	'./usr/lib/x86_64-linux-gnu/lib*san.so.*' './usr/lib/x86_64-linux-gnu/libLLVM*'
	'./usr/lib/x86_64-linux-gnu/libamd*' './usr/lib/x86_64-linux-gnu/libhsa*' './usr/lib/x86_64-linux-gnu/libz3*'
	'./usr/lib/x86_64-linux-gnu/libperl*' './usr/lib/x86_64-linux-gnu/libgprofng*')

# Folders that are left out of the initramfs: documentation, headers, caches and similar.
prune=(./usr/include ./usr/share/doc ./usr/share/man ./usr/share/locale ./usr/share/info
	./usr/lib/udev ./usr/lib/systemd ./usr/lib/x86_64-linux-gnu/systemd ./usr/lib/apt
	./usr/share/zoneinfo ./usr/share/perl ./usr/share/bash-completion ./usr/lib/x86_64-linux-gnu/perl
	./usr/lib/x86_64-linux-gnu/gconv ./usr/lib/gcc ./var/cache ./var/lib/apt ./var/lib/dpkg/info
	./dev ./proc ./sys)

bootstrap() {
	local tree=$1 list
	list=$(IFS=,; echo "${packages[*]}")
	"$here/apt-private.sh" sources "$suite" | grep '^deb ' >"$tree.list"
	logged "$KWARP_CACHE/log/guest-root.log" as_root mmdebstrap --variant=minbase \
		--aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--include="$list" "$suite" "$tree" "$tree.list"
	rm -f "$tree.list"
}

# Unpack the packages. The version of rdma-core is stored in a file, because there is no list of
# packages.
bootstrap_arm64() {
	local tree=$1 list
	list=$(IFS=,; echo "${packages[*]}")
	KWARP_APT_ARCH=arm64 "$here/apt-private.sh" sources "$suite" | grep '^deb ' >"$tree.list"
	logged "$KWARP_CACHE/log/guest-root-arm64.log" as_root mmdebstrap --variant=extract --architectures=arm64 \
		--aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--extract-hook='dpkg-deb -f "$1"/var/cache/apt/archives/rdma-core_*.deb Version >"$1/rdma-core-version"' \
		--include="$list" "$suite" "$tree" "$tree.list"
	rm -f "$tree.list"
	# Do what the packages' installation scripts would have done, as far as the end-to-end suite
	# needs it.
	as_root sh -c 'cd "$1" && cp usr/share/base-passwd/passwd.master etc/passwd &&
		cp usr/share/base-passwd/group.master etc/group && ln -sf dash usr/bin/sh && ln -sf mawk usr/bin/awk' sh "$tree"
}

# Remove the host's configuration from the tree. The services of rdma-core that rename devices do
# nothing, since there is no udev to start them.
settle() {
	local tree=$1
	echo kwarp-guest | as_root tee "$tree/etc/hostname" >/dev/null
	echo '127.0.0.1 localhost kwarp-guest' | as_root tee "$tree/etc/hosts" >/dev/null
	as_root rm -f "$tree/etc/resolv.conf" "$tree/etc/machine-id"
	as_root mkdir -p "$tree/opt/kwarp"
}

pack() {
	local tree=$1 args=() p
	for p in "${prune[@]}"; do
		args+=(-path "$p" -prune -o)
	done
	as_root sh -c 'cd "$1" && shift && find . "$@" ! -name "*.a" -print |
		LC_ALL=C sort | cpio -o -H newc --quiet' sh "$tree" "${args[@]}"
}

make_root() {
	local dir=$1
	say "making the guest: Debian $suite with ${#packages[@]} packages"
	"$bootstrap" "$dir/sysroot"
	settle "$dir/sysroot"
	if [ -e "$dir/sysroot/rdma-core-version" ]; then
		cp "$dir/sysroot/rdma-core-version" "$dir/"
	else
		as_root sh -c 'dpkg-query --admindir="$1/var/lib/dpkg" -W -f "\${Version}" rdma-core' sh "$dir/sysroot" \
			>"$dir/rdma-core-version"
	fi
	pack "$dir/sysroot" >"$dir/root.cpio"
	# The sysroot is only read from now on. It belongs to the user, who can then delete the cache.
	as_root sh -c 'rm -rf "$1"/dev/* && chown -R "$2" "$1"' sh "$dir/sysroot" "$(id -u):$(id -g)"
	say "the guest is made: $(du -sh "$dir/root.cpio" | cut -f1), rdma-core $(cat "$dir/rdma-core-version")"
}

kind=${1:-plain} bootstrap=bootstrap
case $kind in
plain) ;;
wide) packages+=("${wide[@]}") prune+=("${wide_prune[@]}") ;;
arm64)
	packages+=('?essential' mawk libudev-dev) bootstrap=bootstrap_arm64
	prune+=(./usr/lib/aarch64-linux-gnu/{systemd,perl,gconv})
	;;
*) die "unknown guest $1 (see the head of $0)" ;;
esac
id=$({ declare -p packages prune; declare -f "$bootstrap" settle pack; } | sha256sum | cut -c1-12)
[ "$kind" != arm64 ] || id=arm64-$id
cached "guest/$suite-$id" make_root
