# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases about links of type kwarp-siw: links of kwarp that have siw's user ABI, so that programs use
# them through libsiw, the unmodified libibverbs provider of siw. Some of the cases also load siw's
# own module (siw.ko), whose devices have the same driver_id. With KWARP_LINK=kwarp-siw the cases of
# the other files run on such links.

libsiw_only() {
	[ "$KWARP_LINK" = kwarp ] || skip "it is about links of type kwarp-siw"
}

# libsiw_data_case TYPE0 TYPE1: exchange data between links of these types. Programs use libsiw on a
# link of type kwarp-siw, and kwarp's provider on a link of type kwarp.
libsiw_data_case() {
	libsiw_only
	links "$1" "$2"
	data_pair -n "$(by_profile 500 30)" -m $((64 << 10)) -S 54 -q 2
}

libsiw_perf_case() {
	libsiw_only
	links kwarp-siw kwarp-siw
	perf_pair ib_write_bw -n 1000 -s 65536
	perf_rows 1000 65536
	perf_pair ib_send_lat -n 500 -s 64
	perf_rows 500 64
}

# A program writes random values into its mapped queues, whose layout is libsiw's. Other programs
# must not be affected.
libsiw_scribble_case() {
	libsiw_only
	# shellcheck disable=SC2034 # for own_links
	local KWARP_LINK=kwarp-siw
	scribble_case 54
}

# A network device can have one link of kwarp, either of type kwarp or of type kwarp-siw. Adding a
# second one fails with EEXIST.
libsiw_second_case() {
	local first other
	libsiw_only
	for first in kwarp kwarp-siw; do
		other=kwarp
		[ $first = kwarp-siw ] || other=kwarp-siw
		links $first $first
		! n0 rdma link add kwsecond type $other netdev "${DEV[0]}" 2>"$CASE_DIR/second.log" ||
			fail "a $first link has a $other link beside it"
		expect_in second 'File exists'
	done
}

# siw.ko gets the events of network devices. It must not treat links of kwarp as its own: these
# links still exist after the events, and work.
libsiw_siw_case() {
	local i
	libsiw_only
	load_type siw
	links kwarp-siw kwarp-siw
	check "adding a siw link" n1 rdma link add kwsiw type siw netdev "${DEV[1]}"
	for ((i = 0; i < 3; i++)); do
		n1 ip link set "${DEV[1]}" down
		n1 ip link set "${DEV[1]}" up
	done
	n1 ip addr replace "${IP6[1]}/64" dev "${DEV[1]}" nodad
	wait_until 10 "the link is active" link_active 1
	check "deleting the siw link" rdma link delete kwsiw
	link_exists 1 || fail "our link has gone with siw's"
	wait_until 10 "the namespaces reach each other" neighbours_known
	works_to_server
	# The RDMA core ends all devices that have the driver_id of siw.ko, those of type
	# kwarp-siw included.
	check "unloading siw" timeout 60 rmmod siw
	for i in 0 1; do
		[ "$(link_type "$i")" != kwarp-siw ] || link_exists "$i" || unmark "$RUN/link.$i"
	done
	links kwarp-siw kwarp-siw
	works_to_server
	# Unloading kwarp does not end siw's devices.
	load_type siw
	check "adding a siw link" n1 rdma link add kwsiw type siw netdev "${DEV[1]}"
	for i in 0 1; do del_link "$i"; done
	check "unloading kwarp" timeout 60 rmmod kwarp
	[ -e /sys/class/infiniband/kwsiw ] || fail "the siw link has gone with our module"
	check "deleting the siw link" rdma link delete kwsiw
	load_type kwarp
}

# Print how many times a timer has sent requests of programs on the client's link.
paced_count() {
	in_ns 0 cat "/sys/class/infiniband/${LINK[0]}/kwarp/coalesce_paced"
}

# paced_times US: set PACED to the number of times that a timer has sent, in one second in which a
# program posts small Writes one by one as fast as it can.
paced_times() {
	local before
	knob coalesce_us "$1"
	before=$(paced_count)
	new_port
	serve "server-$PORT" "$PORT" kwbench -s -a "${IP[1]}" -p "$PORT"
	client kwbench -c -a "${IP[1]}" -p "$PORT" -o write -m 64 -w 64 -t 1000
	stop "server-$PORT"
	PACED=$(($(paced_count) - before))
}

# libsiw rings the doorbell for each post, and each time the module sends. After 1024 doorbells of a
# connection a timer of the module sends what the program has posted since the timer's last run.
# With the knob coalesce_us (a setting of a link) at 0 the timer is off.
libsiw_paced_case() {
	libsiw_only
	links kwarp-siw kwarp-siw
	paced_times 0
	[ "$PACED" = 0 ] || fail "a timer has sent $PACED times, which is off"
	paced_times 100
	[ "$PACED" = 0 ] || return 0
	[ "$(ops)" -le 2000 ] || fail "no timer has sent, with $(ops) Writes"
	skip "$(ops) doorbells in a second are too few for the timer"
}

sends_by_timer() {
	[ "$(paced_count)" -gt $((PACED_BEFORE + 100)) ]
}

# Start a client that posts without end, and wait until a timer has sent its requests more than
# 100 times.
paced_client() {
	links kwarp-siw kwarp-siw
	knob coalesce_us 100
	PACED_BEFORE=$(paced_count)
	new_port
	serve server "$PORT" kwbench -s -a "${IP[1]}" -p "$PORT"
	start client 0 kwbench -c -a "${IP[1]}" -p "$PORT" -o write -m 64 -w 64 -t 3000000
	holds_within 20 sends_by_timer || {
		stop client KILL
		stop server KILL
		skip "no timer has sent: too few doorbells in a second"
	}
}

