# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Programs exchange data between the link under test and a link of another implementation
# (KWARP_PEER, siw by default), in both roles, with and without CRC.

# The knob peer_to_peer (a setting of kwarp's link) is off in these cases because of siw servers.
# With the knob on, kwarp's client sends a ready-to-receive message as soon as it has siw's Reply.
# siw takes over its socket only after it has sent the Reply, and does not look for octets that
# arrived before. So siw may not read the message. If the connection ends then, iw_cm gets a CLOSE
# event in an unexpected state, and stops the machine with a BUG.

# interop_case ROLE CRC COMMAND...: run the command with CRC on or off. ROLE is that of the link of
# type KWARP_PEER: server or client.
interop_case() {
	local role=$1 crc=$2
	shift 2
	mixed_links "$role"
	# A siw server does not read a message that arrives before it has taken over its socket,
	# which it does after its Reply. With the delay, the client's first message arrives later.
	[ "$role" = client ] || netem delay "$(by_profile 5ms 30ms)"
	knob crc "$crc"
	# siw assembles a CRC wrongly if TCP delivers it in two parts (siw_get_trailer), and ends
	# the connection. The knob "align" prevents that: each segment then holds whole FPDUs.
	knob align "$crc"
	knob peer_to_peer off
	"$@"
}

# ib_write_lat is left out with a siw client: its server writes first. An iWARP responder must not
# send before the initiator, unless the initiator has sent a ready-to-receive message, and siw sends
# none.
perf_tools() {
	echo ib_write_bw ib_read_bw ib_send_bw ib_read_lat ib_send_lat
	[ "$(link_type 0)" = siw ] || echo ib_write_lat
}

interop_perf() {
	local tool count
	count=$(by_profile 200 10)
	for tool in $(perf_tools); do
		perf_pair "$tool" -n "$count" -s 16384
		perf_rows "$count" 16384
	done
}

# interop_cases ROLE CRC: define the cases in which siw has this role, with CRC on or off.
interop_cases() {
	local name=interop-siw-is-$1-crc-$2
	testcase "$name-rping-ipv4" 60 interop_case "$1" "$2" rping_pair "${IP[1]}"
	testcase "$name-rping-ipv6" 60 interop_case "$1" "$2" rping_pair "${IP6[1]}"
	testcase "$name-perf" 150 interop_case "$1" "$2" interop_perf
	testcase "$name-data" 120 interop_case "$1" "$2" data_pair \
		-n "$(by_profile 1500 40)" -m "$(by_profile $((4 << 20)) $((64 << 10)))" -S 20
}

interop_cases server on
interop_cases server off
interop_cases client on
interop_cases client off
