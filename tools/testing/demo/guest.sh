#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The guest's part of `make demo`: two RDMA links in two network namespaces over a veth pair,
# unchanged RDMA programs between these links, and a table of figures.
#
#   demo.sh              measure plain TCP, siw, kwarp without and with CRC: Writes at MTU 1500
#   demo.sh --compare    measure also Reads and Sends, longer, and at MTU 1500 and 9000
#
#   KWARP_DEMO_LINK=siw  use this type of link instead of kwarp
#   KWARP_DEMO_SECONDS=N measure each bandwidth for N seconds (default: 1; with --compare 4)
set -euo pipefail

type=${KWARP_DEMO_LINK:-kwarp}
seconds=${KWARP_DEMO_SECONDS:-1}
addr=10.9.0.2
# The guest's first process copies files in /out to the host.
logs=/out
[ -d "$logs" ] || logs=$(mktemp -d)
server=''

# The message goes to a file, because fail() may run in a subshell. on_exit() prints it.
fail() {
	echo "$*" >"$logs/failed"
	exit 1
}

# After any failure, print one line that says what failed and where the logs are.
on_exit() {
	local status=$? what
	[ "$status" -ne 0 ] || return 0
	what=$(cat "$logs/failed" 2>/dev/null || echo "the demo ended with status $status")
	printf '\nerror: %s (logs: %s)\n' "$what" "${KWARP_DEMO_LOGS_AT:-$logs}" >&2
}

far() {
	ip netns exec far "$@"
}

make_net() {
	[ ! -e /run/netns/far ] || delete_net
	ip netns add far
	ip link add near0 type veth peer name far0 netns far
	ip addr add 10.9.0.1/24 dev near0
	ip -n far addr add $addr/24 dev far0
	ip -n far link set lo up
	ip link set near0 up
	ip -n far link set far0 up
}

# Delete what an earlier run has left.
delete_net() {
	ip netns pids far | xargs -r kill
	del_links 2>/dev/null || true
	ip link del near0
	ip netns del far
}

set_mtu() {
	ip link set near0 mtu "$1"
	ip -n far link set far0 mtu "$1"
}

add_links() {
	local type=$1 crc=${2:-}
	modprobe "$type" 2>/dev/null || true
	rdma link add rdma0 type "$type" netdev near0
	far rdma link add rdma1 type "$type" netdev far0
	[ -z "$crc" ] || echo "$crc" | tee /sys/class/infiniband/rdma{0,1}/kwarp/crc >/dev/null
}

del_links() {
	rdma link del rdma0
	far rdma link del rdma1 2>/dev/null || rdma link del rdma1
}

# Wait until the server listens. A listener of a software RNIC is a TCP socket, so ss shows it.
wait_listening() {
	local port=$1 i
	for ((i = 0; i < 100; i++)); do
		[ -z "$(far ss -Hltn "sport = :$port")" ] || return 0
		sleep 0.1
	done
	echo "nothing listens on port $port after 10 s" >>"$logs/server"
	return 1
}

# serve PORT COMMAND...: start a server in the other namespace, and wait until it listens.
serve() {
	local port=$1
	shift
	ip netns exec far timeout 60 "$@" >"$logs/server" 2>&1 &
	server=$!
	wait_listening "$port" || { end_server; return 1; }
}

end_server() {
	kill "$server" 2>/dev/null || true
	wait "$server" 2>/dev/null || true
}

ping_test() {
	echo
	echo "\$ rping -s -a $addr -C 3      (in the other namespace)"
	echo "\$ rping -c -a $addr -C 3 -v"
	: >"$logs/client"
	! serve 7174 rping -s -a $addr -C 3 || timeout 60 rping -c -a $addr -C 3 -v >"$logs/client" 2>&1 || true
	end_server
	if [ "$(grep -c 'ping data' "$logs/client")" -ne 3 ]; then
		cat "$logs/client" "$logs/server"
		echo 'the kernel log ends:'
		dmesg | tail -n 5
		fail 'rping failed'
	fi
	grep 'ping data' "$logs/client"
}

# Has the client of perftest printed the head of its table?
#
# perftest's server has a listener for a control connection, closes it, and then opens a second
# listener on the same port. If the client connects too early, it is refused and crashes, or it
# waits for ever in the queue of the first listener. In both cases the client has not printed the
# head, and the caller tries again.
perf_has_begun() {
	grep -q '#bytes' "$logs/client"
}

# Run the client, and end it if it has not printed the head of its table within 15 s. This runs in a
# subshell, so that the shell's message about a crash goes to a log.
perf_client() (
	exec 2>>"$logs/shell"
	timeout -k 5 60 stdbuf -oL "$@" >"$logs/client" 2>&1 &
	for ((i = 0; i < 150; i++)); do
		if perf_has_begun || ! kill -0 $!; then break; fi
		sleep 0.1
	done
	perf_has_begun || kill $! || true
	wait $!
)

# perf_try TOOL OPTIONS...: run server and client of a tool of perftest once.
perf_try() {
	local tool=$1 port=$((20000 + RANDOM % 10000)) args status=0
	args=(-R -F -p "$port" "${@:2}")
	: >"$logs/client"
	serve "$port" "$tool" "${args[@]}" -d rdma1 --bind_source_ip $addr || return
	perf_client "$tool" "${args[@]}" -d rdma0 $addr || status=$?
	[ "$status" -ne 0 ] || wait "$server" || true
	end_server
	return "$status"
}

