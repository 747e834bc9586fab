# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# A peer that speaks MPA, DDP and RDMAP octet by octet against a consumer whose every
# buffer is known. "kwrawpeer list" names the cases with the requirements they show;
# each runs in both roles, whole and cut at random places, and says what is wrong. On a
# slow kernel it runs once, in a role and a way that the seed chooses.

# Where what another type of link does otherwise is listed, with reasons. What it does
# not do at all is waited for in vain, so not for long. Writes are not cut: it depends on
# places and times what a device that gets parts wrong makes of them.
raw_known() {
	local list=$HERE_RAW/raw-$KWARP_LINK.known
	case $KWARP_LINK in
	siw) printf -- '-k %s -T 250 -w' "$list" ;;
	kwarp-siw) printf -- '-k %s' "$list" ;;
	esac
}

# What libsiw's programs cannot do, kwtarget cannot either: the groups that are left.
raw_groups() {
	local group
	for group; do
		case $KWARP_LINK-$group in
		kwarp-siw-window | kwarp-siw-imm | kwarp-siw-atomic*) ;;
		*) echo "$group" ;;
		esac
	done
}

HERE_RAW=$(dirname "${BASH_SOURCE[0]}")/..

# raw_target NAME: a consumer, with which raw_peer can talk from then on.
raw_target() {
	local port control own
	new_port
	port=$PORT
	new_port
	control=$PORT
	new_port
	own=$PORT
	serve "$1" "$control" kwtarget -a "${IP[1]}" -p "$port" -c "$control"
	RAW_WHERE=(-a "${IP[1]}" -p "$port" -c "$control" -A "${IP[0]}" -P "$own" -F "$SLOWNESS")
}

raw_target_good() {
	stop "$1"
	[ "$STATUS" = 0 ] || fail "the consumer ended with status $STATUS"
}

# raw_run ARGS...: cases of kwrawpeer against kwtarget.
raw_run() {
	raw_target target
	# shellcheck disable=SC2046
	client kwrawpeer run $(by_profile '' -qq) "${RAW_WHERE[@]}" $(raw_known) "$@"
	tail -n 1 "$CASE_DIR/client.log"
	raw_target_good target
}

raw_group() {
	[ -n "$(raw_groups "$@")" ] || skip "libsiw has none"
	own_links
	# shellcheck disable=SC2086
	raw_run -S "${KWARP_RAW_SEED:-1}" ${KWARP_RAW_CASES:-"$@"}
}

# The same, but where a start-up that goes wrong may cost the consumer its listener each
# case has a consumer of its own.
raw_start_group() {
	local name names
	own_links
	if [ "$KWARP_LINK" != siw ]; then
		raw_run -S "${KWARP_RAW_SEED:-1}" "$1"
		return
	fi
	names=$(kwrawpeer list "$1" | awk '{ print $2 }')
	for name in $names; do
		raw_run -S "${KWARP_RAW_SEED:-1}" "$name"
	done
}

# What works with FPDUs, with CRC off at both ends.  What the groups have whole and cut, this has
# whole or cut, and on a slow kernel, as the seed is the next one, in the role they do not have.
raw_without_crc() {
	skip_on siw "its table of known differences is one with CRC"
	own_links
	knob crc off
	# shellcheck disable=SC2046
	raw_run -q -C 0 -S $((${KWARP_RAW_SEED:-1} + 1)) $(raw_groups "$@")
}

# The knobs change under connections that stand.
raw_knobs() {
	skip_on siw "has no knobs"
	own_links
	raw_run -S "${KWARP_RAW_SEED:-1}" knob
}

# The same with markers in both directions.
raw_with_markers() {
	skip_on siw "knows no markers"
	own_links
	knob markers on
	# shellcheck disable=SC2046
	raw_run -q -M 1 -S $((${KWARP_RAW_SEED:-1} + 2)) $(raw_groups "$@")
}

# One stream asks for more Reads than were agreed on; another verifies its data.
raw_beside_traffic() {
	own_links
	traffic bystander
	raw_run "$@"
	traffic_stop_good bystander
}

# So many peers at once, each with a consumer of its own: one alone mostly waits.
mutators=4

# mutate SEED ARGS...
mutate() {
	local seed=$1 count i
	shift
	skip_on siw "a start-up that fails late stops the kernel"
	skip_on kwarp-siw "libsiw has no windows, which are among what is changed"
	count=${KWARP_MUTATIONS:-$(by_profile 400 60)}
	for ((i = 0; i < mutators; i++)); do
		raw_target "target$i"
		start "peer$i" 0 kwrawpeer mutate -n $((count / mutators)) -S $((seed * 100 + i)) \
			"${RAW_WHERE[@]}" "$@"
	done
	for ((i = 0; i < mutators; i++)); do
		reap "$mutate_limit" "peer$i"
		raw_target_good "target$i"
		tail -n 3 "$CASE_DIR/peer$i.log"
	done
}

mutate_case() {
	own_links
	mutate "$1"
}

mutate_without_crc() {
	own_links
	knob crc off
	mutate "$1" -C 0
}

for group in start-initiator start-responder; do
	testcase raw-$group 120 raw_start_group $group
done
for group in fpdu untagged tagged rdmap read window close imm atomic atomic-post; do
	testcase raw-$group 120 raw_group $group
done
testcase raw-knobs 60 raw_knobs
testcase raw-no-crc 300 raw_without_crc req-crc rep-crc rep-request-format fpdu untagged tagged rdmap read window close \
	imm atomic atomic-post
testcase raw-markers 300 raw_with_markers req-mulpdu rep-request-format req-markers rep-markers fpdu untagged tagged read window close \
	imm atomic atomic-post
testcase raw-reads-beside-traffic 90 raw_beside_traffic read-too-many
# A long run: KWARP_MUTATIONS=20000 KWARP_RAW_SEED=7.
mutate_limit=$((300 + ${KWARP_MUTATIONS:-0} / 20))
testcase raw-mutate-1 $mutate_limit mutate_case "${KWARP_RAW_SEED:-1}"
testcase raw-mutate-2 $mutate_limit mutate_without_crc "${KWARP_RAW_SEED:-2}"
unset group
