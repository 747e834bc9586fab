# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# The device as the administrator and others see it: port events, speed, its name and that
# of its interface, its end while a connect is pending, RDMA namespaces.

# ------------------------------------------------------------------------ events

watch_events() {
	start watch 0 stdbuf -oL ibv_asyncwatch -d "${LINK[0]}"
	wait_until 10 "events are watched" grep -q "${LINK[0]}" "$CASE_DIR/watch.log"
}

events() {
	grep -c "event_type .*$1" "$CASE_DIR/watch.log" || :
}

# saw NUMBER WHAT: so many such events, or more.
saw() {
	[ "$(events "$2")" -ge "$1" ]
}

# Activations between the first error and the third one. Since Linux 7.2 the core tells of a port
# that is active when it first looks, so that there may be one more before.
activations() {
	awk '/event_type .*PORT_ERR/ { errors++ }
		/event_type .*PORT_ACTIVE/ && errors > 0 && errors < 3 { n++ }
		END { print n + 0 }' "$CASE_DIR/watch.log"
}

active_again() {
	[ "$(activations)" -ge "$1" ]
}

# Another device of the same netdev: of the two the core of some kernels sees the last one.
siw_beside() {
	load_type siw
	check "adding a siw link" n0 rdma link add kwsiw type siw netdev "${DEV[0]}"
}

