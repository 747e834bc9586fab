# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# NFS over RDMA: server and client on the same machine, in the first network namespace, over the
# link that 34-consumers.sh adds:
#
#     a file -- nfs, rpcrdma -- kwlo ..TCP, 10.99.0.1.. kwlo -- rpcrdma, nfsd -- tmpfs

NFS_PORT=20049
NFS_EXPORT=$RUN/nfs-export
NFS_MOUNT=$RUN/nfs-mount

nfs_programs() {
	local program
	for program in exportfs rpc.mountd rpc.nfsd rpcbind mount.nfs; do
		command -v "$program" >/dev/null || skip "there is no $program"
	done
	each_machine modprobe -a nfsd rpcrdma nfs nfsv3 nfsv4 2>/dev/null || skip "there is no module nfsd, rpcrdma or nfs"
}

nfs_stop_server() {
	rpc.nfsd 0
	exportfs -u "*:$NFS_EXPORT"
	pkill -KILL rpc.mountd
	pkill -KILL rpcbind
	umount /proc/fs/nfsd
	umount "$NFS_EXPORT"
}

nfs_clean() {
	! mountpoint -q "$NFS_MOUNT" || umount -f -l "$NFS_MOUNT"
	on_target nfs_stop_server
	consumer_links_clean
	tc qdisc del dev lo root
}

# Shorten the server's grace period to 10 s if nfs_end_grace cannot end it. In the grace period,
# after a restart, the server waits for its former clients; with version 4 it opens no file for
# other clients during that time. A kernel that keeps its list of clients in a directory
# (nfsv4recoverydir) can end the period on request. Linux 7 gets the list from the daemon nfsdcld;
# without that daemon the case has to wait for the end of the period.
nfs_short_grace() {
	[ ! -e /proc/fs/nfsd/nfsv4recoverydir ] || return 0
	echo 10 >/proc/fs/nfsd/nfsv4leasetime
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
}

nfs_end_grace() {
	{ echo Y >/proc/fs/nfsd/v4_end_grace; } 2>/dev/null || wait_until 40 "grace has ended" nfs_grace_ended
}

nfs_grace_ended() {
	[ "$(cat /proc/fs/nfsd/v4_end_grace)" = Y ]
}

nfs_serve() {
	mkdir -p "$NFS_EXPORT" /run/rpcbind /var/lib/nfs/v4recovery
	mount -t tmpfs -o size=256m kwarp-nfs "$NFS_EXPORT"
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	check "starting rpcbind" rpcbind -w
	check "exporting" exportfs -i -o rw,no_root_squash,no_subtree_check,insecure,fsid=1 "*:$NFS_EXPORT"
	check "starting rpc.mountd" rpc.mountd -p 20048
	nfs_short_grace
	check "starting the server" rpc.nfsd -V 3 -V 4.2 4
	nfs_end_grace
	echo "rdma $NFS_PORT" >/proc/fs/nfsd/portlist || fail "the server does not listen for RDMA"
}

nfs_up() {
	load_type "$KWARP_LINK"
	nfs_programs
	clean_at_end nfs_clean
	consumer_links_up
	mkdir -p "$NFS_MOUNT"
	on_target nfs_serve
}

# nfs_mount VERSION: mount the share over RDMA with this version of NFS.
nfs_mount() {
	local options=vers=$1,proto=rdma,port=$NFS_PORT
	[ "$1" != 3 ] || options+=,nolock,mountproto=tcp,mountport=20048
	check "mounting version $1" timeout 60 mount -t nfs -o "$options" "$TARGET_ADDR:$NFS_EXPORT" "$NFS_MOUNT"
}

nfs_umount() {
	check "unmounting" timeout 60 umount "$NFS_MOUNT"
}

nfs_down() {
	on_target nfs_stop_server
	consumers_down rpcrdma nfsv3 nfsv4 nfs nfsd
}

