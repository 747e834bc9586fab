#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Soak test: rounds of mixed traffic until the time is over. In each round the network loses, delays
# or reorders packets in another way, and another disturbance happens. Run it as root, on a machine
# that a failure may damage.
#
#   soak.sh SECONDS [SEED]
#
# In each round four kinds of programs run at the same time: kwdata in both directions (with
# verified contents), kwconn (one connection after the other), rping, and ib_write_bw. A disturbance
# may end the connections of some programs on purpose; all other programs must succeed. After each
# round no RDMA object may be left, and the kernel's memory is measured; over the whole run it must
# not grow. Prints a line of figures each minute, and a summary at the end. Exit status: 0 or 1.
HERE=$(cd "$(dirname "$0")" && pwd)
export PATH=$PATH:$HERE/../bin:$HERE/../tools:/usr/sbin:/sbin LC_ALL=C.UTF-8

LOGS=/run/kwarp-soak
[ ! -d /out ] || LOGS=/out
CASE_DIR=$LOGS/soak
export CASE_DIR

# The other case files are sourced for their helpers only: their cases are not defined.
testcase() {
	:
}

optional_testcase() {
	:
}

# shellcheck source=lib.sh
. "$HERE/lib.sh"
for f in 10-rping 20-perftest 50-data 70-lifecycle 71-cycles; do
	# shellcheck source=/dev/null
	. "$HERE/cases/$f.sh"
done

# The kernel's memory after each round is a sample. The least sample of the last rounds may exceed
# the least sample of the first rounds after the warm-up by this number of KiB, because the caches
# of network and namespaces vary by as much.
MEMORY_BOUND=$(by_profile 4096 65536)
# WARM_UP: number of rounds at the beginning that fill caches (each disturbance once), and are not
# compared. SPAN: number of first and of last rounds that are compared.
WARM_UP=8 SPAN=4
# A run of at least this many seconds must have enough rounds for the comparison of memory, or it
# fails. In a shorter run memory is not judged if there are too few rounds.
ENOUGH=1200

shapes=(
	"loss 1%"
	"delay 2ms 1ms"
	"delay 3ms reorder 25% 50%"
	"duplicate 2%"
	"corrupt 0.5%"
	"loss 0.5% delay 1ms duplicate 1% corrupt 0.2%"
	"rate 200mbit"
)
disturbances=(flap kill_client knobs delete_link kill_server churn_namespaces flap_long blackhole)
knob_values=("crc off" "crc on" "align on" "align off" "mpa_rev 1" "mpa_rev 2" "markers on" "rtr read" "rtr write")

rounds=0 octets=0 operations=0 connections=0 lost=0
samples=()
declare -A done_of=()

# ------------------------------------------------------------------- traffic

# Start kwdata in both directions (pairs "a" and "b") and kwconn ("churn"). begin_others starts
# rping; end_others waits for its end and then runs ib_write_bw. end_good and end_lost judge the
# kwdata pairs after the disturbance.
begin_traffic() {
	traffic_of a 0 1
	traffic_of b 1 0
	new_port
	serve churn-server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	# -f: a connection may fail while the interface is down, because there is no route to the
	# peer then.
	start churn 0 kwconn -c -a "${IP[1]}" -p "$PORT" -n "$(by_profile 150 10)" -P 8 -T 120 -f
}

# traffic_of NAME CLIENT SERVER: start kwdata with three connections, between these ends.
traffic_of() {
	new_port
	SERVER_END=$3 serve "$1-server" "$PORT" kwdata -s -a "${IP[$3]}" -p "$PORT" -T 120
	start "$1-client" "$2" kwdata -c -a "${IP[$3]}" -p "$PORT" -n 0 -q 3 -e \
		-m $((32 << 10)) -S $((seed + rounds)) -T 120
}

begin_others() {
	new_port
	serve rping-server "$PORT" rping -s -a "${IP[1]}" -p "$PORT" -C 50 -S 16384 -V
	start rping 0 rping -c -a "${IP[1]}" -p "$PORT" -C 50 -S 16384 -V
}

end_others() {
	reap 120 rping
	reap 60 rping-server
	# perftest's client may connect before its server listens again, and then fails. That is
	# more likely with packet loss and other programs. So for every second round one more such
	# failure is accepted.
	perf_races=$((3 + rounds / 2))
	perf_pair ib_write_bw -n "$(by_profile 200 10)" -s 32768
}

