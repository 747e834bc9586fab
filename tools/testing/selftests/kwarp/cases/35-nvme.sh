# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# NVMe, target and host in the kernel, over the link that 34-consumers.sh adds:
#
#     dd -- /dev/nvmeXn1 -- nvme-rdma -- kwlo ..TCP, 10.99.0.1.. kwlo -- nvmet-rdma -- /dev/ram0

NVME_PORT=4420
NVME_NQN=kwarp
NVMET=/sys/kernel/config/nvmet
# Folder of the data files, which are large and are not kept with the logs.
NVME_FILES=$RUN/nvme

# -------------------------------------------------------------------- set up

# nvme_modules DISKS: load the modules of target and host, and make this number of RAM disks.
nvme_modules() {
	local module
	for module in nvmet-rdma nvme-rdma; do
		each_machine modprobe "$module" 2>/dev/null || skip "there is no module $module"
	done
	exists_at 1 "$NVMET" || skip "configfs is not mounted"
	on_target ram_disks "$1"
}

nvmet_port_up() {
	mkdir "$NVMET/ports/1"
	echo rdma >"$NVMET/ports/1/addr_trtype"
	echo ipv4 >"$NVMET/ports/1/addr_adrfam"
	echo "$TARGET_ADDR" >"$NVMET/ports/1/addr_traddr"
	echo "$NVME_PORT" >"$NVMET/ports/1/addr_trsvcid"
}

# nvmet_subsystem_up NQN DEVICE: make a subsystem of the target with this block device, and let the
# target listen for it.
nvmet_subsystem_up() {
	local subsystem=$NVMET/subsystems/$1
	mkdir "$subsystem" "$subsystem/namespaces/1"
	echo 1 >"$subsystem/attr_allow_any_host"
	echo "$2" >"$subsystem/namespaces/1/device_path"
	echo 1 >"$subsystem/namespaces/1/enable"
	nvmet_listen "$1"
}

nvmet_listen() {
	ln -s "$NVMET/subsystems/$1" "$NVMET/ports/1/subsystems/$1"
}

nvmet_deafen() {
	rm -f "$NVMET/ports/1/subsystems/$1"
}

# nvmet_down NQN...: remove the port and these subsystems.
nvmet_down() {
	local nqn subsystem
	for nqn in "$@"; do
		subsystem=$NVMET/subsystems/$nqn
		[ -d "$subsystem" ] || continue
		nvmet_deafen "$nqn"
		echo 0 >"$subsystem/namespaces/1/enable"
		rmdir "$subsystem/namespaces/1" "$subsystem"
	done
	[ ! -d "$NVMET/ports/1" ] || rmdir "$NVMET/ports/1"
}

# nvme_ctrl_of NQN: print the name of the host's controller for that subsystem, or nothing.
nvme_ctrl_of() {
	local dir
	for dir in /sys/class/nvme/nvme*; do
		[ "$(cat "$dir/subsysnqn" 2>/dev/null)" != "$1" ] || echo "${dir##*/}"
	done
}

nvme_ctrl() {
	nvme_ctrl_of "$NVME_NQN"
}

