#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Consumers in the kernel: NVMe over Fabrics and NFS over kwarp, siw and plain TCP, by fio.

Both ends are of one machine and one network namespace, since NVMe knows no other:

    fio -- /dev/nvmeXn1 -- host   ..TCP over lo, whose MTU is set.. target -- /dev/ram0
    fio -- a file       -- client ..TCP over lo, whose MTU is set.. server -- tmpfs

All are connected all the time, each with a disk of its own over the same memory and a file of its
own, and are measured in turn, round after round.  Standard output is as that of run.py.
"""

import argparse
import glob
import itertools
import json
import os
import subprocess
import sys
import time

NVMET = "/sys/kernel/config/nvmet"
ADDR = "10.98.0.1"
EXPORT = "/srv/bench"
FILE_SIZE = "128m"
NFS_PORT, MOUNTD_PORT, NFS_RDMA_PORT = 2049, 20048, 20049
# name -> link type, knobs, transport
CONTENDERS = {
    "kwarp": ("kwarp", {"crc": "off"}, "rdma"),
    "kwarp-crc": ("kwarp", {"crc": "on"}, "rdma"),
    "siw": ("siw", {}, "rdma"),
    "tcp": (None, {}, "tcp"),
}
# name -> fio's rw, block size, requests in flight
CELLS = {
    "read": ("read", 1 << 20, 8),
    "write": ("write", 1 << 20, 8),
    "randread": ("randread", 4096, 32),
    "randwrite": ("randwrite", 4096, 32),
    "latency": ("randread", 4096, 1),
}
PROTOCOLS = ("nvme", "nfs")


def run(*args, **kwargs):
    return subprocess.run(args, check=True, text=True, capture_output=True, **kwargs)


def put(path, text):
    with open(path, "w") as f:
        f.write(str(text))


def emit(record):
    print("@" + json.dumps(record), flush=True)


def wait_for(what, found, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = found()
        if result:
            return result
        time.sleep(0.05)
    raise OSError(f"{what} does not come")


def switches():
    """Context switches so far."""
    with open("/proc/stat") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("ctxt"))


class Contender:
    """One of those that are compared: its link, its target and its disk."""

    def __init__(self, name, number, protocols):
        self.name, self.number = name, number
        self.type, knobs, self.transport = CONTENDERS[name]
        self.addr = f"10.98.{number}.1"
        self.nqn = f"bench-{name}"
        self.add_net()
        if self.type:
            self.add_link(knobs)
        self.at = {protocol: self.attach(protocol) for protocol in protocols}

    def add_net(self):
        """An interface that is the address's home: rdma_cm finds the link by it, TCP uses lo."""
        self.dev = f"d{self.number}"
        run("ip", "link", "add", self.dev, "up", "type", "dummy")
        run("ip", "addr", "add", self.addr + "/24", "dev", self.dev)

    def add_link(self, knobs):
        link = "r" + self.dev
        run("rdma", "link", "add", link, "type", self.type, "netdev", self.dev)
        for knob, value in knobs.items():
            put(f"/sys/class/infiniband/{link}/kwarp/{knob}", value)
        state = f"/sys/class/infiniband/{link}/ports/1/state"
        wait_for("the link", lambda: "ACTIVE" in open(state).read())

    def attach(self, protocol):
        """What fio works on. Connected before the MTU is set: a connection's segments never grow beyond what they begin with."""
        if protocol == "nfs":
            return self.mount()
        self.add_target()
        return self.connect()

    def add_target(self):
        subsystem, port = f"{NVMET}/subsystems/{self.nqn}", f"{NVMET}/ports/{self.number}"
        os.makedirs(f"{subsystem}/namespaces/1")
        os.mkdir(port)
        put(f"{subsystem}/attr_allow_any_host", 1)
        put(f"{subsystem}/namespaces/1/device_path", "/dev/ram0")
        put(f"{subsystem}/namespaces/1/enable", 1)
        for key, value in (("trtype", self.transport), ("adrfam", "ipv4"), ("traddr", self.addr), ("trsvcid", 4420)):
            put(f"{port}/addr_{key}", value)
        os.symlink(subsystem, f"{port}/subsystems/{self.nqn}")

    def connect(self):
        put("/dev/nvme-fabrics", f"transport={self.transport},traddr={self.addr},trsvcid=4420,nqn={self.nqn},"
            f"nr_io_queues={os.cpu_count()}")
        return wait_for("the disk", self.find_disk)

    def find_disk(self):
        """A path of a multipath disk has a name of its own, without a node; a kernel may be built without multipath."""
        for path in glob.glob("/sys/class/nvme-subsystem/*/subsysnqn"):
            if open(path).read().strip() == self.nqn:
                for disk in glob.glob(os.path.dirname(path) + "/nvme*n1") + glob.glob(os.path.dirname(path) + "/nvme*/nvme*n1"):
                    if os.path.exists("/dev/" + os.path.basename(disk)):
                        return "/dev/" + os.path.basename(disk)
        return None

    def mount(self):
        """Version 3: a client of version 4 that knows the server already goes on with its first transport."""
        where = f"/mnt/{self.name}"
        os.makedirs(where)
        port = NFS_RDMA_PORT if self.transport == "rdma" else NFS_PORT
        run("mount", "-t", "nfs", "-o", f"vers=3,nolock,proto={self.transport},port={port},mountproto=tcp,"
            f"mountport={MOUNTD_PORT}", f"{self.addr}:{EXPORT}", where, timeout=60)
        return f"{where}/{self.name}"

    def measure(self, protocol, cell, seconds):
        rw, size, depth = CELLS[cell]
        before = switches()
        done = run("fio", "--name=bench", f"--filename={self.at[protocol]}", f"--size={FILE_SIZE}", f"--rw={rw}",
                   f"--bs={size}", f"--iodepth={depth}",
                   "--ioengine=libaio", "--direct=1", "--time_based", f"--runtime={seconds}", "--ramp_time=0.3",
                   "--lat_percentiles=1", "--clat_percentiles=0", "--output-format=json", timeout=seconds + 60)
        job = json.loads(done.stdout)["jobs"][0]
        side = job["write" if "write" in rw else "read"]
        if not side["total_ios"] or job["error"]:
            raise OSError(f"fio: error {job['error']}, {side['total_ios']} requests")
        # Those of fio's own begin and end, and of the requests before the time is taken, among them.
        switched = switches() - before
        # With the submission: a request may be done before it returns.
        percentiles = side["lat_ns"]["percentile"]
        return {"ops": side["total_ios"], "seconds": side["runtime"] / 1000, "switches": switched,
                "median": percentiles["50.000000"] / 1000, "p99": percentiles["99.000000"] / 1000}


