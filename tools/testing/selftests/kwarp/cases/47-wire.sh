# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Queue pairs that are wired: programs exchange address, queue pair number and PSN on their own, as
# with InfiniBand, and move the queue pairs to RTR and RTS without rdma_cm. The links listen on the
# port of the knob wire_port.

WIRE_PORT=4790

wire_links() {
	skip_on siw "no iWARP device wires queue pairs"
	own_links
	knob wire_port "$WIRE_PORT"
}

# The cases that need what libsiw does not have.
own_wire_links() {
	skip_on kwarp-siw "libsiw has no RETRY_EXC_ERR and no Send with immediate data"
	wire_links
}

# gid_index END ADDRESS: print the index of the GID that is this IPv4 or IPv6 address.
gid_index() {
	local i=2 gid
	for ((i = 2; i < 16; i++)); do
		gid=$(read_at "$1" "/sys/class/infiniband/${LINK[$1]}/ports/1/gids/$i")
		[ "$gid" != "$2" ] || { echo "$i"; return; }
	done
	return 1
}

GID4=(0000:0000:0000:0000:0000:ffff:c000:0201 0000:0000:0000:0000:0000:ffff:c000:0202)
GID6=(2001:0db8:0000:0000:0000:0000:0000:0001 2001:0db8:0000:0000:0000:0000:0000:0002)

# pingpong PROGRAM GID0 GID1 [OPTIONS...]: rc or srq, between the ends, with these GIDs.
pingpong() {
	local i0 i1
	i0=$(gid_index 0 "$2") && i1=$(gid_index 1 "$3") || fail "there is no GID $2, or no GID $3"
	new_port
	pair "$PORT" "ibv_$1_pingpong" -d "${LINK[1]}" -g "$i1" -p "$PORT" "${@:4}" -- \
		"ibv_$1_pingpong" -d "${LINK[0]}" -g "$i0" -p "$PORT" "${@:4}" "${IP[1]}"
	expect_in client 'iters in'
	expect_in server 'iters in'
}

wire_pingpong_case() {
	wire_links
	pingpong rc "${GID4[0]}" "${GID4[1]}"
	pingpong rc "${GID6[0]}" "${GID6[1]}" -e
	[ "$KWARP_LINK" = kwarp-siw ] || pingpong rc "${GID4[0]}" "${GID4[1]}" -c -t
	pingpong srq "${GID4[0]}" "${GID4[1]}"
	pingpong srq "${GID6[0]}" "${GID6[1]}" -e
}

# Without the knob a program ends as it did before, at RTS.
wire_off_case() {
	wire_links
	# The same port again is no port in use.
	knob wire_port "$WIRE_PORT"
	knob wire_port 0
	new_port
	serve server "$PORT" ibv_rc_pingpong -d "${LINK[1]}" -g 2 -p "$PORT"
	! n0 ibv_rc_pingpong -d "${LINK[0]}" -g 2 -p "$PORT" "${IP[1]}" >"$CASE_DIR/client.log" 2>&1 ||
		fail "the program has run"
	ended 15 server
	expect_in server 'Failed to modify QP to RTS'
}

# wire_py END PROGRAM CASE[,CASE...] LINK GID LINK GID: run cases of wire.py or wire_raw.py at that
# end.
wire_py() {
	python3 -c 'import pyverbs.qp' 2>/dev/null || skip "there is no Python with pyverbs"
	start "wire-py" "$1" env WIRE_SLOW="$SLOWNESS" WIRE_NS="${NS[$1]} ${NS[1 - $1]}" \
		python3 "$HERE/$2" "${@:3}" "$WIRE_PORT"
	reap 120 wire-py
	expect_in wire-py '^ok$'
}

# wire_py_case CASE[,CASE...]: at end 0, with IPv4.
wire_py_case() {
	own_wire_links
	wire_py 0 wire.py "$1" "${LINK[0]}" "${GID4[0]}" "${LINK[1]}" "${GID4[1]}"
}

wire_ipv6_case() {
	own_wire_links
	wire_py 0 wire.py basic,attributes "${LINK[0]}" "${GID6[0]}" "${LINK[1]}" "${GID6[1]}"
}

