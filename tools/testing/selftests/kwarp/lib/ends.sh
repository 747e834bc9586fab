# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Where the two ends are, and how commands run there. Usually both are network namespaces of this
# machine. With KWARP_TWO=1 end 0 is this machine and end 1 another one, both without namespaces,
# and "peer" runs commands on the other one (tools/testing/guest/two.sh). Sourced by ../lib.sh.

TWO=${KWARP_TWO:-0}

# go_to END: set GO to the words before a command that make it run at that end. They and the command
# are one process (on another machine, a process that has the command's input, output and status,
# and passes signals on).
go_to() {
	case $TWO$1 in
	0*) GO=(ip netns exec "${NS[$1]}") ;;
	10) GO=() ;;
	11) GO=(peer run) ;;
	esac
}

in_ns() {
	local GO
	go_to "$1"
	"${GO[@]}" "${@:2}"
}

n0() {
	in_ns 0 "$@"
}

n1() {
	in_ns 1 "$@"
}

# at END COMMAND...: run the command on the machine of that end, but not in its namespace.
at() {
	[ "$TWO$1" != 11 ] || set -- "$1" peer run "${@:2}"
	"${@:2}"
}

# ip_at END ARGUMENTS..., tc_at END ARGUMENTS...: run ip or tc for the namespace of that end.
ip_at() {
	if [ "$TWO" = 1 ]; then at "$1" ip "${@:2}"; else ip -n "${NS[$1]}" "${@:2}"; fi
}

tc_at() {
	if [ "$TWO" = 1 ]; then at "$1" tc "${@:2}"; else tc -n "${NS[$1]}" "${@:2}"; fi
}

# exists_at END FILE
exists_at() {
	at "$1" test -e "$2"
}

# read_at END FILE: print the file's contents.
read_at() {
	if [ "$TWO$1" = 11 ]; then peer run cat "$2"; else echo "$(<"$2")"; fi
}

# write_at END FILE TEXT
write_at() {
	if [ "$TWO$1" = 11 ]; then
		# The inner shell, not this one, expands the parameters.
		# shellcheck disable=SC2016
		peer run sh -c 'echo "$2" >"$1"' sh "$2" "$3"
	else
		echo "$3" >"$2"
	fi
}

both_ends() {
	local i
	for i in 0 1; do
		"$1" "$i" "${@:2}"
	done
}

# listens_at END PID PORT: true if some process in the network namespace of that end, to which the
# process PID belongs, listens on the TCP port. On another machine, wait a little for that, because
# it takes long to ask.
listens_at() {
	if [ "$TWO$1" = 11 ]; then
		peer run bash -c "$(declare -f has_line listens)
			for i in {1..40}; do
				! listens self $3 || exit 0
				read -rt 0.05 <> <(:)
			done
			exit 1"
	else
		listens "$2" "$3"
	fi
}

# each_machine COMMAND...: run the command on each machine that has an end.
each_machine() {
	"$@"
	[ "$TWO" = 0 ] || peer run "$@"
}

# on_machine_of END FUNCTION ARGUMENTS...: run a function of the suite on the machine of that end. On
# the other machine it does not see variables of this shell that are not exported.
on_machine_of() {
	if [ "$TWO$1" = 11 ]; then peer run "$HERE/function.sh" "${@:2}"; else "${@:2}"; fi
}

# ---------------------------------------------------------------- two machines

# ask_host REQUEST: send a request to two.sh on the host, such as "peer boot" or "link 1 off".
ask_host() {
	local line=/dev/ttyS3 answer fd
	exec {fd}<>$line
	stty -F $line raw -echo
	echo "$*" >&"$fd"
	read -r -t $((30 * SLOWNESS)) -u "$fd" answer || answer="no answer"
	exec {fd}>&-
	[ "$answer" = ok ] || fail "the host does not do '$*': $answer"
}

# Boot the other machine, and make what net_up has made on it before.
peer_boot() {
	note "booting the other machine"
	ask_host "peer boot"
	wait_until 60 "the other machine answers" peer answers
	at 1 modprobe -a rdma_ucm ib_uverbs
}

# unplug END: no packet leaves or reaches that machine. plug: undo that.
unplug() {
	mark "$RUN/unplugged" $(($1 + 1))
	ask_host "link $(($1 + 1)) off"
}

plug() {
	[ -s "$RUN/unplugged" ] || return 0
	ask_host "link $(<"$RUN/unplugged") on"
	unmark "$RUN/unplugged"
}

two_up() {
	peer answers || peer_boot
	[ "${KWARP_OVER:-}" != wireguard ] || wireguard_up
	both_ends up_end
	[ "${KWARP_OVER:-}" != ipsec ] || ipsec_up
}

# The interfaces stay; addresses, links and programs go.
two_down() {
	local i
	plug
	peer answers || peer_boot
	for i in 0 1; do
		kill_in_ns "$i"
		at "$i" rdma link delete "${LINK[i]}" 2>/dev/null || :
		# Over WireGuard the interface does not exist yet at the first time.
		exists_at "$i" "/sys/class/net/${DEV[i]}" || continue
		ip_at "$i" addr flush dev "${DEV[i]}"
		ip_at "$i" link set "${DEV[i]}" down
	done
}
