# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Several NVMe controllers at the same time over the link that 34-consumers.sh adds. Each has its
# own disk, which fio writes, reads and compares. During that, controllers are reset, or all packets
# are lost for longer than the host (the end with the controllers) waits for an answer.

NVME_MANY=3

many_nqn() {
	echo "$NVME_NQN-$1"
}

many_target_up() {
	local i
	nvmet_port_up
	for ((i = 0; i < NVME_MANY; i++)); do
		nvmet_subsystem_up "$(many_nqn $i)" "/dev/ram$i"
	done
}

many_target_down() {
	local i nqns=()
	for ((i = 0; i < NVME_MANY; i++)); do
		nqns+=("$(many_nqn $i)")
	done
	nvmet_down "${nqns[@]}"
}

# many_ctrl I: print the name of the host's controller for subsystem I.
many_ctrl() {
	nvme_ctrl_of "$(many_nqn "$1")"
}

many_gone() {
	local i
	for ((i = 0; i < NVME_MANY; i++)); do
		[ -z "$(many_ctrl $i)" ] || return 1
	done
}

many_disk() {
	nvme_find_disk "$(many_ctrl "$1")"
}

many_connect() {
	local i options="transport=rdma,traddr=$TARGET_ADDR,trsvcid=$NVME_PORT,nr_io_queues=2"
	for ((i = 0; i < NVME_MANY; i++)); do
		echo "$options,nqn=$(many_nqn $i),keep_alive_tmo=5,reconnect_delay=1,ctrl_loss_tmo=60" >/dev/nvme-fabrics ||
			fail "the host does not connect to $(many_nqn $i)"
		wait_until 20 "disk $i is there" many_disk $i
	done
}

many_live() {
	local i
	for ((i = 0; i < NVME_MANY; i++)); do
		[ "$(<"/sys/class/nvme/$(many_ctrl $i)/state")" = live ] || return 1
	done
}

many_delete_controllers() {
	local i
	for ((i = 0; i < NVME_MANY; i++)); do
		nvme_delete "$(many_ctrl $i)"
	done
}

many_disconnect() {
	many_delete_controllers
	wait_until 20 "the controllers are gone" many_gone
}

many_clean() {
	pkill -KILL fio
	many_delete_controllers
	holds_within 20 many_gone
	many_target_down
	consumer_links_clean
	modprobe -r nvme-rdma nvmet-rdma brd
}

many_up() {
	load_type "$KWARP_LINK"
	command -v fio >/dev/null || skip "there is no fio"
	clean_at_end many_clean
	nvme_modules $NVME_MANY
	consumer_links_up
	many_target_up
	many_connect
}

many_down() {
	many_disconnect
	many_target_down
	consumers_down nvme-rdma nvmet-rdma brd
}

# many_start_fio BLOCK: fio writes random blocks of this size to each disk, reads and compares
# them.
many_start_fio() {
	local i
	for ((i = 0; i < NVME_MANY; i++)); do
		many_disk $i || fail "disk $i is gone"
		start "fio$i" - fio --name="$1" --filename="$NVME_DISK" --direct=1 --ioengine=psync --numjobs=2 --size=8m \
			--offset_increment=8m --rw=randwrite --bs="$1" --verify=crc32c --verify_fatal=1 --do_verify=1
	done
}

many_reap_fio() {
	local i
	for ((i = 0; i < NVME_MANY; i++)); do
		reap 90 "fio$i"
		! grep -E 'verify: bad|verify failed' "$CASE_DIR/fio$i.log" || fail "disk $i gave back something else"
		grep -q 'err= 0' "$CASE_DIR/fio$i.log" || fail "fio on disk $i names errors"
	done
}

nvme_many_case() {
	many_up
	many_start_fio 64k
	many_reap_fio
	many_start_fio 4k
	many_reap_fio
	many_down
}

# many_written I SECTORS: true if more than this number of sectors has been written to disk I. With
# multipath before Linux 6.4 only the paths to a disk have this count, and not the disk.
many_written() {
	local disk path stat
	many_disk "$1" || return 1
	disk=${NVME_DISK##*/}
	for path in "/sys/block/$disk" "/sys/block/${disk%n*}c"*"n${disk##*n}"; do
		[ -e "$path/stat" ] || continue
		read -ra stat <"$path/stat"
		[ "${stat[6]}" -le "$2" ] || return 0
	done
	return 1
}

# Each controller is reset while its disk is written. The host must repeat the requests that were
# not finished.
nvme_reset_case() {
	local i
	many_up
	many_start_fio 4k
	for ((i = 0; i < NVME_MANY; i++)); do
		wait_until 20 "fio writes to disk $i" many_written $i 100
	done
	for ((i = 0; i < NVME_MANY; i++)); do
		echo 1 >"/sys/class/nvme/$(many_ctrl $i)/reset_controller" || fail "controller $i cannot be reset"
	done
	many_reap_fio
	wait_until 30 "all controllers are live" many_live
	many_down
}

# All packets are lost for longer than the host waits for an answer. The host must connect again.
nvme_reconnect_case() {
	local before
	before=$(nvme_troubles)
	many_up
	many_start_fio 4k
	lossy_lo loss 100%
	wait_until 30 "the host notices" many_troubles_since "$before"
	tc qdisc del dev lo root
	wait_until 60 "all controllers are live" many_live
	many_reap_fio
	many_start_fio 64k
	many_reap_fio
	many_down
}

many_troubles_since() {
	[ "$(nvme_troubles)" -gt "$1" ] && ! many_live
}

testcase kernel-nvme-many 180 nvme_many_case
testcase kernel-nvme-reset 180 nvme_reset_case
testcase kernel-nvme-reconnect 240 nvme_reconnect_case