# Both queue pairs belong to one link: the connection stays in its namespace.
wire_self_case() {
	own_wire_links
	ip -n "${NS[0]}" link set lo up
	ip -n "${NS[1]}" link set lo up
	wire_py 0 wire.py selfs "${LINK[0]}" "${GID4[0]}" "${LINK[1]}" "${GID4[1]}"
}

wire_raw_case() {
	own_wire_links
	wire_py 0 wire_raw.py strangers "${LINK[0]}" "${GID4[0]}" "${LINK[1]}" "${GID4[1]}"
	knob_at 1 wire_port 0
	wire_py 1 wire_raw.py impostors "${LINK[1]}" "${GID4[1]}" "${LINK[0]}" "${GID4[0]}"
}

wire_closing_case() {
	own_wire_links
	knob rcvbuf 65536
	knob sndbuf 65536
	wire_py 0 wire.py closing "${LINK[0]}" "${GID4[0]}" "${LINK[1]}" "${GID4[1]}"
}

# counted NAME: print how many packets the rule with this comment has counted at end 0.
counted() {
	n0 nft list table inet wire | sed -nE "s/.* packets ([0-9]+) .*comment \"$1\".*/\1/p"
}

many_counted() {
	[ "$(counted all)" -ge 5 ]
}

# Each attempt of a wired queue pair obeys the rules for its program's control group, also those
# that a kernel thread makes.
wire_group_case() {
	python3 -c 'import pyverbs.qp' 2>/dev/null || skip "there is no Python with pyverbs"
	need_cgroup
	own_wire_links
	knob_at 1 wire_port 0
	# ip netns exec would hide the control groups.
	nsenter --mount=/proc/1/ns/mnt --net="/run/netns/${NS[0]}" nft -f - <<-END || skip "this kernel has no nft_socket"
		table inet wire {
			chain out {
				type filter hook output priority 0
				tcp dport $WIRE_PORT tcp flags syn / syn,ack counter comment "all"
				tcp dport $WIRE_PORT tcp flags syn / syn,ack socket cgroupv2 level 1 "$GROUP" counter comment "group"
			}
		}
	END
	start alone 0 "${IN_GROUP[@]}" python3 "$HERE/wire.py" alone "${LINK[0]}" "${GID4[0]}" "${LINK[1]}" "${GID4[1]}" "$WIRE_PORT"
	wait_until 30 "the queue pair is wired" has_line "$CASE_DIR/alone.log" '^wired$'
	wait_until 20 "it tries again" many_counted
	stop alone KILL
	n0 nft list table inet wire
	[ "$(counted all)" = "$(counted group)" ] || fail "attempts were made in another control group"
	n0 nft delete table inet wire
	group_leave
}

wire_speed_case() {
	own_wire_links
	ip -n "${NS[0]}" link set lo up
	wire_py 0 wire.py cm_speed,speed "${LINK[0]}" "${GID4[0]}" "${LINK[1]}" "${GID4[1]}"
	tell "to the first completion from: $(grep median "$CASE_DIR/wire-py.log" | paste -sd,)"
}

# wire_perf SIZE COUNT TOOL OPTIONS...: perftest without rdma_cm. It chooses the GID itself.
wire_perf() {
	local size=$1 count=$2 qps=1
	[[ "$*" =~ " -q "([0-9]+) ]] && qps=${BASH_REMATCH[1]}
	new_port
	pair "$PORT" "$3" -F -p "$PORT" -d "${LINK[1]}" -n "$count" -s "$size" "${@:4}" -- \
		stdbuf -oL "$3" -F -p "$PORT" -d "${LINK[0]}" -n "$count" -s "$size" "${@:4}" "${IP[1]}"
	perf_rows $((qps * count)) "$size"
}