# nvme_find_disk [CTRL]: set NVME_DISK to the disk of the controller. With multipath, each path of a
# disk has a name such as nvme0c0n1, for which there is no device file.
nvme_find_disk() {
	local dir
	for dir in "/sys/class/nvme/${1:-$(nvme_ctrl)}/nvme"*n1; do
		NVME_DISK=/dev/${dir##*/}
		[[ ! $NVME_DISK =~ ^(.*)c[0-9]+(n1)$ ]] || NVME_DISK=${BASH_REMATCH[1]}${BASH_REMATCH[2]}
		[ ! -b "$NVME_DISK" ] || return 0
	done
	return 1
}

nvme_connect() {
	local options="transport=rdma,traddr=$TARGET_ADDR,trsvcid=$NVME_PORT,nqn=$NVME_NQN"
	echo "$options,nr_io_queues=2,keep_alive_tmo=5,reconnect_delay=1,ctrl_loss_tmo=30" >/dev/nvme-fabrics ||
		fail "the host does not connect"
	wait_until 20 "the disk is there" nvme_find_disk
	note "controller $(nvme_ctrl), disk $NVME_DISK"
}

nvme_gone() {
	[ -z "$(nvme_ctrl)" ]
}

# nvme_delete CTRL: delete the controller. Does nothing if CTRL is empty or does not exist.
nvme_delete() {
	[ -z "$1" ] || echo 1 >"/sys/class/nvme/$1/delete_controller" || :
}

nvme_disconnect() {
	nvme_delete "$(nvme_ctrl)"
	wait_until 20 "the controller is gone" nvme_gone
}

nvme_clean() {
	nvme_delete "$(nvme_ctrl)"
	on_target nvmet_down "$NVME_NQN"
	consumer_links_clean
	rm -rf "$NVME_FILES"
	each_machine modprobe -r nvme-rdma nvmet-rdma brd
}

nvme_up() {
	load_type "$KWARP_LINK"
	clean_at_end nvme_clean
	nvme_modules 1
	mkdir -p "$NVME_FILES"
	consumer_links_up
	on_target nvmet_port_up
	on_target nvmet_subsystem_up "$NVME_NQN" "$RAM_DISK"
	nvme_connect
}

nvme_down() {
	nvme_disconnect
	on_target nvmet_down "$NVME_NQN"
	consumers_down nvme-rdma nvmet-rdma brd
}

# ---------------------------------------------------------------------- I/O

random_file() {
	head -c "$(($2 << 20))" /dev/urandom >"$NVME_FILES/$1"
}

# nvme_write FILE BLOCK MIB: write FILE to the disk, at an offset of MIB, in blocks of size BLOCK.
nvme_write() {
	dd if="$NVME_FILES/$1" of="$NVME_DISK" oflag=direct,seek_bytes conv=nocreat,notrunc bs="$2" \
		seek="$3M" 2>&1
}

# nvme_compare FILE BLOCK MIB: read the disk from an offset of MIB on, in blocks of size BLOCK, and
# check that it has the contents of FILE there.
nvme_compare() {
	local octets
	octets=$(stat -c %s "$NVME_FILES/$1")
	dd if="$NVME_DISK" iflag=direct,skip_bytes,count_bytes bs="$2" skip="$3M" count="$octets" 2>/dev/null |
		cmp - "$NVME_FILES/$1" || fail "what is read in blocks of $2 at $3 MiB is not what was written"
}

nvme_start_writer() {
	note "$1 writes"
	nvme_write "$1" "$2" "$3" >"$CASE_DIR/$1.log" &
	PIDS[$1]=$!
}

# Print how many messages of the host report errors that it recovers from: a timeout, or a
# completion that names another region as invalidated.
nvme_troubles() {
	dmesg | grep -cE 'nvme.*(error recovery|Bogus|timeout|Reconnect)' || :
}

# nvme_case MIB: write a file of this size to the remote disk, and compare what is read.
nvme_case() {
	local mib=$1 troubles
	troubles=$(nvme_troubles)
	nvme_up
	random_file one "$mib"
	check "writing" nvme_write one 1M 0
	nvme_compare one 256k 0
	nvme_compare one 4k 0
	# The data must be in the target's memory, and not only in a cache of the host.
	print_ram "$((mib << 20))" | cmp - "$NVME_FILES/one" || fail "the target's disk holds something else"

	random_file left "$((mib / 2))"
	random_file right "$((mib / 2))"
	nvme_start_writer left 64k 0
	nvme_start_writer right 512k "$((mib / 2))"
	reap 60 left
	reap 60 right
	nvme_compare left 1M 0
	nvme_compare right 16k "$((mib / 2))"
	[ "$(nvme_troubles)" = "$troubles" ] || fail "the host had to recover from errors, see the kernel log"
	nvme_down
}

# Write the file "busy" to the disk again and again until a write fails. Status 7 shows the caller
# that an error has ended this function, and not a signal.
nvme_writes_forever() {
	while nvme_write busy 128k 32; do :; done
	return 7
}

# The link is deleted under I/O. The writer gets an error, no process hangs, and after the host has
# connected again, the data written before is still on the disk.
nvme_die_case() {
	nvme_up
	random_file safe "$(by_profile 16 2)"
	random_file busy "$(by_profile 16 2)"
	check "writing" nvme_write safe 1M 0
	note "writer starts"
	nvme_writes_forever >"$CASE_DIR/writer.log" &
	PIDS["writer"]=$!
	wait_until 20 "the writer has written the file twice" nvme_passes 2
	! gone "${PIDS[writer]}" || fail "the writer has ended early"
	consumer_links_delete
	ended 60 writer
	[ "$STATUS" = 7 ] || fail "the writer ended with status $STATUS, not because of an error"
	nvme_disconnect

	# The target's listener ended when its link was deleted: make the target listen again.
	on_target nvmet_deafen "$NVME_NQN"
	consumer_links_up
	on_target nvmet_listen "$NVME_NQN"
	nvme_connect
	nvme_compare safe 256k 0
	check "writing again" nvme_write busy 1M 32
	nvme_compare busy 64k 32
	nvme_down
}

nvme_passes() {
	[ "$(grep -c 'copied' "$CASE_DIR/writer.log")" -ge "$1" ]
}

# A process that knows the number of a kernel consumer's queue pair tries to connect this queue
# pair, which must fail.
nvme_steal_case() {
	skip_on siw "it connects any queue pair"
	nvme_up
	check "trying to steal" kwsteal -a "$TARGET_ADDR" -p "$NVME_PORT" -n 64 >"$CASE_DIR/kwsteal.log" 2>&1
	expect_in kwsteal 'ok: ([2-9]|[1-9][0-9]+) denied'
	random_file after 1
	check "writing" nvme_write after 64k 0
	nvme_compare after 64k 0
	nvme_down
}

testcase kernel-nvme 90 nvme_case "$(consumer_mib 32 2)"
testcase kernel-nvme-steal 60 nvme_steal_case
testcase kernel-nvme-die 120 nvme_die_case
