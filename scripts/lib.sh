# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Functions and variables that all shell scripts use, here and in tools/testing: paths, messages, the
# cache. Scripts source this file; it is never run.
#
# Scripts write progress to stderr, and their result (a path, a table) to stdout, so that
# KDIR=$(scripts/get-kernel.sh 6.12) works.

KWARP_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
KWARP_CACHE=$(realpath -m "${KWARP_CACHE:-${HOME:-/root}/.cache/kwarp}")
KWARP_JOBS=${KWARP_JOBS:-$(nproc)}
export KWARP_ROOT KWARP_CACHE KWARP_JOBS
shopt -s inherit_errexit
# Unset make's own variables, so that "make module W=1" does not pass W=1 on to all builds that a
# script starts. Builds that need W and others get them as arguments.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
# C.UTF-8: scripts parse the output of other programs, which must not be translated. PATH: a user's
# PATH may lack the folders of depmod and similar programs.
export LC_ALL=C.UTF-8
export PATH=$PATH:/usr/sbin:/sbin

# Start time of the first script, from which messages count the elapsed time.
export KWARP_T0=${KWARP_T0:-$(date +%s)}

say() {
	printf '[%4ds] %s\n' "$(($(date +%s) - KWARP_T0))" "$*" >&2
}

# True if text on stderr may have colours (https://no-color.org).
in_colour() {
	[ -t 2 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]
}

die() {
	local error=error:
	[ -z "${ticks:-}" ] || end_ticks
	! in_colour || error=$'\e[1;31merror:\e[0m'
	printf '%s %s\n' "$error" "$*" >&2
	exit 1
}

