#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Test the Debian packages in fresh chroots of Debian 12, 13 and sid, which have Debian's base and a
# kernel with headers. The packages are built, judged by lintian, installed by apt, also where make
# install or another libibverbs is present, upgraded, removed and purged. The module is built and
# not loaded: the end-to-end suite loads modules. The RPM spec is parsed, and built as far as
# Debian's rpmbuild can. Prints TAP; the output of the programs is in build/package-test.
#
#   scripts/debian/package-test.sh [bookworm|trixie|sid]...      (default: all three)
#
#   RDMA_CORE_BOOKWORM=TREE   source of rdma-core of that release, if the mirror lacks it; likewise
#                             RDMA_CORE_TRIXIE and RDMA_CORE_SID
#   KWARP_RESULTS=FILE        append "PASSED FAILED SKIPPED" to FILE, for make check
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/chroot.sh"
here=$KWARP_ROOT/scripts
root='' log=''

packages=(kwarp-dkms ibverbs-provider-kwarp kwarp-tools)
next=0.9.1
driver=/etc/libibverbs.d/kwarp.driver
enabled=/etc/systemd/system/sys-subsystem-net-devices-eth0.device.wants/kwarp@eth0.service

enter() {
	local base
	base=$(machine_base "$suite")
	chroot_enter "$base" "$work"
	own_dev
	mapfile -t kernels < <(chroot_kernels)
	[ ${#kernels[@]} -eq 1 ] || die "$suite: ${#kernels[@]} kernels in a fresh chroot"
	chroot_kernel "${kernels[0]}"
	mkdir -p "$root"/{debs,checkout}
	cp -r "$out/debs" "$out/next" "$root/debs/"
	mount --bind -o ro "$KWARP_ROOT" "$root/checkout"
}

# Mount a /dev of the chroot's own. It has a file infiniband/uverbs0, which the host may lack. Only
# if libibverbs finds a device does it load its providers, which load_providers() tests.
own_dev() {
	local name minor
	mount -t tmpfs tmpfs "$root/dev"
	while read -r name minor; do
		mknod -m 666 "$root/dev/$name" c 1 "$minor"
	done <<<$'null 3\nzero 5\nfull 7\nrandom 8\nurandom 9'
	ln -s /proc/self/fd "$root/dev/fd"
	mkdir -p "$root"/dev/{shm,infiniband}
	touch "$root/dev/infiniband/uverbs0"
}

# apt ARGUMENTS...: call apt-get as a user would. The packages have been downloaded into the
# chroot.
apt() {
	echo "\$ apt-get $*" >>"$log"
	root apt-get -y --no-install-recommends "$@" >>"$log" 2>&1
}

# fails COMMAND...: the command must fail.
fails() {
	! "$@" || { echo "succeeded: $*"; return 1; }
}

installed() {
	root dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' 2>/dev/null | sort
}

deb() {
	echo "$out/debs/$suite/$1"_*.deb
}

field() {
	dpkg-deb -f "$(deb "$1")" "$2"
}

libibverbs() {
	root dpkg-query -W -f "\${$1}" libibverbs1
}

# ---------------------------------------------------------------------- cases

build_case() {
	local package
	for package in "${packages[@]}"; do
		[ -e "$(deb "$package")" ] || { echo "there is no $package"; return 1; }
		[[ $(dpkg-deb -f "$out/next/$suite/$package"_*.deb Version) = "$next"* ]]
		du -h "$(deb "$package")"
	done >>"$log"
}

lintian_case() {
	cp "$out/debs/$suite/lintian.txt" "$log"
	# The last line of the log is lintian's exit status: if lintian has died, it reports
	# nothing. In Debian 12 the status is 2 if a tag is overridden.
	grep -qxE 'lintian: status [02]' "$log"
	fails grep -E '^[EW]:' "$log"
}

# The provider's dependency allows all packagings of the libibverbs release that it was built for,
# and no other release.
depends_case() {
	local release least below
	local asked='libibverbs1 \(>= ([0-9.]+)\), libibverbs1 \(<< ([0-9.]+~)\)'
	release=$(root apt-cache show libibverbs1 | sed -n 's/^Version: \(.*\)-[^-]*$/\1/p')
	[[ $(field ibverbs-provider-kwarp Depends) =~ $asked ]]
	least=${BASH_REMATCH[1]} below=${BASH_REMATCH[2]}
	[ "$least" = "$release" ] || { echo "libibverbs1 is of $release, not of $least"; return 1; }
	dpkg --compare-versions "$release-99+deb99u1" lt "$below"
	dpkg --compare-versions "${release%.*}.$((${release##*.} + 1))-1" gt "$below"
	dpkg --compare-versions "$((${release%.*} - 1)).99-1" lt "$least"
}

# kwarp-tools refuses to be installed while files of make install are present. A folder that make
# install makes is enough here; install-test.sh tests that with all files.
made_case() {
	mkdir -p "$root/usr/local/lib/kwarpctl"
	fails apt install "/debs/debs/$suite/$(basename "$(deb kwarp-tools)")"
	grep -q '^kwarp-tools: error: kwarp is here from make install' "$log"
	rmdir "$root/usr/local/lib/kwarpctl"
	# apt has installed the dependencies. Remove them, so that the next case installs them.
	apt --fix-broken install
	apt autoremove
	[ -z "$(installed | grep kwarp)" ]
}

# The provider for another release, which this run has also built, cannot be installed.
foreign_case() {
	local other before after
	other=$(find "$out/debs" -name 'ibverbs-provider-kwarp_*.deb' ! -path "*/$suite/*" |
		sort | sed q)
	[ -n "$other" ] || { echo "this run has no packages of another release"; return 77; }
	before=$(installed)
	fails apt install "/debs/${other#"$out"/}"
	grep -q 'ibverbs-provider-kwarp : ' "$log"
	grep -q 'Depends: libibverbs1 (' "$log"
	after=$(installed)
	[ "$before" = "$after" ]
}

# module_is VERSION: fail unless the kernel has one module, of this version, signed with DKMS's key.
module_is() {
	local version=$1 kernel=${kernels[0]} found
	found=$(find "$root/lib/modules/$kernel" -name 'kwarp.ko*' | wc -l)
	[ "$found" = 1 ] || { echo "there are $found modules"; return 1; }
	[ "$(root modinfo -k "$kernel" -F version kwarp)" = "$version" ]
	[[ $(root modinfo -k "$kernel" -F signer kwarp) = *DKMS* ]] ||
		{ echo "it is not signed"; return 1; }
	root modprobe -S "$kernel" -n -v kwarp | grep rdma_ucm
	[ "$(root dkms status -m kwarp | grep -c installed)" = 1 ]
	[ "$(find "$root/usr/src" -maxdepth 1 -name 'kwarp-*' | wc -l)" = 1 ]
}

# all_installed VERSION: fail unless all three packages are installed, with versions that begin with
# VERSION.
all_installed() {
	local package
	for package in "${packages[@]}"; do
		installed | grep "^$package $1.* installed$" ||
			{ installed | grep kwarp; return 1; }
	done
}

install_case() {
	local start=$SECONDS debs
	mapfile -t debs < <(cd "$root" && printf '/%s\n' "debs/debs/$suite"/*.deb)
	apt install "${debs[@]}"
	# These packages are not tested here; later cases need them.
	apt install ibverbs-providers ibverbs-utils
	echo "apt-get install took $((SECONDS - start)) s" >>"$log"
	all_installed ''
	module_is "$("$here/version.sh")"
}

# Run a program that sees an unknown device. libibverbs then loads all providers.
load_providers() {
	local sys=/tmp/sys device=class/infiniband_verbs/uverbs0
	mkdir -p "$root$sys/$device/device" "$root$sys/class/infiniband/kw0/ports/1"
	echo 6 >"$root$sys/class/infiniband_verbs/abi_version"
	echo kw0 >"$root$sys/$device/ibdev"
	echo 1 >"$root$sys/$device/abi_version"
	echo 231:192 >"$root$sys/$device/dev"
	root env SYSFS_PATH=$sys LD_DEBUG=files VERBS_LOG_LEVEL=4 ibv_devices >>"$log" 2>&1
}

# libibverbs finds the provider, and the provider finds all symbols that it needs in libibverbs.
provider_case() {
	local so
	so=$(cd "$root" && echo usr/lib/*/libibverbs/libkwarp-rdmav*.so)
	[ -z "$(root ldd -r "/$so" | grep -E 'not found|undefined')" ]
	load_providers
	grep -q "calling init: .*/libibverbs/libkwarp-rdmav" "$log"
	fails grep -qE "couldn't load driver|^kwarp:" "$log"
}

tools_case() {
	local page words
	root setpriv --reuid nobody --regid nogroup --clear-groups kwarpctl explain 0x1202 |
		grep DDP_U_NOBUF
	for page in man7/kwarp.7 man8/kwarpctl.8; do
		[ "$(zcat "$root/usr/share/man/$page.gz" | grep -c '^\.SH')" -gt 3 ]
	done
	root bash -n /usr/share/bash-completion/completions/kwarpctl
	# Only the file is checked: bpftrace is not in the chroot.
	[ -x "$root/usr/share/kwarp/kwarp-latency.bt" ]
	# --man=no: man is not installed in the chroot.
	words=$(root systemd-analyze verify --man=no kwarp@eth0.service 2>&1) ||
		words="status $?: $words"
	[ -z "$words" ] || { echo "$words"; return 1; }
	root systemctl enable kwarp@eth0.service
	[ -L "$root$enabled" ]
}

# With the packages installed, make install and make uninstall refuse to run, and change no file.
make_install_case() {
	local script before
	before=$(ours)
	for script in install uninstall; do
		fails root "/checkout/scripts/$script.sh" >>"$log" 2>&1
	done
	[ "$(grep -c '^error: kwarp is here from packages.* purge .*kwarp-dkms' "$log")" = 2 ]
	[ "$before" = "$(ours)" ]
}

# other_libibverbs VERSION: make a copy of the package libibverbs1 that has this version. If it is
# of another release, the file name of the library also has that release.
other_libibverbs() {
	local version=$1 tree=$work/libibverbs1 lib new
	rm -rf "$tree"
	dpkg-deb -R "$(find "$root/var/cache/apt" -name 'libibverbs1_*.deb' | sed q)" "$tree"
	sed -i "s/^Version: .*/Version: $version/; /^Source:/s/ (.*//" "$tree/DEBIAN/control"
	rm "$tree/DEBIAN/md5sums"
	lib=$(find "$tree" -name 'libibverbs.so.1.*')
	[[ $lib = *.so.1.*."${was%-*}" ]]
	if [ "${version%-*}" != "${was%-*}" ]; then
		new=${lib%".${was%-*}"}.${version%-*}
		mv "$lib" "$new"
		ln -sfn "${new##*/}" "${new%/*}/libibverbs.so.1"
	fi
	dpkg-deb -b "$tree" "$root/debs/libibverbs1_other.deb" >>"$log"
}

# apt does not install another release's libibverbs next to the provider. If dpkg is forced to,
# the provider refuses to serve, and says so if there is a link of kwarp.
libibverbs_case() {
	local was
	was=$(libibverbs Version)
	# Another packaging of the same release is accepted.
	other_libibverbs "${was%-*}-99"
	apt install --no-remove /debs/libibverbs1_other.deb
	provider_case
	other_libibverbs 99.0-1
	: >"$log"
	fails apt install --no-remove /debs/libibverbs1_other.deb
	grep -A 1 -E 'will be REMOVED|unmet dependencies' "$log" | grep -q ibverbs-provider-kwarp
	root dpkg -i --force-depends /debs/libibverbs1_other.deb >>"$log" 2>&1
	fails grep -q '^kwarp: this provider is' "$log"
	load_providers
	fails grep -q '^kwarp: this provider is' "$log"
	mkdir "$root/tmp/sys/class/infiniband/kw0/kwarp"
	load_providers
	rmdir "$root/tmp/sys/class/infiniband/kw0/kwarp"
	grep -q '^kwarp: this provider is for .* libibverbs is of 99.0: it serves no device' "$log"
	apt install --allow-downgrades "libibverbs1=$was"
	: >"$log"
	provider_case
}

# Upgrade while a module is loaded (a faked /sys says so), and while the administrator has written
# a configuration.
upgrade_case() {
	local debs
	mkdir -p "$root/sys/module/kwarp"
	echo 0123456789ABCDEF >"$root/sys/module/kwarp/srcversion"
	echo 1 >"$root/sys/module/kwarp/refcnt"
	echo 'options kwarp crc=off' >"$root/etc/modprobe.d/kwarp.conf"
	mapfile -t debs < <(cd "$root" && printf '/%s\n' "debs/next/$suite"/*.deb)
	apt install "${debs[@]}"
	all_installed "$next"
	module_is "$next"
	grep -q '^kwarp-dkms: the module that is loaded is another build than the one' "$log"
	[ -L "$root$driver" ]
	[ -L "$root$enabled" ]
	grep -qx 'options kwarp crc=off' "$root/etc/modprobe.d/kwarp.conf"
	provider_case
}

# Print files whose names contain kwarp, and files in /etc and /var that mention kwarp, except the
# folders of the test, and logs of apt and dpkg.
ours() {
	find "$root" -xdev -path "$root/debs" -prune -o -path "$root/checkout" -prune -o \
		-path "$root/sys" -prune -o -iname '*kwarp*' -print
	grep -rlI kwarp "$root/etc" "$root/var" --exclude-dir={log,archives} 2>/dev/null || true
}

remove_case() {
	apt remove "${packages[@]}"
	grep -q '^kwarp-dkms: the module stays loaded until its links are deleted' "$log"
	[ -z "$(find "$root"/{usr,var/lib/dkms} -iname '*kwarp*')" ]
	[ ! -e "$root$driver" ] && [ ! -L "$root$driver" ]
	[ -z "$(root dkms status)" ]
	# The enabled unit stays, so that the links come back with the package.
	[ -L "$root$enabled" ]
}

purge_case() {
	local left
	apt purge "${packages[@]}"
	left=$(ours | grep -vxF -e "$root/etc/modprobe.d/kwarp.conf") || true
	[ -z "$left" ] || { echo "left: $left"; return 1; }
	[ -e "$root/etc/modprobe.d/kwarp.conf" ]
	[ -z "$(installed | grep kwarp)" ]
}

# --------------------------------------------------------------------- harness

test_suite() {
	local case
	suite=$1
	work=$(mktemp -d "$KWARP_CACHE/machine/run-$suite.XXXXXX")
	trap 'chroot_leave "$work"' EXIT
	enter
	for case in "${cases[@]}"; do
		chroot_case packages "$case"
	done
	chroot_leave "$work"
	trap - EXIT
}

# Test the part of the RPM packages that can be tested on Debian.
test_rpm() {
	if ! "$here/debian/build-packages.sh" --rpm "$out/rpm" "$1" >/dev/null; then
		echo "not ok packages/rpm, see above"
	elif contents=$(cat "$out/rpm/$1/contents.txt") &&
		[[ $contents = */usr/src/kwarp-*/dkms.conf*/usr/bin/kwarpctl*/kwarp@.service* ]] &&
		grep -q '^Requires: libibverbs.* < ' "$out/rpm/$1/with-provider.spec"; then
		echo "ok packages/rpm"
	else
		echo "not ok packages/rpm: files are missing, see $out/rpm/$1/contents.txt"
	fi
}

# build_suite SUITE: build the packages with this version, and once more with a newer version for
# the upgrade, and make the base of the chroot that they are tested in.
build_suite() {
	local suite=$1
	export KWARP_STAND_IN=1
	"$here/debian/build-packages.sh" --out "$out/debs" "$suite" >/dev/null
	"$here/debian/build-packages.sh" --version "$next" --out "$out/next" "$suite" >/dev/null
	machine_base "$suite" >/dev/null
}

cases=(build lintian depends made foreign install provider tools make-install libibverbs upgrade
	remove purge)
case ${1:-} in -h | --help) head_comment; exit ;; esac
out=$KWARP_ROOT/build/package-test
if [ "${KWARP_PACKAGES_NS:-}" != 1 ]; then
	check_suites "$@"
	[ $# -gt 0 ] || set -- bookworm trixie sid
	"$here/host-packages.sh" packages
	need_mounts
	need_cache
	rm -rf "$out"
	mkdir -p "$out" "$KWARP_CACHE/machine"
	built=()
	: >"$out/builds.tap"
	for suite in "$@"; do
		# Run build_suite in the background, because errexit would be off in it if it were
		# part of the condition.
		build_suite "$suite" &
		if wait $!; then
			built+=("$suite")
		else
			echo "not ok packages/$suite/build, see above" >>"$out/builds.tap"
		fi
	done
	test_rpm "$1" >>"$out/builds.tap"
	as_root env KWARP_PACKAGES_NS=1 KWARP_CACHE="$KWARP_CACHE" KWARP_T0="$KWARP_T0" \
		KWARP_RESULTS="${KWARP_RESULTS:-}" unshare -m "$here/debian/package-test.sh" "${built[@]}"
	exit
fi
cat "$out/builds.tap"
# Each test runs in the background, because errexit would be off in it if it were part of a
# condition.
for suite in "$@"; do
	test_suite "$suite" >"$out/$suite.tap" &
	wait $! || echo "not ok packages/$suite: its test ended early" >>"$out/$suite.tap"
	cat "$out/$suite.tap"
done
read -r passed failed skipped < <(cat "$out"/*.tap | "$here/tap-count.sh")
[ -z "${KWARP_RESULTS:-}" ] || echo "$passed $failed $skipped" >>"$KWARP_RESULTS"
say "packages: $passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
