#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Install missing Debian packages that builds and tests need on this machine. Nothing else is
# changed.
#
#   scripts/host-packages.sh [SET]          install this set (default: check)
#   scripts/host-packages.sh --list SET     print the set, and install nothing
#
# If the whole set is installed, this needs no root. The sets are those of the commands: demo, kunit,
# coverage, big-endian (kunit.sh --big-endian), provider, fuzz, lint, docs, check (all of these),
# arm64 (e2e.sh --kernel 6.12-arm64), packages, install.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) head_comment; exit ;; esac

# To fetch and unpack kernels and sources, and to build the module.
module=(build-essential libelf-dev libssl-dev kmod cpio xz-utils zstd
	debian-archive-keyring ca-certificates git)
# To build kernels, and to run KUnit.
kernel=(bc flex bison rsync python3)
provider=(cmake ninja-build pkg-config rsync libnl-3-dev libnl-route-3-dev libudev-dev)
# To make and boot a virtual machine.
guest=(qemu-system-x86 mmdebstrap)
clang=(clang llvm lld libclang-rt-dev)
docs=(python3-sphinx)
lint=(sparse shellcheck python3 "${docs[@]}")
# To decode captures of the end-to-end suite.
captures=(tshark)
# Cross compilers and emulators; arm64 also has a C library to link against.
big_endian=(gcc-s390x-linux-gnu qemu-system-misc)
arm64=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm)
# Packages for building and installing the module and the provider on this machine, and the programs
# of the first steps in README.md.
install=(build-essential dkms kmod rsync xz-utils python3 iproute2
	cmake ninja-build pkg-config libnl-3-dev libnl-route-3-dev libudev-dev
	debian-archive-keyring ca-certificates rdma-core ibverbs-providers
	ibverbs-utils rdmacm-utils)
# Building packages needs only the tools that make chroots; the chroots have the rest.
packages=(mmdebstrap debian-archive-keyring ca-certificates xz-utils git)
missing() {
	local p
	for p in "$@"; do
		dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || echo "$p"
	done
}

install() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
		-o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=600 --no-install-recommends install "$@"
}

refresh_and_install() {
	as_root apt-get -qq -o DPkg::Lock::Timeout=600 update
	install "$@"
}

# If it is for lack of headers that apt has failed, say what to do.
no_headers() {
	local headers
	headers=linux-headers-$(uname -r)
	grep -q "Unable to locate package $headers\$" "$log" || return
	die "apt has no $headers, the headers of the running kernel: boot a kernel that apt has, or install by hand" \
		"what provides /lib/modules/$(uname -r)/build (log: $log)"
}

list=0
[ "${1:-}" != --list ] || { list=1; shift; }
demo=("${module[@]}" "${kernel[@]}" "${provider[@]}" "${guest[@]}")
check=("${demo[@]}" "${clang[@]}" "${lint[@]}" "${captures[@]}")
case ${1:-check} in
demo) wanted=("${demo[@]}") ;;
kunit) wanted=("${module[@]}" "${kernel[@]}") ;;
coverage) wanted=("${module[@]}" "${kernel[@]}" "${clang[@]}") ;;
big-endian) wanted=("${module[@]}" "${kernel[@]}" "${big_endian[@]}") ;;
provider) wanted=("${module[@]}" "${provider[@]}") ;;
fuzz) wanted=("${module[@]}" "${clang[@]}") ;;
lint) wanted=("${module[@]}" "${kernel[@]}" "${lint[@]}") ;;
docs) wanted=("${docs[@]}") ;;
check) wanted=("${check[@]}") ;;
arm64) wanted=("${demo[@]}" "${arm64[@]}") ;;
packages) wanted=("${packages[@]}") ;;
install) wanted=("${install[@]}") ;;
*) die "no set '$1' (see $0 --help)" ;;
esac
[ "$list" = 0 ] || { printf '%s\n' "${wanted[@]}"; exit; }
if [ "${1:-}" = install ] && [ ! -e "/lib/modules/$(uname -r)/build/Makefile" ]; then
	wanted+=("linux-headers-$(uname -r)")
fi

command -v apt-get >/dev/null || die "this needs a Debian system; install by hand: ${wanted[*]}"
mapfile -t todo < <(missing "${wanted[@]}" | awk '!seen[$0]++')
[ ${#todo[@]} -gt 0 ] || exit 0

need_root "the packages that are missing here (apt-get install --no-install-recommends ${todo[*]})"
say "installing ${#todo[@]} host packages: ${todo[*]}"
need_cache
log=$KWARP_CACHE/log/host-packages.log
start_ticks "$log" "installing packages"
if ! install "${todo[@]}" >"$log" 2>&1 && ! refresh_and_install "${todo[@]}" >>"$log" 2>&1; then
	no_headers || die "the packages cannot be installed: $(apt_trouble "$log")"
fi
end_ticks
say "host packages are installed"
