# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# SCSI over RDMA (SRP): target and initiator on the same machine, over the link that 34-consumers.sh
# adds:
#
#     dd -- /dev/sdX -- ib_srp -- kwlo ..TCP, 10.99.0.1.. kwlo -- ib_srpt -- /dev/ram0

SRP_PORT=5555
SRP_CONFIG=/sys/kernel/config/target
SRP_CORE=$SRP_CONFIG/core/iblock_1/kwarp
# The initiator's identifier. One half is the GUID of the device's port, which is 0 with iWARP. The
# other half may be chosen at login; here it is not, so it is 0.
SRP_INITIATOR=0x00000000000000000000000000000000
SRP_PORTS=/sys/class/srp_remote_ports

srp_modules() {
	each_machine modprobe -a target_core_mod target_core_iblock ib_srpt ib_srp sd_mod 2>/dev/null ||
		skip "there is no module ib_srpt or ib_srp"
	on_target ram_disks 1
}

srp_target_up() {
	mkdir -p "$SRP_CORE" "$SRP_CONFIG/srpt"
	echo "udev_path=$RAM_DISK" >"$SRP_CORE/control"
	echo 1 >"$SRP_CORE/enable"
	echo "$SRP_PORT" >"$SRP_CONFIG/srpt/discovery_auth/rdma_cm_port" || fail "the target does not listen"
	srp_port_up
}

# Set SRP_TPG to the target's port, whose name is the device's GID. The name is read anew for each
# link, because on lo each new link has another GID.
srp_find_port() {
	local gid
	gid=$(<"/sys/class/infiniband/$TARGET_LINK/ports/1/gids/0")
	SRP_TPG=$SRP_CONFIG/srpt/0x${gid//:/}/0x${gid//:/}
}

srp_port_up() {
	srp_find_port
	mkdir -p "$SRP_TPG/lun/lun_0"
	ln -s "$SRP_CORE" "$SRP_TPG/lun/lun_0/disk"
	mkdir -p "$SRP_TPG/acls/$SRP_INITIATOR/lun_0"
	ln -s "$SRP_TPG/lun/lun_0" "$SRP_TPG/acls/$SRP_INITIATOR/lun_0/lun"
	echo 1 >"$SRP_TPG/enable"
}

srp_port_down() {
	[ -n "${SRP_TPG:-}" ] || srp_find_port || :
	[ -d "${SRP_TPG:-}" ] || return 0
	echo 0 >"$SRP_TPG/enable"
	rm -f "$SRP_TPG/acls/$SRP_INITIATOR/lun_0/lun" "$SRP_TPG/lun/lun_0/disk"
	rmdir "$SRP_TPG/acls/$SRP_INITIATOR/lun_0" "$SRP_TPG/acls/$SRP_INITIATOR"
	rmdir "$SRP_TPG/lun/lun_0" "$SRP_TPG" "${SRP_TPG%/*}"
}

srp_target_down() {
	srp_port_down
	echo 0 >"$SRP_CONFIG/srpt/discovery_auth/rdma_cm_port"
	rmdir "$SRP_CORE" "${SRP_CORE%/*}" "$SRP_CONFIG/srpt"
}

# Log in to the target. The target's identifiers are a value that the module ib_srpt chooses when it
# is loaded.
srp_login() {
	local guid
	guid=$(read_at 1 /sys/module/ib_srpt/parameters/srpt_service_guid)
	guid=${guid#0x}
	echo "id_ext=$guid,ioc_guid=$guid,dest=$TARGET_ADDR:$SRP_PORT,queue_size=64" \
		>"/sys/class/infiniband_srp/srp-$HOST_LINK-1/add_target" || fail "logging in"
	wait_until 20 "the disk is there" find_lio_disk
}

srp_port() {
	local dir
	for dir in "$SRP_PORTS"/port-*; do
		[ ! -e "$dir/delete" ] || echo "$dir"
	done
}

srp_no_port() {
	[ -z "$(srp_port)" ]
}

# True if the initiator's remote port and its disk are gone. The initiator removes the port before
# the disk. The connection ends after both, so it may still exist.
srp_logged_out() {
	srp_no_port && [ ! -e "/sys/block/${DISK##*/}" ]
}

srp_logout() {
	! srp_no_port || fail "there is no remote port to log out from"
	echo 1 >"$(srp_port)/delete"
	wait_until 20 "disk and remote port are gone" srp_logged_out
}

srp_clean() {
	srp_no_port || echo 1 >"$(srp_port)/delete"
	on_target srp_target_down
	consumer_links_clean
	rm -f "$RUN"/disk-*
	each_machine modprobe -r ib_srp ib_srpt brd
}

srp_up() {
	load_type "$KWARP_LINK"
	srp_modules
	clean_at_end srp_clean
	consumer_links_up
	on_target srp_target_up
	srp_login
}

srp_down() {
	srp_logout
	on_target srp_target_down
	consumers_down ib_srp ib_srpt brd
}

# The link is deleted, and with it the initiator's disk. A disk that is connected over a new link
# has the same data.
srp_link_case() {
	srp_up
	disk_data 1
	cp "$RUN/disk-file" "$RUN/disk-before"
	consumer_links_delete
	wait_until 20 "disk and remote port are gone" srp_logged_out
	srp_port_down
	consumer_links_up
	srp_port_up
	srp_login
	disk_same 1 || fail "the disk has lost what was written before the link went"
	disk_data 2
	srp_down
}

testcase kernel-srp 120 disk_case srp "$(consumer_mib 8 2)"
testcase kernel-srp-loss 120 disk_loss_case srp "$(by_profile 4 1)"
testcase kernel-srp-link 180 srp_link_case
