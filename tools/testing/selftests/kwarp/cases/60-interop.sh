# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# The link under test against another implementation, in both roles, with and
# without CRC.

# siw answers a Request for a ready-to-receive message before it is ready for one (see
# siw_is_deaf): if the connection ends before it has read that message, iw_cm meets a CLOSE
# that it cannot place and stops the machine. So kwarp asks a siw server for none.

# interop_case ROLE CRC COMMAND...: the peer type is the server or the client.
interop_case() {
	local role=$1 crc=$2
	shift 2
	mixed_links "$role"
	# What a siw server would not read comes when it is ready (see siw_is_deaf).
	[ "$role" = client ] || netem delay "$(by_profile 5ms 30ms)"
	knob crc "$crc"
	# A CRC that comes in two parts siw puts together wrongly (siw_get_trailer), and ends the
	# connection: which segment ends there is chance, unless each begins with an FPDU.
	knob align "$crc"
	knob peer_to_peer off
	"$@"
}

# In ib_write_lat the server writes first. An iWARP responder must not, unless the
# initiator has said that it sends a ready-to-receive message, which siw does not.
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

for role in server client; do
	for crc in on off; do
		name=interop-siw-is-$role-crc-$crc
		testcase "$name-rping-ipv4" 60 interop_case $role $crc rping_pair "${IP[1]}"
		testcase "$name-rping-ipv6" 60 interop_case $role $crc rping_pair "${IP6[1]}"
		testcase "$name-perf" 150 interop_case $role $crc interop_perf
		testcase "$name-data" 120 interop_case $role $crc data_pair \
			-n "$(by_profile 1500 40)" -m "$(by_profile $((4 << 20)) $((64 << 10)))" -S 20
	done
done
unset role crc name
