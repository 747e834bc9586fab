# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Rights and owners: who may set knobs, to whom memory, sockets and ports belong, and whose type
# of service a connection has.

CGROUPS=/sys/fs/cgroup
GROUP=kwarp-e2e

# --------------------------------------------------------------------- knobs

# Setting a knob takes CAP_NET_ADMIN. Being root is not enough, since root of a container may lack
# it.
knob_rights_case() {
	local knobs=/sys/class/infiniband/${LINK[0]}/kwarp defaults=/sys/module/kwarp/parameters
	skip_on siw "it has no knobs"
	own_links
	n0 test -e "$knobs/crc" || fail "the knobs are not to be seen in the link's namespace"
	! n1 test -e "$knobs/crc" || fail "the knobs are to be seen in another namespace"
	! n0 setpriv --bounding-set=-net_admin --inh-caps=-net_admin sh -c "echo off >$knobs/crc" ||
		fail "a knob was set without CAP_NET_ADMIN"
	[ "$(<"$knobs/crc")" = on ] || fail "the knob has changed"
	n0 setpriv --bounding-set=-sys_admin sh -c "cat $knobs/crc && echo off >$knobs/crc"
	[ "$(<"$knobs/crc")" = off ] || fail "the knob has not changed"
	echo on >"$knobs/crc"
	# Root without CAP_NET_ADMIN, and without CAP_SYS_MODULE, which is for the module loader.
	! setpriv --bounding-set=-net_admin,-sys_module --inh-caps=-net_admin,-sys_module \
		sh -c "echo off >$defaults/crc" || fail "a default was set without CAP_NET_ADMIN"
	[ "$(<"$defaults/crc")" = on ] || fail "the default has changed"
	setpriv --bounding-set=-sys_module sh -c "echo off >$defaults/crc"
	[ "$(<"$defaults/crc")" = off ] || fail "the default has not changed"
	echo on >"$defaults/crc"
	for value in -1 32768 4s ''; do
		! echo "$value" >"$knobs/keepalive" || fail "keepalive took '$value'"
	done
}

# The two files of a knob: that of the link, and the module parameter, which is the default of new
# links.
knob_places() {
	printf '%s\n' "/sys/class/infiniband/${LINK[0]}/kwarp/$1" "/sys/module/kwarp/parameters/$1"
}

# knob_takes NAME VALUE...: both files accept the value, and show it. VALUE:SHOWN: the value is
# shown as SHOWN.
knob_takes() {
	local file value shown
	for file in $(knob_places "$1"); do
		for value in "${@:2}"; do
			echo "${value%:*}" >"$file" || fail "$file does not take '${value%:*}'"
			read -r shown <"$file"
			[ "$shown" = "${value#*:}" ] || fail "$file shows '$shown' for '${value%:*}'"
		done
	done
	tried+=" $1 "
}

# knob_refuses NAME VALUE...: both files refuse the value with EINVAL or ERANGE, and keep the old
# value.
knob_refuses() {
	local file value before after error
	for file in $(knob_places "$1"); do
		read -r before <"$file"
		for value in "${@:2}"; do
			! echo "$value" 2>"$CASE_DIR/refused" >"$file" || fail "$file takes '$value'"
			error=$(<"$CASE_DIR/refused")
			[[ $error = *'Invalid argument' || $error = *'out of range' ]] ||
				fail "$file refuses '$value' for another reason: $error"
			read -r after <"$file"
			[ "$after" = "$before" ] || fail "$file changed from '$before' to '$after' by '$value'"
		done
	done
}

# Texts that no knob takes as a number: empty, no number, more than one number, or too large.
no_numbers=('' x -1 1x 1.5 '1 2' 4294967296 4294967297 99999999999999999999)

