# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# The commands of kwarp@.service, as systemd runs them; the guest has no systemd. The
# instance is a network device of the first namespace: there is a link as long as it is
# started and the device is there.

UNIT=$HERE/kwarp@.service
UNIT_DEV=kwunit0

# unit_run ExecStart|ExecStop: with systemd's rule for a leading hyphen.
unit_run() {
	local command
	command=$(sed -n "s/^$1=//p" "$UNIT")
	[ -n "$command" ] || fail "the unit has no $1"
	command=${command//%[iI]/$UNIT_DEV}
	note "$command"
	case $command in
	-*) ${command#-} || : ;;
	*) $command ;;
	esac
}

unit_link() {
	[ -e "/sys/class/infiniband/kw-$UNIT_DEV" ]
}

unit_no_link() {
	! unit_link
}

unit_start() {
	unit_run ExecStart || fail "the unit does not start"
	unit_link || fail "started, and there is no link"
}

unit_stop() {
	unit_run ExecStop || fail "the unit does not stop"
	! unit_link || fail "stopped, and the link is still there"
}

unit_case() {
	# Left by a case that was cut short.
	ip link delete "$UNIT_DEV" 2>/dev/null || :
	ip link add "$UNIT_DEV" type veth peer name kwunit1
	unit_start
	# Restart.
	unit_stop
	unit_start
	! unit_run ExecStart || fail "a second link on one device"
	unit_stop
	unit_start
	# BindsTo: systemd stops it after the device has gone, and nothing is wrong then.
	ip link delete "$UNIT_DEV"
	wait_until 5 "the link has gone with its device" unit_no_link
	unit_stop
}

testcase unit 30 unit_case
