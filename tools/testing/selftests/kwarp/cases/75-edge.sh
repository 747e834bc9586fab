# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases in which a resource runs out, is removed, or changes under traffic (kwedge): shared
# receives, a completion queue, memory, the depths for outstanding Reads, long receives, the route's
# MTU. Other cases make the largest number of objects of each kind (kwmost).

edge_pair() {
	new_port
	pair "$PORT" kwedge -s -a "${IP[1]}" -p "$PORT" "$@" -- kwedge -c -a "${IP[1]}" -p "$PORT" "$@"
	cat "$CASE_DIR/client.log" "$CASE_DIR/server.log"
}

edge_case() {
	own_links
	edge_pair "$@"
}

# edge_spoilt ARGS...: run kwedge with -x, so that it does not cause the event that the case is
# about. The server must then fail, which shows that it checks for the event.
edge_spoilt() {
	own_links
	new_port
	serve server "$PORT" kwedge -s -a "${IP[1]}" -p "$PORT" -x "$@"
	start client 0 kwedge -c -a "${IP[1]}" -p "$PORT" "$@"
	ended 60 server
	[ "$STATUS" = 1 ] || fail "the server of a spoilt run ended with status $STATUS"
	stop client KILL
}

# A completion queue overflows. Another connection of the same device ("bystander") must continue
# and verify its data.
edge_cq_overflow() {
	own_links
	traffic bystander
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client kwedge -c -a "${IP[1]}" -p "$PORT" cq-overflow
	wait_until 20 "traffic flows beside the overflow" flows
	traffic_stop_good bystander
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
}

# --------------------------------------------------------------- route's MTU

# emss MTU: print how many octets of data a TCP segment over IPv4 has at this MTU, with time stamps.
emss() {
	echo $(($1 - 40 - 12))
}

# arrive OCTETS: wait until end 1 has received this number of further octets.
arrive() {
	local until=$(($(rx_octets) + $1))
	wait_until 30 "$1 octets arrive" has_arrived "$until"
}

has_arrived() {
	[ "$(rx_octets)" -ge "$1" ]
}

# The MTU of the route becomes small under traffic, and large again. FPDUs that are made after a
# change must have the length that fits into one segment. FPDUs that TCP had accepted before the
# change keep their framing; otherwise both ends would report errors.
edge_mtu() {
	local file=$CASE_DIR/mtu.pcap narrow=700 span times=() sizes
	span=$(by_profile $((8 << 20)) $((2 << 20)))
	own_links
	# Long FPDUs do not depend on the MTU.
	knob long_frames off
	netem rate 40mbit limit 20000
	begin_capture "$file"
	traffic mtu
	arrive $((1 << 20))
	times+=("$EPOCHREALTIME")
	ip_at 0 route add "${IP[1]}/32" dev "${DEV[0]}" mtu lock $narrow
	arrive "$span"
	times+=("$EPOCHREALTIME")
	ip_at 0 route del "${IP[1]}/32" dev "${DEV[0]}"
	arrive "$span"
	traffic_stop_good mtu
	end_capture
	no_netem
	"$HERE/fpdus.py" sizes "$file" "$PORT" "${times[@]}" >"$CASE_DIR/sizes.log" || fail "see above"
	rm -f "$file"
	mapfile -t sizes <"$CASE_DIR/sizes.log"
	note "longest FPDUs: ${sizes[*]}"
	[ "${sizes[0]}" = "$(emss 1500)" ] || fail "before, FPDUs had ${sizes[0]} octets, not $(emss 1500)"
	[ "${sizes[1]}" = "$(emss $narrow)" ] || fail "on the narrow route they had ${sizes[1]}, not $(emss $narrow)"
	[ "${sizes[2]}" = "$(emss 1500)" ] || fail "afterwards they had ${sizes[2]}, not $(emss 1500)"
}

# again_pair: run kwagain, in which each end uses one queue pair for many connections, one after the
# other.
again_pair() {
	local cycles
	cycles=$(by_profile 100 10)
	new_port
	serve server "$PORT" kwagain -s -a "${IP[1]}" -p "$PORT" -n "$cycles"
	client kwagain -a "${IP[1]}" -p "$PORT" -n "$cycles"
	reap 20 server
	expect_in client "^kwagain: $cycles connections\$"
}

edge_again() {
	skip_on siw "a receive of an earlier connection takes a message of a later one"
	own_links
	again_pair
}

# most_case KIND: make as many objects of this kind as the device says that it has. One more must
# fail, and after that the device works. max_map_count is raised, because each queue has its own
# mapping.
most_case() {
	local maps
	[ "$KWARP_PROFILE" != debug ] || [ "$1" = pd ] || skip "too many for the debug kernel"
	own_links
	maps=$(<"/proc/sys/vm/max_map_count")
	echo 1000000 >/proc/sys/vm/max_map_count
	start most 0 kwmost -d "${LINK[0]}" -k "$1"
	ended 200 most
	echo "$maps" >/proc/sys/vm/max_map_count
	cat "$CASE_DIR/most.log"
	[ "$STATUS" = 0 ] || fail "kwmost ended with status $STATUS"
	data_pair -n 200 -m 20000
}

testcase edge-srq-limit 60 edge_case -n "$(by_profile 20 3)" srq-limit
testcase edge-srq-domain 60 edge_case -n "$(by_profile 20 3)" srq-domain
testcase edge-srq-limit-spoilt 90 edge_spoilt srq-limit
testcase edge-cq-overflow 60 edge_cq_overflow
testcase edge-depth 60 edge_case depth
testcase edge-long-recv 60 edge_case long-recv
testcase edge-long-srq-recv 60 edge_case long-srq-recv
testcase edge-dereg 90 edge_case -n "$(by_profile 50 5)" dereg
testcase edge-dereg-spoilt 60 edge_spoilt dereg
testcase edge-mtu 120 edge_mtu
testcase edge-again 60 edge_again
testcase edge-most-pd 60 most_case pd
testcase edge-most-cq 120 most_case cq
testcase edge-most-srq 120 most_case srq
testcase edge-most-qp 210 most_case qp