# knob_takes gets the default as the last value of each knob, and so restores it.
knob_words() {
	local name
	for name in align markers peer_to_peer rfc7306 strict; do
		knob_takes "$name" on off
		knob_refuses "$name" '' onx offx on1 none 'on off' on,off 2 1x -1
	done
	knob_takes peer_to_peer on
	knob_takes rfc7306 on
	knob_takes congestion reno cubic default
	knob_refuses congestion '' nothing 'reno cubic' reno,cubic a2345678901234567
	knob_takes crc off required on
	knob_refuses crc '' onx require requiredx 'on off' on,required 7 -1
	knob_takes rtr send write read send,write send,read send,write,read read,write:write,read \
		write,send,read:send,write,read write,read
	knob_refuses rtr '' , write, ,write write,,read write,read, wri writex none 'write read' 'write;read' write,readx
}

knob_numbers() {
	local name
	for name in connect_timeout linger_timeout startup_timeout; do
		knob_takes "$name" 1 3600 "$(<"/sys/module/kwarp/parameters/$name")"
		knob_refuses "$name" 0 3601 4s 65596 "${no_numbers[@]}"
	done
	knob_takes half_open_max 16 65536 1024
	knob_refuses half_open_max 0 15 65537 "${no_numbers[@]}"
	for name in sndbuf rcvbuf; do
		knob_takes "$name" 65536 1073741823 0
		knob_refuses "$name" 1 65535 1073741824 64k "${no_numbers[@]}"
	done
	knob_takes tos 0x28:40 252 0
	knob_refuses tos 1 2 3 255 256 EF "${no_numbers[@]}"
	knob_takes coalesce_us 0 10 1000 100
	knob_refuses coalesce_us 1 9 1001 "${no_numbers[@]}"
	knob_takes mpa_rev 1 2
	# 257 and 65537 would be 1 if only their low 8 or 16 bits were stored.
	knob_refuses mpa_rev 0 3 257 65537 "${no_numbers[@]}"
	for name in keepalive user_timeout; do
		knob_takes "$name" 0 1 32767 60
		knob_refuses "$name" 32768 4s 65596 "${no_numbers[@]}"
	done
}

module_gone() {
	[ ! -d /sys/module/kwarp ] || rmmod kwarp
}

# knob_at_load BAD NAME VALUE: the module does not load if a parameter has the value BAD; with a
# valid value, new links have that value.
knob_at_load() {
	both_ends del_link
	wait_until 20 "the module is unloaded" module_gone
	! modprobe kwarp "$1" 2>"$CASE_DIR/modprobe.log" || fail "the module loads with $1"
	expect_in modprobe 'Invalid argument'
	check "loading the module with $2=$3" modprobe kwarp "$2=$3"
	add_link 0 kwarp
	[ "$(<"/sys/class/infiniband/${LINK[0]}/kwarp/$2")" = "$3" ] || fail "a new link does not have $2=$3"
	del_link 0
	wait_until 20 "the module is unloaded" module_gone
}

knob_values_case() {
	local tried='' name
	skip_on siw "it has no knobs"
	own_links
	knob_words
	knob_numbers
	while read -r name; do
		[[ $tried = *" $name "* ]] || fail "no value of $name was tried"
	done < <(find "/sys/class/infiniband/${LINK[0]}/kwarp" /sys/module/kwarp/parameters -type f -perm -200 -printf '%f\n')
	knob_at_load rtr=write, crc required
	own_links
}

# socket_has END FILTER WORD...: ss shows all these words for the one socket that the filter
# selects.
socket_has() {
	local said word
	said=" $(in_ns "$1" ss -HtinmO --tos state established "$2") "
	for word in "${@:3}"; do
		[[ $said = *[\ ,\(]"$word"[\ ,\)]* ]] || return 1
	done
}

socket_has_any() {
	local word
	for word in "${@:3}"; do
		! socket_has "$1" "$2" "$word" || return 0
	done
	return 1
}

