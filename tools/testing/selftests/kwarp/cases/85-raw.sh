# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# A peer that speaks MPA, DDP and RDMAP octet by octet against a consumer whose every
# buffer is known. "kwrawpeer list" names the cases with the requirements they show;
# each runs in both roles, whole and cut at random places, and says what is wrong.

# Where what another type of link does otherwise is listed, with reasons. What it does
# not do at all is waited for in vain, so not for long.
raw_known() {
	local list=$HERE_RAW/raw-$KWARP_LINK.known
	[ ! -e "$list" ] || printf -- '-k %s -T 250' "$list"
}

HERE_RAW=$(dirname "${BASH_SOURCE[0]}")/..

# raw_case COMMAND ARGS...: kwrawpeer against kwtarget.
raw_case() {
	local command=$1 port control own
	shift
	new_port
	port=$PORT
	new_port
	control=$PORT
	new_port
	own=$PORT
	serve target "$control" kwtarget -a "${IP[1]}" -p "$port" -c "$control"
	# shellcheck disable=SC2046
	client kwrawpeer "$command" $(by_profile '' -q) -a "${IP[1]}" -p "$port" -c "$control" -A "${IP[0]}" -P "$own" \
		-F "$SLOWNESS" $(raw_known) "$@"
	tail -n 1 "$CASE_DIR/client.log"
	stop target
	[ "$STATUS" = 0 ] || fail "the consumer ended with status $STATUS"
}

raw_group() {
	own_links
	raw_case run -S "${KWARP_RAW_SEED:-1}" "$@"
}

# What works with FPDUs, with CRC off at both ends.
raw_without_crc() {
	own_links
	knob crc off
	raw_case run -C 0 -S 2 "$@"
}

# The knobs change under connections that stand.
raw_knobs() {
	skip_on siw "has no knobs"
	own_links
	raw_case run -S "${KWARP_RAW_SEED:-1}" knob
}

# The same with markers in both directions.
raw_with_markers() {
	skip_on siw "knows no markers"
	own_links
	knob markers on
	raw_case run -M 1 -S 3 "$@"
}

# One stream asks for more Reads than were agreed on; another verifies its data.
raw_beside_traffic() {
	own_links
	traffic bystander
	raw_case run "$@"
	traffic_stop_good bystander
}

mutate_case() {
	own_links
	raw_case mutate -n "${KWARP_MUTATIONS:-$(by_profile 400 60)}" -S "$1"
}

mutate_without_crc() {
	own_links
	knob crc off
	raw_case mutate -C 0 -n "${KWARP_MUTATIONS:-$(by_profile 400 60)}" -S "$1"
}

for group in start-initiator start-responder fpdu untagged tagged rdmap read close; do
	testcase raw-$group 120 raw_group $group
done
testcase raw-knobs 60 raw_knobs
testcase raw-no-crc 200 raw_without_crc req-crc rep-crc rep-request-format fpdu untagged tagged rdmap read close
testcase raw-markers 200 raw_with_markers req-mulpdu rep-request-format req-markers rep-markers fpdu untagged tagged read close
testcase raw-reads-beside-traffic 90 raw_beside_traffic read-too-many
# A long run: KWARP_MUTATIONS=20000.
limit=$((300 + ${KWARP_MUTATIONS:-0} / 5))
testcase raw-mutate-1 $limit mutate_case 1
testcase raw-mutate-2 $limit mutate_without_crc 2
unset limit
unset group
