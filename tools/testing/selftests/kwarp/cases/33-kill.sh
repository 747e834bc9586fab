# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Programs are killed while a connection is being set up. The kernel waits in iw_cm for the answer of
# a pending connect or accept, and nothing interrupts that wait, so the link has to end it: a killed
# program must have ended within a second. kwpending is such a program; with -u it opens the device
# before rdma_cm, and then its queue pairs are not destroyed first.

# An address in the network of the links that nobody has.
SILENT=192.0.2.99

# No packet to the address SILENT is answered, and its hardware address need not be found out.
silence() {
	ip -n "${NS[0]}" neigh replace "$SILENT" lladdr 02:00:00:00:00:99 nud permanent dev "${DEV[0]}"
}

# killed_soon NAME [MS]: kill the program. It must have ended within MS (1,000) milliseconds, or
# SLOWNESS / 2 times as long on a slow kernel.
killed_soon() {
	local limit=$((${2:-1000} * SLOWNESS / 2)) begin=${EPOCHREALTIME/./} took
	kill -KILL "${PIDS[$1]}"
	ended 120 "$1"
	took=$(((${EPOCHREALTIME/./} - begin) / 1000))
	[ "$STATUS" = 137 ] || fail "$1 had ended before, with status $STATUS"
	tell "$1 ended $took ms after SIGKILL"
	[ $took -le $limit ] || fail "$1 ended only $took ms after SIGKILL, not within $limit ms"
}

# pending NAME END OPTIONS...: start kwpending, and wait until its connections are pending.
pending() {
	local name=$1
	start "$name" "$2" kwpending "${@:3}"
	wait_until 60 "$name waits" pending_or_gone "$name"
	expect_in "$name" 'pending$'
}

pending_or_gone() {
	has_line "$CASE_DIR/$1.log" 'pending$' || gone "${PIDS[$1]}"
}

kill_connecting_case() {
	own_links
	silence
	new_port
	pending verbs-first 0 -a "$SILENT" -p "$PORT" -u
	killed_soon verbs-first
	pending cm-first 0 -a "$SILENT" -p "$PORT"
	killed_soon cm-first
	start deaf 1 python3 "$HERE/mpa.py" deaf "${IP[1]}" "$PORT"
	wait_until 10 "the peer listens" listens "${PIDS[deaf]}" "$PORT"
	pending no-reply 0 -a "${IP[1]}" -p "$PORT" -u
	wait_until 5 "TCP has connected" has_line "$CASE_DIR/deaf.log" connected
	killed_soon no-reply
	stop deaf KILL
}

# The peer asks for peer-to-peer mode, and does not send the ready-to-receive message.
kill_accepting_case() {
	local order
	own_links
	for order in "-u" ""; do
		new_port
		# shellcheck disable=SC2086 # one word or none
		serve "server$order" "$PORT" kwpending -s -a "${IP[1]}" -p "$PORT" $order
		start "peer$order" 0 python3 "$HERE/mpa.py" ask "${IP[1]}" "$PORT"
		wait_until 10 "the server waits" has_line "$CASE_DIR/server$order.log" 'pending$'
		killed_soon "server$order"
		reap 10 "peer$order"
		expect_in "peer$order" '^accepted$'
	done
}

kill_many_case() {
	local count
	count=$(by_profile 1000 100)
	own_links
	silence
	pending many 0 -a "$SILENT" -n "$count" -u
	killed_soon many
	wait_until 5 "no object is left" no_objects
}

# kill_program_case COMMAND...: a program connects to the address SILENT, its last argument.
kill_program_case() {
	type -P "$1" >/dev/null || skip "there is no $1"
	own_links
	silence
	start client 0 "$@" "$SILENT"
	wait_until 10 "$1 connects" connecting
	killed_soon client
}

# True if the link at end 0 has a connection that TCP has not completed.
connecting() {
	n0 ss -Htn state syn-sent | grep -q .
}

# fi_pingpong first opens the device, and first talks to its server over an ordinary connection, on
# port 47592. SYNs to other ports are dropped.
kill_pingpong_case() {
	type -P fi_pingpong >/dev/null || skip "there is no fi_pingpong"
	own_links
	n0 nft -f - <<-END
		table inet kill {
			chain out {
				type filter hook output priority 0
				tcp dport != 47592 tcp flags syn / syn,ack drop
			}
		}
	END
	start server 1 fi_pingpong -p verbs -e msg -d "${LINK[1]}"
	wait_until 10 "the server listens" listens "${PIDS[server]}" 47592
	start client 0 fi_pingpong -p verbs -e msg -d "${LINK[0]}" "${IP[1]}"
	wait_until 20 "fi_pingpong connects" connecting
	killed_soon client
	n0 nft delete table inet kill
	stop server KILL
}

testcase kill-connecting 120 kill_connecting_case
testcase kill-accepting 90 kill_accepting_case
testcase kill-many 180 kill_many_case
testcase kill-rping 60 kill_program_case rping -c -a
testcase kill-ib-write-bw 60 kill_program_case ib_write_bw -R -d kwt0
testcase kill-rstream 60 kill_program_case rstream -s
testcase kill-fi-pingpong 90 kill_pingpong_case
