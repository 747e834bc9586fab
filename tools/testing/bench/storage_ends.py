# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The protocols of storage.py: for each one, its server and how a client connects.

Each class has the transports of the protocol ("rdma", "tcp") and two methods.  serve() starts the
server, once and before any client.  attach(who) connects a client for the contender "who", which
has an address, a transport, a number and a name; it returns the file or block device for fio.
"""

import glob
import os
import subprocess
import time

NVMET = "/sys/kernel/config/nvmet"
TARGET = "/sys/kernel/config/target"
NFS_EXPORT = "/srv/bench"
NFS_PORT, MOUNTD_PORT, NFS_RDMA_PORT = 2049, 20048, 20049
SMB_SHARE = "/srv/smb"
SMB_CONFIG, SMB_USERS = "/run/bench-smb.conf", "/run/bench-smb-users"
SRP_PORT = 5555
# SRP derives the initiator's name from the port GUID, which is 0 for an iWARP device.
SRP_INITIATOR = "0x" + 32 * "0"


def run(*args, **kwargs):
    return subprocess.run(args, check=True, text=True, capture_output=True, **kwargs)


def put(path, text):
    with open(path, "w") as f:
        f.write(str(text))


def get(path):
    with open(path) as f:
        return f.read().strip()


def wait_for(what, found, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = found()
        if result:
            return result
        time.sleep(0.05)
    raise OSError(f"{what} does not come")


def new_device(pattern, make):
    """Return the device file that matches the pattern and has appeared since make() was called."""
    before = set(glob.glob(pattern))
    make()
    return wait_for("the disk", lambda: set(glob.glob(pattern)) - before).pop()


def ram_disks():
    """Make /dev/ram0, which contenders share, and /dev/ramN for the contender with number N."""
    if not os.path.exists("/dev/ram0"):
        run("modprobe", "brd", "rd_nr=8", "rd_size=262144")
        wait_for("the RAM disks", lambda: os.path.exists("/dev/ram7"))


class Nvme:
    """NVMe over Fabrics: each contender has its own subsystem; all of them use /dev/ram0."""

    transports = ("rdma", "tcp")

    def serve(self):
        run("modprobe", "-a", "nvmet-rdma", "nvmet-tcp", "nvme-rdma", "nvme-tcp")
        ram_disks()

    def attach(self, who):
        nqn = f"bench-{who.name}"
        subsystem, port = f"{NVMET}/subsystems/{nqn}", f"{NVMET}/ports/{who.number}"
        os.makedirs(f"{subsystem}/namespaces/1")
        os.mkdir(port)
        put(f"{subsystem}/attr_allow_any_host", 1)
        put(f"{subsystem}/namespaces/1/device_path", "/dev/ram0")
        put(f"{subsystem}/namespaces/1/enable", 1)
        for key, value in (("trtype", who.transport), ("adrfam", "ipv4"), ("traddr", who.addr), ("trsvcid", 4420)):
            put(f"{port}/addr_{key}", value)
        os.symlink(subsystem, f"{port}/subsystems/{nqn}")
        put("/dev/nvme-fabrics", f"transport={who.transport},traddr={who.addr},trsvcid=4420,nqn={nqn},"
            f"nr_io_queues={os.cpu_count()}")
        return wait_for("the disk", lambda: self.find_disk(nqn))

    def find_disk(self, nqn):
        """Find the block device of the subsystem.

        With multipath, the disk is nvmeXn1 of the subsystem, and each path has another name that
        has no device file. Without multipath, the disk is in the controller's folder.
        """
        for path in glob.glob("/sys/class/nvme-subsystem/*/subsysnqn"):
            if get(path) == nqn:
                for disk in glob.glob(os.path.dirname(path) + "/nvme*n1") + glob.glob(os.path.dirname(path) + "/nvme*/nvme*n1"):
                    if os.path.exists("/dev/" + os.path.basename(disk)):
                        return "/dev/" + os.path.basename(disk)
        return None


class Nfs:
    """NFS: one server, which listens on TCP and on all RDMA devices, also those added later."""

    transports = ("rdma", "tcp")

    def serve(self):
        run("modprobe", "-a", "nfsd", "rpcrdma", "nfs", "nfsv3")
        os.makedirs(NFS_EXPORT)
        run("mount", "-t", "tmpfs", "-o", "size=1g", "bench", NFS_EXPORT)
        run("mount", "-t", "nfsd", "nfsd", "/proc/fs/nfsd")
        os.makedirs("/run/rpcbind", exist_ok=True)
        run("rpcbind", "-w")
        run("exportfs", "-i", "-o", "rw,no_root_squash,no_subtree_check,insecure,fsid=1", f"*:{NFS_EXPORT}")
        run("rpc.mountd", "-p", str(MOUNTD_PORT))
        run("rpc.nfsd", "-V", "3", "-N", "4", "8")
        put("/proc/fs/nfsd/portlist", f"rdma {NFS_RDMA_PORT}")

    def attach(self, who):
        """Mount with version 3: with version 4, all mounts of a server use the first transport."""
        where = f"/mnt/nfs-{who.name}"
        os.makedirs(where)
        port = NFS_RDMA_PORT if who.transport == "rdma" else NFS_PORT
        run("mount", "-t", "nfs", "-o", f"vers=3,nolock,proto={who.transport},port={port},mountproto=tcp,"
            f"mountport={MOUNTD_PORT}", f"{who.addr}:{NFS_EXPORT}", where, timeout=60)
        return f"{where}/{who.name}"


class Smb:
    """SMB: ksmbd and cifs, with SMB Direct if the transport is RDMA.

    Debian's kernels do not have SMB Direct; the kernel of tools/testing/guest/uml.config has it.
    """

    transports = ("rdma", "tcp")

    def serve(self):
        run("modprobe", "-a", "ksmbd", "cifs")
        os.makedirs(SMB_SHARE)
        run("mount", "-t", "tmpfs", "-o", "size=1g,mode=777", "bench", SMB_SHARE)
        put(SMB_CONFIG, f"[global]\nserver min protocol = SMB3_00\n[share]\npath = {SMB_SHARE}\nread only = no\n")
        put(SMB_USERS, "")
        run("ksmbd.adduser", "-C", SMB_CONFIG, "-P", SMB_USERS, "-a", "-p", "kwarp", "kwarp")
        subprocess.Popen(["ksmbd.mountd", "-C", SMB_CONFIG, "-P", SMB_USERS, "-n"], start_new_session=True,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def attach(self, who):
        """Mount. Try until it works: the server notices a new interface only after some time."""
        where = f"/mnt/smb-{who.name}"
        os.makedirs(where)
        options = ("rdma," if who.transport == "rdma" else "") + "vers=3.1.1,username=kwarp,password=kwarp,cache=none"
        wait_for("the share", lambda: subprocess.run(
            ["mount.cifs", f"//{who.addr}/share", where, "-o", options], timeout=60, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0)
        return f"{where}/{who.name}"


class Srp:
    """SCSI over RDMA, which has no other transport. Each contender has its own RAM disk."""

    transports = ("rdma",)

    def serve(self):
        run("modprobe", "-a", "target_core_mod", "target_core_iblock", "ib_srpt", "ib_srp", "sd_mod")
        ram_disks()

    def attach(self, who):
        core = f"{TARGET}/core/iblock_{who.number}/bench"
        os.makedirs(core)
        put(f"{core}/control", f"udev_path=/dev/ram{who.number}")
        put(f"{core}/enable", 1)
        os.makedirs(f"{TARGET}/srpt", exist_ok=True)
        put(f"{TARGET}/srpt/discovery_auth/rdma_cm_port", SRP_PORT)
        gid = "0x" + get(f"/sys/class/infiniband/{who.link}/ports/1/gids/0").replace(":", "")
        group = f"{TARGET}/srpt/{gid}/{gid}"
        os.makedirs(f"{group}/lun/lun_0")
        os.symlink(core, f"{group}/lun/lun_0/disk")
        os.makedirs(f"{group}/acls/{SRP_INITIATOR}/lun_0")
        os.symlink(f"{group}/lun/lun_0", f"{group}/acls/{SRP_INITIATOR}/lun_0/lun")
        put(f"{group}/enable", 1)
        guid = get("/sys/module/ib_srpt/parameters/srpt_service_guid").removeprefix("0x")
        return new_device("/dev/sd*", lambda: put(
            f"/sys/class/infiniband_srp/srp-{who.link}-1/add_target",
            f"id_ext={guid},ioc_guid={guid},dest={who.addr}:{SRP_PORT},queue_size=64"))


class Rnbd:
    """RNBD over RTRS, which has no transport but RDMA.

    siw cannot take part: RTRS answers with Writes with immediate data, which siw does not have.
    """

    transports = ("rdma",)

    def serve(self):
        # By default RTRS answers with Sends that have both invalidation and immediate data. iWARP
        # has no such message.
        run("modprobe", "rtrs_server", "always_invalidate=N")
        run("modprobe", "-a", "rnbd_server", "rnbd_client")
        ram_disks()

    def attach(self, who):
        return new_device("/dev/rnbd*", lambda: put(
            "/sys/class/rnbd-client/ctl/map_device",
            f"sessname={who.name} path=ip:{who.addr} device_path=/dev/ram{who.number}"))


PROTOCOLS = {"nvme": Nvme, "nfs": Nfs, "smb": Smb, "srp": Srp, "rnbd": Rnbd}
