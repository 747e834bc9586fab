# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Shared by every script here: paths, messages, the cache. Sourced, never run.
#
# Progress goes to stderr, results (a path, a table) to stdout, so that
# KDIR=$(scripts/get-kernel.sh 6.12) works.

KWARP_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
KWARP_CACHE=$(realpath -m "${KWARP_CACHE:-${HOME:-/root}/.cache/kwarp}")
KWARP_JOBS=${KWARP_JOBS:-$(nproc)}
export KWARP_ROOT KWARP_CACHE KWARP_JOBS
shopt -s inherit_errexit
# Variables of `make module W=1` reach the builds they are for as arguments, not all builds.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
# Scripts parse the output of other programs, and PATH of a user's shell
# need not hold depmod and friends.
export LC_ALL=C.UTF-8
export PATH=$PATH:/usr/sbin:/sbin

# Elapsed time counts from the first of our scripts that was started.
export KWARP_T0=${KWARP_T0:-$(date +%s)}

say() {
	printf '[%4ds] %s\n' "$(($(date +%s) - KWARP_T0))" "$*" >&2
}

die() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

# The packages of kwarp that dpkg has on this machine, in one line.
kwarp_packages() {
	# The parameters are dpkg's.
	# shellcheck disable=SC2016
	{ dpkg-query -W -f '${db:Status-Status} ${Package}\n' kwarp-dkms kwarp-tools ibverbs-provider-kwarp 2>/dev/null || true; } |
		awk '$1 != "not-installed" && $1 != "config-files" { printf "%s%s", n++ ? " " : "", $2 }'
}

# Run a program as root: directly, or through sudo.
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		die "root is needed for '$1': run as root or install sudo"
	fi
}

# Asked first: the step that needs root comes late, and its output goes to a log.
need_root() {
	[ "$(id -u)" -ne 0 ] || return 0
	command -v sudo >/dev/null || die "root is needed for packages and for the guest: run as root or install sudo"
	sudo -n true 2>/dev/null || sudo -v || die "root is needed for packages and for the guest, and sudo refuses"
}

# Once for a script and all that it starts.
need_cache() {
	[ "${KWARP_CACHE_OK:-}" != "$KWARP_CACHE" ] || return 0
	# shellcheck disable=SC2015
	mkdir -p "$KWARP_CACHE"/{lock,log} 2>/dev/null && : 2>/dev/null >"$KWARP_CACHE/lock/try" ||
		die "cannot write to the cache folder $KWARP_CACHE: set KWARP_CACHE"
	export KWARP_CACHE_OK=$KWARP_CACHE
}

# The head comment of the script that runs, without the licence.
head_comment() {
	sed -n '4,/^[^#]/s/^#\( \|$\)//p' "$0"
}

# need_value NUMBER-OF-ARGUMENTS OPTION: the head comment has what the option takes.
need_value() {
	[ "$1" -lt 2 ] || return 0
	die "$2 needs a value: $(head_comment | grep -oE -- "$2 ('[^']*'|[^] ]*)" | head -n 1)"
}

# logged LOG COMMAND...: output to LOG; on failure show its end and say where it is. In a
# subshell, so that a command that ends the shell is heard of, too. Not as a condition,
# which would switch errexit off in all that COMMAND does.
logged() {
	local log=$1 status=0 what=$2
	shift
	[ "$what" != as_root ] || what=$2
	mkdir -p "$(dirname "$log")"
	set +e
	(set -e; "$@") >"$log" 2>&1 </dev/null
	status=$?
	set -e
	[ "$status" -ne 0 ] || return 0
	tail -n 25 "$log" >&2
	die "'$what' failed; the whole log is $log"
}

# cached KEY MAKER [ARGS...]: path of the cache entry KEY. If it is not there,
# MAKER is called with an empty directory as first argument, and what it leaves
# in it becomes the entry: whole or not at all, once however many ask.
cached() {
	local key=$1 maker=$2 entry=$KWARP_CACHE/$1
	shift 2
	if [ ! -e "$entry" ]; then
		need_cache
		mkdir -p "$(dirname "$entry")"
		# Not "|| return": that would switch errexit off in all that MAKER does.
		cached_make "$key" "$entry" "$maker" "$@"
	fi
	echo "$entry"
}

