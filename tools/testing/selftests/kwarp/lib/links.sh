# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# RDMA links on the two interfaces: add and delete them, set their knobs, list the RDMA objects that
# programs have on them. Sourced by ../lib.sh. END is 0 or 1, the number of a namespace and of its
# link. Knob: a setting of a link of kwarp, a file in /sys/class/infiniband/LINK/kwarp/.

# load_type TYPE [END]: load the module for links of this type, on the machine of that end (0).
load_type() {
	exists_at "${2:-0}" "/sys/module/${1%-siw}" || at "${2:-0}" modprobe "${1%-siw}" ||
		skip "there is no module for links of type $1"
}

link_exists() {
	exists_at "$1" "/sys/class/infiniband/${LINK[$1]}"
}

# device_active NAME [END]: true if the port of this RDMA device is active.
device_active() {
	[ "$(read_at "${2:-0}" "/sys/class/infiniband/$1/ports/1/state")" = "4: ACTIVE" ]
}

link_active() {
	device_active "${LINK[$1]}" "$1"
}

# add_link END TYPE: add a link of this type at that end, and wait until it is active.
add_link() {
	in_ns "$1" rdma link add "${LINK[$1]}" type "$2" netdev "${DEV[$1]}" || fail "cannot add a $2 link"
	wait_until 5 "link ${LINK[$1]} is active" link_active "$1"
	mark "$RUN/link.$1" "$2"
}

del_link() {
	unmark "$RUN/link.$1"
	check "deleting a link" at "$1" rdma link delete "${LINK[$1]}"
}

link_type() {
	[ ! -s "$RUN/link.$1" ] || echo "$(<"$RUN/link.$1")"
}

want_link() {
	[ "$(link_type "$1")" = "$2" ] && link_exists "$1" && return
	! link_exists "$1" || del_link "$1"
	add_link "$1" "$2"
}

# links TYPE0 TYPE1: make a link of type TYPE0 ready at end 0, and one of type TYPE1 at end 1.
# Restore what an earlier case may have changed: MTU, netem, TIME_WAIT, offloads and knobs.
links() {
	load_type "$1" 0
	net_up
	load_type "$2" 1
	set_mtu 1500
	no_netem
	default_time_wait
	offloads on
	want_link 0 "$1"
	want_link 1 "$2"
	default_knobs
}

# Make links of the type under test ready at both ends.
own_links() {
	links "$KWARP_LINK" "$KWARP_LINK"
}

# mixed_links server|client: make links of two types ready. The link of the type KWARP_PEER is at
# the server's end (namespace 1) or at the client's end (namespace 0).
mixed_links() {
	[ "$KWARP_LINK" != "$KWARP_PEER" ] || skip "interop needs two different types of link"
	case $1 in
	server) links "$KWARP_LINK" "$KWARP_PEER" ;;
	client) links "$KWARP_PEER" "$KWARP_LINK" ;;
	esac
}

# skip_on TYPE WHY: skip the case if the links under test are of this type, which cannot pass it.
skip_on() {
	[ "$KWARP_LINK" != "$1" ] || skip "$1: $2"
}

# knob_at END NAME VALUE: set a knob of one link, and read it back. The function "links", which the
# next case calls, restores the default.
knob_at() {
	local path=/sys/class/infiniband/${LINK[$1]}/kwarp/$2
	write_at "$1" "$path" "$3" || fail "cannot set knob $2 to $3"
	[ "$(read_at "$1" "$path")" = "$3" ] || fail "knob $2 reads $(read_at "$1" "$path") instead of $3"
	echo "$2" >>"$RUN/knobs"
}

# knob NAME VALUE: set a knob on every link of kwarp. Other links (siw) have no knobs.
knob() {
	local i
	for i in 0 1; do
		[[ "$(link_type "$i")" != kwarp* ]] || knob_at "$i" "$@"
	done
}

# Set each knob that a case has changed back to its default, the value of the module parameter.
default_knobs() {
	local name
	local -A set=()
	[ -s "$RUN/knobs" ] || return 0
	while read -r name; do
		set[$name]=1
	done <"$RUN/knobs"
	for name in "${!set[@]}"; do
		knob "$name" "$(<"/sys/module/kwarp/parameters/$name")"
	done
	unmark "$RUN/knobs"
}

# True if there are no RDMA objects on the links of the suite. Otherwise OBJECTS has the lines of
# "rdma resource show" that count some.
no_objects() {
	local all line counted="(${LINK[0]}|${LINK[1]}).* [1-9][0-9]* "
	OBJECTS=''
	all=$(rdma resource show) || return 1
	[ "$TWO" = 0 ] || all+=$'\n'$(at 1 rdma resource show) || return 1
	while IFS= read -r line; do
		[[ ! $line =~ $counted ]] || OBJECTS+=$line$'\n'
	done <<<"$all"
	[ -z "$OBJECTS" ]
}
