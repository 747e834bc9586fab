#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run apt with a configuration of its own, in the cache folder. Kernels, the guest and sources come
# from fixed Debian suites, which may differ from the suites of this machine. The machine's package
# sources, lists and caches are not changed; its mirror and keyring are used. The package lists of a
# suite are fetched when the suite is needed, so that a suite which the mirror lacks, or has only an
# old state of, does not matter to those who do not need it.
#
#   scripts/apt-private.sh cache SUITE ARGS...     run apt-cache ARGS with the lists of this suite
#   scripts/apt-private.sh download SUITE DIR PKG[=VER]...   download packages to DIR
#   scripts/apt-private.sh source SUITE DIR PKG=VER          download the .orig tarball to DIR
#   scripts/apt-private.sh own-source DIR PKG VER  the same from the suites of this machine; another
#       Debian revision of the same upstream version may be used
#   scripts/apt-private.sh sources SUITE...        print the sources.list lines of these suites
#   scripts/apt-private.sh prepare SUITE...        fetch the lists of these suites if there are none
#   scripts/apt-private.sh refresh [SUITE...]      fetch the lists again (default: all in the cache)
#
#   KWARP_APT_ARCH=ARCHITECTURE   use packages for this architecture instead of this machine's
#   KWARP_MIRROR=URI              use this mirror of Debian instead of this machine's; the security
#                                 archive is expected at URI-security
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) head_comment; exit ;; esac

state=$KWARP_CACHE/apt${KWARP_APT_ARCH:+-$KWARP_APT_ARCH}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Print the host's own package sources, one "URI SUITE" per line.
host_sources() {
	# apt, not the shell, expands the parameters of the format.
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages'
}

mirror_of() {
	local uri
	uri=$(host_sources | awk -v s="$1" '$2 == s { print $1; exit }')
	echo "${uri%/}"
}

main_mirror() {
	local suite uri
	for suite in bookworm trixie forky sid stable testing unstable; do
		uri=$(mirror_of "$suite")
		[ -z "$uri" ] || { echo "$uri"; return; }
	done
	die "this machine's apt sources name no Debian mirror: give one as KWARP_MIRROR=URI, or run this on Debian (12 or later; a container or chroot will do)"
}

# uri_of SUITE: print the URI of the mirror for this suite. A mirror of Debian at URI usually has
# the security archive at URI-security.
uri_of() {
	local uri main
	if [ -n "${KWARP_MIRROR:-}" ]; then
		uri=${KWARP_MIRROR%/} main=$uri
		[[ $1 != *-security ]] || uri=$main-security
	else
		uri=$(mirror_of "$1")
		main=$(main_mirror)
	fi
	case $1 in
	*-security) echo "${uri:-$main-security}" ;;
	*) echo "${uri:-$main}" ;;
	esac
}

# source_lines TYPE SUITE...: print lines of sources.list; TYPE is deb or deb-src.
source_lines() {
	local type=$1 suite uri
	shift
	for suite in "$@"; do
		uri=$(uri_of "$suite")
		echo "$type [signed-by=$keyring] $uri $suite main"
	done
}

# options LISTS: print apt's options for using LISTS, which is a suite, or a suite with -src for its
# source packages. All suites have their lists in one folder; apt reads those that LISTS.list names.
options() {
	printf '%s\n' -o "Dir::Etc::sourcelist=$state/$1.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o "Dir::State=$state/state" \
		-o "Dir::State::Lists=$state/lists" -o Dir::State::status=/dev/null \
		-o "Dir::Cache=$state/cache/$1" -o APT::Sandbox::User=root -o Acquire::Languages=none \
		-o "APT::Update::Post-Invoke::=true" -o Acquire::Retries=3 \
		-o APT::Get::List-Cleanup=false -o Acquire::GzipIndexes=true
	[ -z "${KWARP_APT_ARCH:-}" ] ||
		printf '%s\n' -o "APT::Architecture=$KWARP_APT_ARCH" -o "APT::Architectures::=$KWARP_APT_ARCH"
}

