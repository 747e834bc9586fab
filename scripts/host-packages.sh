#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Install missing Debian packages that builds and tests need on this machine. Nothing else is
# changed.
#
#   scripts/host-packages.sh [demo|check|bench]   install this set and the sets before it
#                                                 (default: check, which includes docs)
#   scripts/host-packages.sh install              install only what scripts/install.sh needs
#   scripts/host-packages.sh docs                 install only what scripts/docs.sh needs
#   scripts/host-packages.sh packages             install only what `make packages` needs
#   scripts/host-packages.sh big-endian           install demo, and what kunit.sh --big-endian needs
#   scripts/host-packages.sh arm64                install demo, and what e2e.sh --kernel 6.12-arm64
#                                                 needs
#   scripts/host-packages.sh --list SET           print the set, and install nothing
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) head_comment; exit ;; esac

# Packages for building the module and the provider, and for booting a virtual machine.
demo=(build-essential bc flex bison libelf-dev libssl-dev kmod rsync
	qemu-system-x86 mmdebstrap cpio xz-utils zstd python3
	cmake ninja-build pkg-config libnl-3-dev libnl-route-3-dev libudev-dev
	debian-archive-keyring ca-certificates git)
# Packages for static checks, fuzzing and the decoding of captures.
check=(sparse shellcheck clang llvm lld libclang-rt-dev python3-docutils tshark)
# Packages for the book of Documentation/. Making it is also one of the static checks.
docs=(python3-sphinx)
# Packages for the plots of the benchmark.
bench=(gnuplot-nox)
# A cross compiler and an emulator, for scripts/kunit.sh --big-endian.
big_endian=(gcc-s390x-linux-gnu qemu-system-misc)
# A cross compiler, a C library to link against and an emulator, for e2e.sh --kernel 6.12-arm64.
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

list=0
[ "${1:-}" != --list ] || { list=1; shift; }
wanted=("${demo[@]}")
case ${1:-check} in
demo) ;;
check) wanted+=("${check[@]}" "${docs[@]}") ;;
bench) wanted+=("${check[@]}" "${docs[@]}" "${bench[@]}") ;;
install) wanted=("${install[@]}") ;;
docs) wanted=("${docs[@]}") ;;
packages) wanted=("${packages[@]}") ;;
big-endian) wanted+=("${big_endian[@]}") ;;
arm64) wanted+=("${arm64[@]}") ;;
*) die "usage: $0 [--list] [demo|check|bench|install|docs|packages|big-endian|arm64]" ;;
esac
[ "$list" = 0 ] || { printf '%s\n' "${wanted[@]}"; exit; }
if [ "${1:-}" = install ] && [ ! -e "/lib/modules/$(uname -r)/build/Makefile" ]; then
	wanted+=("linux-headers-$(uname -r)")
fi

command -v apt-get >/dev/null || die "this needs a Debian system; install by hand: ${wanted[*]}"
mapfile -t todo < <(missing "${wanted[@]}")
[ ${#todo[@]} -gt 0 ] || exit 0

say "installing ${#todo[@]} host packages: ${todo[*]}"
need_cache
log=$KWARP_CACHE/log/host-packages.log
if ! install "${todo[@]}" >"$log" 2>&1 && ! refresh_and_install "${todo[@]}" >>"$log" 2>&1; then
	tail -n 20 "$log" >&2
	die "apt-get could not install them (try 'apt-get update'); the whole log is $log"
fi
say "host packages are installed"
