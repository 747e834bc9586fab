#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Test make install and make uninstall, run by an ordinary user with sudo in chroots of Debian 12
# and 13: a first installation, a second one, one over a kernel update, one of a source that does
# not compile, and the removal. The module is built and not loaded: the end-to-end suite loads
# modules. Both releases run at the same time, as a run mostly waits for the disk or uses one
# processor. Prints TAP; the output of the programs is in build/install-test.
#
#   scripts/debian/install-test.sh [bookworm|trixie]...
#
#   KWARP_RESULTS=FILE   append "PASSED FAILED SKIPPED" to FILE, for make check
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/chroot.sh"
here=$KWARP_ROOT/scripts
root='' log=''

# Packages of the smallest kernel of each release, and (next_of) of a second one for the update.
kernel=linux-headers-cloud-amd64
image=linux-image-cloud-amd64
next_of() {
	case $1 in
	bookworm) echo linux-headers-6.12-cloud-amd64 ;;
	trixie) echo linux-headers-amd64 ;;
	esac
}

# ---------------------------------------------------------------- the chroots

# make_base DIR SUITE: make the base, over which each test mounts a fresh layer. It has all packages
# that make install needs, so that tests need no network. The packages of the second kernel are
# downloaded, but not installed.
make_base() {
	local dir=$1 suite=$2 list
	say "making a chroot of Debian $suite"
	list=$("$here/host-packages.sh" --list install | paste -sd,)
	# shellcheck disable=SC2016
	chroot_make "$dir" "$suite" "install-$suite" "$list,$kernel,$image,sudo,systemd" \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		--customize-hook='chroot "$1" useradd -m -s /bin/bash kw' \
		--customize-hook='echo "kw ALL=(ALL) NOPASSWD: ALL" >"$1/etc/sudoers.d/kw"' \
		--customize-hook='echo update_initramfs=no >"$1/etc/initramfs-tools/update-initramfs.conf"' \
		--customize-hook="chroot \"\$1\" apt-get -qq -y --download-only --no-install-recommends install $(next_of "$suite")"
}

base_of() {
	local id
	id=$({
		echo "$kernel $image"
		declare -f make_base next_of suites_of chroot_make
		"$here/host-packages.sh" --list install
	} | sha256sum | cut -c1-10)
	cached "install/$1-$id" make_base "$1"
}

