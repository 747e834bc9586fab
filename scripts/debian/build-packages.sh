#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Build Debian packages of kwarp for releases of Debian, each in a clean chroot of that release,
# with its compiler and for its libibverbs. The packages go to build/packages/SUITE, lintian's
# findings to lintian.txt there. Packages that were built from the same sources are taken from the
# cache.
#
#   scripts/debian/build-packages.sh [--version V] [--out DIR] [bookworm|trixie|sid]...
#       (default: all)
#   scripts/debian/build-packages.sh --rpm DIR [SUITE]   build the architecture-independent packages
#       of packaging/kwarp.spec with that Debian release's rpmbuild; the others need Fedora's macros
#
#   --version V   use this version instead of that of Makefile and debian/changelog (upgrade tests)
#   --out DIR     write to DIR/SUITE instead of build/packages/SUITE
#
#   RDMA_CORE_BOOKWORM=TREE   source of rdma-core of that release, if the mirror lacks it; likewise
#                             RDMA_CORE_TRIXIE and RDMA_CORE_SID
#   KWARP_STAND_IN=1          if the mirror lacks it, use the source of another release; for tests
#                             only, because such a provider must not be used
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/chroot.sh"
here=$KWARP_ROOT/scripts
root=''

# sources: files that go into the packages. tools: programs that check the packages.
sources=(debian drivers include rdma-core-provider tools/{kwarpctl,bpftrace} packaging LICENSES Kbuild Makefile
	README.md Documentation/reference
	Documentation/{admin-guide,interop,packages,programs,troubleshooting,tutorial}.rst
	scripts/{lib,version,build-module,build-provider,install}.sh
	scripts/kernel scripts/debian/package-provider.sh)
tools=(build-essential lintian rpm)

# suffix_of SUITE: print the end of the packages' version for this release of Debian. It sorts after
# that of an older release, so that an upgrade of Debian upgrades these packages, too.
suffix_of() {
	case $1 in
	bookworm) echo '~deb12' ;;
	trixie) echo '~deb13' ;;
	sid) ;;
	esac
}

build_depends() {
	awk '
		/^[A-Z]/ { on = /^Build-Depends/ }
		on && /^ / { sub(/[:,].*/, ""); print $1 }' "$KWARP_ROOT/debian/control" | sort -u
	echo debhelper
}

make_base() {
	local dir=$1 suite=$2
	say "making a chroot of Debian $suite to build packages in"
	chroot_make "$dir" "$suite" "packages-$suite" \
		"$({ build_depends; printf '%s\n' "${tools[@]}"; } | paste -sd,)" \
		--dpkgopt='path-exclude=/usr/share/locale/*'
}

base_of() {
	local id
	id=$({
		build_depends
		echo "${tools[@]}"
		declare -f make_base suites_of chroot_make
	} | sha256sum | cut -c1-10)
	cached "packages/base-$1-$id" make_base "$1"
}

source_files() {
	(
		cd "$KWARP_ROOT"
		git ls-files -co --exclude-standard -- "${sources[@]}" | while read -r f; do
			[ ! -f "$f" ] || echo "$f"
		done
	) | LC_ALL=C sort -u
}

# rdma_core SUITE: copy the source of the release's rdma-core into the chroot. If only the source of
# another release was found, which stands in for it, fail, because a provider that was built from it
# must not be used. With KWARP_STAND_IN=1, tests accept such a provider.
rdma_core() {
	local suite=$1
	rdma_core_for "$suite" "$root/build/rdma-core"
	[ ! -e "$root/build/rdma-core/stands-in" ] || [ "${KWARP_STAND_IN:-0}" != 0 ] ||
		die "the mirror has no source of the rdma-core of $suite:" \
			"give it as RDMA_CORE_${suite^^}=TREE"
}

# Add an entry to the changelog for the release that the packages are built for.
set_version() {
	local tree=$1 suite=$2 log=$1/debian/changelog date by
	[ -z "$version" ] || sed -i "s/^VERSION := .*/VERSION := $version/" "$tree/Makefile"
	full=$("$tree/scripts/version.sh")$(suffix_of "$suite")
	grep -qF "kwarp ($full)" <(head -n 1 "$log") && return
	# The date is that of the last entry plus a second, so it does not depend on the time of
	# the build.
	date=$(sed -n 's/^ -- .*>  //p' "$log" | sed q)
	date=$(date -Rud "$date + 1 second")
	by=$(sed -n 's/^ -- \(.*>\)  .*/\1/p' "$log" | sed q)
	{
		printf 'kwarp (%s) %s; urgency=medium\n\n' "$full" "${suite/sid/unstable}"
		printf '  * Built for Debian %s.\n\n -- %s  %s\n\n' "$suite" "$by" "$date"
		cat "$log"
	} >"$log.new"
	mv "$log.new" "$log"
}

