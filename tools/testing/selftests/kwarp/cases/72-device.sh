# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases about the device as an administrator sees it: port events, speed, the names of device and
# interface, deletion while a connect is pending, RDMA namespaces.

# ------------------------------------------------------------------------ events

watch_events() {
	start watch 0 stdbuf -oL ibv_asyncwatch -d "${LINK[0]}"
	wait_until 10 "events are watched" grep -q "${LINK[0]}" "$CASE_DIR/watch.log"
}

events() {
	grep -c "event_type .*$1" "$CASE_DIR/watch.log" || :
}

# saw NUMBER WHAT: true if at least NUMBER events of this kind were reported.
saw() {
	[ "$(events "$2")" -ge "$1" ]
}

# Print how many times the port became active between the first and the third error. Earlier
# events do not count: since Linux 7.2 the core also reports a port that is active when the core
# first looks.
activations() {
	awk '/event_type .*PORT_ERR/ { errors++ }
		/event_type .*PORT_ACTIVE/ && errors > 0 && errors < 3 { n++ }
		END { print n + 0 }' "$CASE_DIR/watch.log"
}

active_again() {
	[ "$(activations)" -ge "$1" ]
}

# Add a siw link on the network device of kwarp's link. For a network device, the RDMA core of some
# kernels finds only the RDMA device that was added last, here siw's. kwarp's link must get its
# events nevertheless.
siw_beside() {
	load_type siw
	check "adding a siw link" n0 rdma link add kwsiw type siw netdev "${DEV[0]}"
}

# port_events_case [COMMAND]: each change of the port's state must give exactly one event, and
# changes of an alias or group must give none. COMMAND prepares the case. Events come in order, so
# after the last event all others have been reported.
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
	# The peer's end goes down, so the carrier is lost, as if a cable was pulled.
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
	# Only events before the third error are counted: the activation after it may be reported
	# late.
	[ "$(activations)" = 2 ] || fail "two times up gave $(activations) activations"
	[ $# -eq 0 ] || check "deleting the siw link" rdma link delete kwsiw
	# The interfaces have lost their IPv6 addresses by going down, so the namespaces are made
	# again.
	rm -f "$RUN/net" "$RUN"/link.*
	own_links
	still_works
}

# The port has the speed that a veth pair reports, which is always 10 Gb/s.
speed_case() {
	skip_on siw "it names another speed"
	own_links
	client ibv_devinfo -v -d "${LINK[0]}"
	expect_in client 'active_width:[[:space:]]+1X'
	expect_in client 'active_speed:[[:space:]]+10\.0 Gbps'
}

# The interface is renamed under traffic, and gets its old name again. The traffic must continue.
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

# The kernel reports the present name of a renamed interface to the port mapper daemon. Connections
# work while the daemon runs, and after it has ended.
iwpmd_case() {
	# Run all programs on one processor (taskset), because of a fault of the core:
	# iwpm_register_pid() sends its message to the daemon before it has stored what the answer
	# is for. An answer on another processor may come first and find a NULL pointer (seen on
	# 7.2).
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

# --------------------------------------- removing a device while a connect is pending

# load_in_order MODULE...: load the modules in this order. When a device is removed, the RDMA core
# calls the modules that use it in reverse order of loading. rdma_cm waits for a pending connect;
# ib_uverbs ends the connect, because it destroys the queue pair. So the order decides whether the
# removal would have to wait.
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

# end_pending COMMAND...: begin to connect to a silent peer, then run the command, which removes the
# device. The command must not wait for the end of the connect.
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

# "rdma link delete" unregisters the device. Since Linux 7.2 the core first calls the driver, which
# ends the pending connect. On older kernels the deletion of the link would wait until the connect
# times out.
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

# Before Linux 7.2 a new device is in the initial namespace, and has to be moved to the namespace
# of its interface.
follow_interface() {
	in_ns "$1" rdma dev show "${LINK[$1]}" >/dev/null 2>&1 ||
		check "moving the device" rdma dev set "${LINK[$1]}" netns "${NS[$1]}"
}

# In exclusive mode a device is only in the namespace of its interface. The mode is a setting of
# the whole system, so the trap restores it.
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
	# When a device is moved to another namespace, the core calls the driver's port functions
	# again. The files in debugfs must still be readable after that.
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

# A name that was given to "rdma link add" is marked as chosen by the user, so that udev keeps it.
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