def make(name, number, protocols):
    try:
        return Contender(name, number, protocols)
    except (OSError, subprocess.CalledProcessError) as e:
        why = (getattr(e, "stderr", None) or str(e)).strip()[-300:]
        emit({"absent": name, "why": why})
        print(f"{name} does not take part: {why}", flush=True)
        return None


def serve_nfs():
    """The server, on TCP and on every RDMA device there is and will be."""
    run("modprobe", "-a", "nfsd", "rpcrdma", "nfs", "nfsv3")
    os.makedirs(EXPORT)
    run("mount", "-t", "tmpfs", "-o", "size=1g", "bench", EXPORT)
    run("mount", "-t", "nfsd", "nfsd", "/proc/fs/nfsd")
    os.makedirs("/run/rpcbind", exist_ok=True)
    run("rpcbind", "-w")
    run("exportfs", "-i", "-o", "rw,no_root_squash,no_subtree_check,insecure,fsid=1", f"*:{EXPORT}")
    run("rpc.mountd", "-p", str(MOUNTD_PORT))
    run("rpc.nfsd", "-V", "3", "-N", "4", "8")
    put("/proc/fs/nfsd/portlist", f"rdma {NFS_RDMA_PORT}")


def one(who, protocol, cell, mtu, number, seconds):
    rw, size, depth = CELLS[cell]
    try:
        result = who.measure(protocol, cell, seconds)
    except (OSError, ValueError, subprocess.SubprocessError) as e:
        result = {"error": str(e)[-300:]}
    emit({"round": number, "mtu": mtu, "who": who.name, "kind": "storage", "op": f"{protocol} {rw}", "size": size,
          "qps": depth, **result})
    if "error" in result:
        return f"{who.name} failed: {result['error']}"
    if cell == "latency":
        return f"{who.name} {result['median']:.0f} us"
    rate = result["ops"] / result["seconds"]
    return f"{who.name} {rate:.0f}/s" if size < 65536 else f"{who.name} {rate * size / (1 << 20):.0f} MiB/s"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=int, default=2)
    p.add_argument("--mtu", type=int, nargs="+", default=[1500, 9000])
    p.add_argument("--who", nargs="+", default=list(CONTENDERS), choices=list(CONTENDERS))
    p.add_argument("--cells", nargs="+", default=list(CELLS), choices=list(CELLS))
    p.add_argument("--protocols", nargs="+", default=list(PROTOCOLS), choices=list(PROTOCOLS))
    p.add_argument("--dry-run", action="store_true", help="judge the options, and measure nothing")
    opt = p.parse_args()
    if opt.rounds < 1 or opt.seconds < 1:
        p.error("--rounds and --seconds must be more than 0")
    if opt.dry_run:
        return
    run("modprobe", "-a", "nvmet-rdma", "nvmet-tcp", "nvme-rdma", "nvme-tcp", "dummy")
    run("modprobe", "brd", "rd_nr=1", "rd_size=262144")
    run("ip", "link", "set", "lo", "up")
    if "nfs" in opt.protocols:
        serve_nfs()
    contenders = [who for who in (make(name, n, opt.protocols) for n, name in enumerate(opt.who, 1)) if who]
    if not any(who.name == "kwarp" for who in contenders):
        sys.exit("kwarp does not take part: nothing to measure")
    for number in range(opt.rounds):
        for mtu in opt.mtu:
            run("ip", "link", "set", "lo", "mtu", str(mtu))
            print(f"round {number + 1} of {opt.rounds}, MTU {mtu}", flush=True)
            turn = contenders[number % len(contenders):] + contenders[:number % len(contenders)]
            for protocol, cell in itertools.product(opt.protocols, opt.cells):
                print(f"  {protocol:4s} {cell:10s}",
                      "  ".join(one(who, protocol, cell, mtu, number, opt.seconds) for who in turn), flush=True)


if __name__ == "__main__":
    main()