# sockets_have WORD...: an inbound and an outbound connection that begin now have these words.
# LISTENER is older; LEFT has words of that time, which the inbound connection must not have.
sockets_have() {
	local port
	start silent 0 python3 "$HERE/timers.py" request "${IP[1]}" "$LISTENER"
	wait_until 10 "an inbound connection has $*" socket_has 1 "sport = :$LISTENER" "$@"
	# Nothing is left of what the listener began with.
	[ "${LEFT:-}" = '' ] || ! socket_has_any 1 "sport = :$LISTENER" $LEFT || fail "it has some of $LEFT"
	stop silent KILL
	wait_until 10 "it is over" socket_gone 1 "sport = :$LISTENER"
	new_port
	port=$PORT
	start reply 1 python3 "$HERE/timers.py" reply "${IP[1]}" "$port"
	wait_until 15 "the silent server listens" listening_or_gone "$PID" "$port"
	start caller 0 kwconn -c -x -a "${IP[1]}" -p "$port" -n 1 -T 100
	wait_until 10 "an outbound connection has $*" socket_has 0 "dport = :$port" "$@"
	stop caller KILL
	stop reply KILL
}

socket_gone() {
	[ -z "$(in_ns "$1" ss -Htn state established "$2")" ]
}

# TCP's sockets have the values of the knobs: first set, then set to other values, then not set.
knob_sockets_case() {
	skip_on siw "it has no knobs"
	own_links
	knob sndbuf 200000
	knob rcvbuf 300000
	knob congestion reno
	knob tos 40
	new_port
	LISTENER=$PORT
	serve listener "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	sockets_have reno tb400000 rb600000 tos:0x28
	knob sndbuf 100000
	knob rcvbuf 0
	knob tos 64
	LEFT='rb600000 tb400000 tos:0x28' sockets_have reno tb200000 tos:0x40
	knob sndbuf 0
	knob congestion default
	knob tos 0
	LEFT='rb600000 tb400000 tos:0x28 reno' sockets_have "$(n1 sysctl -n net.ipv4.tcp_congestion_control)"
	stop listener KILL
	# The same with a listener that is made before the knobs are set.
	new_port
	LISTENER=$PORT
	serve listener "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	knob sndbuf 300000
	knob rcvbuf 200000
	knob tos 40
	sockets_have tb600000 rb400000 tos:0x28
	works_to_server
	stop listener KILL
}

# Data pass through buffers that are hardly larger than a frame.
knob_small_case() {
	skip_on siw "it has no knobs"
	own_links
	knob sndbuf 65536
	knob rcvbuf 65536
	data_serve server
	data_client -n "$(by_profile 400 60)" -m $((256 << 10)) -S 71 -T 100
	client "${DATA_CLIENT[@]}"
	stop server
}

# ------------------------------------------------------------ control groups

# Runs a command in the control group. "ip netns exec" hides the mount of the groups, hence
# nsenter.
IN_GROUP=(nsenter --mount=/proc/1/ns/mnt sh -c "echo \$\$ >$CGROUPS/$GROUP/cgroup.procs && exec \"\$@\"" sh)

need_cgroup() {
	mountpoint -q "$CGROUPS" || mount -t cgroup2 none "$CGROUPS" || skip "there are no control groups"
	echo +memory >"$CGROUPS/cgroup.subtree_control" || skip "there is no memory controller"
	mkdir -p "$CGROUPS/$GROUP"
}

group_leave() {
	local pid
	while read -r pid; do echo "$pid" >"$CGROUPS/cgroup.procs"; done <"$CGROUPS/$GROUP/cgroup.procs"
	rmdir "$CGROUPS/$GROUP" || :
}

socket_pages() {
	awk '/^sock / { exit !($2 > 0) }' "$CGROUPS/$GROUP/memory.stat"
}

# TCP's memory of an accepted connection is charged to the control group of the program that
# accepts it.
memcg_accept_case() {
	skip_on siw "nobody answers for its connections"
	need_cgroup
	own_links
	netem delay 10ms
	data_serve t-server
	echo "${PIDS[t-server]}" >"$CGROUPS/$GROUP/cgroup.procs"
	data_client -n 0 -m $((64 << 10)) -S 70 -T 60
	start t-client 0 "${DATA_CLIENT[@]}"
	wait_until 10 "memory of the server's socket is charged" socket_pages
	traffic_stop_good t
	group_leave
	no_netem
}

accounted_objects() {
	awk '$1 == "kmalloc-cg-2k" { print $2 }' /proc/slabinfo
}

