# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Helpers of the end-to-end suite. Sourced by run.sh, of which each case is a fork.
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
# A case says which links it needs ("links kwarp siw"); what stands from the case
# before is used again. It starts servers with "serve", runs clients with "n0" or
# "pair", and fails by a non-zero exit status or "fail WHY". Nothing sleeps for a
# guessed time: "wait_until" polls a condition.

IP=(192.0.2.1 192.0.2.2)
IP6=(2001:db8::1 2001:db8::2)
NS=(kwarp-0 kwarp-1)
LINK=(kwt0 kwt1)
DEV=(kwv0 kwv1)

# Type of link under test, and type of the other link in interop cases.
KWARP_LINK=${KWARP_LINK:-kwarp}
KWARP_PEER=${KWARP_PEER:-siw}
# The module for KWARP_LINK: links of type kwarp-siw come with the module kwarp.
KWARP_MODULE=${KWARP_LINK%-siw}
# stock: full counts. debug: a kernel that is ten to a hundred times slower.
[ "${KWARP_DEBUG_KERNEL:-0}" = 0 ] && KWARP_PROFILE=${KWARP_PROFILE:-stock}
KWARP_PROFILE=${KWARP_PROFILE:-debug}

# Factor for all time limits, which are for an idle machine with two processors.
SLOWNESS=${KWARP_SLOWNESS:-$([ "$KWARP_PROFILE" = debug ] && echo 5 || echo 2)}

RUN=${KWARP_RUN:-/run/kwarp-e2e}
SKIP_STATUS=4

# ------------------------------------------------------------- verdicts

note() {
	printf '+ %s\n' "$*"
}

# File descriptor of the case's output, for verdicts. It stays the same if a command redirects its
# own output.
verdict_fd=1

# tell WHAT: add WHAT to the log of the whole run, which is printed at its end.
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

# by_profile STOCK DEBUG: the value for this profile.
by_profile() {
	[ "$KWARP_PROFILE" = debug ] && echo "$2" || echo "$1"
}

# kernel_since VERSION: the running kernel is of this release or a later one.
kernel_since() {
	[ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]
}

# check WHAT COMMAND...: the command must succeed.
check() {
	local what=$1
	shift
	"$@" || fail "$what: '$*' gave $?"
}

# check_fails CODES WHAT COMMAND...: the command must end with one of these statuses ("1 3").
check_fails() {
	local codes=$1 what=$2 rc=0
	shift 2
	"$@" || rc=$?
	[[ " $codes " = *" $rc "* ]] || fail "$what: '$*' gave $rc, not one of: $codes"
}

# ------------------------------------------------------------- waiting

# On a debug kernel it takes half a second to start a program. So the shell itself does what every
# case needs, where it can.

# mark FILE [TEXT], unmark FILE...: make a file that is not empty (test -s), or make files empty.
mark() {
	echo "${2:-1}" >"$1"
}

unmark() {
	local f
	for f in "$@"; do
		[ ! -s "$f" ] || : >"$f"
	done
}

# has_line FILE REGEX: some line of the file matches.
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

# A short pause that starts no process: the read times out, because nothing is written to the
# pipe.
pause() {
	if [ -z "${pause_fd:-}" ]; then
		[ -p "$RUN/pause" ] || mkfifo "$RUN/pause"
		exec {pause_fd}<>"$RUN/pause"
	fi
	read -rt 0.05 -u "$pause_fd" || :
}

# holds_within SECONDS COMMAND...: repeat the command until it succeeds; fail after SECONDS.
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

