# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# A block device over RTRS (RNBD): server and client on the same machine, over the link that
# 34-consumers.sh adds:
#
#     dd -- /dev/rnbd0 -- rnbd_client, rtrs_client -- kwlo ..TCP, 10.99.0.1.. kwlo -- rtrs_server, rnbd_server -- /dev/ram0
#
# Debian's kernels have neither RTRS nor RNBD. The project's user-mode kernels have both:
#
#     tools/testing/selftests/e2e.sh --kernel uml-up kernel-rnbd
#
# With always_invalidate=N the server of RTRS answers with Writes with immediate data, so most cases
# set that. With always_invalidate=Y, the default, it invalidates its registration before each
# answer, and answers with Sends with immediate data, for which iWARP has no message.

RNBD_CTL=/sys/class/rnbd-client/ctl
RNBD_DISK=/dev/rnbd0
RNBD_SESSION=kwarp

# rnbd_modules Y|N: load the modules with always_invalidate set to this value.
rnbd_modules() {
	ram_disks 1
	modprobe rtrs_server always_invalidate="$1" 2>/dev/null && modprobe -a rnbd_server rnbd_client 2>/dev/null ||
		skip "there is no module rnbd_server or rnbd_client"
}

rnbd_map() {
	echo "sessname=$RNBD_SESSION path=ip:$TARGET_ADDR device_path=$RAM_DISK" >"$RNBD_CTL/map_device"
}

rnbd_unmap() {
	echo "${1:-normal}" >"/sys/block/${RNBD_DISK##*/}/rnbd/unmap_device"
}

rnbd_clean() {
	[ ! -b "$RNBD_DISK" ] || rnbd_unmap force
	consumer_links_clean
	rm -f "$RUN"/disk-*
	modprobe -r rnbd_client rnbd_server rtrs_client rtrs_server brd
}

rnbd_up() {
	load_type "$KWARP_LINK"
	rnbd_modules N
	clean_at_end rnbd_clean
	consumer_links_up
	rnbd_map || fail "the device cannot be mapped"
	wait_until 10 "the disk is there" test -b "$RNBD_DISK"
	[ "$(consumer_qps)" -ge 4 ] || fail "the session has no queue pairs"
	DISK=$RNBD_DISK
}

rnbd_down() {
	check "unmapping" rnbd_unmap
	consumers_down rnbd_client rnbd_server rtrs_client rtrs_server
}

# rnbd_tell client|server WHAT: write 1 to the file WHAT, "disconnect" or "reconnect", of the
# session's only path at that end.
rnbd_tell() {
	local file
	for file in "/sys/class/rtrs-$1/$RNBD_SESSION/paths"/*/"$2"; do
		echo 1 >"$file"
	done
}

rnbd_is() {
	[ "$(cat "/sys/class/rtrs-client/$RNBD_SESSION/paths"/*/state)" = "$1" ]
}

# rnbd_lost_case server|link: the session is lost and connected again. If the server ends the
# session, the client connects again by itself. If the client's device is removed, the client has
# to be told to reconnect.
rnbd_lost_case() {
	rnbd_up
	head -c 1048576 /dev/urandom >"$RUN/disk-before"
	check "writing" dd if="$RUN/disk-before" of="$DISK" bs=64k oflag=direct conv=nocreat 2>/dev/null
	if [ "$1" = server ]; then
		rnbd_tell server disconnect
	else
		consumer_links_delete
		wait_until 20 "the path is gone" rnbd_is disconnected
		consumer_links_up
		rnbd_tell client reconnect
	fi
	wait_until 60 "the path is there again" rnbd_is connected
	disk_same 1 || fail "the disk is not what it was before the session was lost"
	disk_data 2
	rnbd_down
}

# With always_invalidate RTRS posts messages that iWARP does not have. The device refuses them: no
# disk is made, and no object is left.
rnbd_refused_case() {
	load_type "$KWARP_LINK"
	rnbd_modules Y
	clean_at_end rnbd_clean
	consumer_links_up
	! rnbd_map 2>/dev/null || fail "a device was mapped with Sends with immediate data"
	[ ! -e "$RNBD_DISK" ] || fail "there is a disk"
	consumers_down rnbd_client rnbd_server rtrs_client rtrs_server
}

testcase kernel-rnbd 120 disk_case rnbd 4
testcase kernel-rnbd-loss 120 disk_loss_case rnbd 2
testcase kernel-rnbd-lost 180 rnbd_lost_case server
testcase kernel-rnbd-link 180 rnbd_lost_case link
testcase kernel-rnbd-refused 60 rnbd_refused_case
