# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# The raw peer (kwrawpeer) makes MPA, DDP and RDMAP octet by octet on a TCP socket. Its peer is a
# consumer whose buffers are all known (kwtarget). "kwrawpeer list" prints its cases with the
# requirements that they test. Each of these cases runs in both roles (initiator and responder),
# with whole writes to the socket and with writes cut at random places. On a slow kernel each runs
# once, and the seed determines the role and whether writes are cut.

# Print kwrawpeer's options for this type of link; there are none for type kwarp. A file (-k) has
# the cases that have another result on the type, and the reasons. On siw, waits are short (-T),
# because some answers never come, and writes are not cut (-w), because the results of siw with cut
# writes depend on place and time of the cuts.
raw_known() {
	local list=$HERE_RAW/raw-$KWARP_LINK.known
	case $KWARP_LINK in
	siw) printf -- '-k %s -T 250 -w' "$list" ;;
	kwarp-siw) printf -- '-k %s' "$list" ;;
	esac
}

# raw_groups GROUP...: print the groups of cases that can run here. On links of type kwarp-siw the
# consumer uses siw's provider, libsiw, which has neither memory windows nor RFC 7306, so groups
# that need these are left out.
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

# raw_target NAME: start kwtarget, the consumer that kwrawpeer tests. Set RAW_WHERE to the options
# with which kwrawpeer finds it.
raw_target() {
	local port control own
	# kwrawpeer announces nothing, and takes no announcement for the RTR that was agreed on.
	knob long_frames off
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

# raw_run ARGS...: run cases of kwrawpeer against kwtarget.
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

# raw_start_group GROUP: run the cases of a group that is about MPA startup. On siw each case gets a
# new consumer, because a wrong startup may end the consumer's listener there.
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

# raw_without_crc GROUP...: run the cases of these groups that use FPDUs, with CRC off at both ends.
# With -q most cases run only once, with whole or cut writes. The seed differs from that of
# raw_group, so that on a slow kernel, where raw_group runs each case in one role only, a case has
# the other role here.
raw_without_crc() {
	skip_on siw "its table of known differences is one with CRC"
	own_links
	knob crc off
	# shellcheck disable=SC2046
	raw_run -q -C 0 -S $((${KWARP_RAW_SEED:-1} + 1)) $(raw_groups "$@")
}

# Run the cases that change knobs while connections exist.
raw_knobs() {
	skip_on siw "has no knobs"
	own_links
	raw_run -S "${KWARP_RAW_SEED:-1}" knob
}

# raw_with_markers GROUP...: like raw_without_crc, but with CRC, and with markers in both
# directions.
raw_with_markers() {
	skip_on siw "knows no markers"
	own_links
	knob markers on
	# shellcheck disable=SC2046
	raw_run -q -M 1 -S $((${KWARP_RAW_SEED:-1} + 2)) $(raw_groups "$@")
}

# One connection sends more Read Requests than agreed, and must be ended. Another connection, with
# verified data, must continue.
raw_beside_traffic() {
	own_links
	traffic bystander
	raw_run "$@"
	traffic_stop_good bystander
}

# Number of peers that run at the same time, each with its own consumer. A single peer would wait
# most of the time.
mutators=4

# mutate SEED ARGS...: run kwrawpeer with randomly changed streams, which the seed determines.
mutate() {
	local seed=$1 count i
	shift
	skip_on siw "a startup that fails late stops the kernel"
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
# For a long run set KWARP_MUTATIONS=20000 KWARP_RAW_SEED=7.
mutate_limit=$((300 + ${KWARP_MUTATIONS:-0} / 20))
testcase raw-mutate-1 $mutate_limit mutate_case "${KWARP_RAW_SEED:-1}"
testcase raw-mutate-2 $mutate_limit mutate_without_crc "${KWARP_RAW_SEED:-2}"
unset group