# many_more BEFORE: at least 180 objects more than before are charged, for 200 pending
# connections. Each connection has one of that size for its startup.
many_more() {
	[ $(($(accounted_objects) - $1)) -ge 180 ]
}

memcg_connect_case() {
	local before
	skip_on siw "nobody answers for its connections"
	[ -n "$(accounted_objects)" ] || skip "this kernel does not count accounted objects"
	own_links
	new_port
	# Release free objects that processors keep, because the kernel counts them as used.
	echo 1 >/sys/kernel/slab/kmalloc-cg-2k/shrink
	before=$(accounted_objects)
	netem loss 100%
	start client 0 kwconn -c -a "${IP[1]}" -p "$PORT" -n 200 -P 200 -T 100 -x
	wait_until 10 "pending connections are charged" many_more "$before"
	stop client KILL
	no_netem
}

group_memory() {
	awk '$1 == "kernel" { print $2 }' "$CGROUPS/$GROUP/memory.stat"
}

rings_charged() {
	[ "$(group_memory)" -ge "$1" ]
}

rings_given_back() {
	[ "$(group_memory)" -lt "$1" ]
}

# Inbound connections whose Request has not come are charged to the program that listens. Each of
# them has more than 2 KiB of kwarp's memory until the Request has come.
memcg_listen_case() {
	local count before
	count=$(by_profile 300 100)
	skip_on siw "nobody answers for its connections"
	need_cgroup
	[ -n "$(group_memory)" ] || skip "this kernel does not tell kernel memory of a group"
	own_links
	new_port
	serve server "$PORT" "${IN_GROUP[@]}" kwconn -s -a "${IP[1]}" -p "$PORT"
	before=$(group_memory)
	start crowd 0 python3 "$HERE/crowd.py" "${IP[1]}" "$PORT" "$count"
	wait_until 10 "connections that say nothing are charged" rings_charged $((before + count * 2048))
	note "$((($(group_memory) - before) / count)) octets for each"
	stop crowd KILL
	stop server KILL
	group_leave
}

# Rings are charged to the program that creates them: 65,536 completions of 32 octets each.
memcg_rings_case() {
	local entries=65536 ring
	ring=$((entries * 32))
	skip_on siw "its queues are not charged"
	need_cgroup
	[ -n "$(group_memory)" ] || skip "this kernel does not tell kernel memory of a group"
	own_links
	start small 0 "${IN_GROUP[@]}" kwobjects -d "${LINK[0]}" -k
	holds_within 3 rings_charged "$ring" && fail "a program with small rings has $(group_memory) octets"
	start large 0 "${IN_GROUP[@]}" kwobjects -d "${LINK[0]}" -e $entries -k
	wait_until 10 "the large ring is charged" rings_charged "$ring"
	note "$(group_memory) octets with a ring of $ring"
	stop large KILL
	wait_until 10 "the large ring is given back" rings_given_back "$ring"
	stop small KILL
	group_leave
}

# Both attempts to connect, the second one with revision 1, belong to the control group of the
# program.
redial_owner_case() {
	skip_on siw "it makes no second attempt"
	need_cgroup
	own_links
	new_port
	nsenter --net=/run/netns/"${NS[0]}" nft -f - <<-END || skip "nft cannot match control groups"
		table ip kwarp-e2e {
			chain out {
				type filter hook output priority 0
				tcp dport $PORT tcp flags & (syn|ack) == syn counter name all_syns
				tcp dport $PORT tcp flags & (syn|ack) == syn socket cgroupv2 level 1 "$GROUP" counter name own_syns
			}
			counter all_syns { }
			counter own_syns { }
		}
	END
	serve closer "$PORT" python3 -c "import socket
s = socket.create_server(('${IP[1]}', $PORT))
while True:
    c = s.accept()[0]
    c.recv(20)
    c.close()"
	start client 0 "${IN_GROUP[@]}" kwconn -c -a "${IP[1]}" -p "$PORT" -n 1 -x -T 20
	reap 20 client
	nsenter --net=/run/netns/"${NS[0]}" nft list counters table ip kwarp-e2e
	[ "$(syns all_syns)" = 2 ] || fail "there were not two attempts"
	[ "$(syns own_syns)" = 2 ] || fail "an attempt was not the program's"
	nsenter --net=/run/netns/"${NS[0]}" nft delete table ip kwarp-e2e
	stop closer KILL
	group_leave
}