# gone PID: the process has ended, even if this shell has not waited for it yet.
gone() {
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	# The state follows the program's name, which may contain any characters.
	[[ ${stat##*) } = [ZX]* ]]
}

# listens PID PORT: some process in the network namespace of PID listens on the TCP port.
listens() {
	local pid=$1 port
	printf -v port ':%04X' "$2"
	# The process may end during this look.
	{ has_line "/proc/$pid/net/tcp" "$port [0-9A-F]+:0000 0A" ||
		has_line "/proc/$pid/net/tcp6" "$port [0-9A-F]+:0000 0A"; } 2>/dev/null
}

# ------------------------------------------------------------ namespaces

n0() {
	ip netns exec "${NS[0]}" "$@"
}

n1() {
	ip netns exec "${NS[1]}" "$@"
}

in_ns() {
	local i=$1
	shift
	ip netns exec "${NS[$i]}" "$@"
}

both_ends() {
	local i
	for i in 0 1; do
		"$1" "$i" "${@:2}"
	done
}

up_end() {
	local i=$1
	ip -n "${NS[i]}" -batch - <<-END
		link set lo up
		addr add ${IP[i]}/24 dev ${DEV[i]}
		addr add ${IP6[i]}/64 dev ${DEV[i]} nodad
		link set ${DEV[i]} mtu 1500 up
	END
}

net_up() {
	[ ! -s "$RUN/net" ] || return 0
	net_down
	ip -batch - <<-END
		netns add ${NS[0]}
		netns add ${NS[1]}
		link add ${DEV[0]} netns ${NS[0]} type veth peer name ${DEV[1]} netns ${NS[1]}
	END
	both_ends up_end
	wait_until 10 "the namespaces reach each other" neighbours_known
	unmark "$RUN/netem"
	mark "$RUN/mtu" 1500
	mark "$RUN/net"
}

# reachable ADDRESS. -U: ping takes times itself, without time stamps of the socket. The first and
# the last socket that wants time stamps make the kernel patch its receive path, and QEMU before
# 8.1 can run a half-patched instruction ("Oops: int3" in __netif_receive_skb_core() beside
# traffic).
reachable() {
	n0 ping -U -q -c 1 -W 1 "$1" >/dev/null
}

# Without this ping, the first connection of a case would wait for address resolution.
neighbours_known() {
	reachable "${IP[1]}" && reachable "${IP6[1]}"
}

net_down() {
	local i
	unmark "$RUN/net" "$RUN/knobs" "$RUN"/link.*
	for i in 0 1; do
		[ -e "/run/netns/${NS[i]}" ] || continue
		kill_in_ns "$i"
		rdma link delete "${LINK[i]}" 2>/dev/null || :
		ip netns del "${NS[i]}"
	done
}

kill_in_ns() {
	local pids
	pids=$(ip netns pids "${NS[$1]}")
	# shellcheck disable=SC2086
	[ -z "$pids" ] || kill -KILL $pids 2>/dev/null || :
}

set_mtu() {
	local i
	[ "$(<"$RUN/mtu")" != "$1" ] || return 0
	for i in 0 1; do
		ip -n "${NS[i]}" link set "${DEV[i]}" mtu "$1"
	done
	echo "$1" >"$RUN/mtu"
}

# add_netem ARGUMENTS OF tc... root netem SHAPE...: the user-mode kernels of this project have no
# netem: skip the case there. On any other kernel a failure of tc is a failure.
add_netem() {
	tc "$@" && return
	case $(uname -r) in
	*-kwarp-uml*) skip "this kernel loses no packets: it has no netem" ;;
	*) fail "no netem" ;;
	esac
}

# netem SHAPE...: shape both directions, for example "netem loss 1%".
netem() {
	local i
	no_netem
	mark "$RUN/netem"
	for i in 0 1; do
		add_netem -n "${NS[i]}" qdisc add dev "${DEV[i]}" root netem "$@"
	done
}

no_netem() {
	local i
	[ -s "$RUN/netem" ] || return 0
	for i in 0 1; do
		tc -n "${NS[i]}" qdisc del dev "${DEV[i]}" root 2>/dev/null || :
	done
	unmark "$RUN/netem"
}

# tcp_count END NAME: print a counter of the TCP of that end.
tcp_count() {
	in_ns "$1" nstat -asz "$2" | awk -v name="$2" '$1 == name { print $2 }'
}

# offloads on|off: on: the interfaces cut data into segments; off: TCP does so in its last step
# before the interface. (A veth pair passes large packets on unless told otherwise.)
offloads() {
	local i now=on
	[ ! -s "$RUN/no-offloads" ] || now=off
	[ "$now" != "$1" ] || return 0
	for i in 0 1; do
		in_ns "$i" ethtool -K "${DEV[i]}" tso "$1" gso "$1"
	done
	unmark "$RUN/no-offloads"
	[ "$1" = on ] || mark "$RUN/no-offloads"
}

# ----------------------------------------------------------------- links

load_type() {
	[ -d "/sys/module/${1%-siw}" ] || modprobe "${1%-siw}" || skip "there is no module for links of type $1"
}

link_exists() {
	[ -e "/sys/class/infiniband/${LINK[$1]}" ]
}

link_active() {
	[ "$(<"/sys/class/infiniband/${LINK[$1]}/ports/1/state")" = "4: ACTIVE" ]
}

# add_link END TYPE
add_link() {
	in_ns "$1" rdma link add "${LINK[$1]}" type "$2" netdev "${DEV[$1]}" || fail "cannot add a $2 link"
	wait_until 5 "link ${LINK[$1]} is active" link_active "$1"
	mark "$RUN/link.$1" "$2"
}

del_link() {
	unmark "$RUN/link.$1"
	check "deleting a link" rdma link delete "${LINK[$1]}"
}

link_type() {
	[ ! -s "$RUN/link.$1" ] || echo "$(<"$RUN/link.$1")"
}

want_link() {
	[ "$(link_type "$1")" = "$2" ] && link_exists "$1" && return
	! link_exists "$1" || del_link "$1"
	add_link "$1" "$2"
}

# links TYPE0 TYPE1: make links of these types ready at both ends, with knobs at their defaults.
links() {
	load_type "$1"
	load_type "$2"
	net_up
	set_mtu 1500
	no_netem
	offloads on
	want_link 0 "$1"
	want_link 1 "$2"
	default_knobs
}

# Both links of the type under test.
own_links() {
	links "$KWARP_LINK" "$KWARP_LINK"
}

# mixed_links ROLE: the link of the type KWARP_PEER is at the "server" (namespace 1) or the
# "client" (namespace 0).
mixed_links() {
	[ "$KWARP_LINK" != "$KWARP_PEER" ] || skip "interop needs two different types of link"
	case $1 in
	server) links "$KWARP_LINK" "$KWARP_PEER" ;;
	client) links "$KWARP_PEER" "$KWARP_LINK" ;;
	esac
}