# Write files and read them back. Mounting again before each read empties the client's cache, so
# the data come from the server.
nfs_data() {
	local version=$1 mib
	mib=$(consumer_mib 8 2)
	nfs_mount "$version"
	head -c "$((mib << 20))" /dev/urandom >"$RUN/nfs-file"
	check "writing" dd if="$RUN/nfs-file" of="$NFS_MOUNT/a" bs=1M conv=fsync 2>/dev/null
	check "writing in pieces" dd if="$RUN/nfs-file" of="$NFS_MOUNT/b" bs=4k oflag=direct 2>/dev/null
	nfs_server_has a || fail "the server has something else than was written"
	nfs_server_has b || fail "the server has something else than was written in pieces"
	nfs_umount
	nfs_mount "$version"
	cmp "$RUN/nfs-file" "$NFS_MOUNT/a" || fail "what is read is not what was written"
	dd if="$NFS_MOUNT/b" iflag=direct bs=64k 2>/dev/null | cmp - "$RUN/nfs-file" || fail "what is read directly is not what was written"
	mkdir "$NFS_MOUNT/many"
	(cd "$NFS_MOUNT/many" && seq -f '%05g-a-name-that-is-somewhat-longer' 1 300 | xargs touch)
	[ "$(find "$NFS_MOUNT/many" -type f | wc -l)" = 300 ] || fail "a directory is not whole"
	rm -r "$NFS_MOUNT/many"
	rm -f "$RUN/nfs-file" "$NFS_MOUNT"/?
	nfs_umount
}

# nfs_server_has FILE: true if the exported file has the contents of the local one.
nfs_server_has() {
	at 1 cat "$NFS_EXPORT/$1" | cmp - "$RUN/nfs-file"
}

nfs_case() {
	local version
	nfs_up
	for version in "$@"; do
		note "version $version"
		nfs_data "$version"
	done
	nfs_down
}

# Write and verify files over NFS 4.2 while the network loses and delays packets.
nfs_loss_case() {
	nfs_up
	lossy_lo
	nfs_data 4.2
	no_lossy_lo
	nfs_down
}

# Write files until the file nfs-stop exists.
nfs_writer() {
	head -c 16M /dev/urandom >"$RUN/nfs-file"
	rm -f "$RUN/nfs-stop"
	while [ ! -e "$RUN/nfs-stop" ]; do
		dd if="$RUN/nfs-file" of="$NFS_MOUNT/busy" bs=64k conv=fsync 2>&1 || return 7
		echo passed
	done
}

nfs_passed() {
	grep -c '^passed' "$CASE_DIR/writer.log"
}

nfs_passes() {
	[ "$(nfs_passed)" -ge "$1" ]
}

# The link is deleted under I/O and added again. The client must continue to write.
nfs_link_case() {
	local before
	nfs_up
	nfs_mount 4.2
	nfs_writer >"$CASE_DIR/writer.log" 2>&1 &
	PIDS["writer"]=$!
	wait_until 20 "the writer has written the file twice" nfs_passes 2
	consumer_links_delete
	consumer_links_up
	before=$(nfs_passed)
	wait_until 60 "the writer goes on" nfs_passes "$((before + 2))"
	# Take the interface down and up again: data in flight is lost.
	if [ "$CONSUMER_NETDEV" = lo ]; then
		ip link set lo down
		ip link set lo up
		ip addr replace "$TARGET_ADDR/24" dev lo
		before=$(nfs_passed)
		wait_until 90 "the writer goes on after a flap" nfs_passes "$((before + 2))"
	fi
	touch "$RUN/nfs-stop"
	reap 60 writer
	cmp "$RUN/nfs-file" "$NFS_EXPORT/busy" || fail "the server has something else than was written"
	nfs_umount
	nfs_mount 4.2
	cmp "$RUN/nfs-file" "$NFS_MOUNT/busy" || fail "what is read is not what was written"
	rm -f "$NFS_MOUNT/busy" "$RUN/nfs-file" "$RUN/nfs-stop"
	nfs_umount
	nfs_down
}

testcase kernel-nfs 180 nfs_case 3 4.2
testcase kernel-nfs-loss 180 nfs_loss_case
testcase kernel-nfs-link 240 nfs_link_case