# Each change of the port's state is one event, and what does not change it is none. The
# last event shows that all before have come.
port_events_case() {
	skip_on siw "it repeats events"
	own_links
	"$@"
	watch_events
	ip -n "${NS[0]}" link set "${DEV[0]}" alias x
	ip -n "${NS[0]}" link set "${DEV[0]}" group 5
	ip -n "${NS[0]}" link set "${DEV[0]}" down
	wait_until 5 "the port is down" saw 1 PORT_ERR
	ip -n "${NS[0]}" link set "${DEV[0]}" alias y
	ip -n "${NS[0]}" link set "${DEV[0]}" up
	wait_until 5 "the port is active" active_again 1
	ip -n "${NS[0]}" link set "${DEV[0]}" alias z
	# The carrier goes, as on a cable.
	ip -n "${NS[1]}" link set "${DEV[1]}" down
	wait_until 5 "the port is down again" saw 2 PORT_ERR
	ip -n "${NS[1]}" link set "${DEV[1]}" up
	wait_until 5 "the port is active again" active_again 2
	ip -n "${NS[0]}" link set "${DEV[0]}" alias w
	ip -n "${NS[0]}" link set "${DEV[0]}" down
	wait_until 5 "the port is down at last" saw 3 PORT_ERR
	ip -n "${NS[0]}" link set "${DEV[0]}" up
	stop watch KILL
	cat "$CASE_DIR/watch.log"
	[ "$(events PORT_ERR)" = 3 ] || fail "three times down gave $(events PORT_ERR) errors"
	# The activation after the third error may have been reported already, or not.
	[ "$(activations)" = 2 ] || fail "two times up gave $(activations) activations"
	[ $# -eq 0 ] || check "deleting the siw link" rdma link delete kwsiw
	# Addresses of IPv6 went with the links.
	rm -f "$RUN/net" "$RUN"/link.*
	own_links
	still_works
}

# The speed of a veth pair is 10 Gb/s, whatever it does.
speed_case() {
	skip_on siw "it names another speed"
	own_links
	client ibv_devinfo -v -d "${LINK[0]}"
	expect_in client 'active_width:[[:space:]]+1X'
	expect_in client 'active_speed:[[:space:]]+10\.0 Gbps'
}

# The interface gets another name under traffic.
renamed_case() {
	own_links
	traffic t
	ip -n "${NS[0]}" link set "${DEV[0]}" name kwother ||
		{ traffic_stop_good t; skip "this kernel renames no interface that is up"; }
	wait_until 20 "traffic flows" flows_as kwother
	ip -n "${NS[0]}" link set kwother name "${DEV[0]}"
	traffic_stop_good t
	still_works
}

# The port mapper daemon is told of an interface by its name of today, and connections come
# about with a daemon and after its end.
iwpmd_case() {
	# iwpm_register_pid() of the core asks the daemon before it says what for: an answer on
	# another processor may find a NULL pointer (seen on 7.2).
	local one_cpu=(taskset -c 0) name=kwother port
	skip_on siw "it tells the name that the interface had first"
	own_links
	start iwpmd - "${one_cpu[@]}" iwpmd -s
	start names - python3 "$HERE/iwpmnames.py"
	wait_until 15 "the messages can be seen" grep -q listening "$CASE_DIR/names.log"
	ip -n "${NS[1]}" link set "${DEV[1]}" name "$name" || skip "this kernel renames no interface that is up"
	new_port
	port=$PORT
	serve server "$port" "${one_cpu[@]}" kwconn -s -a "${IP[1]}" -p "$port"
	ip -n "${NS[1]}" link set "$name" name "${DEV[1]}"
	wait_until 5 "the daemon is told" grep -qx "$name ${LINK[1]}" "$CASE_DIR/names.log"
	client "${one_cpu[@]}" kwconn -c -a "${IP[1]}" -p "$port" -n 1 -T 60
	stop names KILL
	stop iwpmd KILL
	client kwconn -c -a "${IP[1]}" -p "$port" -n 1 -T 60
	stop server
	[ "$STATUS" = 0 ] || fail "the server ended with status $STATUS"
}

flows_as() {
	[ -e "/sys/class/infiniband/${LINK[0]}" ] && flows
}

# -------------------------------------------------------- its end, a connect pending

# Users of the RDMA core are told to leave in reverse order of loading, and rdma_cm waits
# for the connect before uverbs destroys the queue pair.
load_in_order() {
	local all=(rdma_ucm ib_uverbs rdma_cm) m
	own_links
	both_ends del_link
	for m in "${all[@]}" "$KWARP_MODULE"; do
		modprobe -r "$m" 2>/dev/null || :
	done
	for m in "$@"; do
		modprobe "$m" || :
	done
	modprobe -a rdma_ucm "$KWARP_MODULE"
	own_links
}

# end_pending COMMAND...: the peer of a connect says nothing; the command ends the device.
end_pending() {
	local begin=$SECONDS
	new_port
	start deaf 1 python3 "$HERE/mpa.py" deaf "${IP[1]}" "$PORT"
	wait_until 10 "the peer listens" listens "${PIDS[deaf]}" "$PORT"
	start client 0 kwmisuse -m connect-wait -a "${IP[1]}" -p "$PORT"
	wait_until 10 "the connect is pending" grep -q connected "$CASE_DIR/deaf.log"
	rm -f "$RUN/net" "$RUN"/link.*
	check "ending the device" timeout $((10 * SLOWNESS)) "$@"
	wait_until 5 "the link is gone" link_gone 0
	note "it took $((SECONDS - begin)) s"
	stop client KILL
	stop deaf KILL
}

pending_netdev_case() {
	load_in_order "$@"
	end_pending ip -n "${NS[0]}" link del "${DEV[0]}"
	own_links
	still_works
}

# Only a core that asks the driver first does so in time, see the administrator guide.
pending_link_case() {
	[ "$(uname -r | cut -d. -f1)" -ge 7 ] || skip "this kernel's core does not ask the driver first"
	load_in_order "$@"
	end_pending rdma link delete "${LINK[0]}"
	own_links
	still_works
}

# ------------------------------------------------------------------ RDMA namespaces

shared_again() {
	net_down
	wait_until 10 "RDMA namespaces are shared again" rdma system set netns shared
}

# Before Linux 7.2 a device begins in the first namespace, and has to be told to follow its
# interface.
follow_interface() {
	in_ns "$1" rdma dev show "${LINK[$1]}" >/dev/null 2>&1 ||
		check "moving the device" rdma dev set "${LINK[$1]}" netns "${NS[$1]}"
}

# A device is in one namespace: that of its interface. The mode is the whole system's: whatever
# happens, it is set back.
exclusive_case() {
	local i
	load_type "$KWARP_LINK"
	net_down
	wait_until 10 "RDMA namespaces are exclusive" rdma system set netns exclusive
	trap 'shared_again; case_cleanup' EXIT
	net_up
	for i in 0 1; do
		in_ns "$i" rdma link add "${LINK[i]}" type "$KWARP_LINK" netdev "${DEV[i]}"
		kernel_since 7.2 || follow_interface "$i"
		in_ns "$i" rdma dev show "${LINK[i]}" || fail "the device is not in the namespace of its interface"
		! rdma dev show "${LINK[i]}" >/dev/null 2>&1 || fail "the device is in two namespaces"
	done
	rping_pair "${IP[1]}"
	# The core asks the driver anew for a device that comes into another namespace.
	[ "$KWARP_LINK" = siw ] || ! has_debugfs || cat "$DEBUGFS"/kwarp/*-"${LINK[0]}"/* >/dev/null || fail "debugfs cannot be read"
	for i in 0 1; do
		in_ns "$i" rdma link delete "${LINK[i]}"
	done
	! ls -d "$DEBUGFS"/kwarp/*-"${LINK[0]}" 2>/dev/null || fail "files of a link that has gone are there"
	trap case_cleanup EXIT
	shared_again
	own_links
	still_works
}

# The one who adds a link has named it, so that udev leaves the name alone.
named_by_user_case() {
	local who
	own_links
	who=$(n0 "$HERE/nameassign.py" "${LINK[0]}")
	case $(uname -r) in 6.1.*) [ "$who" != "?" ] || skip "this kernel does not tell who has named a device" ;; esac
	[ "$who" = user ] || fail "the name of ${LINK[0]} was chosen by: $who"
}

testcase device-port-events 60 port_events_case
testcase device-port-events-beside-siw 60 port_events_case siw_beside
testcase device-named-by-user 30 named_by_user_case
testcase device-speed 30 speed_case
testcase device-renamed 60 renamed_case
testcase device-iwpmd 90 iwpmd_case
testcase device-pending-netdev-ucm 60 pending_netdev_case ib_uverbs rdma_cm
testcase device-pending-netdev-uverbs 60 pending_netdev_case rdma_cm ib_uverbs
testcase device-pending-link 60 pending_link_case ib_uverbs rdma_cm
testcase device-exclusive-netns 90 exclusive_case
