#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# apt with a configuration of our own: the suites that kernels, guest and sources
# come from, whatever suites the host itself follows. The host's sources, lists
# and caches are not touched; its mirror and keyring are used.
#
#   scripts/apt-private.sh get ARGS...      apt-get ARGS
#   scripts/apt-private.sh cache ARGS...    apt-cache ARGS
#   scripts/apt-private.sh download DIR PKG[=VER|/SUITE]...
#   scripts/apt-private.sh source DIR PKG=VER     the .orig tarball, into DIR
#   scripts/apt-private.sh own-source DIR PKG VER  the same from the suites that this machine
#       follows itself; any packaging of that upstream version will do
#   scripts/apt-private.sh sources SUITE...       sources.list lines of these suites
#   scripts/apt-private.sh prepare                fetch the package lists if there are none
#   scripts/apt-private.sh refresh                fetch the package lists again
#
#   KWARP_APT_ARCH=ARCHITECTURE   packages of that one instead of this machine's
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) head_comment; exit ;; esac

state=$KWARP_CACHE/apt${KWARP_APT_ARCH:+-$KWARP_APT_ARCH}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
suites=(bookworm bookworm-security trixie sid)

# What the host's own sources say, one "URI SUITE" a line.
host_sources() {
	# The format's parameters are apt's, not the shell's.
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

# A mirror of Debian usually carries the security archive beside it.
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
	# Without that mode apt-get is content with a mirror that does not answer.
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

# Lists that have just been fetched say no more when they are fetched again.
refresh_if_old() {
	[ -z "$(find "$state/ready" -mmin +60)" ] || refresh
}

# Versions move and old ones leave the mirror: on failure ask again with fresh lists.
download() {
	local dir=$1
	shift
	mkdir -p "$dir"
	cd "$dir"
	apt-get -q "${opts[@]}" download "$@" >"$state/download.log" 2>&1 && return
	refresh
	logged "$state/download.log" apt-get -q "${opts[@]}" download "$@"
}

# Some mirrors fail on the .dsc; the .orig tarball is all that is wanted. What was not there
# within the last hour is not asked for again.
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

# In the current folder. What is cut short has another name until it is whole.
has_tarball() {
	compgen -G "*.orig.tar.*" >/dev/null
}

no_tarball() {
	{ grep -E '^E:' "$2" || tail -n 3 "$2"; } | tail -n 2 >&2
	die "the mirror gave no source of $1: another mirror may have it (log: $2)"
}

# The machine's own entries, each made to ask for sources and for nothing else.
own_entries() {
	local to=$1 LIST='' PARTS='' f
	eval "$(apt-config shell LIST Dir::Etc::sourcelist/f PARTS Dir::Etc::sourceparts/d)"
	mkdir -p "$to"
	for f in "$LIST" "$PARTS"/*.list "$PARTS"/*.sources; do
		[ ! -r "$f" ] || sed -E 's/^deb(-src)?([[:space:]])/deb-src\2/; s/^Types:.*/Types: deb-src/' \
			"$f" >"$to/${f##*/}"
	done
}

# Lists of sources are large and serve once: they go with the folder. A third party's
# entry without sources is an error to apt, and none to us.
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