# skip_on TYPE WHY: skip the case if the links under test are of this type, which cannot pass it.
skip_on() {
	[ "$KWARP_LINK" != "$1" ] || skip "$1: $2"
}

# knob_at END NAME VALUE: set a knob of one link, and read it back. "links" of the next case
# restores the default.
knob_at() {
	local path=/sys/class/infiniband/${LINK[$1]}/kwarp/$2
	echo "$3" >"$path" || fail "cannot set knob $2 to $3"
	[ "$(<"$path")" = "$3" ] || fail "knob $2 reads $(<"$path") instead of $3"
	echo "$2" >>"$RUN/knobs"
}

# knob NAME VALUE: set a knob on every link of kwarp. Other links (siw) have no knobs.
knob() {
	local i
	for i in 0 1; do
		[[ "$(link_type "$i")" != kwarp* ]] || knob_at "$i" "$@"
	done
}

# Set the knobs that were changed to the module's defaults.
default_knobs() {
	local name
	local -A set=()
	[ -s "$RUN/knobs" ] || return 0
	while read -r name; do
		set[$name]=1
	done <"$RUN/knobs"
	for name in "${!set[@]}"; do
		knob "$name" "$(<"/sys/module/kwarp/parameters/$name")"
	done
	unmark "$RUN/knobs"
}

# True if programs have left no objects on the links of the suite; OBJECTS lists them.
no_objects() {
	local all line counted="(${LINK[0]}|${LINK[1]}).* [1-9][0-9]* "
	OBJECTS=''
	all=$(rdma resource show) || return 1
	while IFS= read -r line; do
		[[ ! $line =~ $counted ]] || OBJECTS+=$line$'\n'
	done <<<"$all"
	[ -z "$OBJECTS" ]
}

# ------------------------------------------------------ servers and clients

next_port=20000

# Set PORT to a port that no other case of this run uses, so that no TIME_WAIT of another case is
# in the way.
new_port() {
	# shellcheck disable=SC2034 # for the cases
	PORT=$((next_port++))
}

# start NAME END COMMAND...: start a program in the background, in namespace END, or in that of
# this shell if END is "-". Its output goes to $CASE_DIR/NAME.log, its process id to PID and
# PIDS[NAME].
declare -gA PIDS=()
start() {
	local name=$1 end=$2
	shift 2
	if [ "$end" = - ]; then
		note "$name: $*"
		"$@" >"$CASE_DIR/$name.log" 2>&1 </dev/null &
	else
		note "$name in ${NS[end]}: $*"
		ip netns exec "${NS[end]}" "$@" >"$CASE_DIR/$name.log" 2>&1 </dev/null &
	fi
	PID=$!
	PIDS[$name]=$PID
}

# serve NAME PORT COMMAND...: start a server in namespace 1, and wait until it listens.
serve() {
	local name=$1 port=$2
	shift 2
	start "$name" "${SERVER_END:-1}" "$@"
	wait_until 15 "$name listens on port $port" listening_or_gone "$PID" "$port"
	gone "$PID" && fail "$name ended before it listened"
	return 0
}

listening_or_gone() {
	listens "$1" "$2" || gone "$1"
}

