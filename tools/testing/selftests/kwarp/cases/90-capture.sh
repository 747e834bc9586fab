# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases that capture the packets of a connection and check their FPDUs. If the guest has no tshark,
# the host can decode the captures wire-crc-on.pcap and wire-crc-off.pcap, which are among the logs.

capture_case() {
	local file=$CASE_DIR/wire-crc-$1.pcap
	own_links
	knob crc "$1"
	begin_capture "$file"
	data_pair -n "$(by_profile 200 60)" -m 50000
	echo "$PORT" >"$CASE_DIR/port"
	end_capture
	[ "$(stat -c %s "$file")" -gt 100000 ] || fail "the capture holds next to nothing"
	! type -P tshark >/dev/null || "$HERE/decode-capture.sh" "$file" "$1" || fail "see above"
}

# Requirements 5044-5.1-4 and -5: with the knob "align" (a setting of a link), each segment begins
# with an FPDU and holds whole FPDUs only. kwarp has no influence on two exceptions: segments that
# TCP cuts at the edge of a window, or shortens to make room for SACK blocks. The traffic has large
# and small messages and Read Responses. Offloads are off, so that TCP itself makes the segments.
capture_aligned() {
	local file=$CASE_DIR/aligned.pcap whole beyond all most
	own_links
	knob align on
	offloads off
	begin_capture "$file"
	data_pair -n "$(by_profile 400 100)" -m 100000
	end_capture
	"$HERE/fpdus.py" segments "$file" "$PORT" >"$CASE_DIR/segments.log" || fail "see above"
	rm -f "$file"
	while read -r whole beyond all most; do
		note "$whole of $all segments hold whole FPDUs, $beyond do not for SACK blocks, one holds $most"
		[ "$all" -ge 100 ] || fail "the capture holds next to nothing"
		# Without the knob only one segment in twenty holds whole FPDUs.
		[ $((all - whole - beyond)) -le $((3 + all / 100)) ] || fail "too many do not"
		[ "$whole" -ge $((all / 2)) ] || fail "next to none do"
		[ "$most" -gt 1 ] || fail "no segment holds several FPDUs"
	done <"$CASE_DIR/segments.log"
}

testcase capture-selftest 20 check "captures are read well" "$HERE/fpdus.py" selftest
testcase capture-crc-on 90 capture_case on
testcase capture-crc-off 90 capture_case off
testcase capture-aligned 90 capture_aligned
