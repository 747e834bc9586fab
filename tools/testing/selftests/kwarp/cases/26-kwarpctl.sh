# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases that run kwarpctl, the command for administrators, with real links. How kwarpctl handles
# each answer of the system is tested by its own unit tests.

ctl() {
	local end=$1
	shift
	note "kwarpctl $*"
	in_ns "$end" kwarpctl "$@" >"$CASE_DIR/ctl.log" 2>"$CASE_DIR/ctl-error.log"
}

# ctl_json END EXPRESSION ARGS...: run kwarpctl with these arguments and --json in namespace END (0
# or 1). The Python expression must be true; in it, "found" is the output.
ctl_json() {
	local end=$1 what=$2
	shift 2
	ctl "$end" "$@" --json || fail "kwarpctl $* failed"
	python3 -c "import json, sys; found = json.load(sys.stdin); assert $what, found" \
		<"$CASE_DIR/ctl.log" || fail "kwarpctl $*: it is not true that $what"
}

# "show" prints links, both ends of a connection, a listening program, rates, and knobs that
# are not at their defaults.
ctl_show_case() {
	skip_on siw "it is for our links"
	own_links
	data_serve server
	data_client -n 0 -m $((64 << 10)) -S 26 -T 100
	start client 0 "${DATA_CLIENT[@]}"
	wait_until 20 "there is a connection" ctl_connected
	ctl_json 0 "[l['netdev'] for l in found['links'] if l['name'] == '${LINK[0]}'] == ['${DEV[0]}']" show
	ctl_json 0 "found['connections'][0]['remote'] == '${IP[1]}' and found['connections'][0]['remote_port'] == $PORT and found['connections'][0]['sent'] > 0 and found['connections'][0]['age_ms'] > 0" \
		show "${LINK[0]}"
	ctl_json 1 "[l['local_port'] for l in found['listeners']] == [$PORT]" show "${LINK[1]}"
	ctl_json 0 "found['links']['${LINK[0]}']['tx']['mib'] > 0 and found['connections'][0]['tx_mib'] > 0" \
		show "${LINK[0]}" --rates -i 1
	ctl_json 0 "found['connections'][0]['tx_mib'] > 0 and found['connections'][0]['rtt_us'] > 0 and found['connections'][0]['in_flight'] is not None" \
		top "${LINK[0]}"
	knob_at 0 tos 40
	ctl 0 show "${LINK[0]}" || fail "kwarpctl show failed"
	expect_in ctl 'tos'
	stop client
	stop server
}

# "show" says how long a program still waits for the answer of a peer. While all packets are lost,
# "show" and "doctor" say of an established connection that it is stalled.
ctl_waits_case() {
	skip_on siw "it is for our links"
	own_links
	new_port
	# On a slow machine the commands here take as long as the defaults.
	knob_at 0 startup_timeout 110
	knob_at 0 user_timeout 600
	start deaf 1 python3 "$HERE/mpa.py" deaf "${IP[1]}" "$PORT"
	wait_until 10 "the deaf server listens" listens "${PIDS[deaf]}" "$PORT"
	start asking 0 kwconn -c -a "${IP[1]}" -p "$PORT" -T 90
	wait_until 60 "the new connection waits" ctl_says show 'WAIT_REP [(][0-9]* s left[)]'
	stop asking KILL
	stop deaf KILL
	data_serve server
	data_client -n 0 -m $((64 << 10)) -S 26 -T 100
	start client 0 "${DATA_CLIENT[@]}"
	wait_until 20 "there is a connection" ctl_connected
	netem loss 100%
	wait_until 60 "the connection is stalled" ctl_says show 'RTS [(]stalled: no ACK for [0-9.]* s[)]'
	ctl_says doctor 'warning  connection to .* waits, and nothing was acknowledged' || fail "doctor does not see that"
	no_netem
	stop client KILL
	stop server KILL
}

# ctl_says COMMAND WORDS: true if kwarpctl COMMAND prints these words.
ctl_says() {
	ctl 0 "$1" "${LINK[0]}" || :
	has_line "$CASE_DIR/ctl.log" "$2"
}