# line_of LISTS: print the line of sources.list for LISTS.
line_of() {
	case $1 in
	*-src) source_lines deb-src "${1%-src}" ;;
	*) source_lines deb "$1" ;;
	esac
}

# use LISTS: fetch the lists if the cache has none, and set opts to apt's options for them.
use() {
	local lists=$1
	need_cache
	mkdir -p "$state"/{state,lists/partial} "$state/cache/$lists/archives/partial"
	mapfile -t opts < <(options "$lists")
	[ -r "$keyring" ] || die "no $keyring: install the package debian-archive-keyring"
	(
		flock 9
		are_there "$lists" || fetch_lists "$lists"
	) 9>"$state/lock"
}

# True if the cache has LISTS, from the mirror KWARP_MIRROR if that is set. In a cache of an older
# release of these scripts, one sources.list has the lines of all suites.
are_there() {
	local lists=$1 line
	if [ ! -e "$state/$lists.ready" ]; then
		[ -e "$state/ready" ] || return 1
		line=$(grep -sE "^deb$([[ $lists != *-src ]] || echo -src) .* ${lists%-src} main\$" "$state/sources.list") || return 1
		echo "$line" >"$state/$lists.list"
		touch -r "$state/ready" "$state/$lists.ready"
	fi
	[ -z "${KWARP_MIRROR:-}" ] || line_of "$lists" | cmp -s - "$state/$lists.list"
}

fetch_lists() {
	local lists=$1 log=$state/update-$1.log
	say "fetching the package lists of $lists"
	rm -f "$state/$lists.ready"
	line_of "$lists" >"$state/$lists.list.new"
	mv "$state/$lists.list.new" "$state/$lists.list"
	# Without this mode apt-get succeeds even if a mirror does not answer.
	start_ticks "$log" "fetching lists"
	apt-get -q "${opts[@]}" -o APT::Update::Error-Mode=any update >"$log" 2>&1 ||
		die "no package lists of $lists: $(apt_trouble "$log")"
	end_ticks
	touch "$state/$lists.ready"
}

refresh() {
	local lists=$1
	use "$lists"
	(
		flock 9
		fetch_lists "$lists"
	) 9>"$state/lock"
}

refresh_all() {
	local ready
	for ready in "$state"/*.ready; do
		[ ! -e "$ready" ] || refresh "$(basename "$ready" .ready)"
	done
}

# Fetch the package lists again, unless they were fetched in the last hour.
refresh_if_old() {
	[ -z "$(find "$state/$1.ready" -mmin +60)" ] || refresh "$1"
}

# download SUITE DIR PACKAGE...: download packages to DIR. A mirror removes old versions, so the lists
# may name a version that is gone. If a download fails, fetch the lists again and try once more.
download() {
	local suite=$1 dir=$2 log
	shift 2
	log=$KWARP_CACHE/log/download-${1%%=*}.log
	mkdir -p "$dir"
	cd "$dir"
	start_ticks "$log" "the download"
	if ! apt-get -q "${opts[@]}" download "$@" >"$log" 2>&1; then
		refresh "$suite"
		apt-get -q "${opts[@]}" download "$@" >"$log" 2>&1 || die "download failed: $(apt_trouble "$log")"
	fi
	end_ticks
}

# download_source SUITE DIR PKG=VER: download the source of a package to DIR. Only the .orig tarball
# is needed, so apt's errors about the .dsc, which some mirrors lack, are ignored. If the mirror did
# not have the tarball, the mirror is asked again only after an hour.
download_source() {
	local lists=$1-src dir=$2 pkg=$3 missing=$state/missing-${3//\//_}
	if [ -n "$(find "$missing" -mmin -60 2>/dev/null)" ]; then
		die "the mirror gave no source of $pkg: $(cat "$missing")"
	fi
	mkdir -p "$dir"
	cd "$dir"
	apt-get -q "${opts[@]}" source --download-only "$pkg" >"$state/source.log" 2>&1 || true
	has_tarball && return
	refresh_if_old "$lists"
	apt-get -q "${opts[@]}" source --download-only "$pkg" >"$state/source.log" 2>&1 || true
	has_tarball && return
	sed -nE 's|^E: Failed to fetch .*/([^/ ]+) +404.*|\1 is not there|p' "$state/source.log" >"$missing"
	[ -s "$missing" ] || rm -f "$missing"
	no_tarball "$pkg" "$state/source.log"
}