# Add up the numbers that the programs report.
count_figures() {
	local f w r s o
	for f in "$CASE_DIR"/[ab]-client.log "$CASE_DIR"/[ab]-server.log; do
		while read -r w r s o; do
			operations=$((operations + w + r + s))
			octets=$((octets + o))
		done < <(sed -nE 's/.*: (ok|FAILED): ([0-9]+) writes, ([0-9]+) reads, ([0-9]+) sends, ([0-9]+) octets.*/\2 \3 \4 \5/p' "$f")
	done
	w=$(sed -nE 's/.* ([0-9]+) echoed.*/\1/p' "$CASE_DIR/churn.log")
	# kwdata has three connections in each direction; rping and perftest have one each.
	connections=$((connections + ${w:-0} + 8))
}

# end_good NAME...: end kwdata pairs whose connections must outlive the disturbance. Client and
# server must end with success, which means that all data was right.
end_good() {
	local name
	for name; do
		kill -TERM "${PIDS[$name-client]}" || fail "$name-client has ended by itself"
		reap 150 "$name-client"
		reap 60 "$name-server"
	done
}

end_churn() {
	reap 150 churn
	stop churn-server
	[ "$STATUS" = 0 ] || fail "the server of the churn ended with status $STATUS"
}

# end_lost NAME...: wait for programs whose connection was ended on purpose. They may report a lost
# connection (status 3) and no other error, or have been killed (status 137).
end_lost() {
	local name
	for name; do
		[ -n "${PIDS[$name]:-}" ] || continue
		ended 60 "$name"
		[[ $STATUS = [03] || $STATUS = 137 ]] || fail "$name ended with status $STATUS"
		[ "$STATUS" = 0 ] || lost=$((lost + 1))
	done
}

# -------------------------------------------------------------- disturbances

set_interface() {
	ip -n "${NS[$1]}" link set "${DEV[$1]}" "$2"
	[ "$2" = down ] || ip -n "${NS[$1]}" addr replace "${IP6[$1]}/64" dev "${DEV[$1]}" nodad
}

# flap_for END PAUSES: take the interface at end 0 or 1 down for this number of pauses of 50 ms.
flap_for() {
	local i
	set_interface "$1" down
	for ((i = 0; i < $2; i++)); do
		pause
	done
	set_interface "$1" up
	wait_until 10 "the link is active again" link_active "$1"
}

all_good() {
	end_others
	end_good a b
	end_churn
}

disturb_flap() {
	local i
	for i in 0 1 0; do
		flap_for "$i" 6
	done
	all_good
}

disturb_flap_long() {
	flap_for 1 60
	all_good
}

disturb_blackhole() {
	netem loss 100%
	holds_within 2 false || :
	no_netem
	all_good
}