# A connection ends while posted requests wait for the timer, which may be running at that moment. A
# program is killed, the connection is reset, or the link is deleted. No RDMA object may be left.
libsiw_paced_end_case() {
	local round how
	libsiw_only
	for ((round = 0; round < 3; round++)); do
		for how in client server reset link; do
			note "round $round: $how"
			paced_client
			case $how in
			client | server) stop "$how" KILL ;;
			reset)
				check "resetting the connection" n0 ss -K dst "${IP[1]}" dport = "$PORT" >/dev/null
				ended 15 client
				[ "$STATUS" != 0 ] || fail "the client has not noticed the reset"
				;;
			link) del_link 0 ;;
			esac
			[ -z "${PIDS[client]:-}" ] || stop client KILL
			[ -z "${PIDS[server]:-}" ] || stop server KILL
			links kwarp-siw kwarp-siw
			wait_until 20 "nothing is left" no_objects
		done
	done
	works_to_server
}

# A program that has the device open keeps the module loaded, although libsiw opens no doorbell
# file.
libsiw_rmmod_case() {
	libsiw_only
	links kwarp-siw kwarp-siw
	traffic t
	rmmod_refused
	wait_until 10 "traffic flows after the refused rmmod" flows
	traffic_stop_good t
}

posting_commands() {
	client kwpost -d "${LINK[0]}" -n "$1"
	expect_in client '^kwpost: [1-9][0-9]* ok, 0 failed$'
}

# libsiw rings its doorbell with the uverbs command for posting, which then contains no requests. A
# command that contains requests is refused, and the kernel keeps no memory for it (no_growth).
libsiw_post_case() {
	libsiw_only
	links kwarp-siw kwarp-siw
	no_growth "sets of posting commands" posting_commands
	holds_within 20 no_objects || fail "objects are left: $OBJECTS"
}

libsiw_again_case() {
	libsiw_only
	links kwarp-siw kwarp-siw
	again_pair
}

holder_says() {
	has_line "$CASE_DIR/holder.log" "$1"
}

# The network namespace of a link ends while a program of another namespace has the device open and
# its queues mapped. The end of the namespace must not wait for the program, and the program may
# continue to use its queues without doing harm. Its mappings keep the module loaded.
libsiw_netns_case() {
	libsiw_only
	links kwarp-siw kwarp-siw
	# The program runs outside the suite's namespaces, because these are deleted and made again.
	start holder - kwpost -d "${LINK[1]}" -g
	wait_until 10 "it rings" holder_says ringing
	rm -f "$RUN/net" "$RUN"/link.*
	kill_in_ns 1
	check "deleting the namespace" ip netns del "${NS[1]}"
	namespaces_end
	wait_until 10 "the links are gone" links_gone
	wait_until 10 "the program is told" holder_says 'the device is gone'
	wait_until 10 "the program goes on" holder_says waiting
	rmmod_refused
	links kwarp-siw kwarp-siw
	works_to_server
	stop holder
	[ "$STATUS" = 0 ] || fail "the program ended with status $STATUS"
	works_to_server
}

# CONTAINER PROGRAM...: run the program as in a container whose image does not have kwarp's
# provider: with libsiw, with only /dev/infiniband of the host's devices, and without
# capabilities.
CONTAINER=(unshare --mount --propagation private sh -c '
	mount -t tmpfs none /etc/libibverbs.d && echo driver siw >/etc/libibverbs.d/siw.driver
	for f in /usr/lib/*/libibverbs/libkwarp-rdmav*.so; do mount --bind /dev/null "$f"; done
	mkdir -p /run/kwarp-ib && mount --bind /dev/infiniband /run/kwarp-ib
	mount -t tmpfs none /dev && mkdir /dev/infiniband && mount --move /run/kwarp-ib /dev/infiniband
	mknod -m 666 /dev/null c 1 3
	mknod -m 666 /dev/urandom c 1 9
	exec setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"' sh)

# Client and server are in containers, and verify all data. After they have ended, no object is
# left.
container_case() {
	libsiw_only
	links kwarp-siw kwarp-siw
	new_port
	serve server "$PORT" "${CONTAINER[@]}" kwdata -s -a "${IP[1]}" -p "$PORT"
	client "${CONTAINER[@]}" kwdata -c -a "${IP[1]}" -p "$PORT" -n "$(by_profile 300 30)" \
		-m $((32 << 10)) -S 55
	reap 20 server
	# In such a container there is no provider for links of type kwarp.
	links kwarp kwarp
	! n0 "${CONTAINER[@]}" kwdata -c -a "${IP[1]}" -p "$PORT" -n 1 >"$CASE_DIR/other.log" 2>&1 ||
		fail "the container has our provider"
}

testcase libsiw-container 60 container_case
testcase libsiw-data 60 libsiw_data_case kwarp-siw kwarp-siw
testcase libsiw-server 60 libsiw_data_case kwarp kwarp-siw
testcase libsiw-client 60 libsiw_data_case kwarp-siw kwarp
testcase libsiw-perf 60 libsiw_perf_case
testcase libsiw-scribble 90 libsiw_scribble_case
testcase libsiw-paced 60 libsiw_paced_case
testcase libsiw-paced-end 150 libsiw_paced_end_case
testcase libsiw-second 60 libsiw_second_case
testcase libsiw-siw 90 libsiw_siw_case
testcase libsiw-rmmod 60 libsiw_rmmod_case
testcase libsiw-post 90 libsiw_post_case
testcase libsiw-again 60 libsiw_again_case
testcase libsiw-netns 90 libsiw_netns_case