ctl_connected() {
	ctl 0 show "${LINK[0]}" --json && grep -q '"remote": "[0-9]' "$CASE_DIR/ctl.log"
}

# "doctor" first finds no problem, and runs nothing of the folder that it is called in. After the server has ended, and after the interface has gone
# down, "doctor" must report that.
ctl_doctor_case() {
	local module
	skip_on siw "it is for our links"
	own_links
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	mkdir "$CASE_DIR/folder"
	for module in argparse ctypes json socket; do
		echo "open('$CASE_DIR/folder/mark', 'w')" >"$CASE_DIR/folder/$module.py"
	done
	(cd "$CASE_DIR/folder" && PYTHONPATH=. ctl 0 doctor "${LINK[0]}" --peer "${IP[1]}" --port "$PORT") || :
	expect_in ctl '0 problems, '
	expect_in ctl "open ${LINK[0]}: libibverbs opens it"
	[ ! -e "$CASE_DIR/folder/mark" ] || fail "doctor has run a module of the current folder"
	stop server
	! ctl 0 doctor "${LINK[0]}" --peer "${IP[1]}" --port "$PORT" || fail "nobody is at the port"
	expect_in ctl '1 problem, '
	n0 ip link set "${DEV[0]}" down
	wait_until 5 "the port is down" link_down 0
	! ctl 0 doctor "${LINK[0]}" || fail "the interface is down"
	expect_in ctl "${DEV[0]} is down"
	n0 ip link set "${DEV[0]}" up
	n0 ip addr replace "${IP6[0]}/64" dev "${DEV[0]}" nodad
	wait_until 10 "the link is active" link_active 0
}

link_down() {
	! link_active "$1"
}

# "set" sets all knobs or none, and an error message says what to do.
ctl_set_case() {
	local knobs=/sys/class/infiniband/${LINK[0]}/kwarp
	skip_on siw "it is for our links"
	own_links
	ctl 0 set "${LINK[0]}" crc=required tos=8 || fail "kwarpctl set failed"
	[ "$(<"$knobs/crc") $(<"$knobs/tos")" = "required 8" ] || fail "the knobs are not set"
	! ctl 0 set "${LINK[0]}" crc=off tos=9 || fail "kwarpctl takes a wrong value"
	expect_in ctl-error "kwarpctl: ${LINK[0]} does not take tos=9 .*: give 0 to 252, a multiple of 4"
	[ "$(<"$knobs/crc") $(<"$knobs/tos")" = "required 8" ] || fail "a knob is set though one was refused"
	! ctl 0 set "${LINK[0]}" stashes=1 || fail "kwarpctl sets a count"
	expect_in ctl-error "has no knob 'stashes'"
	ctl_json 0 "{k['knob'] for k in found['knobs']} == set('$(writable_knobs)'.split())" set "${LINK[0]}"
	ctl 0 set "${LINK[0]}" crc=on tos=0 || fail "kwarpctl set failed"
}

writable_knobs() {
	find "/sys/class/infiniband/${LINK[0]}/kwarp" -type f -perm -200 -printf '%f '
}

# "bench" prints figures of each test, over IPv4 and IPv6, with one server.
ctl_bench_case() {
	local addr
	skip_on siw "it is for our links"
	own_links
	new_port
	serve server "$PORT" kwarpctl bench --server --port "$PORT"
	# On an emulated processor perftest may have no clock for measuring latency, so only the
	# rates are checked.
	for addr in "${IP[1]}" "${IP6[1]}"; do
		ctl_json 0 "len(found) == 5 and all(run['rate'] > 0 for run in found if 'rate' in run)" \
			bench "$addr" --port "$PORT"
		[ "$(grep -c '"rate"' "$CASE_DIR/ctl.log")" = 3 ] || fail "kwarpctl bench $addr has no rates"
	done
	stop server
}

testcase kwarpctl-show 120 ctl_show_case
testcase kwarpctl-waits 150 ctl_waits_case
testcase kwarpctl-doctor 60 ctl_doctor_case
testcase kwarpctl-set 30 ctl_set_case
testcase kwarpctl-bench 240 ctl_bench_case
