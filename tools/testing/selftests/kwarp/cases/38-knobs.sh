# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# The knobs of a link, which are its settings in sysfs, and the module parameters, which are the
# defaults of new links: who may set them, which values they take, and which values TCP's sockets
# get from them.

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
	# Setting a default (a module parameter) takes CAP_NET_ADMIN, or CAP_SYS_MODULE, which the
	# module loader has. Root that lacks both must fail.
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

# Print the two files of a knob: that of the link, and that of the module parameter, which is the
# default for new links.
knob_places() {
	printf '%s\n' "/sys/class/infiniband/${LINK[0]}/kwarp/$1" "/sys/module/kwarp/parameters/$1"
}

# knob_takes NAME VALUE...: check that both files of the knob accept each value, and show it. An
# argument VALUE:SHOWN is for a value that is shown as SHOWN.
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

# knob_refuses NAME VALUE...: check that both files of the knob refuse each value with EINVAL or
# ERANGE, and keep the old value.
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

# Knobs with words as values. knob_takes gets the default as the last value of each knob, and so
# restores the default.
knob_words() {
	local name
	for name in align log_errors long_frames markers peer_to_peer rfc7306 strict; do
		knob_takes "$name" on off
		knob_refuses "$name" '' onx offx on1 none 'on off' on,off 2 1x -1
	done
	knob_takes long_frames on
	knob_takes peer_to_peer on
	knob_takes rfc7306 on
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
	knob_takes receive_wait 1 60000 0
	knob_refuses receive_wait 60001 1s "${no_numbers[@]}"
	knob_takes wire_port 4790 65535 0
	knob_refuses wire_port 65536 "${no_numbers[@]}"
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

# knob_at_load BAD NAME VALUE: check that the module does not load with the parameter BAD, for
# example "rtr=write,", and that after loading it with NAME=VALUE a new link has that value.
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

# socket_has END FILTER WORD...: true if ss, run at this end (0 or 1), shows all these words for the
# one socket that the filter selects.
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

# sockets_have WORD...: make an inbound and an outbound connection. ss must show these words for
# both. The inbound connection uses the listener on port LISTENER, which stays while the case
# changes the knobs. LEFT has the words of former values of the knobs; ss must not show these for
# the inbound connection.
sockets_have() {
	local port
	start silent 0 python3 "$HERE/timers.py" request "${IP[1]}" "$LISTENER"
	wait_until 10 "an inbound connection has $*" socket_has 1 "sport = :$LISTENER" "$@"
	# The inbound connection must have no former values, such as those that the knobs had when
	# the listener was made.
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

namespaces_use() {
	n0 sysctl -qw "net.ipv4.tcp_congestion_control=$1"
	n1 sysctl -qw "net.ipv4.tcp_congestion_control=$1"
}

# TCP's sockets have the values of the knobs. The knobs are set, then set to other values, then set
# to their defaults. The kernel doubles the sizes of buffers, so ss shows tb400000 for sndbuf
# 200000. The congestion control is the one that the namespaces have when the connection begins.
knob_sockets_case() {
	local usual
	skip_on siw "it has no knobs"
	own_links
	knob sndbuf 200000
	knob rcvbuf 300000
	knob tos 40
	new_port
	LISTENER=$PORT
	serve listener "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	sockets_have tb400000 rb600000 tos:0x28
	knob sndbuf 100000
	knob rcvbuf 0
	knob tos 64
	usual=$(n1 sysctl -n net.ipv4.tcp_congestion_control)
	namespaces_use reno
	LEFT='rb600000 tb400000 tos:0x28' sockets_have reno tb200000 tos:0x40
	knob sndbuf 0
	knob tos 0
	namespaces_use "$usual"
	LEFT='rb600000 tb400000 tos:0x28 reno' sockets_have "$usual"
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

# Data flow with socket buffers of 64 KiB, the least that the knobs accept.
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

testcase owner-knobs 90 knob_rights_case
testcase owner-knobs-values 60 knob_values_case
testcase owner-knobs-sockets 120 knob_sockets_case
testcase owner-knobs-small 120 knob_small_case