# enter SUITE: mount a fresh layer over the base, with a checkout in the user's home.
enter() {
	local suite=$1
	base=$(base_of "$suite")
	chroot_enter "$base" "$work"
	rdma_core_for "$suite" "$work/rdma-core"
	mkdir -p "$root/rdma-core" "$root/home/kw/kwarp"
	mount --bind "$work/rdma-core" "$root/rdma-core"
	(cd "$KWARP_ROOT" && git ls-files -co --exclude-standard -z | tar -c --null --ignore-failed-read -T - 2>/dev/null) |
		tar -x --no-same-owner -C "$root/home/kw/kwarp"
	chroot "$root" chown -R kw: /home/kw
	mapfile -t before < <(chroot_kernels)
	[ ${#before[@]} -eq 1 ] || die "$suite: ${#before[@]} kernels in a fresh chroot"
	chroot_kernel "${before[0]}"
}

# user COMMAND...: run in the checkout as the user. The output goes to the log.
user() {
	echo "\$ $*" >>"$log"
	chroot "$root" setpriv --reuid kw --regid kw --init-groups env -i HOME=/home/kw USER=kw \
		PATH=/usr/local/bin:/usr/bin:/bin bash -c "cd ~/kwarp && $*" >>"$log" 2>&1 </dev/null
}

make_install() {
	user sudo make install RDMA_CORE=/rdma-core
}

# make install must fail.
install_fails() {
	! make_install || { echo "make install succeeded"; return 1; }
}

# ---------------------------------------------------------------------- cases

# module_is KERNEL MARK: fail unless the kernel has exactly one module, modinfo finds it, and its
# description contains MARK.
module_is() {
	local kernel=$1 mark=$2 said
	[ "$(find "$root/lib/modules/$kernel" -name 'kwarp.ko*' | wc -l)" = 1 ] || { echo "$kernel has no module, or several"; return 1; }
	said=$(root modinfo -k "$kernel" -F description kwarp)
	[[ $said = *"$mark"* ]] || { echo "the module of $kernel is another one: $said"; return 1; }
	root modprobe -S "$kernel" -n kwarp
}

# The mirror has no source: make install says so, and changes nothing.
no_source_case() {
	local packages status=0
	packages=$(root dpkg-query -W)
	mv "$root/etc/apt/sources.list.d" "$root/etc/apt/sources.off"
	mkdir "$root/etc/apt/sources.list.d"
	user sudo make install || status=$?
	rmdir "$root/etc/apt/sources.list.d"
	mv "$root/etc/apt/sources.off" "$root/etc/apt/sources.list.d"
	[ "$status" -ne 0 ]
	grep -q "git clone .* -b v[0-9.]* https://" "$log"
	grep -q "make install RDMA_CORE=" "$log"
	grep -q "make install PROVIDER=no" "$log"
	[ "$packages" = "$(root dpkg-query -W)" ]
	rm -rf "$root/var/cache/kwarp"
	[ -z "$(ours)" ]
}

wrong_source_case() {
	local version
	version=$(rdma_core_release "$work/rdma-core")
	sed -i 's/^set(PACKAGE_VERSION .*/set(PACKAGE_VERSION "9.1")/' "$work/rdma-core/CMakeLists.txt"
	install_fails
	sed -i "s/^set(PACKAGE_VERSION .*/set(PACKAGE_VERSION \"$version\")/" "$work/rdma-core/CMakeLists.txt"
	grep -q 'is rdma-core 9.1, and libibverbs here is' "$log"
}

# Without a source of rdma-core the module and the tools can be installed, for links that libsiw
# serves.
no_provider_case() {
	user sudo make install PROVIDER=no
	module_is "${before[0]}" iWARP
	root modprobe -S "${before[0]}" -n rdma-link-kwarp-siw
	root kwarpctl explain 0x1202 | grep DDP_U_NOBUF
	[ -z "$(compgen -G "$root/usr/lib/*/libibverbs/libkwarp-rdmav*.so")" ]
	[ ! -e "$root/etc/libibverbs.d/kwarp.driver" ]
	compgen -G "$root/usr/lib/*/libibverbs/libsiw-rdmav*.so" >/dev/null
	grep -q 'links of type kwarp-siw' "$log"
}

install_case() {
	kept_provider
	make_install
	module_is "${before[0]}" iWARP
	compgen -G "$root/usr/lib/*/libibverbs/libkwarp-rdmav*.so" >/dev/null
	grep -qx 'driver kwarp' "$root/etc/libibverbs.d/kwarp.driver"
	[ -s "$root/usr/local/share/man/man7/kwarp.7" ]
	[ -s "$root/usr/local/share/man/man8/kwarpctl.8" ]
	root kwarpctl explain 0x1202 | grep DDP_U_NOBUF
	[ -s "$root/usr/local/share/kwarp/kwarp-latency.bt" ]
	root modprobe -S "${before[0]}" -n -v kwarp | grep rdma_ucm
	# No module is loaded in a chroot, and make install says that.
	grep -q 'the module does not load here' "$log"
	keep_provider
}

# Configuring rdma-core takes longest, so its build folder is kept in the base for the next test.
keep_provider() {
	(
		flock 9
		rm -rf "$base/provider"
		cp -a "$root/var/cache/kwarp/provider" "$base/"
	) 9>"$base/lock"
}

kept_provider() {
	(
		flock 9
		[ -d "$base/provider" ] || exit 0
		mkdir -p "$root/var/cache/kwarp"
		cp -a "$base/provider" "$root/var/cache/kwarp/"
	) 9>"$base/lock"
}

# Each Debian package of kwarp refuses to be installed while files of make install are present. The
# refusal comes from the package's preinst script, which is run here as dpkg would run it.
packages_case() {
	local package
	for package in kwarp-dkms kwarp-tools ibverbs-provider-kwarp; do
		if root sh "/home/kw/kwarp/debian/$package.preinst" install >"$work/preinst" 2>&1; then
			echo "$package does not see make install"
			return 1
		fi
		grep -q "^$package: error: kwarp is here from make install" "$work/preinst" || { cat "$work/preinst"; return 1; }
	done
}

# No file in the user's home may belong to root, because the user could not remove it.
owner_case() {
	local foreign
	foreign=$(find "$root/home/kw" -not -user "$(stat -c %u "$root/home/kw")")
	[ -z "$foreign" ] || { echo "root's: $foreign"; return 1; }
	user make clean
}

unit_case() {
	local words
	# --man=no: man is not installed in the chroot.
	words=$(root systemd-analyze verify --man=no kwarp@eth0.service 2>&1) || words="status $?: $words"
	[ -z "$words" ] || { echo "$words"; return 1; }
	root systemctl enable kwarp@eth0.service
}

again_case() {
	make_install
	module_is "${before[0]}" iWARP
}

# A kernel is installed, and DKMS's hook builds the module for it.
update_case() {
	root apt-get -qq -y --no-download --no-install-recommends install "$(next_of "$suite")" >>"$log" 2>&1
	mapfile -t kernels < <(chroot_kernels)
	[ ${#kernels[@]} -eq 2 ] || { echo "kernels: ${kernels[*]}"; return 1; }
	module_is "${kernels[0]}" iWARP
	module_is "${kernels[1]}" iWARP
}

# Make the checkout a new release, whose module is one small file that compiles in seconds. The first
# release has shown that the driver compiles.
second_release() {
	local driver=$root/home/kw/kwarp/drivers/infiniband/sw/kwarp
	printf '#include <linux/module.h>\nMODULE_LICENSE("Dual BSD/GPL");\nMODULE_DESCRIPTION("second release");\n' >"$driver/main.c"
	echo 'kwarp-y := main.o' >>"$driver/Kbuild"
}

release_case() {
	second_release
	make_install
	module_is "${kernels[0]}" 'second release'
	module_is "${kernels[1]}" 'second release'
	# Once more: now DKMS has the module for both kernels already.
	make_install
	module_is "${kernels[0]}" 'second release'
	module_is "${kernels[1]}" 'second release'
}

spoilt_case() {
	local spoilt=$root/home/kw/kwarp/drivers/infiniband/sw/kwarp/main.c
	echo '#error spoilt' >>"$spoilt"
	install_fails
	sed -i '/^#error spoilt/d' "$spoilt"
	module_is "${kernels[0]}" 'second release'
	module_is "${kernels[1]}" 'second release'
	grep -q 'installed before is still there' "$log"
	# DKMS still has the working version, so that it can build it for the next kernel.
	[ "$(root dkms status -m kwarp | grep -c installed)" = 2 ]
}

# Print all files whose names contain kwarp, except those in the user's home.
ours() {
	find "$root" -xdev -path "$root/home" -prune -o -iname '*kwarp*' -print
}

uninstall_case() {
	local left
	user sudo make uninstall
	left=$(ours)
	[ -z "$left" ] || { echo "left: $left"; return 1; }
	[ -z "$(root dkms status)" ]
	user sudo make uninstall
}

# --------------------------------------------------------------------- harness

test_suite() {
	suite=$1
	work=$(mktemp -d "$KWARP_CACHE/install/run-$suite.XXXXXX")
	trap 'chroot_leave "$work"' EXIT
	enter "$suite"
	for case in "${cases[@]}"; do
		chroot_case install "$case"
		# A case may install a kernel, and later cases need the list.
		mapfile -t kernels < <(chroot_kernels)
	done
	chroot_leave "$work"
	trap - EXIT
}

cases=(no-source wrong-source no-provider install packages owner unit again update release spoilt uninstall)
# Run again as root in a mount namespace, so that no mount is left.
case ${1:-} in -h | --help) head_comment; exit ;; esac
if [ "${KWARP_INSTALL_NS:-}" != 1 ]; then
	for suite in "$@"; do
		[ -n "$(next_of "$suite")" ] || die "no suite '$suite': there are bookworm and trixie"
	done
	[ $# -gt 0 ] || set -- bookworm trixie
	"$here/host-packages.sh" packages
	need_mounts
	# These commands still run as the user, who owns the cache and the checkout.
	rm -rf "$KWARP_ROOT/build/install-test"
	mkdir -p "$KWARP_ROOT/build/install-test"
	for suite in "$@"; do
		base_of "$suite" >/dev/null
	done
	as_root env KWARP_INSTALL_NS=1 KWARP_CACHE="$KWARP_CACHE" KWARP_RESULTS="${KWARP_RESULTS:-}" KWARP_T0="$KWARP_T0" \
		unshare -m "$here/debian/install-test.sh" "$@"
	exit
fi
out=$KWARP_ROOT/build/install-test
for suite in "$@"; do
	(test_suite "$suite" >"$out/$suite.tap") &
done
status=0
for suite in "$@"; do
	wait -n || status=$?
done
tap=()
for suite in "$@"; do
	tap+=("$out/$suite.tap")
done
cat "${tap[@]}"
read -r passed failed _ < <(cat "${tap[@]}" | "$here/tap-count.sh")
# If the test of a release ended early, count one failure.
[ "$status" -eq 0 ] || failed=$((failed + 1))
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed 0" >>"$KWARP_RESULTS"
say "install: $passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