# Print the packages of kwarp that are installed on this machine, in one line.
kwarp_packages() {
	# dpkg-query, not the shell, expands the parameters.
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

# need_root [WHAT FOR]: fail if this user cannot become root, and let sudo ask for the password now if
# it must. Scripts call this at their beginning, because the output of commands that need root goes
# to a log later, where nobody would see that sudo asks.
need_root() {
	local what=${1:-packages and for the guest}
	[ "$(id -u)" -ne 0 ] || return 0
	command -v sudo >/dev/null || die "root is needed for $what: run as root or install sudo"
	sudo -n true 2>/dev/null || sudo -v || die "root is needed for $what, and sudo refuses"
}

# need_tools PROGRAM[:PACKAGE]...: fail if a program is missing, and name the packages that have
# them.
need_tools() {
	local tool programs=() packages=()
	for tool; do
		command -v "${tool%%:*}" >/dev/null && continue
		programs+=("${tool%%:*}") packages+=("${tool##*:}")
	done
	[ ${#programs[@]} -eq 0 ] || die "not installed: ${programs[*]} (on Debian: apt-get install $(printf '%s\n' "${packages[@]}" | sort -u | paste -sd ' '))"
}

# existing_part PATH: print the longest part of an absolute path that exists.
existing_part() {
	local dir=$1
	while [ ! -e "$dir" ]; do dir=$(dirname "$dir"); done
	echo "$dir"
}

# need_space WHAT MB DIR [MB DIR]...: fail if there is less free space than WHAT needs. Folders on
# one file system need their space there together.
need_space() {
	local what=$1 device dir free hint
	local -A need=() where=()
	shift
	while [ $# -gt 0 ]; do
		dir=$(existing_part "$2")
		device=$(stat -c %d "$dir")
		need[$device]=$((${need[$device]:-0} + $1))
		where[$device]+=${where[$device]:+ and }$2
		free=$(df --output=avail -BM "$dir" | tr -dc 0-9)
		hint=
		[[ ${where[$device]} != *"$KWARP_CACHE"* ]] || hint=' (KWARP_CACHE=DIR: another folder for downloads)'
		[ "$free" -ge "${need[$device]}" ] ||
			die "$what needs ${need[$device]} MB in ${where[$device]}, where $free MB are free$hint"
		shift 2
	done
}

# Make the cache's folders, or fail if the cache cannot be written. This is done once for a script
# and all scripts that it starts.
need_cache() {
	[ "${KWARP_CACHE_OK:-}" != "$KWARP_CACHE" ] || return 0
	# shellcheck disable=SC2015
	mkdir -p "$KWARP_CACHE"/{lock,log} 2>/dev/null && : 2>/dev/null >"$KWARP_CACHE/lock/try" ||
		die "cannot write to the cache folder $KWARP_CACHE: set KWARP_CACHE"
	export KWARP_CACHE_OK=$KWARP_CACHE
}

# Print the head comment of the running script, without the licence.
head_comment() {
	sed -n '4,/^[^#]/s/^#\( \|$\)//p' "$0"
}

# need_value NUMBER-OF-ARGUMENTS OPTION: fail if the option has no value; the message quotes the
# head comment.
need_value() {
	[ "$1" -lt 2 ] || return 0
	die "$2 needs a value: $(head_comment | grep -oE -- "$2 ('[^']*'|[^] ]*)" | head -n 1)"
}

# start_ticks LOG WHAT [COMMAND...]: from now on, print each 30 s (KWARP_TICK) that WHAT still runs,
# and how far it is: what the COMMAND prints, by default the last line of LOG. end_ticks ends that.
# The process that does it has neither the caller's locks nor its stdout, for whose end others wait.
start_ticks() {
	local log=$1 what=$2 caller=$BASHPID
	shift 2
	[ $# -gt 0 ] || set -- last_line "$log"
	(
		exec 7>&- 8>&- 9>&- >/dev/null </dev/null
		tick_while "$caller" "$log" "$what" "$@"
	) &
	ticks=$!
	disown "$ticks"
}

end_ticks() {
	kill "$ticks" 2>/dev/null || true
	ticks=''
}

# tick_while PID LOG WHAT COMMAND...: the loop of start_ticks, as long as the process PID exists. A
# program "sleep" would outlive this shell, so the pause is a read from a pipe that nobody writes.
tick_while() {
	local caller=$1 log=$2 what=$3 pipe start=$SECONDS n
	shift 3
	exec {pipe}<> <(:)
	for ((n = 1; ; n++)); do
		while [ $((SECONDS - start)) -lt $((n * ${KWARP_TICK:-30})) ]; do
			[ -e "/proc/$caller" ] || return 0
			read -rt 1 -u "$pipe" || :
		done
		say "$what: $((SECONDS - start)) s so far, $("$@") (log: $log)"
	done
}

last_line() {
	local line
	line=$(tail -c 500 "$1" 2>/dev/null | tr '\r' '\n' | grep -a '[^[:space:]]' | tail -n 1) || line=
	echo "at: ${line:0:100}"
}

# logged LOG COMMAND...: run the command with its output in LOG; if it fails, show the end of LOG
# and die. The command runs in a subshell, so that "exit" in it is noticed, too. The call must not
# be part of a condition, which would switch errexit off in the command.
logged() {
	local log=$1 status=0 what=$2 ticks
	shift
	# The name of a wrapper says nothing.
	case $what in as_root | nice) what=$2 ;; esac
	mkdir -p "$(dirname "$log")"
	start_ticks "$log" "$what"
	set +e
	(set -e; "$@") >"$log" 2>&1 </dev/null
	status=$?
	set -e
	end_ticks
	[ "$status" -ne 0 ] || return 0
	tail -n 25 "$log" >&2
	die "'$what' failed; the whole log is $log"
}

# apt_trouble LOG: print apt's own last error, and in words of ours what to do, for a message.
apt_trouble() {
	local log=$1 said advice
	said=$(grep -aE '^[EW]:' "$log" | grep -vE 'Some index files|Unable to fetch some archives' | tail -n 1) || said=$(tail -n 1 "$log")
	if grep -qaE 'No space left on device|enough free space' "$log"; then
		advice="there is no space left (KWARP_CACHE=DIR: another folder for downloads)"
	elif grep -qaE 'is expired|is not valid yet' "$log"; then
		advice="the mirror's Release file is out of date, or this machine's clock is wrong; try another mirror (KWARP_MIRROR=URI), or Acquire::Check-Valid-Until \"false\" in apt.conf if the mirror is meant to be old"
	elif grep -qaE 'NO_PUBKEY|is not signed|invalid signature|EXPKEYSIG' "$log"; then
		advice="the signature of the mirror cannot be checked: is the package debian-archive-keyring up to date?"
	elif grep -qaE 'Could not (connect|resolve)|Temporary failure|Unable to connect|timed out|Network is unreachable|Proxy|Connection failed' "$log"; then
		advice="the mirror cannot be reached: check network and proxy"
	elif grep -qaE 'does not have a Release file| 404 ' "$log"; then
		advice="the mirror does not have this; try another one (KWARP_MIRROR=URI)"
	elif grep -qaE 'Unable to locate package|has no installation candidate' "$log"; then
		advice="apt on this machine does not know it: check apt's sources, then apt-get update"
	fi
	printf '%s (apt: %s; log: %s)\n' "${advice:-apt failed}" "${said#[EW]: }" "$log"
}

# cached KEY MAKER [ARGS...]: print the path of the cache entry KEY. If the entry does not exist,
# MAKER is called with an empty folder as first argument, and that folder becomes the entry when
# MAKER has succeeded. If several scripts need an entry at the same time, one of them makes it.
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
		# Left by a run that was interrupted.
		rm -rf --one-file-system "$entry".tmp.* 2>/dev/null || as_root rm -rf --one-file-system "$entry".tmp.*
		tmp=$(mktemp -d "$entry.tmp.XXXXXX")
		chmod 755 "$tmp"
		# shellcheck disable=SC2064
		trap "rm -rf --one-file-system '$tmp' 2>/dev/null || as_root rm -rf --one-file-system '$tmp'" EXIT
		"$maker" "$tmp" "$@" >&2
		mv -T "$tmp" "$entry"
	) 9>"$lock"
}

# kernel_make KDIR ARGUMENTS...: run make in KDIR. Modules for the kernel of a newer Debian need the
# compiler of that Debian. For such a kernel get-kernel.sh makes a folder "system" with a small
# Debian, and make runs in a mount namespace in which /usr is that of the small Debian.
kernel_make() {
	local kdir=$1 system named
	shift
	# The headers of Debian name the compiler of their release, such as gcc-12. Without it the
	# default one will do.
	named=$(sed -n 's/^CC = .*)\(gcc-[0-9]*\)$/\1/p' "$kdir/.kernelvariables" 2>/dev/null) || named=
	# get-kernel.sh unpacks headers below usr/src, and makes "system" in the folder that has
	# usr.
	system=$(realpath "$kdir")
	system=${system%/usr/src/*}/system
	if [ ! -d "$system/usr" ]; then
		# make expands the variable.
		# shellcheck disable=SC2016
		[ -z "$named" ] || command -v "$named" >/dev/null || set -- 'CC=$(CROSS_COMPILE)gcc' "$@"
		make -C "$kdir" "$@"
		return
	fi
	# The inner shell, not this one, expands the parameters.
	# shellcheck disable=SC2016
	unshare --map-root-user --mount -- /bin/sh -c 'system=$1; shift; mount --rbind "$system/usr" /usr && exec make "$@"' \
		sh "$system" -C "$kdir" "$@"
}

# kernel_release KDIR: print the release string of the kernel.
kernel_release() {
	local kdir=$1
	if [ -s "$kdir/include/config/kernel.release" ]; then
		cat "$kdir/include/config/kernel.release"
	else
		kernel_make "$kdir" -s kernelrelease
	fi
}

# kernel_dir NAME: make this kernel if the cache lacks it, and print its folder. In the folder are
# vmlinuz, release (a file with the release string), kdir (the build directory), modules,
# modules.cpio and, if module builds need arguments, make-args.
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

# True for the name of a stock kernel of Debian: a version, perhaps with a flavour or architecture.
is_stock_kernel() {
	[[ $1 =~ ^((6\.12|6\.1|sid|7\.2)(-(rt|cloud))?|(6\.12|6\.1)-arm64)$ ]]
}

# Print the architecture of kernel NAME, by Debian's name.
arch_of() {
	case $1 in
	*-arm64) echo arm64 ;;
	*) echo amd64 ;;
	esac
}

# Print the name of the compiler for ARCHITECTURE.
compiler_of() {
	case $1 in
	arm64) echo aarch64-linux-gnu-gcc ;;
	*) echo gcc ;;
	esac
}

# kdir_id KDIR: print a checksum of the configuration and the exported symbols, which differs
# between builds of the same release. A kernel that is not built yet has no symbols.
kdir_id() {
	{ cat "$1/.config" "$1/Module.symvers" 2>/dev/null || :; } | sha256sum | cut -c1-12
}

# Print the last commit that changed the module, the provider or their common header, with -dirty if
# one of them has changes that are not committed.
code_commit() {
	local code=(drivers include rdma-core-provider ":!*.kunitconfig") dirty='' commit
	git -C "$KWARP_ROOT" diff --quiet HEAD -- "${code[@]}" 2>/dev/null || dirty=-dirty
	commit=$(git -C "$KWARP_ROOT" log -1 --abbrev=7 --format=%h -- "${code[@]}" 2>/dev/null) || dirty=-dirty
	echo "$commit$dirty"
}

# record_run RELEASE ARCHITECTURE PROGRAM WHAT PASSED FAILED SKIPPED NAMES: record the final
# result of a run. scripts/kernels.py makes Documentation/kernels.rst from these records.
record_run() {
	local IFS=$'\t' runs=$KWARP_ROOT/build/kernel-runs
	mkdir -p "$runs"
	set -- "$(date -u +%Y-%m-%dT%H:%M:%S)" "$(code_commit)" "$@"
	echo "$*" >"$runs/$(date -u +%Y%m%d-%H%M%S)-$$.tsv"
}

# check_suites SUITE...: fail if one of these names is no release of Debian that the scripts know.
check_suites() {
	local suite
	for suite; do
		case $suite in
		bookworm | trixie | sid) ;;
		*) die "no suite '$suite': there are bookworm, trixie and sid" ;;
		esac
	done
}

# rdma_core_release TREE: print the release of rdma-core whose source TREE is. Print nothing if TREE
# is not such a source.
rdma_core_release() {
	sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' "$1/CMakeLists.txt" 2>/dev/null || :
}
