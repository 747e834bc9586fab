# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# What hinders connections, set up for real: kwarpctl doctor must find it, and must not disturb the
# program that it asks. Bad input of kwarpctl.

# doctor STATUS WORDS ARGUMENTS...: doctor at end 0 must end with this status and print these words.
doctor() {
	local status=$1 words=$2
	shift 2
	note "kwarpctl doctor $*"
	check_fails "$status" "doctor" n0 kwarpctl doctor "$@" >"$CASE_DIR/doctor.log" 2>"$CASE_DIR/doctor-error.log"
	expect_in doctor "$words"
}

# An rping server for one client is found, and still serves its client afterwards.
doctor_server() {
	skip_on siw "it is for our links"
	own_links
	doctor 0 "^warning +port: nothing listens at ${IP[1]} on the ports" --peer "${IP[1]}"
	doctor 1 "^problem +port: nothing listens at ${IP[1]} port 7174" --peer "${IP[1]}" --port 7174
	PORT=7174
	serve server "$PORT" rping -s -a "${IP[1]}" -C 2
	stats_before
	doctor 0 "^ok +port: an RDMA program listens at ${IP[1]} port 7174 \(rping\), on a device of kwarp" --peer "${IP[1]}"
	stats_after
	[ "$(grown 1 cm_bad)$(grown 1 cm_lost)" = 01 ] || fail "doctor's question counts as an error at the peer"
	! log_line 1 'broke the protocol' || fail "doctor's question is a line in the peer's log"
	client rping -c -a "${IP[1]}" -C 2
	reap 15 server
}

listens_in_vain() {
	n1 rdma resource show cm_id | grep -q 'state LISTEN.*127.0.0.1:7174'
}

# A server that is bound to 127.0.0.1 starts without an error, and no client ever comes.
doctor_loopback() {
	skip_on siw "it is for our links"
	own_links
	start server 1 rping -s -a 127.0.0.1 -C 1
	wait_until 10 "rping listens" listens_in_vain
	n1 kwarpctl show "${LINK[1]}" >"$CASE_DIR/show.log"
	expect_in show "${LINK[1]} +127.0.0.1:7174 \(no peer can reach that\) +rping"
	check_fails 1 "doctor of the server" n1 kwarpctl doctor "${LINK[1]}" >"$CASE_DIR/server-end.log"
	expect_in server-end "^problem +port 7174: rping \([0-9]+\) listens on 127.0.0.1, a loopback address: peers on other machines cannot reach it.*; let it bind ${IP[1]}, or no address"
	doctor 1 "^problem +port: nothing listens at ${IP[1]} port 7174; .*another address \(127.0.0.1\?\)" --peer "${IP[1]}" --port 7174
	stop server
}

# Programs that are no RDMA programs: one that is silent, one that speaks.
doctor_other() {
	local port
	skip_on siw "it is for our links"
	own_links
	new_port
	port=$PORT
	serve silent "$port" python3 "$HERE/mpa.py" deaf "${IP[1]}" "$port"
	doctor 1 "no RDMA program: it does not judge an MPA Request" --peer "${IP[1]}" --port "$port"
	new_port
	port=$PORT
	serve speaks "$port" python3 "$HERE/mpa.py" other "${IP[1]}" "$port"
	doctor 1 "no RDMA program: it says '220 hello" --peer "${IP[1]}" --port "$port"
	stop silent
	stop speaks
}

# A siw at the other end is not taken for kwarp.
doctor_siw() {
	[ "$KWARP_LINK" = kwarp ] || skip "the end of doctor needs a link of kwarp"
	mixed_links server
	serve server 7174 rping -s -a "${IP[1]}" -C 2
	doctor 0 "^warning +port: .*no kwarp \(siw\?\); .*kwarpctl set ${LINK[0]} peer_to_peer=off align=on" --peer "${IP[1]}"
	stop server
}

# A firewall at the peer that drops, and one that rejects.
doctor_firewall() {
	local words
	skip_on siw "it is for our links"
	own_links
	serve server 7174 rping -s -a "${IP[1]}" -C 2
	for words in drop reject 'reject with tcp reset'; do
		n1 nft "add table inet kwt; add chain inet kwt in { type filter hook input priority 0; }; add rule inet kwt in tcp dport 7174 $words"
		case $words in
		drop) doctor 1 '^problem +port: .*port 7174 does not answer, but the host answers ping; a firewall' --peer "${IP[1]}" --port 7174 ;;
		*reset) doctor 1 '^problem +port: nothing listens' --peer "${IP[1]}" --port 7174 ;;
		*) doctor 1 '^problem +port: (nothing listens|.*EHOSTUNREACH; a firewall)' --peer "${IP[1]}" --port 7174 ;;
		esac
		n1 nft delete table inet kwt
	done
	n0 nft "add table inet kwt; add chain inet kwt out { type filter hook output priority 0; }; add rule inet kwt out tcp dport 7174 drop"
	doctor 1 "^warning +firewall: rule 'tcp dport 7174 drop'" --peer "${IP[1]}" --port 7174
	n0 nft delete table inet kwt
	stop server
}

