# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# What is on the wire, as an independent decoder sees it.

# Only these: what a Send carries is random, and other decoders would guess at it.
decode() {
	tshark -r "$CASE_DIR/wire.pcap" --only-protocols eth,ip,ipv6,tcp,iwarp_mpa,iwarp_ddp_rdmap "$@" 2>/dev/null
}

capturing() {
	grep -q 'listening on' "$CASE_DIR/tcpdump.log"
}

capture_case() {
	type -P tshark >/dev/null || skip "tshark is not installed"
	own_links
	knob crc "$1"
	start tcpdump 1 tcpdump -i "${DEV[1]}" -s 0 -U -w "$CASE_DIR/wire.pcap" tcp
	wait_until 20 "tcpdump captures" capturing
	data_pair -n "$(by_profile 200 30)" -m 50000
	stop tcpdump
	check_capture "$1"
}

check_capture() {
	local bad fpdus
	decode -V >"$CASE_DIR/decoded"
	fpdus=$(grep -c '^ *ULPDU length:' "$CASE_DIR/decoded") || :
	note "$fpdus FPDUs"
	[ "$fpdus" -gt 300 ] || fail "only $fpdus FPDUs were decoded"
	bad=$(grep -cE 'Malformed|Bad CRC|Bad length|\[incorrect' "$CASE_DIR/decoded") || :
	[ "$bad" = 0 ] || fail "$bad places of the capture are malformed or have a bad CRC"
	[ "$1" = off ] || [ "$(grep -c 'Good CRC32' "$CASE_DIR/decoded")" = "$fpdus" ] ||
		fail "not every FPDU has a good CRC"
	rm -f "$CASE_DIR/decoded"
}

testcase capture-crc-on 90 capture_case on
testcase capture-crc-off 90 capture_case off
