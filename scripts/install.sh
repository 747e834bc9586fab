#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# make install: install kwarp on this machine: the module through DKMS, which builds it again for
# each new kernel; the provider for the installed libibverbs; the command kwarpctl; man pages and
# the systemd unit.
#
#   scripts/install.sh                 install all that (as root)
#   scripts/install.sh dkms-tree DIR [VERSION]   only copy the source that DKMS builds from to DIR
#
#   PROVIDER=no        leave the provider out: programs can use links of type kwarp-siw, through libsiw
#   RDMA_CORE=TREE     use this source of the machine's rdma-core instead of downloading it
#   KWARP_CACHE=DIR    cache folder (here /var/cache/kwarp)
#
# An older installation is replaced only after everything has been built. Nothing is written to the
# checkout, which usually belongs to a user and not to root.
set -euo pipefail
export KWARP_CACHE=${KWARP_CACHE:-/var/cache/kwarp}
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
upstream=https://github.com/linux-rdma/rdma-core

# The files that DKMS builds from. Only what the module's build needs is in the list.
dkms_files=(Kbuild Makefile LICENSES scripts/lib.sh scripts/version.sh scripts/build-module.sh
	scripts/kernel include drivers/infiniband/sw/kwarp)

# DKMS identifies a module by its version, and keeps one source and one build of each version. The
# version contains a checksum of the sources, so that a new build does not replace the installed
# one.
dkms_version() {
	local tree=$1
	(
		cd "$tree"
		find . -type f ! -name dkms.conf | LC_ALL=C sort | xargs sha256sum
		sha256sum <"/lib/modules/$(uname -r)/build/Module.symvers"
	) 2>/dev/null | sha256sum | cut -c1-10 | sed "s/^/$("$here/version.sh")./"
}

dkms_tree() {
	local to=$1 version=${2:-} f
	rm -rf "$to"
	mkdir -p "$to"
	for f in "${dkms_files[@]}"; do
		mkdir -p "$to/$(dirname "$f")"
		cp -r "$KWARP_ROOT/$f" "$to/$f"
	done
	find "$to" \( -name '*.ko' -o -name '*.o' -o -name '.*.cmd' \) -delete
	[ -n "$version" ] || version=$(dkms_version "$to")
	sed "s/@VERSION@/$version/" "$KWARP_ROOT/packaging/dkms.conf.in" >"$to/dkms.conf"
	echo "$version"
}

# Callers are loops that read standard input, so dkms must not read it.
dkms() {
	command dkms "$@" </dev/null
}

