#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Run apt with a configuration of its own, in the cache folder. Kernels, the guest and sources come
# from fixed Debian suites, which may differ from the suites of this machine. The machine's package
# sources, lists and caches are not changed; its mirror and keyring are used.
#
#   scripts/apt-private.sh get ARGS...      run apt-get ARGS
#   scripts/apt-private.sh cache ARGS...    run apt-cache ARGS
#   scripts/apt-private.sh download DIR PKG[=VER|/SUITE]...   download packages to DIR
#   scripts/apt-private.sh source DIR PKG=VER      download the .orig tarball to DIR
#   scripts/apt-private.sh own-source DIR PKG VER  the same from the suites of this machine; another
#       Debian revision of the same upstream version may be used
#   scripts/apt-private.sh sources SUITE...        print the sources.list lines of these suites
#   scripts/apt-private.sh prepare                 fetch the package lists if there are none
#   scripts/apt-private.sh refresh                 fetch the package lists again
#
#   KWARP_APT_ARCH=ARCHITECTURE   use packages for this architecture instead of this machine's
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) head_comment; exit ;; esac

state=$KWARP_CACHE/apt${KWARP_APT_ARCH:+-$KWARP_APT_ARCH}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
suites=(bookworm bookworm-security trixie sid)

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
	die "this needs Debian (12 or later): this machine's apt sources name no Debian mirror; on Debian add a line 'deb MIRROR bookworm main'"
}

# uri_of SUITE: print the URI of the mirror for this suite. A mirror of Debian at URI usually has
# the security archive at URI-security.
uri_of() {
	local uri main
	uri=$(mirror_of "$1")
	main=$(main_mirror)
	case $1 in
	*-security) echo "${uri:-$main-security}" ;;
	*) echo "${uri:-$main}" ;;
	esac
}

source_lines() {
	local suite uri
	for suite in "$@"; do
		uri=$(uri_of "$suite")
		echo "deb [signed-by=$keyring] $uri $suite main"
		echo "deb-src [signed-by=$keyring] $uri $suite main"
	done
}

options() {
	printf '%s\n' -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o "Dir::State=$state/state" \
		-o "Dir::State::Lists=$state/lists" -o Dir::State::status=/dev/null \
		-o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root -o Acquire::Languages=none \
		-o "APT::Update::Post-Invoke::=true" -o Acquire::Retries=3
	[ -z "${KWARP_APT_ARCH:-}" ] ||
		printf '%s\n' -o "APT::Architecture=$KWARP_APT_ARCH" -o "APT::Architectures::=$KWARP_APT_ARCH"
}

prepare() {
	need_cache
	mkdir -p "$state"/{state,lists/partial,cache/archives/partial}
	mapfile -t opts < <(options)
	[ -r "$keyring" ] || die "no $keyring: run scripts/host-packages.sh first"
	(
		flock 9
		[ -e "$state/ready" ] || fetch_lists
	) 9>"$state/lock"
}

fetch_lists() {
	say "fetching the package lists of ${suites[*]}"
	source_lines "${suites[@]}" >"$state/sources.list.new"
	mv "$state/sources.list.new" "$state/sources.list"
	# Without this mode apt-get succeeds even if a mirror does not answer.
	if ! apt-get -q "${opts[@]}" -o APT::Update::Error-Mode=any update >"$state/update.log" 2>&1; then
		grep '^[EW]:' "$state/update.log" | tail -n 3 >&2
		die "cannot reach $(main_mirror): check network or proxy (log: $state/update.log)"
	fi
	touch "$state/ready"
}

refresh() {
	(
		flock 9
		fetch_lists
	) 9>"$state/lock"
}

# Fetch the package lists again, unless they were fetched in the last hour.
refresh_if_old() {
	[ -z "$(find "$state/ready" -mmin +60)" ] || refresh
}

# download DIR PACKAGE...: download packages to DIR. A mirror removes old versions, so the lists may
# name a version that is gone. If a download fails, fetch the lists again and try once more.
download() {
	local dir=$1
	shift
	mkdir -p "$dir"
	cd "$dir"
	apt-get -q "${opts[@]}" download "$@" >"$state/download.log" 2>&1 && return
	refresh
	logged "$state/download.log" apt-get -q "${opts[@]}" download "$@"
}

# download_source DIR PKG=VER: download the source of a package to DIR. Only the .orig tarball is
# needed, so apt's errors about the .dsc, which some mirrors lack, are ignored. If the mirror did
# not have the tarball, the mirror is asked again only after an hour.
download_source() {
	local dir=$1 pkg=$2 missing=$state/missing-${2//\//_}
	if [ -n "$(find "$missing" -mmin -60 2>/dev/null)" ]; then
		die "the mirror gave no source of $pkg: $(cat "$missing")"
	fi
	mkdir -p "$dir"
	cd "$dir"
	apt-get -q "${opts[@]}" source --download-only "$pkg" >"$state/source.log" 2>&1 || true
	has_tarball && return
	refresh_if_old
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
sources) source_lines "$@" ;;
get) prepare; exec apt-get "${opts[@]}" "$@" ;;
cache) prepare; exec apt-cache "${opts[@]}" "$@" ;;
download) prepare; download "$@" ;;
source) prepare; download_source "$@" ;;
own-source) download_own_source "$@" ;;
prepare) prepare ;;
refresh) prepare; refresh ;;
*) die "usage: $0 get|cache|download|source|own-source|sources|prepare|refresh ..." ;;
esac
