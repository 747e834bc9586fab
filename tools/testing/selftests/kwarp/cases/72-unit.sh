# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# The commands of kwarp@.service, run as systemd runs them, because the guest has no systemd. The
# instance is a network device of the first namespace. The link exists while the unit is started
# and the network device exists.

UNIT=$HERE/kwarp@.service
UNIT_DEV=kwunit0
# A name that looks like a variable, and one that has one in it.
UNIT_ODD=('$KWARP_TYPE' 'x${HOME}')

# unit_run ExecStart|ExecStartPost|ExecStop: run that command of the unit. As with systemd, "-"
# before a command means that a failure is ignored, and without ":" variables are replaced in all
# words, the name of the instance included.
unit_run() {
	local command prefix
	command=$(sed -n "s/^$1=//p" "$UNIT")
	[ -n "$command" ] || fail "the unit has no $1"
	prefix=${command%%/*}
	command=${command#"$prefix"}
	case $prefix in
	*:*) command=${command//%[iI]/"'$UNIT_DEV'"} ;;
	*) command=${command//%[iI]/$UNIT_DEV} command=${command//'$$'/'$'} ;;
	esac
	note "$command"
	(
		KWARP_TYPE=$(sed -n 's/^Environment=KWARP_TYPE=//p' "$UNIT")
		export KWARP_TYPE
		eval "$command"
	) || [[ $prefix = *-* ]]
}

unit_link() {
	[ -e "/sys/class/infiniband/kw-$UNIT_DEV" ]
}

unit_no_link() {
	! unit_link
}

unit_start() {
	unit_run ExecStart || fail "the unit does not start"
	unit_run ExecStartPost || fail "the unit does not set what is kept"
	unit_link || fail "started, and there is no link"
}

unit_stop() {
	unit_run ExecStop || fail "the unit does not stop"
	! unit_link || fail "stopped, and the link is still there"
}

# unit_knob NAME VALUE: the unit's link must have this value of the knob.
unit_knob() {
	[ "$(<"/sys/class/infiniband/kw-$UNIT_DEV/kwarp/$1")" = "$2" ] || fail "the link's $1 is not $2"
}

# Values of knobs in the file /etc/kwarp/LINK.conf are set each time the unit
# is started; "kwarpctl set --keep" writes them there. If the link refuses a value, the unit fails,
# and no link is left.
unit_knobs() {
	local conf=/etc/kwarp/kw-$UNIT_DEV.conf
	unit_start
	unit_knob crc on
	check "keeping knobs" kwarpctl set "kw-$UNIT_DEV" --keep crc=required tos=40 keepalive=30
	unit_knob crc required
	unit_stop
	unit_start
	unit_knob crc required
	unit_knob tos 40
	unit_knob keepalive 30
	unit_stop
	echo 'tos=41 # which is none' >>"$conf"
	unit_run ExecStart || fail "the unit does not start"
	! unit_run ExecStartPost 2>"$CASE_DIR/refused.log" || fail "the unit takes a wrong knob"
	expect_in refused "$conf:5: kw-$UNIT_DEV does not take tos=41 .*: give 0 to 252"
	! unit_link || fail "there is a link without its knobs"
	rm "$conf"
}

# The name of the network device is taken as it is, whatever characters it has.
unit_odd_names() {
	local UNIT_DEV
	for UNIT_DEV in "${UNIT_ODD[@]}"; do
		ip link delete "$UNIT_DEV" 2>/dev/null || :
		ip link add "$UNIT_DEV" type veth peer name kwunit1
		unit_start
		unit_stop
		ip link delete "$UNIT_DEV"
	done
}

unit_case() {
	rm -f "/etc/kwarp/kw-$UNIT_DEV.conf"
	# An interrupted run may have left the interface.
	ip link delete "$UNIT_DEV" 2>/dev/null || :
	ip link add "$UNIT_DEV" type veth peer name kwunit1
	unit_start
	# Stop and start, as systemctl restart does.
	unit_stop
	unit_start
	! unit_run ExecStart || fail "a second link on one device"
	# After a failed start systemd would run ExecStopPost, which could delete a link that the
	# unit has not made.
	! grep -q '^ExecStopPost=' "$UNIT" || fail "a failed start deletes the link of another"
	unit_stop
	unit_knobs
	unit_start
	# Because of BindsTo, systemd stops the unit after the network device is gone. Stopping
	# must succeed then.
	ip link delete "$UNIT_DEV"
	wait_until 5 "the link has gone with its device" unit_no_link
	unit_stop
	unit_odd_names
}

testcase unit 90 unit_case
