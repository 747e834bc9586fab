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
#   scripts/apt-private.sh sources SUITE...       sources.list lines of these suites
#   scripts/apt-private.sh prepare                fetch the package lists if there are none
#   scripts/apt-private.sh refresh                fetch the package lists again
set -euo pipefail
. "$(dirname "$0")/lib.sh"

state=$KWARP_CACHE/apt
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
	die "no Debian mirror in this machine's apt sources; add a 'deb MIRROR bookworm main' line"
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

# Some mirrors fail on the .dsc; the .orig tarball is all that is wanted.
download_source() {
	local dir=$1 pkg=$2
	mkdir -p "$dir"
	cd "$dir"
	apt-get -q "${opts[@]}" source --download-only "$pkg" >"$state/source.log" 2>&1 || true
	compgen -G "*.orig.tar.*" >/dev/null && return
	refresh
	apt-get -q "${opts[@]}" source --download-only "$pkg" >"$state/source.log" 2>&1 || true
	compgen -G "*.orig.tar.*" >/dev/null ||
		die "the mirror gave no source of $pkg; the log is $state/source.log"
}

verb=${1:-}
shift || true
case $verb in
sources) source_lines "$@" ;;
get) prepare; exec apt-get "${opts[@]}" "$@" ;;
cache) prepare; exec apt-cache "${opts[@]}" "$@" ;;
download) prepare; download "$@" ;;
source) prepare; download_source "$@" ;;
prepare) prepare ;;
refresh) prepare; refresh ;;
*) die "usage: $0 get|cache|download|source|sources|prepare|refresh ..." ;;
esac