disturb_knobs() {
	local i
	for i in 1 2 3 4; do
		pick ${#knob_values[@]}
		# shellcheck disable=SC2086
		knob ${knob_values[PICK]}
		rping_pair "${IP[1]}"
	done
	default_knobs
	all_good
}

# The client of the kwdata pair "a" is killed. The pair "b" must not be affected.
disturb_kill_client() {
	stop a-client KILL
	end_lost a-server
	end_others
	end_good b
	end_churn
}

disturb_kill_server() {
	stop b-server KILL
	end_lost b-client
	end_others
	end_good a
	end_churn
}

# all_lost NAME...: kill these programs, which have lost their connections. How they would end is
# not checked.
all_lost() {
	local name
	for name in "$@"; do
		[ -n "${PIDS[$name]:-}" ] || continue
		kill -KILL "${PIDS[$name]}" 2>/dev/null || :
		wait "${PIDS[$name]}" 2>/dev/null || :
		unset "PIDS[$name]"
	done
}

disturb_delete_link() {
	pick 2
	rm -f "$RUN/link.$PICK"
	check "deleting the link" timeout 60 rdma link delete "${LINK[PICK]}"
	end_lost a-client a-server b-client b-server
	all_lost churn churn-server rping rping-server
}

disturb_churn_namespaces() {
	rm -f "$RUN/net" "$RUN"/link.*
	kill_in_ns 1
	check "deleting the namespace" ip netns del "${NS[1]}"
	end_lost a-client b-server a-server b-client
	all_lost churn churn-server rping rping-server
	namespaces_end
	wait_until 30 "the links are gone" links_gone
	net_down
}

# --------------------------------------------------------------------- rounds

# pick N: set PICK to a random number below N, which the seed determines. The result is in a
# variable, because a subshell would not advance RANDOM.
pick() {
	PICK=$((RANDOM % $1))
}

slab_objects() {
	awk 'NR > 2 { sum += $2 } END { print sum }' /proc/slabinfo
}

quiet_memory() {
	wait_until 30 "no object is left" no_objects
	# Wait a second, because RCU and deleted network namespaces free their objects with a delay.
	holds_within 1 false || :
	samples+=("$(kernel_memory)")
}

one_round() {
	local shape what
	rm -f "$CASE_DIR"/*.log
	own_links
	n0 sysctl -qw net.ipv4.tcp_max_tw_buckets=0
	n1 sysctl -qw net.ipv4.tcp_max_tw_buckets=0
	shape=${shapes[rounds % ${#shapes[@]}]}
	what=${disturbances[rounds % ${#disturbances[@]}]}
	# shellcheck disable=SC2086
	netem $shape
	begin_traffic
	begin_others
	wait_until 60 "data flows" flows
	holds_within "$(by_profile 4 2)" false || :
	no_netem_unless "$what"
	"disturb_$what"
	count_figures
	no_netem
	quiet_memory
	rounds=$((rounds + 1))
	done_of[$what]=$((${done_of[$what]:-0} + 1))
}

# no_netem_unless WHAT: remove the round's netem before the disturbance "blackhole", which adds a
# netem of its own. All other disturbances happen while packets are lost or delayed.
no_netem_unless() {
	[ "$1" != blackhole ] || no_netem
}

figures() {
	printf '# %5d s: %d rounds, %d connections, %d operations, %d MiB verified, %d ends lost, kernel memory %d KiB, %d slab objects, 0 objects left\n' \
		"$SECONDS" "$rounds" "$connections" "$operations" $((octets >> 20)) "$lost" "${samples[-1]}" "$(slab_objects)"
}

# least FIRST COUNT: print the least of COUNT samples, from sample FIRST on.
least() {
	printf '%s\n' "${samples[@]:$1:$2}" | sort -n | head -n 1
}

judge_memory() {
	local n=${#samples[@]} first last
	if [ "$n" -lt $((WARM_UP + 2 * SPAN)) ]; then
		[ "$SECONDS" -lt "$ENOUGH" ] || fail "only $n rounds, $((WARM_UP + 2 * SPAN)) needed"
		note "too short a run to judge memory: $n rounds, $((WARM_UP + 2 * SPAN)) needed"
		return
	fi
	first=$(least "$WARM_UP" "$SPAN")
	last=$(least $((n - SPAN)) "$SPAN")
	note "kernel memory: $first KiB after $WARM_UP rounds, $last KiB at the end"
	[ $((last - first)) -le "$MEMORY_BOUND" ] ||
		fail "kernel memory has grown by $((last - first)) KiB, more than $MEMORY_BOUND"
}

summary() {
	local what
	figures
	for what in "${!done_of[@]}"; do
		echo "#   $what: ${done_of[$what]}"
	done | sort
	# After the links are gone, the kernel must have no objects of kwarp left.
	net_down
	check "unloading the module" timeout 60 rmmod "$KWARP_MODULE"
	judge_memory
	echo "ok 1 soak"
}

soak() {
	local limit=$1 next=60
	case_begin
	RANDOM=$seed
	while [ "$SECONDS" -lt "$limit" ]; do
		one_round >>"$CASE_DIR/round.txt" 2>&1
		[ "$SECONDS" -lt "$next" ] || { figures; next=$((SECONDS + 60)); }
	done
	summary
}

seed=${2:-1}
mkdir -p "$RUN" "$CASE_DIR"
echo "1..1"
echo "# soak of $1 s, seed $seed, kernel $(uname -r), link type $KWARP_LINK"
modprobe -a rdma_ucm ib_uverbs veth 2>/dev/null
rm -f "$RUN/net" "$RUN/knobs" "$RUN"/link.*
soak "$1"
