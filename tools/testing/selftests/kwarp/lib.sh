# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Helpers of the end-to-end suite: settings, verdicts, start and end of a case; the files in lib/
# have the others. Sourced by run.sh, which forks for each case, and by soak.sh.
#
#     +--------- netns kwarp-0 ---------+         +--------- netns kwarp-1 ---------+
#     |  RDMA link kwt0                 |         |                 RDMA link kwt1  |
#     |  (type kwarp or siw)            |         |            (type kwarp or siw)  |
#     |        |                        |         |                        |        |
#     |  kwv0  192.0.2.1/24 ............|..veth...|............ 192.0.2.2/24  kwv1  |
#     |        2001:db8::1/64           |         |            2001:db8::2/64       |
#     |                                 |         |                                 |
#     |  n0 CLIENT ...                  |         |                  n1 SERVER ...  |
#     +---------------------------------+         +---------------------------------+
#
# Words of all files of the suite. END is 0 or 1, the number of a namespace and of its interface and
# link. Knob: a setting of a link of kwarp, a file in /sys/class/infiniband/LINK/kwarp/. Link of
# type kwarp-siw: a link of kwarp that has siw's user ABI, for programs that use siw's provider
# (libsiw).
#
# A case requests the links that it needs ("links kwarp siw"). Namespaces and links of the previous
# case are used again if they fit. A case starts servers with "serve" and clients with "client" or
# "start"; "pair" runs both. A case fails if a command has a non-zero exit status, or by "fail WHY".
# To wait for a condition, cases poll it with "wait_until", and do not sleep for a guessed time.

IP=(192.0.2.1 192.0.2.2)
IP6=(2001:db8::1 2001:db8::2)
NS=(kwarp-0 kwarp-1)
LINK=(kwt0 kwt1)
DEV=(kwv0 kwv1)
# With KWARP_TWO=1 the ends are two machines, each with an interface of this name. KWARP_OVER=ipsec or
# wireguard protects what is on the link between them.
[ "${KWARP_TWO:-0}" = 0 ] || DEV=(wire wire)
# BELOW: the interfaces that send the packets, on which netem works.
BELOW=("${DEV[@]}")
[ "${KWARP_OVER:-}" != wireguard ] || DEV=(kwwg kwwg)

# Type of link under test, and type of the other link in interop cases.
KWARP_LINK=${KWARP_LINK:-kwarp}
KWARP_PEER=${KWARP_PEER:-siw}
# The module that makes links of the type KWARP_LINK. The module kwarp makes links of two types,
# kwarp and kwarp-siw.
KWARP_MODULE=${KWARP_LINK%-siw}
# With profile "stock", cases make their full numbers of operations and rounds. Profile "debug" is
# for a kernel that is ten to a hundred times slower: cases make fewer.
[ "${KWARP_DEBUG_KERNEL:-0}" = 0 ] && KWARP_PROFILE=${KWARP_PROFILE:-stock}
KWARP_PROFILE=${KWARP_PROFILE:-debug}

# Factor for the time limits of cases and of the functions that wait for a program or a condition
# (except holds_within). These limits are written for an idle machine with two processors.
SLOWNESS=${KWARP_SLOWNESS:-$([ "$KWARP_PROFILE" = debug ] && echo 5 || echo $((2 + 2 * ${KWARP_TWO:-0})))}

RUN=${KWARP_RUN:-/run/kwarp-e2e}
SKIP_STATUS=4

# HERE is set by the script that sources this file.
# shellcheck source=lib/wait.sh
. "$HERE/lib/wait.sh"
# shellcheck source=lib/ends.sh
. "$HERE/lib/ends.sh"
# shellcheck source=lib/net.sh
. "$HERE/lib/net.sh"
# shellcheck source=lib/protect.sh
. "$HERE/lib/protect.sh"
# shellcheck source=lib/links.sh
. "$HERE/lib/links.sh"
# shellcheck source=lib/programs.sh
. "$HERE/lib/programs.sh"

# ------------------------------------------------------------- verdicts

note() {
	printf '+ %s\n' "$*"
}

# File descriptor of the case's output, for verdicts. It stays the same if a command redirects its
# own output.
verdict_fd=1

# tell WHAT: add WHAT to the notes of the whole run, which are printed at its end.
tell() {
	note "$*"
	printf '%s: %s\n' "${CASE_DIR##*/}" "$*" >>"$RUN/told"
}

fail() {
	printf 'FAILED: %s\n' "$*" >&$verdict_fd
	exit 1
}

skip() {
	printf '%s\n' "$*" >"$CASE_DIR/skip"
	exit $SKIP_STATUS
}

# by_profile STOCK DEBUG: print the first value with profile stock, the second with profile debug.
by_profile() {
	[ "$KWARP_PROFILE" = debug ] && echo "$2" || echo "$1"
}

# kernel_since VERSION: true if the running kernel has this version or a later one.
kernel_since() {
	[ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

# check WHAT COMMAND...: run the command; if it fails, the case fails, and WHAT is in the message.
check() {
	local what=$1
	shift
	"$@" || fail "$what: '$*' gave $?"
}

# check_fails CODES WHAT COMMAND...: run the command; if its exit status is not one of CODES, such
# as "1 3", the case fails.
check_fails() {
	local codes=$1 what=$2 rc=0
	shift 2
	"$@" || rc=$?
	[[ " $codes " = *" $rc "* ]] || fail "$what: '$*' gave $rc, not one of: $codes"
}

DEBUGFS=/sys/kernel/debug

# Mount debugfs if it is not mounted. False if the kernel has none.
has_debugfs() {
	mountpoint -q "$DEBUGFS" || mount -t debugfs none "$DEBUGFS" 2>/dev/null
}

# ----------------------------------------------------- start and end of a case

show_logs() {
	local f
	for f in "$CASE_DIR"/*.log; do
		[ -s "$f" ] || continue
		printf -- '--- %s (last 30 lines)\n' "${f##*/}"
		tail -n 30 "$f"
	done
}

# Kill the programs that the case has left. If it has failed, end what it started without the
# suite's help, and show the logs. This runs at the end of every case, also after a time-out.
case_cleanup() {
	local rc=$? name
	trap - EXIT TERM INT
	set +e
	for name in "${!PIDS[@]}"; do
		kill -KILL "${PIDS[$name]}" 2>/dev/null
		wait "${PIDS[$name]}" 2>/dev/null
	done
	if [ $rc -ne 0 ] && [ $rc -ne $SKIP_STATUS ]; then
		both_ends kill_in_ns 2>/dev/null
		# A namespace that is left makes later cases fail, those of exclusive RDMA namespaces.
		ip netns del kwarp-probe 2>/dev/null
		show_logs >&$verdict_fd
	fi
	exit $rc
}

case_begin() {
	exec {verdict_fd}>&1
	set -euo pipefail
	trap case_cleanup EXIT
	trap 'fail "timed out"' TERM
	trap 'echo "FAILED: status $? of: $BASH_COMMAND (${BASH_SOURCE[0]##*/}:$LINENO)" >&$verdict_fd' ERR
}

# Check that the case has left no RDMA objects.
case_end() {
	holds_within 10 no_objects || fail "objects are left: $OBJECTS"
}