# No host has the address; large packets vanish; the link is in another namespace.
doctor_ways() {
	skip_on siw "it is for our links"
	own_links
	doctor 1 '^problem +port: .*no host has this address' --peer 192.0.2.77 --port 7174
	ip_at 0 link set "${DEV[0]}" mtu 9000
	doctor 1 "^problem +large packets: packets of 9000 octets to ${IP[1]} get lost, small ones do not" --peer "${IP[1]}"
	ip_at 0 link set "${DEV[0]}" mtu 1500
	doctor 0 '^ok' --peer "${IP[1]}"
	! grep -q 'large packets' "$CASE_DIR/doctor.log" || fail "there is no black hole"
	ip netns add kwarp-probe
	check_fails 1 "doctor elsewhere" ip netns exec kwarp-probe kwarpctl doctor --peer "${IP[1]}" >"$CASE_DIR/elsewhere.log" || :
	ip netns delete kwarp-probe
	expect_in elsewhere '^problem +namespace: .*in another network namespace, so programs here cannot connect'
}

# one_line STATUSES ARGUMENTS...: kwarpctl must end with one of these statuses and, if it fails, with
# one line on stderr, which is no fault of its own.
one_line() {
	check_fails "$1" "kwarpctl ${*:2}" n0 kwarpctl "${@:2}" >"$CASE_DIR/bad.log" 2>"$CASE_DIR/bad-error.log"
	[ "$(count_lines "$CASE_DIR/bad-error.log" .)" -le 1 ] || fail "kwarpctl ${*:2} says more than one line"
	! has_line "$CASE_DIR/bad-error.log" 'fault of kwarpctl' || fail "kwarpctl ${*:2} has a fault"
}

# Wrong arguments and rights; links that come and go; a program with a hostile name.
ctl_bad() {
	local words name=$'\e[2J\a\n"x'
	skip_on siw "it is for our links"
	own_links
	for words in nonsense 'show kw9' 'top kw9' 'top -i x' 'doctor kw9' 'doctor --peer' 'doctor --port 0' \
		'set' 'set kw9' "set ${LINK[0]} x=1" 'explain' 'explain x' 'bench' 'lab x' 'lab up --mtu 1'; do
		# shellcheck disable=SC2086
		one_line 2 $words
	done
	for words in "set ${LINK[0]} crc=on" 'lab up' 'lab down'; do
		# shellcheck disable=SC2086
		check_fails 1 "no rights" n0 setpriv --reuid 65534 --clear-groups kwarpctl $words 2>"$CASE_DIR/bad-error.log"
		[ "$(count_lines "$CASE_DIR/bad-error.log" .)" = 1 ] || fail "$words without rights: not one line"
	done
	cp "$EXAMPLES/first" "$CASE_DIR/$name"
	serve server 7471 "$CASE_DIR/$name" -s "${IP[1]}"
	for words in show 'show --rates' top 'doctor --port 7471'; do
		# shellcheck disable=SC2086
		check_fails '0 1' "$words" n1 kwarpctl $words >"$CASE_DIR/bad.log"
		! grep -q $'[\e\a]' "$CASE_DIR/bad.log" || fail "$words lets the name control the terminal"
	done
	n1 kwarpctl show >"$CASE_DIR/bad.log"
	expect_in bad '\\x1b'
	stop server
	# With a trap bash waits for the command that runs.
	start coming - bash -c "trap exit TERM; while :; do rdma link delete ${LINK[0]}; ip netns exec ${NS[0]} rdma link add ${LINK[0]} type $KWARP_LINK netdev ${DEV[0]}; done"
	for words in show "show ${LINK[0]}" "show --rates -i 0.2 -n 3" "top -i 0.2 -n 3" "top ${LINK[0]} -i 0.2" doctor \
		"set ${LINK[0]}" "set ${LINK[0]} crc=on" 'show --json' 'top --json'; do
		# shellcheck disable=SC2086
		one_line '0 1 2' $words
	done
	stop coming
	! link_exists 0 || del_link 0
}

testcase doctor-server 90 doctor_server
testcase doctor-loopback 60 doctor_loopback
testcase doctor-other 60 doctor_other
testcase doctor-siw 60 doctor_siw
testcase doctor-firewall 120 doctor_firewall
testcase doctor-ways 120 doctor_ways
testcase kwarpctl-bad 240 ctl_bad
