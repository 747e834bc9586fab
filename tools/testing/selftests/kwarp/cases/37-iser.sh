# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# iSCSI with RDMA (iSER): target and initiator on the same machine, in the first network namespace,
# over the link that 34-consumers.sh adds:
#
#     dd -- /dev/sdX -- ib_iser -- kwlo ..TCP, 10.99.0.1.. kwlo -- ib_isert -- /dev/ram0
#
# A target listens on each portal twice with the same port number: on TCP for plain iSCSI, and on
# RDMA. With iWARP both are TCP ports, so they would be in conflict. To avoid that, the portal is
# made in the second namespace: the plain TCP listener is then there, and the RDMA listener is
# always in the first namespace.

ISER_PORT=3260
ISER_IQN=iqn.2026-01.org.kwarp:target
ISER_CONFIG=/sys/kernel/config/target
ISER_TPG=$ISER_CONFIG/iscsi/$ISER_IQN/tpgt_1
ISER_CORE=$ISER_CONFIG/core/iblock_0/kwarp

iser_portal() {
	echo "$TARGET_ADDR:$ISER_PORT"
}

iser_programs() {
	local program
	for program in iscsid iscsiadm nsenter; do
		command -v "$program" >/dev/null || skip "there is no $program"
	done
	each_machine modprobe -a target_core_mod target_core_iblock iscsi_target_mod ib_isert ib_iser sd_mod 2>/dev/null ||
		skip "there is no module ib_isert or ib_iser"
	on_target ram_disks 1
}

# in_portal_ns COMMAND...: run the command in the portal's network namespace, but with this
# namespace's mounts.
in_portal_ns() {
	nsenter "--net=/run/netns/${NS[1]}" "$@"
}

iser_target_up() {
	[ -e "/run/netns/${NS[1]}" ] || ip netns add "${NS[1]}"
	in_portal_ns ip addr add "$TARGET_ADDR/32" dev lo
	mkdir -p "$ISER_CORE" "$ISER_TPG/lun/lun_0"
	echo "udev_path=$RAM_DISK" >"$ISER_CORE/control"
	echo 1 >"$ISER_CORE/enable"
	ln -s "$ISER_CORE" "$ISER_TPG/lun/lun_0/disk"
	check "making the portal" in_portal_ns mkdir "$ISER_TPG/np/$(iser_portal)"
	echo 0 >"$ISER_TPG/attrib/authentication"
	echo 1 >"$ISER_TPG/attrib/generate_node_acls"
	echo 1 >"$ISER_TPG/attrib/cache_dynamic_acls"
	echo 0 >"$ISER_TPG/attrib/demo_mode_write_protect"
	echo 1 >"$ISER_TPG/np/$(iser_portal)/iser" || fail "the target does not listen for RDMA"
	echo 1 >"$ISER_TPG/enable"
}

iser_target_down() {
	[ ! -d "$ISER_TPG" ] || echo 0 >"$ISER_TPG/enable"
	rm -f "$ISER_TPG/lun/lun_0/disk"
	rmdir "$ISER_TPG/np/$(iser_portal)" "$ISER_TPG/lun/lun_0" "$ISER_TPG" "${ISER_TPG%/*}"
	rmdir "$ISER_CORE" "${ISER_CORE%/*}"
	in_portal_ns ip addr del "$TARGET_ADDR/32" dev lo
}

iser_admin() {
	timeout 60 iscsiadm -m node -T "$ISER_IQN" -p "$(iser_portal)" -I iser "$@"
}

iser_login() {
	mkdir -p /run/lock/iscsi /etc/iscsi
	echo "InitiatorName=iqn.2026-01.org.kwarp:initiator" >/etc/iscsi/initiatorname.iscsi
	# setsid, because iscsid ends its whole process group when it ends.
	start iscsid - setsid iscsid -f
	wait_until 10 "iscsid answers" iscsiadm -m iface
	check "adding the node" iser_admin -o new
	check "logging in" iser_admin --login
	wait_until 20 "the disk is there" find_lio_disk
}

iser_logout() {
	check "logging out" iser_admin --logout
	iser_admin -o delete || :
	stop iscsid
}

iser_clean() {
	iser_admin --logout
	[ -z "${PIDS[iscsid]:-}" ] || kill "${PIDS[iscsid]}"
	on_target iser_target_down
	consumer_links_clean
	rm -f "$RUN"/disk-*
	each_machine modprobe -r ib_iser ib_isert brd
}

iser_up() {
	load_type "$KWARP_LINK"
	net_up
	iser_programs
	clean_at_end iser_clean
	consumer_links_up
	on_target iser_target_up
	iser_login
}

iser_down() {
	iser_logout
	on_target iser_target_down
	consumers_down ib_iser ib_isert brd
}

# The link is deleted and added again. The initiator logs in again, and its disk has the same
# data.
iser_link_case() {
	iser_up
	disk_data 1
	cp "$RUN/disk-file" "$RUN/disk-before"
	consumer_links_delete
	consumer_links_up
	# The target's listener ended when its link was deleted: make the target listen again.
	echo 0 >"$ISER_TPG/np/$(iser_portal)/iser"
	echo 1 >"$ISER_TPG/np/$(iser_portal)/iser" || fail "the target does not listen again"
	disk_same 1 || fail "the disk has lost what was written before the link went"
	disk_data 2
	iser_down
}

testcase kernel-iser 120 disk_case iser "$(consumer_mib 8 2)"
testcase kernel-iser-loss 120 disk_loss_case iser "$(by_profile 4 1)"
testcase kernel-iser-link 180 iser_link_case