syns() {
	nsenter --net=/run/netns/"${NS[0]}" nft list counter ip kwarp-e2e "$1" |
		sed -n 's/.*packets \([0-9]*\) .*/\1/p'
}

# A BPF program of the control group takes each established connection, and each listener. kwarp's
# own outgoing connections and listeners already belong to kwarp, and are not affected. kwarp
# refuses an inbound connection that the BPF program has taken, and nothing else happens.
sockmap_case() {
	skip_on siw "it takes the socket away from its owner"
	need_cgroup
	own_links
	start sockmap 0 nsenter --mount=/proc/1/ns/mnt python3 "$HERE/sockmap.py" "$CGROUPS/$GROUP"
	wait_until 10 "the program is attached" attached_or_gone
	! gone "${PIDS[sockmap]}" || skip "this kernel does not take the program"
	new_port
	start server 1 "${IN_GROUP[@]}" kwconn -s -a "${IP[1]}" -p "$PORT"
	wait_until 15 "the server listens" listens "$PID" "$PORT"
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n 2 -x -T 20
	stop server
	serve other "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	start client 0 "${IN_GROUP[@]}" kwconn -c -a "${IP[1]}" -p "$PORT" -n 2
	reap 20 client
	stop other
	stop sockmap
	group_leave
}

attached_or_gone() {
	grep -q attached "$CASE_DIR/sockmap.log" || gone "${PIDS[sockmap]}"
}

# ------------------------------------------------------------ ports and service

# A siw link on the same netdev has the port. The call to listen fails, the log says so, and
# afterwards the port works.
shared_netdev_case() {
	[ "$KWARP_LINK" = kwarp ] || skip "it is about both types"
	load_type siw
	own_links
	del_link 1
	check "adding a siw link" n1 rdma link add kwsiw type siw netdev "${DEV[1]}"
	add_link 1 kwarp
	new_port
	check_fails 2 "listening on both" n1 timeout 10 kwconn -s -a 0.0.0.0 -p "$PORT"
	dmesg | tail -n 20 | grep -q "another RDMA link of ${DEV[1]}" || fail "the log does not say why"
	check "deleting the siw link" rdma link delete kwsiw
	works_to_server
}

# IPv4 connections of a listener for both address families have its type of service, too.
tos_case() {
	local file=$CASE_DIR/wire.pcap
	own_links
	new_port
	begin_capture "$file"
	SERVER_END=1 serve server "$PORT" kwconn -s -a :: -p "$PORT" -t 32
	client kwconn -c -a "${IP[1]}" -p "$PORT" -n 2
	client kwconn -c -a "${IP6[1]}" -p "$PORT" -n 2
	stop server
	end_capture
	of_service "$file" 'ip and ip[1] & 0xfc == 32' || fail "no IPv4 packet has the type of service"
	! of_service "$file" 'ip and ip[1] & 0xfc != 32' || fail "an IPv4 packet has another type of service"
	of_service "$file" 'ip6 and ip6[0:2] & 0xfc0 == 0x200' || fail "no IPv6 packet has it"
}

# of_service FILE FILTER: the capture has packets of the server with data that match the filter.
of_service() {
	tcpdump -nr "$1" "($2) and src port $PORT" 2>/dev/null | grep -q 'length [1-9]'
}

testcase owner-knobs 90 knob_rights_case
testcase owner-knobs-values 60 knob_values_case
testcase owner-knobs-sockets 120 knob_sockets_case
testcase owner-knobs-small 120 knob_small_case
testcase owner-memory-accept 90 memcg_accept_case
testcase owner-memory-connect 90 memcg_connect_case
testcase owner-memory-listen 60 memcg_listen_case
testcase owner-memory-rings 90 memcg_rings_case
testcase owner-sockmap 90 sockmap_case
testcase owner-redial 90 redial_owner_case
testcase owner-port 90 shared_netdev_case
testcase owner-tos 90 tos_case
