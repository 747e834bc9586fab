#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Install the host packages that the build and the tests need and that are missing.
#
#   scripts/host-packages.sh [demo|check|bench]     (default: check; each contains those before it)
#   scripts/host-packages.sh install                what scripts/install.sh needs, and only that
#   scripts/host-packages.sh docs                   what scripts/docs.sh needs, likewise
#   scripts/host-packages.sh packages               what `make packages` needs, likewise
#   scripts/host-packages.sh big-endian             unit tests on s390x: demo and these
#   scripts/host-packages.sh arm64                  what e2e.sh --kernel 6.12-arm64 needs: demo and these
#   scripts/host-packages.sh --list SET             print that set, and install nothing
#
# Packages are all that it changes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) head_comment; exit ;; esac

# Build the module and the provider, boot a virtual machine.
demo=(build-essential bc flex bison libelf-dev libssl-dev kmod rsync
	qemu-system-x86 mmdebstrap cpio xz-utils zstd python3
	cmake ninja-build pkg-config libnl-3-dev libnl-route-3-dev libudev-dev
	debian-archive-keyring ca-certificates git)
# Static checks, fuzzing, decoding of captures.
check=(sparse shellcheck clang llvm lld libclang-rt-dev python3-docutils tshark)
# The book; a part of the static checks, too.
docs=(python3-sphinx)
# Plots.
bench=(gnuplot-nox)
# A cross compiler and an emulator, for scripts/kunit.sh --big-endian.
big_endian=(gcc-s390x-linux-gnu qemu-system-misc)
# The same, and a C library to link against, for scripts/e2e.sh --kernel 6.12-arm64.
arm64=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-system-arm)
# Module and provider for this machine, and the programs of the README's first steps.
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