# perf_figure FORMULA SIZE: calculate a figure from the client's line for this message size. The
# formula is an expression of awk.
perf_figure() {
	awk -v s="$2" '$1 == s { v = '"$1"' } END { if (v == "") exit 1; print v }' "$logs/client"
}

# perftest FORMULA TOOL SIZE OPTIONS...: run a tool, and print its figure. If the client has ended
# before it printed the head of its table, try again, at most twice.
perftest() {
	local formula=$1 tool=$2 size=$3 tries status
	for tries in 1 2 3; do
		status=0
		perf_try "$tool" -s "$size" "${@:4}" || status=$?
		if [ "$status" -eq 0 ] || perf_has_begun; then break; fi
	done
	[ "$status" -eq 0 ] || fail "$tool: the client ended with status $status, try $tries"
	perf_figure "$formula" "$size" || fail "$tool printed no figure"
}

tcp_stream() {
	serve 5201 iperf3 -s -1 || fail 'iperf3: the server does not listen'
	iperf3 -c $addr -t "$seconds" -J >"$logs/client" 2>&1 || fail 'iperf3: the client failed'
	end_server
	python3 -c '
import json, sys
print("%.0f" % (json.load(sys.stdin)["end"]["sum_received"]["bits_per_second"] / 8 / 2**20))' <"$logs/client" ||
		fail 'iperf3 printed no figure'
}

announce() {
	printf '\nmeasuring, about %s\n' "$1"
}

short_heading() {
	printf '\n%-22s %12s %16s\n' "$1" 'Write' 'Write latency'
	printf '%-22s %12s %16s\n' '' '64 KiB MiB/s' '64 B, median us'
}

heading() {
	printf '\n%-22s %12s %12s %12s %16s\n' "$1" 'Write' 'Read' 'Send' 'Write latency'
	printf '%-22s %12s %12s %12s %16s\n' '' '64 KiB MiB/s' '64 KiB MiB/s' '64 KiB MiB/s' '64 B, median us'
}

# rdma_row NAME: print a row of the table. perftest counts operations, without those of the first
# and the last second, and the rate is calculated from this number. The rates that perftest prints
# are not used: they depend on a cycle counter whose frequency varies under emulation.
rdma_row() {
	local run=(-D $((seconds + 2)) -f 1) rate
	rate="sprintf(\"%.0f\", \$2 / $seconds / 16)"
	printf '%-22s' "$1"
	cell 12 perftest "$rate" ib_write_bw 65536 "${run[@]}"
	cell 12 perftest "$rate" ib_read_bw 65536 "${run[@]}"
	cell 12 perftest "$rate" ib_send_bw 65536 "${run[@]}"
	cell 16 perftest '$5' ib_write_lat 64 -n 5000
	echo
}

# short_row NAME: print a row of figures, for Writes only: bandwidth and latency.
short_row() {
	printf '%-22s' "$1"
	cell 12 perftest "sprintf(\"%.0f\", \$2 / $seconds / 16)" ib_write_bw 65536 -D $((seconds + 2)) -f 1
	cell 16 perftest '$5' ib_write_lat 64 -n 1000
	echo
}

# cell WIDTH COMMAND...: print the output of the command in a column. If the command fails, the demo
# ends.
cell() {
	local width=$1 value
	shift
	value=$("$@")
	printf " %${width}s" "$value"
}

tcp_row() {
	printf '%-22s' 'plain TCP (iperf3)'
	cell 12 tcp_stream
	echo
}

# row_of_type ROW NAME TYPE [CRC]: print a row for this type of link. ROW is rdma_row or short_row.
row_of_type() {
	add_links "$3" "${4:-}"
	"$1" "$2"
	del_links
}

# siw_row ROW: print the row of siw. The demo goes on if this guest has no siw.ko.
siw_row() {
	if modprobe siw 2>/dev/null; then
		row_of_type "$1" 'siw (no CRC)' siw
	else
		printf '%-22s %12s\n' siw 'not built'
	fi
}

compare() {
	local mtu
	seconds=${KWARP_DEMO_SECONDS:-4}
	# For each MTU there are one run of iperf3, and three rows with four runs of perftest each.
	# A run of perftest takes three seconds longer than its measurement.
	announce "$((2 * (seconds + 3 * 4 * (seconds + 3)) / 60 + 1)) minutes"
	for mtu in 1500 9000; do
		set_mtu $mtu
		heading "MTU $mtu"
		tcp_row
		siw_row rdma_row
		row_of_type rdma_row "$type, crc=off" "$type" off
		row_of_type rdma_row "$type, crc=on" "$type" on
	done
}

show() {
	add_links "$type"
	echo "\$ rdma link add rdma0 type $type netdev near0"
	echo "\$ rdma link"
	rdma link
	ping_test
	del_links
	announce "$((seconds + 3 * (seconds + 6))) s"
	short_heading 'MTU 1500'
	tcp_row
	siw_row short_row
	if [ "$type" = siw ]; then return; fi
	row_of_type short_row "$type, crc=off" "$type" off
	row_of_type short_row "$type, crc=on" "$type" on
}

case $* in
'' | --compare) ;;
*) echo "usage: $0 [--compare]" >&2; exit 2 ;;
esac
trap on_exit EXIT
make_net
modprobe rdma_ucm
case ${1:-} in
--compare) compare ;;
*) show ;;
esac
