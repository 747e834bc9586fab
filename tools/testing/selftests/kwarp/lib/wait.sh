# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Functions that wait until a condition holds, conditions about files and processes, and marks:
# files that note a fact for later cases, such as "the namespaces exist". Sourced by ../lib.sh,
# which sets SLOWNESS, the factor for time limits on this kernel.
#
# On a debug kernel it takes half a second to start a program. So these functions use only the shell
# itself (except for one mkfifo).

# mark FILE [TEXT]: set a mark, a file that is not empty. unmark FILE...: make the files empty.
mark() {
	echo "${2:-1}" >"$1"
}

unmark() {
	local f
	for f in "$@"; do
		[ ! -s "$f" ] || : >"$f"
	done
}

# has_line FILE REGEX: true if some line of the file matches.
has_line() {
	local lines line
	mapfile -t lines <"$1"
	for line in "${lines[@]}"; do
		[[ ! $line =~ $2 ]] || return 0
	done
	return 1
}

# count_lines FILE REGEX: print how many lines match.
count_lines() {
	local lines line count=0
	mapfile -t lines <"$1"
	for line in "${lines[@]}"; do
		[[ ! $line =~ $2 ]] || count=$((count + 1))
	done
	echo "$count"
}

# Wait 50 ms without starting a process: read from a pipe that nobody writes to, until the read
# times out.
pause() {
	if [ -z "${pause_fd:-}" ]; then
		[ -p "$RUN/pause" ] || mkfifo "$RUN/pause"
		exec {pause_fd}<>"$RUN/pause"
	fi
	read -rt 0.05 -u "$pause_fd" || :
}

# holds_within SECONDS COMMAND...: repeat the command until it succeeds. Return 1 if it has not
# succeeded after SECONDS, which are not multiplied by SLOWNESS.
holds_within() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
	shift
	until "$@"; do
		[ "${EPOCHREALTIME/./}" -lt "$end" ] || return 1
		pause
	done
}

# wait_until SECONDS WHAT COMMAND...: like holds_within, with SLOWNESS times the seconds; on
# failure the case fails.
wait_until() {
	local seconds=$1 what=$2
	shift 2
	seconds=$((seconds * SLOWNESS))
	holds_within "$seconds" "$@" || fail "$what: not within $seconds s"
}

# gone PID: true if the process has ended, even if this shell has not waited for it yet (a zombie).
gone() {
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	# The state is after the program's name. The name is in parentheses and may contain any
	# characters, so look for the last parenthesis.
	[[ ${stat##*) } = [ZX]* ]]
}

# listens PID PORT: true if some process in the network namespace of PID listens on the TCP port.
listens() {
	local pid=$1 port
	printf -v port ':%04X' "$2"
	# The process may end while these files are read, so errors are not shown.
	{ has_line "/proc/$pid/net/tcp" "$port [0-9A-F]+:0000 0A" ||
		has_line "/proc/$pid/net/tcp6" "$port [0-9A-F]+:0000 0A"; } 2>/dev/null
}
