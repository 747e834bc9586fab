# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Checks of a remote disk. DISK is the initiator's device; the target exports its RAM disk as DISK.
# Data written to DISK must be on the RAM disk, and data on the RAM disk must be read from DISK.
# Used by 37-iser.sh, 38-srp.sh and 39-rtrs.sh, which connect DISK over a link.

find_lio_disk() {
	local dir
	for dir in /sys/block/sd*; do
		[ "$(cat "$dir/device/vendor" 2>/dev/null)" = "LIO-ORG " ] || continue
		DISK=/dev/${dir##*/}
		[ ! -b "$DISK" ] || return 0
	done
	return 1
}

# ram_holds MIB: true if the target's RAM disk begins with the data that disk_data has written to
# DISK.
ram_holds() {
	print_ram "$(($1 << 20))" | cmp - "$RUN/disk-file"
}

# disk_data MIB: write random data to DISK in blocks of several sizes, and compare the target's RAM
# disk with them; then read DISK in blocks of several sizes, and compare.
disk_data() {
	local mib=$1 size
	note "$mib MiB to $DISK and back"
	head -c "$((mib << 20))" /dev/urandom >"$RUN/disk-file"
	for size in 1M 64k 4k; do
		check "writing in blocks of $size" dd if="$RUN/disk-file" of="$DISK" bs="$size" oflag=direct conv=nocreat 2>/dev/null
		ram_holds "$mib" || fail "the target's disk holds something else than was written in blocks of $size"
		check "overwriting" dd if=/dev/zero of="$DISK" bs=1M count="$mib" oflag=direct conv=nocreat 2>/dev/null
		! ram_holds "$mib" >/dev/null || fail "the target still has what was overwritten"
	done
	check "writing" dd if="$RUN/disk-file" of="$DISK" bs=256k oflag=direct conv=nocreat 2>/dev/null
	for size in 1M 16k 4k; do
		dd if="$DISK" iflag=direct,count_bytes bs="$size" count="$((mib << 20))" 2>/dev/null |
			cmp - "$RUN/disk-file" || fail "what is read in blocks of $size is not what was written"
	done
}

# disk_same MIB: true if DISK begins with the data in the file disk-before, which the case has saved
# before the initiator lost its session. The read waits until the initiator has a session again.
disk_same() {
	dd if="$DISK" iflag=direct,count_bytes bs=64k count="$(($1 << 20))" 2>/dev/null | cmp - "$RUN/disk-before"
}

# disk_case KIND MIB: connect a disk, check it with this amount of data, and disconnect it. KIND is
# iser, srp or rnbd: the functions KIND_up and KIND_down connect and disconnect.
disk_case() {
	"$1_up"
	disk_data "$2"
	"$1_down"
}

disk_loss_case() {
	"$1_up"
	lossy_lo
	disk_data "$2"
	no_lossy_lo
	"$1_down"
}