# build_debian TO SUITE BASE: build the packages in the chroot, and copy them and lintian's findings
# to TO. Configuring rdma-core takes longest, so its build folder is kept in BASE/cache for the next
# build. Builds that run at the same time use it in turns.
build_debian() {
	local to=$1 suite=$2 base=$3 tree=$root/build/kwarp log=$KWARP_CACHE/log/packages-$2.log
	mkdir -p "$tree" "$base/cache" "$root/build/cache"
	mount --bind "$base/cache" "$root/build/cache"
	source_files | tar -c -C "$KWARP_ROOT" -T - | tar -x --no-same-owner -C "$tree"
	set_version "$tree" "$suite"
	rdma_core "$suite"
	say "building packages of kwarp $full for $suite"
	logged "$log" root env RDMA_CORE=/build/rdma-core KWARP_CACHE=/build/cache \
		KWARP_JOBS="$KWARP_JOBS" bash -c 'cd /build/kwarp && dpkg-buildpackage -us -uc'
	find "$root/build" -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*' -exec cp {} "$to/" \;
	say "lintian looks at them"
	# The last line of lintian.txt is lintian's exit status. A lintian that has died reports
	# nothing, and only this line shows that.
	root bash -c 'cd /build
		lintian --allow-root --show-overrides --fail-on error,warning kwarp_*.changes
		echo "lintian: status $?"' >"$to/lintian.txt" 2>&1
	[ ! -e "$root/build/rdma-core/stands-in" ] || touch "$to/stands-in"
}

# build_rpm TO SUITE: build the RPM packages except that of the provider, which needs macros of
# Fedora. For the provider, the spec is only parsed.
build_rpm() {
	local to=$1 suite=$2 top=$root/root/rpmbuild name
	name=kwarp-$("$here/version.sh")
	mkdir -p "$top"/{SOURCES,SPECS}
	source_files | tar -cz -C "$KWARP_ROOT" --transform "s|^|$name/|" -T - \
		-f "$top/SOURCES/$name.tar.gz"
	cp "$KWARP_ROOT/packaging/kwarp.spec" "$top/SPECS/"
	say "building RPM packages in a chroot of Debian $suite"
	logged "$KWARP_CACHE/log/rpm-$suite.log" root bash -c 'set -e; cd ~/rpmbuild/SPECS
		rpmspec -P kwarp.spec >../with-provider.spec
		rpmspec -P --without provider kwarp.spec >../without-provider.spec
		rpmbuild -bb --nodeps --without provider kwarp.spec'
	cp "$top"/RPMS/noarch/*.rpm "$top"/*.spec "$to/"
	root bash -c 'for f in ~/rpmbuild/RPMS/noarch/*.rpm; do
		echo "$f:"
		rpm -qp --requires --recommends "$f"
		rpm -qpl "$f"
	done' >"$to/contents.txt"
}

# make_packages DIR SUITE BASE BUILD: call the function BUILD in a chroot of the base. It writes the
# packages to DIR, the folder that becomes the cache entry.
make_packages() {
	local to=$1 suite=$2 base=$3 build=$4
	work=$(mktemp -d "$KWARP_CACHE/packages/run-$suite.XXXXXX")
	# shellcheck disable=SC2064
	trap "chroot_leave '$work'; rm -rf --one-file-system '$to'" EXIT
	chroot_enter "$base" "$work"
	mkdir -p "$root/build"
	"$build" "$to" "$suite" "$base"
	chroot_leave "$work"
	trap - EXIT
}

# Print a checksum of all inputs of the packages. The name of their cache entry ends in it.
packages_id() {
	local suite=$1 base=$2 build=$3 given=RDMA_CORE_${1^^}
	{
		source_files | tar -c -C "$KWARP_ROOT" --mtime=@0 --owner=0 --group=0 -T -
		echo "$version $(suffix_of "$suite") $base ${!given:-} $build ${KWARP_STAND_IN:-0}"
		declare -f set_version rdma_core_for build_debian build_rpm
	} | sha256sum | cut -c1-12
}

packages_of() {
	local suite=$1 build=$2 base entry
	base=$(base_of "$suite")
	entry=packages/$suite-$(packages_id "$suite" "$base" "$build")
	entry=$(cached "$entry" make_packages "$suite" "$base" "$build")
	rm -rf "${out:?}/$suite"
	mkdir -p "$out"
	cp -r "$entry" "$out/$suite"
	echo "$out/$suite"
}

version='' out=$KWARP_ROOT/build/packages build=build_debian
while [ $# -gt 0 ]; do
	case $1 in
	--version) need_value $# "$1"; version=$2; shift 2 ;;
	--rpm) need_value $# "$1"; build=build_rpm; out=$2; shift 2 ;;
	--out) need_value $# "$1"; out=$2; shift 2 ;;
	-h | --help) head_comment; exit ;;
	-*) die "unknown option '$1'" ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || [ "$build" = build_debian ] || set -- trixie
[ $# -gt 0 ] || set -- bookworm trixie sid
check_suites "$@"
# Make the folders first, as the user who owns them. Then run again as root, in a mount namespace.
if [ "${KWARP_PACKAGES_NS:-}" != 1 ]; then
	"$here/host-packages.sh" packages
	need_mounts
	need_cache
	mkdir -p "$KWARP_CACHE/packages" "$out"
	given=()
	for suite in "$@"; do
		base_of "$suite" >/dev/null
		name=RDMA_CORE_${suite^^}
		given+=("$name=${!name:-}")
	done
	as_root env KWARP_PACKAGES_NS=1 KWARP_CACHE="$KWARP_CACHE" KWARP_T0="$KWARP_T0" \
		KWARP_JOBS="$KWARP_JOBS" KWARP_STAND_IN="${KWARP_STAND_IN:-0}" "${given[@]}" \
		unshare -m "$here/debian/build-packages.sh" ${version:+--version "$version"} \
		"$([ "$build" = build_rpm ] && echo --rpm || echo --out)" "$(realpath "$out")" "$@"
	exit
fi
for suite in "$@"; do
	packages_of "$suite" "$build"
done