# ended SECONDS NAME: wait until the program ends; STATUS is its status.
ended() {
	local seconds=$1 name=$2
	if ! holds_within $((seconds * SLOWNESS)) gone "${PIDS[$name]}"; then
		note "what $name, process ${PIDS[$name]}, does:"
		grep -E '^(State|Threads)' "/proc/${PIDS[$name]}/status" || :
		cat /proc/"${PIDS[$name]}"/task/*/stack || :
		fail "$name has ended: not within $((seconds * SLOWNESS)) s"
	fi
	STATUS=0
	wait "${PIDS[$name]}" || STATUS=$?
	unset "PIDS[$name]"
}

# reap SECONDS NAME: wait until the program ends; it must have succeeded.
reap() {
	ended "$1" "$2"
	[ "$STATUS" = 0 ] || fail "$2 ended with status $STATUS"
}

# stop NAME [SIGNAL]: end the program by a signal; STATUS is its status.
stop() {
	kill "-${2:-TERM}" "${PIDS[$1]}" 2>/dev/null || :
	ended 15 "$1"
}

# pair PORT SERVER... -- CLIENT...: both must succeed. The client's output is in
# $CASE_DIR/client.log, too.
pair() {
	local port=$1 server=()
	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	serve server "$port" "${server[@]}"
	client "$@"
	reap 15 server
}

client() {
	local rc=0
	note "client in ${NS[0]}: $*"
	n0 "$@" >"$CASE_DIR/client.log" 2>&1 </dev/null || rc=$?
	[ $rc -eq 0 ] || fail "client ended with status $rc"
}

# ops: print how many operations the client, kwbench, has measured. It makes some more, which are
# not counted.
ops() {
	sed -n 's/.*"ops": \([0-9]*\).*/\1/p' "$CASE_DIR/client.log"
}

DEBUGFS=/sys/kernel/debug

# Mount debugfs if it is not mounted. False if the kernel has none.
has_debugfs() {
	mountpoint -q "$DEBUGFS" || mount -t debugfs none "$DEBUGFS" 2>/dev/null
}

# try_client SECONDS STUCK COMMAND...: run a client and set STATUS, which the caller has to judge.
# If the client still runs after SECONDS, and the function STUCK returns true, the client is
# killed, and STATUS is "stuck".
try_client() {
	local seconds=$(($1 * SLOWNESS)) stuck=$2
	shift 2
	start client 0 "$@"
	if ! holds_within "$seconds" gone "${PIDS[client]}" && "$stuck"; then
		stop client KILL
		STATUS=stuck
		return
	fi
	STATUS=0
	wait "${PIDS[client]}" || STATUS=$?
	unset 'PIDS[client]'
}

# pair_retried TRY...: the function TRY starts "server" and calls try_client. Both programs must
# succeed. If the client is stuck, both are started again, at most twice.
pair_retried() {
	local tries
	for tries in 3 2 1; do
		"$@"
		if [ "$tries" = 1 ] || [ "$STATUS" != stuck ]; then break; fi
		note "once more"
		stop server KILL
	done
	[ "$STATUS" = 0 ] || fail "client ended with status $STATUS"
	reap 30 server
}

# A siw server takes over its socket only after it has sent its Reply, and does not look for
# octets that came before (siw_accept, siw_cm_llp_data_ready). So it reads the first message of a
# quick client only when more octets follow, and both ends may wait for ever. Then the server's
# socket has sent one segment, the Reply, and holds octets that are not read.
siw_is_deaf() {
	[ "$(link_type 1)" = siw ] || return 1
	n1 ss -HOtin state established "sport = :$PORT" | grep -E '^[1-9].* data_segs_out:1 ' || return 1
	note "siw does not read the first message of a quick client"
}

# The log of a program must contain a line that matches.
expect_in() {
	has_line "$CASE_DIR/$1.log" "$2" || fail "$1 did not say '$2'"
}

# begin_capture FILE: capture all TCP packets at end 1 until end_capture. No packet may be
# missing.
begin_capture() {
	# A line of an earlier tcpdump must not be taken for one of this tcpdump.
	rm -f "$CASE_DIR/tcpdump.log"
	start tcpdump 1 tcpdump -i "${DEV[1]}" --immediate-mode -B 65536 -s 0 -U -w "$1" tcp
	wait_until 20 "tcpdump captures" capturing
}

capturing() {
	has_line "$CASE_DIR/tcpdump.log" 'listening on'
}

end_capture() {
	stop tcpdump INT
	expect_in tcpdump '^0 packets dropped by kernel'
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

# Runs at the end of every case, also after a failure or a time-out.
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