# Print all kernels with headers, the running one first.
kernels() {
	local dir release running
	running=$(uname -r)
	echo "$running"
	for dir in /lib/modules/*/build; do
		release=$(basename "$(dirname "$dir")")
		[ "$release" = "$running" ] || [ ! -e "$dir/Makefile" ] || echo "$release"
	done
}

# dkms_has VERSION KERNEL STATE: true if DKMS has this version for the kernel in this STATE, built
# or installed.
dkms_has() {
	[[ $(dkms status -m kwarp -v "$1" -k "$2" 2>/dev/null) = *": $3"* ]]
}

has_module() {
	[ -n "$(find "/lib/modules/$1" -name 'kwarp.ko*' -print -quit 2>/dev/null)" ]
}

# dkms_failed VERSION KERNEL: report that the build failed, and exit. Save the build's log first,
# because "dkms remove" deletes it. A module that was installed before is not touched.
dkms_failed() {
	local version=$1 kernel=$2 log=$KWARP_CACHE/log/dkms.log where='' kept='nothing has been installed'
	rm -f "$log"
	! cp "/var/lib/dkms/kwarp/$version/build/make.log" "$log" 2>/dev/null || where=" (log: $log)"
	dkms remove -m kwarp -v "$version" --all >/dev/null 2>&1 || true
	rm -rf "/usr/src/kwarp-$version" "/var/lib/dkms/kwarp/$version"
	rmdir /var/lib/dkms/kwarp 2>/dev/null || true
	! has_module "$kernel" || kept='the module that was installed before is still there'
	die "DKMS could not build the module for $kernel$where; $kept"
}

# build_module VERSION: build for all kernels with headers. A failed build is an error for the
# running kernel and for kernels that already have the module. For other kernels it is not, and
# these get no module.
build_module() {
	local version=$1 kernel status
	while read -r kernel; do
		! dkms_has "$version" "$kernel" built && ! dkms_has "$version" "$kernel" installed || continue
		say "building the module for $kernel, which takes one to three minutes"
		status=0
		start_ticks "/var/lib/dkms/kwarp/$version/build/make.log" DKMS
		dkms build -m kwarp -v "$version" -k "$kernel" >"$KWARP_CACHE/log/dkms-build.log" 2>&1 || status=$?
		end_ticks
		[ "$status" -ne 0 ] || continue
		cat "$KWARP_CACHE/log/dkms-build.log" >&2
		if [ "$kernel" = "$(uname -r)" ] || has_module "$kernel"; then
			dkms_failed "$version" "$kernel"
		fi
		say "no module for the kernel $kernel, see above"
	done < <(kernels)
}

# Print the versions of kwarp that DKMS knows. Releases of DKMS print them differently.
dkms_versions() {
	dkms status -m kwarp 2>/dev/null | sed -n 's|^kwarp[/,] *\([^,:]*\).*|\1|p' | sort -u
}

# Print the kernels for which DKMS has a build of this version.
dkms_kernels() {
	dkms status -m kwarp -v "$1" 2>/dev/null | sed -n 's|^kwarp[^:]*, *\([^,:]*\), *[^,:]*:.*|\1|p'
}

# Install the module. If DKMS believes that the module is installed, but the file is gone, DKMS
# must uninstall it first.
install_module() {
	local version=$1 kernel=$2
	if dkms_has "$version" "$kernel" installed; then
		! has_module "$kernel" || return 0
		dkms uninstall -m kwarp -v "$version" -k "$kernel"
	fi
	dkms install -m kwarp -v "$version" -k "$kernel" --force ||
		die "DKMS has built the module for $kernel and could not install it, see above"
}

# replace_module VERSION: called after everything has been built. Install the new module over the
# old one, and remove the old version. A kernel without headers keeps the old module, because the
# new one cannot be built for it.
replace_module() {
	local version=$1 other kernel
	while read -r kernel; do
		install_module "$version" "$kernel"
	done < <(dkms_kernels "$version")
	while read -r other; do
		[ "$other" != "$version" ] || continue
		while read -r kernel; do
			if dkms_has "$version" "$kernel" installed || [ ! -d "/lib/modules/$kernel" ]; then
				dkms remove -m kwarp -v "$other" -k "$kernel"
			else
				say "the kernel $kernel keeps the module of $other: there are no headers to build a new one with"
			fi
		done < <(dkms_kernels "$other")
		[ -z "$(dkms_kernels "$other")" ] || continue
		dkms remove -m kwarp -v "$other" --all 2>/dev/null || true
		rm -rf "/usr/src/kwarp-$other"
	done < <(dkms_versions)
}

# Print the version of rdma-core to build the provider for: that of the installed libibverbs, else
# that of the one that apt would install.
rdma_core_version() {
	local found
	# shellcheck disable=SC2016
	found=$(dpkg-query -W -f '${db:Status-Status} ${source:Version}' libibverbs1 2>/dev/null) || found=
	case $found in
	'installed '*) echo "${found#installed }" ;;
	*) apt-cache policy libibverbs1 | awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }' ;;
	esac
}

# same_release TREE VERSION: fail if TREE is the source of another release of rdma-core than
# VERSION. Any Debian revision of the same release is accepted, because stable updates do not change
# the private headers.
same_release() {
	local tree=$1 version=$2 of
	of=$(rdma_core_release "$tree")
	[ -n "$of" ] || die "RDMA_CORE=$tree is not an rdma-core source tree: give the tree of rdma-core ${version%-*}"
	[ "${of%%.*}" = "${version%%.*}" ] ||
		die "RDMA_CORE=$tree is rdma-core $of, and libibverbs here is of another release: give the tree of rdma-core ${version%-*}"
}

rdma_core_source() {
	local version=$1 tag
	if [ -n "${RDMA_CORE:-}" ]; then
		same_release "$RDMA_CORE" "$version"
		realpath "$RDMA_CORE"
		return
	fi
	tag=v${version%-*}
	"$here/get-source.sh" rdma-core --own "$version" || die "no source of rdma-core $version here, see above. Either take upstream's:
	git clone --depth 1 -b $tag $upstream \$HOME/rdma-core-$tag
	sudo make install RDMA_CORE=\$HOME/rdma-core-$tag
or install without the provider, for links of type kwarp-siw:
	sudo make install PROVIDER=no"
}

# Fetch the source of rdma-core first, and install packages after that. A mirror often lacks the
# source, and then the machine must not have been changed. If the packages bring another libibverbs,
# fetch the source again.
source_and_packages() {
	local version
	if [ "$provider" = no ]; then
		"$here/host-packages.sh" install
		return
	fi
	version=$(rdma_core_version)
	[ -n "$version" ] || { apt-get -qq update >&2; version=$(rdma_core_version); }
	[ -n "$version" ] || die "apt knows no libibverbs1: enable the component main in apt's sources, then apt-get update"
	source=$(rdma_core_source "$version")
	"$here/host-packages.sh" install
	[ "$(rdma_core_version)" = "$version" ] || source=$(rdma_core_source "$(rdma_core_version)")
}

install_provider() {
	local multiarch
	multiarch=$(gcc -print-multiarch)
	install -m 644 "$out/usr/lib/$multiarch/libibverbs/"libkwarp-rdmav*.so "/usr/lib/$multiarch/libibverbs/"
	install -m 644 "$out/etc/libibverbs.d/kwarp.driver" /etc/libibverbs.d/
	install -D -m 644 -t /usr/local/share/man/man7 "$out/usr/share/man/man7/"*.7
}

# Install kwarpctl: a link in the PATH of all users, to the folder with its files. Install the
# scripts for bpftrace.
install_kwarpctl() {
	local from=$KWARP_ROOT/tools/kwarpctl to=/usr/local/lib/kwarpctl
	rm -rf "$to"
	install -D -m 755 "$from/kwarpctl" "$to/kwarpctl"
	install -D -m 644 -t "$to" "$from/"*.py
	mkdir -p /usr/local/bin
	ln -sfn ../lib/kwarpctl/kwarpctl /usr/local/bin/kwarpctl
	install -D -m 644 -t /usr/local/share/man/man8 "$from/kwarpctl.8"
	install -D -m 644 "$from/kwarpctl.bash" /usr/local/share/bash-completion/completions/kwarpctl
	install -D -m 644 -t /usr/local/share/kwarp "$KWARP_ROOT/tools/bpftrace/"*.bt
}

# Install kwarp@.service, and make a running systemd read it.
install_unit() {
	install -D -m 644 "$KWARP_ROOT/packaging/kwarp@.service" /etc/systemd/system/kwarp@.service
	[ ! -d /run/systemd/system ] || systemctl daemon-reload || true
}

secure_boot() {
	local state
	# The file has four octets of attributes before the value.
	state=$(od -An -tu1 -j4 -N1 /sys/firmware/efi/efivars/SecureBoot-* 2>/dev/null) || return 1
	[ "${state// /}" = 1 ]
}

# Try to load the module now: if the kernel refuses it, "rdma link add" would only say "Invalid
# argument".
try_module() {
	local words
	if grep -qs '^kwarp ' /proc/modules; then
		say "the module that was loaded before stays until its links are gone and: rmmod kwarp"
	elif words=$(modprobe kwarp 2>&1); then
		say "the module loads"
	else
		say "warning: the module does not load here: ${words//$'\n'/ }"
		! secure_boot || say "Secure Boot is on: enrol DKMS's key, see README.md"
		return 1
	fi
}

provider=${PROVIDER:-yes}
case ${1:-} in
'') ;;
dkms-tree)
	[ $# -eq 2 ] || [ $# -eq 3 ] || die "usage: $0 dkms-tree DIR [VERSION]"
	dkms_tree "$(realpath -m "$2")" "${3:-}" >/dev/null
	exit
	;;
-h | --help) echo "usage: sudo make install [PROVIDER=no | RDMA_CORE=TREE]"; exit ;;
*) die "unknown argument '$1'; usage: sudo make install [PROVIDER=no | RDMA_CORE=TREE]" ;;
esac
[[ $provider = @(yes|no) ]] || die "PROVIDER=$provider: this is yes or no"
[ "$(id -u)" -eq 0 ] || die "run as root: sudo make install"
command -v apt-get >/dev/null || die "this is for Debian and what is made of it; README.md has the steps for other systems"
found=$(kwarp_packages)
[ -z "$found" ] || die "kwarp is here from packages: upgrade those, or run apt-get purge $found, and then make install again"
need_cache
source_and_packages
out=$KWARP_CACHE/install
if [ "$provider" = yes ]; then
	say "building the provider"
	"$here/build-provider.sh" "$source" "$out/provider" >/dev/null
fi
version=$(dkms_tree "$out/dkms")
if [ -z "$(dkms status -m kwarp -v "$version")" ]; then
	rm -rf "/usr/src/kwarp-$version"
	cp -r "$out/dkms" "/usr/src/kwarp-$version"
	dkms add -m kwarp -v "$version" >/dev/null
fi
build_module "$version"
replace_module "$version"
out=$out/provider
[ "$provider" = no ] || install_provider
install_kwarpctl
install_unit
type=kwarp
if [ "$provider" = no ]; then
	type=kwarp-siw
	say "no provider was installed: programs can use links of type kwarp-siw, see Documentation/admin-guide.rst"
fi
if try_module; then
	say "installed: rdma link add kw0 type $type netdev <device>"
else
	say "installed, for a kernel that takes the module; kwarpctl doctor says what is in the way"
fi
