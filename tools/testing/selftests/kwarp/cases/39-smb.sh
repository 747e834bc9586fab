# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# SMB Direct: server (ksmbd) and client (cifs) on the same machine, over the link that
# 34-consumers.sh adds:
#
#     programs -- /run/kwarp-e2e/smb-mount -- cifs -- kwlo ..TCP, 10.99.0.1.. kwlo -- ksmbd -- smb-share
#
# Debian's kernels have no SMB Direct. The project's user-mode kernels have it:
#
#     tools/testing/selftests/e2e.sh --kernel uml-up kernel-smb

# TCP port of SMB Direct over iWARP. Port 445 is that of SMB over TCP.
SMB_PORT=5445
SMB_SHARE=$RUN/smb-share
SMB_MOUNT=$RUN/smb-mount
SMB_CONFIG=$RUN/smb.conf
SMB_USERS=$RUN/smb-users

smb_modules() {
	local program
	for program in ksmbd.mountd ksmbd.adduser ksmbd.control mount.cifs; do
		command -v "$program" >/dev/null || skip "there is no $program"
	done
	modprobe -a ksmbd cifs 2>/dev/null || skip "there is no module ksmbd or cifs"
	# This parameter exists only if the client was built with SMB Direct.
	[ -e /sys/module/cifs/parameters/smbd_logging_class ] || {
		modprobe -r cifs ksmbd
		skip "this kernel's SMB has no SMB Direct"
	}
}

smb_server_up() {
	mkdir -p "$SMB_SHARE" "$SMB_MOUNT"
	chmod 777 "$SMB_SHARE"
	cat >"$SMB_CONFIG" <<-END
		[global]
			netbios name = kwarp
			server min protocol = SMB3_00
		[share]
			path = $SMB_SHARE
			read only = no
	END
	: >"$SMB_USERS"
	check "adding a user" ksmbd.adduser -C "$SMB_CONFIG" -P "$SMB_USERS" -a -p kwarp kwarp
	start mountd - setsid ksmbd.mountd -C "$SMB_CONFIG" -P "$SMB_USERS" -n
	wait_until 20 "the server listens for RDMA" listens self "$SMB_PORT"
}

smb_server_down() {
	check "stopping the server" ksmbd.control --shutdown
	ended 20 mountd
}

smb_mount() {
	check "mounting" timeout 60 mount.cifs "//$TARGET_ADDR/share" "$SMB_MOUNT" \
		-o rdma,vers=3.1.1,username=kwarp,password=kwarp,cache=none
	[ "$(consumer_qps)" -ge 2 ] || fail "the mount has no queue pair"
}

smb_clean() {
	timeout 20 umount -f "$SMB_MOUNT" || umount -l "$SMB_MOUNT"
	[ -z "${PIDS[mountd]:-}" ] || timeout 20 ksmbd.control --shutdown
	consumer_links_clean
	rm -rf "$SMB_SHARE" "$RUN/smb-file" "$RUN/smb-before" /run/ksmbd.lock
	modprobe -r cifs ksmbd
}

smb_up() {
	load_type "$KWARP_LINK"
	smb_modules
	clean_at_end smb_clean
	consumer_links_up
	smb_server_up
	smb_mount
}

smb_down() {
	check "unmounting" umount "$SMB_MOUNT"
	smb_server_down
	consumers_down cifs ksmbd
}

# smb_data MIB: write a file on the mount in blocks of several sizes, check that it is in the share,
# and read it again. For large blocks the server uses Writes and Reads; small blocks are in Sends.
smb_data() {
	local mib=$1 size
	head -c "$((mib << 20))" /dev/urandom >"$RUN/smb-file"
	for size in 4M 64k 1000; do
		check "writing $size at a time" dd if="$RUN/smb-file" of="$SMB_MOUNT/file" bs="$size" 2>/dev/null
		cmp "$SMB_SHARE/file" "$RUN/smb-file" || fail "the share holds something else than was written $size at a time"
		rm "$SMB_MOUNT/file"
		[ ! -e "$SMB_SHARE/file" ] || fail "the share still has what was removed"
	done
	check "copying" cp "$RUN/smb-file" "$SMB_MOUNT/file"
	for size in 4M 16k 1000; do
		dd if="$SMB_MOUNT/file" bs="$size" 2>/dev/null | cmp - "$RUN/smb-file" ||
			fail "what is read $size at a time is not what was written"
	done
}

# List a folder whose names do not fit into one answer of the server.
smb_names() {
	local i seen
	mkdir "$SMB_MOUNT/many"
	for ((i = 0; i < 300; i++)); do
		echo "$i" >"$SMB_MOUNT/many/a-name-that-is-somewhat-longer-$i"
	done
	seen=("$SMB_MOUNT"/many/*)
	[ "${#seen[@]}" = 300 ] || fail "of 300 names ${#seen[@]} are seen"
	mv "$SMB_MOUNT/many/a-name-that-is-somewhat-longer-7" "$SMB_MOUNT/many/other"
	[ "$(<"$SMB_SHARE/many/other")" = 7 ] || fail "a file with another name holds something else"
	rm -r "$SMB_MOUNT/many"
	[ ! -e "$SMB_SHARE/many" ] || fail "the share still has the removed folder"
}

# smb_case MIB: mount the share, check files of this size and a large folder, and unmount it.
smb_case() {
	smb_up
	smb_data "$1"
	smb_names
	smb_down
}

smb_loss_case() {
	smb_up
	lossy_lo
	smb_data 4
	tc qdisc del dev lo root
	smb_down
}

smb_same() {
	cmp -s "$SMB_MOUNT/before" "$RUN/smb-before"
}

# The link is deleted and added again. The client connects again, and its files are the same.
smb_link_case() {
	smb_up
	head -c 1048576 /dev/urandom >"$RUN/smb-before"
	check "copying" cp "$RUN/smb-before" "$SMB_MOUNT/before"
	consumer_links_delete
	consumer_links_up
	wait_until 30 "the file is what it was before the link went" smb_same
	smb_data 2
	smb_down
}

testcase kernel-smb 120 smb_case 16
testcase kernel-smb-loss 120 smb_loss_case
testcase kernel-smb-link 180 smb_link_case