# True if the current folder has the .orig tarball. An incomplete download does not count: apt gives
# it another name.
has_tarball() {
	compgen -G "*.orig.tar.*" >/dev/null
}

no_tarball() {
	{ grep -E '^E:' "$2" || tail -n 3 "$2"; } | tail -n 2 >&2
	die "the mirror gave no source of $1: another mirror may have it (log: $2)"
}

# own_entries DIR: copy the package sources of this machine's apt to DIR, changed to ask for source
# packages only.
own_entries() {
	local to=$1 LIST='' PARTS='' f
	eval "$(apt-config shell LIST Dir::Etc::sourcelist/f PARTS Dir::Etc::sourceparts/d)"
	mkdir -p "$to"
	for f in "$LIST" "$PARTS"/*.list "$PARTS"/*.sources; do
		[ ! -r "$f" ] || sed -E 's/^deb(-src)?([[:space:]])/deb-src\2/; s/^Types:.*/Types: deb-src/' \
			"$f" >"$to/${f##*/}"
	done
}

# download_own_source DIR PKG VER: download the .orig tarball to DIR, from the package sources of
# this machine. The lists of source packages are large and used once, so DIR/.apt, which has them,
# is removed. If a third party's repository has no source packages, apt reports an error, which is
# ignored here.
download_own_source() {
	local dir=$1 pkg=$2 upstream=${3%-*} own=$1/.apt log=$KWARP_CACHE/log/own-source.log version
	need_cache
	mkdir -p "$own"/{lists,cache/archives}/partial
	own_entries "$own/entries"
	local opts=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$own/entries"
		-o "Dir::State::Lists=$own/lists" -o "Dir::Cache=$own/cache" -o APT::Sandbox::User=root
		-o Acquire::Languages=none -o APT::Update::Post-Invoke::=true -o Acquire::Retries=3)
	cd "$dir"
	apt-get -q "${opts[@]}" update >"$log" 2>&1 || true
	version=$(apt-cache "${opts[@]}" showsrc "$pkg" 2>>"$log" |
		awk -v exact="$3" -v upstream="$upstream" '
			$1 != "Version:" { next }
			{ v = $2; sub(/-[^-]*$/, "", v) }
			$2 == exact || (v == upstream && !found) { found = $2 }
			END { print found }')
	[ -n "$version" ] || echo "E: no suite of this machine has sources of $pkg $upstream" >>"$log"
	[ -z "$version" ] || apt-get -q "${opts[@]}" source --download-only "$pkg=$version" >>"$log" 2>&1 || true
	rm -rf "$own"
	has_tarball || no_tarball "$pkg $upstream" "$log"
}

verb=${1:-}
shift || true
case $verb in
sources) source_lines deb "$@" ;;
cache) use "$1"; exec apt-cache "${opts[@]}" "${@:2}" ;;
download) use "$1"; download "$@" ;;
source) use "$1-src"; download_source "$@" ;;
own-source) download_own_source "$@" ;;
prepare) for suite; do use "$suite"; done ;;
refresh) if [ $# -eq 0 ]; then refresh_all; else for suite; do refresh "$suite"; done; fi ;;
*) die "usage: $0 cache|download|source|own-source|sources|prepare|refresh ..." ;;
esac
