# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Programs of a case: start and end servers, clients and packet captures in a namespace. Each
# program has a name, under which its log and process id are kept. Sourced by ../lib.sh. END is 0 or
# 1, the number of a namespace. Unless a case says otherwise, clients run at end 0, servers at
# end 1. SLOWNESS is the factor for time limits on this kernel.

next_port=20100

# Set PORT to a port that no case used in the last minutes, because a socket of such a case may still
# occupy it in TIME_WAIT. Ports from 32768 on are chosen for clients by the kernel.
new_port() {
	# shellcheck disable=SC2034 # for the cases
	PORT=$((next_port++))
}

# start NAME END COMMAND...: start a program in the background, in namespace END, or in that of
# this shell if END is "-". Its output goes to $CASE_DIR/NAME.log, its process id to PID and
# PIDS[NAME].
declare -gA PIDS=()
start() {
	local name=$1 end=$2 GO=()
	shift 2
	[ "$end" = - ] || go_to "$end"
	note "$name at end $end: $*"
	"${GO[@]}" "$@" >"$CASE_DIR/$name.log" 2>&1 </dev/null &
	PID=$!
	PIDS[$name]=$PID
}

# serve NAME PORT COMMAND...: start a server in namespace 1, or in namespace SERVER_END if that is
# set, and wait until it listens.
serve() {
	local name=$1 port=$2 end=${SERVER_END:-1}
	shift 2
	start "$name" "$end" "$@"
	wait_until 15 "$name listens on port $port" listening_or_gone "$PID" "$port" "$end"
	gone "$PID" && fail "$name ended before it listened"
	return 0
}

# listening_or_gone PID PORT [END]
listening_or_gone() {
	listens_at "${3:-0}" "$1" "$2" || gone "$1"
}

# ended SECONDS NAME: wait until the program ends, and set STATUS to its exit status. The case fails
# if the program still runs after SECONDS times SLOWNESS.
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

# reap SECONDS NAME: like ended, but the case also fails if the program has not succeeded.
reap() {
	ended "$1" "$2"
	[ "$STATUS" = 0 ] || fail "$2 ended with status $STATUS"
}

# stop NAME [SIGNAL]: end the program by a signal (TERM by default), and set STATUS to its exit
# status.
stop() {
	kill "-${2:-TERM}" "${PIDS[$1]}" 2>/dev/null || :
	ended 15 "$1"
}

# pair PORT SERVER... -- CLIENT...: run a server and a client; both must succeed. Their output is in
# $CASE_DIR/server.log and client.log.
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

# ops: print how many operations the client kwbench has measured. kwbench also makes some operations
# before and after its measurement.
ops() {
	sed -n 's/.*"ops": \([0-9]*\).*/\1/p' "$CASE_DIR/client.log"
}

# try_client SECONDS STUCK COMMAND...: run a client and set STATUS to its exit status, which the
# caller has to judge. If the client still runs after SECONDS times SLOWNESS, and the function STUCK
# returns true then, the client is killed, and STATUS is "stuck". If STUCK returns false, wait for
# the client without a limit.
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

# pair_retried TRY...: call the function TRY, which starts the program named "server" and calls
# try_client. Server and client must succeed. If try_client reports "stuck", kill the server and
# call TRY again, at most twice.
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

# True if a siw server at end 1 is stuck because of a fault of siw. siw takes over its socket only
# after it has sent its Reply, and does not look for octets that arrived before (siw_accept,
# siw_cm_llp_data_ready). So it reads the first message of a quick client only after more octets
# have arrived, and both ends may wait for ever. In that state the server's socket has sent one
# segment, the Reply, and its receive queue is not empty.
siw_is_deaf() {
	[ "$(link_type 1)" = siw ] || return 1
	n1 ss -HOtin state established "sport = :$PORT" | grep -E '^[1-9].* data_segs_out:1 ' || return 1
	note "siw does not read the first message of a quick client"
}

# expect_in NAME REGEX: the log of program NAME must have a line that matches.
expect_in() {
	has_line "$CASE_DIR/$1.log" "$2" || fail "$1 did not say '$2'"
}

# begin_capture FILE: capture all TCP packets at end 1 until end_capture, which fails if the kernel
# has dropped packets of the capture.
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