cached_make() {
	local key=$1 entry=$2 maker=$3 lock tmp
	shift 3
	lock=$KWARP_CACHE/lock/${key//\//_}
	(
		flock -n 9 || { say "waiting for another run that makes $key"; flock 9; }
		[ ! -e "$entry" ] || exit 0
		tmp=$(mktemp -d "$entry.tmp.XXXXXX")
		chmod 755 "$tmp"
		# shellcheck disable=SC2064
		trap "rm -rf --one-file-system '$tmp' 2>/dev/null || as_root rm -rf --one-file-system '$tmp'" EXIT
		"$maker" "$tmp" "$@" >&2
		mv -T "$tmp" "$entry"
	) 9>"$lock"
}

# kernel_make KDIR ARGUMENTS...: make there. A stock kernel of a newer Debian is built with the
# compiler and the tools of that system, which take the place of this machine's for make alone.
kernel_make() {
	local kdir=$1 system
	shift
	# Headers are in usr/src of what get-kernel.sh has unpacked.
	system=$(realpath "$kdir")
	system=${system%/usr/src/*}/system
	if [ ! -d "$system/usr" ]; then
		make -C "$kdir" "$@"
		return
	fi
	# The parameters are those of the shell that is started.
	# shellcheck disable=SC2016
	unshare --map-root-user --mount -- /bin/sh -c 'system=$1; shift; mount --rbind "$system/usr" /usr && exec make "$@"' \
		sh "$system" -C "$kdir" "$@"
}

# The release string of the kernel whose build directory is KDIR.
kernel_release() {
	local kdir=$1
	if [ -s "$kdir/include/config/kernel.release" ]; then
		cat "$kdir/include/config/kernel.release"
	else
		kernel_make "$kdir" -s kernelrelease
	fi
}

# kernel_dir NAME: the folder of vmlinuz, release, kdir, modules, modules.cpio, and, if
# builds for that kernel need more than KDIR, make-args.
kernel_dir() {
	case $1 in
	debug | kcsan | uml | uml-up) "$KWARP_ROOT/scripts/build-kernel.sh" --dir "$1" ;;
	*)
		is_stock_kernel "$1" || die "no kernel '$1': there are 6.12, 6.1, sid, -rt and -cloud of" \
			"these, 6.12-arm64, 6.1-arm64, debug, kcsan, uml and uml-up"
		"$KWARP_ROOT/scripts/get-kernel.sh" --dir "$1"
		;;
	esac
}

# One of Debian's: version, and flavour or another architecture.
is_stock_kernel() {
	[[ $1 =~ ^((6\.12|6\.1|sid|7\.2)(-(rt|cloud))?|(6\.12|6\.1)-arm64)$ ]]
}

# The architecture, in Debian's words, that kernel NAME is for.
arch_of() {
	case $1 in
	*-arm64) echo arm64 ;;
	*) echo amd64 ;;
	esac
}

# The compiler for ARCHITECTURE.
compiler_of() {
	case $1 in
	arm64) echo aarch64-linux-gnu-gcc ;;
	*) echo gcc ;;
	esac
}

# Tells one configuration of the same release from another.
kdir_id() {
	cat "$1/.config" "$1/Module.symvers" 2>/dev/null | sha256sum | cut -c1-12
}

# The last commit that changed what runs in a kernel or beside it, whatever came after.
code_commit() {
	local code=(drivers include rdma-core-provider ":!*.kunitconfig") dirty='' commit
	git -C "$KWARP_ROOT" diff --quiet HEAD -- "${code[@]}" 2>/dev/null || dirty=-dirty
	commit=$(git -C "$KWARP_ROOT" log -1 --abbrev=7 --format=%h -- "${code[@]}" 2>/dev/null) || dirty=-dirty
	echo "$commit$dirty"
}

# record_run RELEASE ARCHITECTURE PROGRAM WHAT PASSED FAILED SKIPPED NAMES: of a run whose result
# is final. scripts/kernels.py makes Documentation/kernels.rst of these.
record_run() {
	local IFS=$'\t' runs=$KWARP_ROOT/build/kernel-runs
	mkdir -p "$runs"
	set -- "$(date -u +%Y-%m-%dT%H:%M:%S)" "$(code_commit)" "$@"
	echo "$*" >"$runs/$(date -u +%Y%m%d-%H%M%S)-$$.tsv"
}

# check_suites SUITE...: of Debian, all that the scripts know.
check_suites() {
	local suite
	for suite; do
		case $suite in
		bookworm | trixie | sid) ;;
		*) die "no suite '$suite': there are bookworm, trixie and sid" ;;
		esac
	done
}

# rdma_core_release TREE: the release that the source is of; nothing, if it is no such source.
rdma_core_release() {
	sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' "$1/CMakeLists.txt" 2>/dev/null || :
}

# names_siw_alone LOG: a kernel log in whose reports there is siw, and nothing of ours.
names_siw_alone() {
	grep -qsE '\[siw\]|siw_[a-z_]+\+0x' "$1" && ! grep -qsE '\[kwarp\]|kwarp_[a-z_]+\+0x' "$1"
}
