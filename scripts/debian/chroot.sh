# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Chroots of Debian releases, in which packages are built and installed. The cache has a base system
# of each release; each use mounts a fresh layer over it (overlayfs). Sourced, never run.
#
# Variables of this file and of the script that sources it: root, the chroot that has been entered;
# log, the file that programs in the chroot write to; out, the folder of logs; suite and work, the
# release and the folder of the test that runs.
#
# A script that enters a chroot has a mount namespace of its own, so that its mounts end with it.

# suites_of RELEASE: print the suites that a user of that Debian release has in apt's sources.
suites_of() {
	case $1 in
	bookworm) echo bookworm bookworm-security ;;
	*) echo "$1" ;;
	esac
}

# chroot_make DIR SUITE LOG PACKAGES [MMDEBSTRAP ARGUMENTS...]: make a minimal Debian with these
# packages (separated by commas) in DIR/root. Packages that a hook downloads stay in apt's cache
# there.
chroot_make() {
	local dir=$1 suite=$2 log=$3 list=$4 valid='' date=''
	shift 4
	# Take over this machine's apt settings for outdated release files.
	eval "$(apt-config shell valid Acquire::Check-Valid-Until date Acquire::Check-Date)"
	# shellcheck disable=SC2046
	"$KWARP_ROOT/scripts/apt-private.sh" sources $(suites_of "$suite") |
		grep '^deb ' >"$dir/sources.list"
	# mmdebstrap's hook, not this shell, expands the parameter.
	# shellcheck disable=SC2016
	logged "$KWARP_CACHE/log/$log.log" as_root mmdebstrap --variant=minbase \
		--aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"' \
		--aptopt="Acquire::Check-Valid-Until \"${valid:-true}\"" \
		--aptopt="Acquire::Check-Date \"${date:-true}\"" \
		--include="$list" --customize-hook='chroot "$1" apt-get clean' "$@" \
		--skip=cleanup/apt "$suite" "$dir/root" "$dir/sources.list"
	as_root rm -f "$dir/root/etc/resolv.conf"
}

# Fail if a mount namespace cannot be made, as in a chroot whose root is no mount point, or in a
# container that may not mount. Scripts call this at their beginning, because the packages take
# minutes.
need_mounts() {
	local why
	why=$(as_root unshare -m true 2>&1) || die "the chroots of Debian need a mount namespace, and there is none: $why" \
		"(a chroot: make its folder a mount point by mount --bind DIR DIR before; a container: it must be privileged)"
}

# A chroot in the role of a machine: Debian's base, and the smallest kernel with headers. Packages
# that kwarp's packages depend on, and programs for the tests, are downloaded but not installed.
machine_has=(linux-headers-cloud-amd64 linux-image-cloud-amd64 systemd)
machine_downloads=(dkms openssl python3 iproute2 libibverbs1 ibverbs-providers ibverbs-utils
	mokutil kmod)

make_machine() {
	local dir=$1 suite=$2
	say "making a chroot of Debian $suite to install packages in"
	# shellcheck disable=SC2016
	chroot_make "$dir" "$suite" "machine-$suite" "$(IFS=,; echo "${machine_has[*]}")" \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--customize-hook='mkdir -p "$1/etc/initramfs-tools"' \
		--customize-hook='echo update_initramfs=no >"$1/etc/initramfs-tools/update-initramfs.conf"' \
		--customize-hook="chroot \"\$1\" apt-get -qq -y --no-install-recommends \
			--download-only install ${machine_downloads[*]}"
}

machine_base() {
	local id
	id=$({
		echo "${machine_has[*]} ${machine_downloads[*]}"
		declare -f make_machine suites_of chroot_make
	} | sha256sum | cut -c1-10)
	cached "machine/$1-$id" make_machine "$1"
}

# chroot_enter BASE WORK: mount a fresh layer over the base, which stays unchanged. Sets root.
chroot_enter() {
	local base=$1 work=$2
	root=$work/root
	mkdir -p "$work"/{upper,overlay,root}
	mount -t overlay -o "lowerdir=$base/root,upperdir=$work/upper,workdir=$work/overlay" \
		overlay "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/run"
}

chroot_leave() {
	local work=$1
	umount -R "$work/root/dev" "$work/root" 2>/dev/null ||
		umount -R -l "$work/root" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}

# root PROGRAM...: run a program in the chroot, as root.
root() {
	chroot "$root" env -i HOME=/root DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" </dev/null
}

# chroot_kernel RELEASE: replace uname in the chroot, so that it reports this kernel. A changed
# PATH would not do, because dpkg sets the PATH of packages' scripts.
chroot_kernel() {
	[ -e "$root/usr/bin/uname.own" ] || mv "$root/usr/bin/uname" "$root/usr/bin/uname.own"
	cat >"$root/usr/bin/uname" <<-END
		#!/bin/sh
		[ "\$*" = -r ] && echo $1 || exec /usr/bin/uname.own "\$@"
	END
	chmod 755 "$root/usr/bin/uname"
}

chroot_kernels() {
	(cd "$root/lib/modules" && ls)
}

# rdma_core_for SUITE TO: copy the source of rdma-core to the folder TO, in the version of the
# libibverbs that is installed in the chroot. The source is the tree RDMA_CORE_<SUITE> if that
# variable is set, else it comes from the mirror. If the mirror does not have that version, copy the
# version that get-source.sh gets by default, write the wanted version number into the copy, and
# make the file TO/stands-in: a provider that is built from the copy is good enough to test building
# and installing, but must not be used.
rdma_core_for() {
	local suite=$1 to=$2 given=RDMA_CORE_${1^^} version source
	# shellcheck disable=SC2016
	version=$(as_root chroot "$root" dpkg-query -W -f '${source:Version}' libibverbs1)
	if [ -n "${!given:-}" ]; then
		cp -a "${!given}" "$to"
		return
	fi
	if source=$("$KWARP_ROOT/scripts/get-source.sh" rdma-core --suite "$suite" "$version" \
		2>>"$KWARP_CACHE/log/rdma-core-$suite.log"); then
		cp -a "$source" "$to"
		return
	fi
	source=$("$KWARP_ROOT/scripts/get-source.sh" rdma-core)
	cp -a "$source" "$to"
	sed -i "s/^set(PACKAGE_VERSION .*/set(PACKAGE_VERSION \"${version%-*}\")/" \
		"$to/CMakeLists.txt"
	touch "$to/stands-in"
	say "$suite: the mirror has no source of rdma-core $version, another release's stands in"
}

# ------------------------------------------------------------------------- cases

# chroot_case GROUP NAME: run NAME_case, and print one result with its time. The case fails at the
# first command that fails; then the end of its output is shown, and that of the chroot's programs
# (file "log"). Later cases may fail for the same reason. A case that cannot run prints why, and
# returns 77.
chroot_case() {
	local group=$1 name=$2 status=0 start=$SECONDS
	log=${out:?}/$suite-$name.log
	: >"$log"
	set +e
	(set -e; "${name//-/_}_case") >"$work/said" 2>&1
	status=$?
	set -e
	case $status in
	0) echo "ok $group/$suite/$name ($((SECONDS - start)) s)" ;;
	77) echo "ok $group/$suite/$name # SKIP $(tail -n 1 "$work/said")" ;;
	*)
		echo "not ok $group/$suite/$name ($((SECONDS - start)) s), log: $log"
		tail -n 5 "$work/said" "$log" | sed 's/^/  /'
		;;
	esac
}