wire_perf_bw_case() {
	local op few
	few=$(by_profile 100 10)
	wire_links
	for op in write read send; do
		wire_perf 16384 "$few" "ib_${op}_bw"
		wire_perf 16384 "$few" "ib_${op}_bw" -b
		wire_perf 4096 "$few" "ib_${op}_bw" -q 16
	done
	[ "$KWARP_LINK" = kwarp-siw ] || wire_perf 8 "$few" ib_atomic_bw
}

wire_perf_lat_case() {
	local op few
	few=$(by_profile 100 10)
	wire_links
	for op in write read send; do
		wire_perf 64 "$few" "ib_${op}_lat"
	done
	[ "$KWARP_LINK" = kwarp-siw ] || wire_perf 8 "$few" ib_atomic_lat
	wire_perf 64 "$few" ib_send_lat -e
	wire_perf 4096 "$few" ib_send_bw --use-srq
}

# wire_pyverbs_judge LEAST: true if at least LEAST tests have passed, and each queue pair got to RTS.
# Documentation/programs.rst says why others fail. Print the reasons.
wire_pyverbs_judge() {
	awk -v want="$1" '
		/^(ERROR|FAIL): / { name = $2; next }
		/Failed to modify QP state to RT[RS]/ { stuck++ }
		/^[A-Za-z_.]+: / && name != "" { why[name] = $0 }
		/^Ran / { ran = $2 }
		/^FAILED \(/ {
			gsub(/[^a-z0-9=]+/, " ")
			for (i = 1; i <= NF; i++) { split($i, part, "="); count[part[1]] = part[2] }
		}
		END {
			ok = ran - count["errors"] - count["failures"] - count["skipped"]
			printf "%d run, %d passed, %d skipped\n", ran, ok, count["skipped"]
			for (n in why) print n ": " why[n]
			exit stuck || ok < want
		}' "$CASE_DIR/pyverbs.log"
}

# rdma-core's tests wire queue pairs of one link.
wire_pyverbs_case() {
	local names=() name
	[ -d "$PYVERBS_TESTS" ] && python3 -c 'import unittest, pyverbs, multiprocessing' 2>/dev/null ||
		skip "there is no Python with pyverbs and its tests"
	own_wire_links
	ip -n "${NS[0]}" link set lo up
	for name in "${PYVERBS_MODULES[@]}"; do names+=("tests.test_$name"); done
	start pyverbs 0 sh -c \
		"cd $PYVERBS_TESTS && exec python3 run_tests.py --dev ${LINK[0]} --gid 2 -v ${names[*]}"
	ended 240 pyverbs
	[ "$STATUS" = 1 ] || fail "the tests ended with status $STATUS"
	wire_pyverbs_judge 46 >"$CASE_DIR/judge.log" || STATUS=2
	while read -r name; do tell "$name"; done <"$CASE_DIR/judge.log"
	[ "$STATUS" = 1 ] || fail "tests of pyverbs failed, or fewer ran than can"
}

# With receive_wait, programs that rely on InfiniBand's retries run with rdma_cm, too.
wire_wait_case() {
	skip_on siw "it has no knobs"
	own_links
	knob receive_wait 2000
	new_port
	serve qperf "$PORT" qperf -lp "$PORT"
	client stdbuf -oL qperf -lp "$PORT" "${IP[1]}" -cm1 -t 1 -m 4096 rc_bi_bw
	expect_in client '^rc_bi_bw:'
	stop qperf KILL
}

testcase wire-pingpong 120 wire_pingpong_case
testcase wire-off 60 wire_off_case
testcase wire-basic 120 wire_py_case basic,early,attributes,elsewhere
testcase wire-errors 180 wire_py_case mismatch,again
testcase wire-receives 120 wire_py_case receives,dangling
testcase wire-ipv6 60 wire_ipv6_case
testcase wire-self 60 wire_self_case
testcase wire-raw 180 wire_raw_case
testcase wire-closing 60 wire_closing_case
testcase wire-group 90 wire_group_case
testcase wire-speed 60 wire_speed_case
testcase wire-perf-bw 240 wire_perf_bw_case
testcase wire-perf-lat 180 wire_perf_lat_case
testcase wire-pyverbs 300 wire_pyverbs_case
testcase wire-receive-wait 120 wire_wait_case
