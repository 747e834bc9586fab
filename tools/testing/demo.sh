#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The guest's part of `make demo`: two links in two network namespaces over one veth
# pair, unchanged RDMA programs between them, a table of figures.
#
#   demo.sh              kwarp, MTU 1500
#   demo.sh --compare    plain TCP, siw, kwarp without and with CRC; MTU 1500 and 9000
#
#   KWARP_DEMO_LINK=siw  another link type in kwarp's place
set -euo pipefail

type=${KWARP_DEMO_LINK:-kwarp}
seconds=${KWARP_DEMO_SECONDS:-4}
addr=10.9.0.2
logs=$(mktemp -d)

far() {
	ip netns exec far "$@"
}

make_net() {
	ip netns add far
	ip link add near0 type veth peer name far0 netns far
	ip addr add 10.9.0.1/24 dev near0
	ip -n far addr add $addr/24 dev far0
	ip -n far link set lo up
	ip link set near0 up
	ip -n far link set far0 up
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

# Over a software RNIC a listener is a TCP listener of its namespace.
wait_listening() {
	local port=$1 i
	for ((i = 0; i < 100; i++)); do
		[ -z "$(far ss -Hltn "sport = :$port")" ] || return 0
		sleep 0.1
	done
}

# pair PORT SERVER-COMMAND -- CLIENT-COMMAND: the client's output is ours.
pair() {
	local port=$1 server=() status=0 pid
	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	far timeout 60 "${server[@]}" >"$logs/server" 2>&1 &
	pid=$!
	wait_listening "$port"
	timeout 60 "$@" 2>"$logs/client" || status=$?
	wait "$pid" || true
	if [ "$status" -ne 0 ]; then
		echo "failed with $status: $*" >&2
		cat "$logs/client" "$logs/server" >&2
	fi
	return "$status"
}

ping_test() {
	echo
	echo "\$ rping -s -a $addr -C 3      (in the other namespace)"
	echo "\$ rping -c -a $addr -C 3 -v"
	pair 7174 rping -s -a $addr -C 3 -- rping -c -a $addr -C 3 -v >"$logs/ping" || true
	if [ "$(grep -c 'ping data' "$logs/ping")" -ne 3 ]; then
		cat "$logs/ping" "$logs/client" "$logs/server"
		echo 'rping failed; the kernel log ends:'
		dmesg | tail -n 5
		return 1
	fi
	grep 'ping data' "$logs/ping"
}

# perftest FORMULA TOOL SIZE OPTIONS...: what awk makes of its line of figures.
perftest() {
	local formula=$1 tool=$2 size=$3 port=$((20000 + RANDOM % 10000))
	local args=(-R -F -p "$port" -s "$size" "${@:4}")
	pair "$port" "$tool" "${args[@]}" -d rdma1 --bind_source_ip $addr -- \
		"$tool" "${args[@]}" -d rdma0 $addr |
		awk -v s="$size" '$1 == s { v = '"$formula"' } END { if (v == "") exit 1; print v }' || echo failed
}

tcp_stream() {
	far iperf3 -s -1 >/dev/null 2>&1 &
	local pid=$!
	wait_listening 5201
	iperf3 -c $addr -t "$seconds" -J | python3 -c '
import json, sys
print("%.0f" % (json.load(sys.stdin)["end"]["sum_received"]["bits_per_second"] / 8 / 2**20))'
	wait $pid || true
}

heading() {
	printf '\n%-22s %12s %12s %12s %16s\n' "$1" 'Write' 'Read' 'Send' 'Write latency'
	printf '%-22s %12s %12s %12s %16s\n' '' '64 KiB MiB/s' '64 KiB MiB/s' '64 KiB MiB/s' '64 B, median us'
}

# perftest counts what it does without the first and the last second. Its rates come
# from a cycle counter that the emulation does not keep steady, so they are left aside.
rdma_row() {
	local name=$1 run=(-D $((seconds + 2)) -f 1) rate
	rate="sprintf(\"%.0f\", \$2 / $seconds / 16)"
	printf '%-22s %12s' "$name" "$(perftest "$rate" ib_write_bw 65536 "${run[@]}")"
	printf ' %12s' "$(perftest "$rate" ib_read_bw 65536 "${run[@]}")"
	printf ' %12s' "$(perftest "$rate" ib_send_bw 65536 "${run[@]}")"
	printf ' %16s\n' "$(perftest '$5' ib_write_lat 64 -n 5000)"
}

row_of_type() {
	add_links "$2" "${3:-}"
	rdma_row "$1"
	del_links
}

compare() {
	local mtu
	for mtu in 1500 9000; do
		set_mtu $mtu
		heading "MTU $mtu"
		printf '%-22s %12s\n' 'plain TCP (iperf3)' "$(tcp_stream)"
		row_of_type siw siw
		row_of_type "$type, crc=off" "$type" off
		row_of_type "$type, crc=on" "$type" on
	done
}

show() {
	add_links "$type"
	echo "\$ rdma link add rdma0 type $type netdev near0"
	echo "\$ rdma link"
	rdma link
	ping_test
	heading "$type, MTU 1500"
	rdma_row "$type"
	del_links
}

make_net
modprobe rdma_ucm
if [ "${1:-}" = --compare ]; then
	compare
else
	show
fi
