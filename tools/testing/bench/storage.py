#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Storage over RDMA in the kernel, measured with fio: the guest's part of `make bench --storage`.

Protocols: NVMe over Fabrics, NFS, SMB, SRP, RNBD.  They run over kwarp, siw, rxe and plain TCP
("contenders").  Both ends are in one network namespace, because NVMe works in the first one only:

    fio -- /dev/nvmeXn1 -- host   ..TCP over lo, whose MTU is set.. target -- /dev/ram0
    fio -- a file       -- client ..TCP over lo, whose MTU is set.. server -- tmpfs

All contenders are connected all the time.  Each has its own disk (several disks may have the same
memory) or its own file.  They are measured one after the other; each repetition of this is a round.
Standard output has the same form as that of run.py.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys

from run import describe, emit
from storage_ends import PROTOCOLS, get, put, run, wait_for

FILE_SIZE = "128m"
# name -> type of its link, knobs and their values, transport
CONTENDERS = {
    "kwarp": ("kwarp", {"crc": "off"}, "rdma"),
    "kwarp-crc": ("kwarp", {"crc": "on"}, "rdma"),
    "siw": ("siw", {}, "rdma"),
    "tcp": (None, {}, "tcp"),
    "rxe": ("rxe", {}, "rdma"),
}
USUAL = ["kwarp", "kwarp-crc", "siw", "tcp"]
# name -> fio's option "rw", block size in octets, requests in flight
CELLS = {
    "read": ("read", 1 << 20, 8),
    "write": ("write", 1 << 20, 8),
    "randread": ("randread", 4096, 32),
    "randwrite": ("randwrite", 4096, 32),
    "latency": ("randread", 4096, 1),
}


def switches():
    """Number of context switches since boot."""
    with open("/proc/stat") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("ctxt"))


class Contender:
    """The link of one contender, and for each protocol the disk or file that fio works on."""

    def __init__(self, name, number, servers):
        self.name, self.number, self.link, self.at = name, number, None, {}
        self.type, knobs, self.transport = CONTENDERS[name]
        self.addr = f"10.98.{number}.1"
        self.add_net()
        if self.type:
            self.add_link(knobs)
        for protocol, server in servers.items():
            if self.transport in server.transports:
                self.attach(protocol, server)

    def add_net(self):
        """Make an interface with the contender's address.

        rdma_cm finds the RDMA link by this interface. The packets go over lo.
        """
        self.dev = f"d{self.number}"
        run("ip", "link", "add", self.dev, "up", "type", "dummy")
        run("ip", "addr", "add", self.addr + "/24", "dev", self.dev)

    def add_link(self, knobs):
        self.link = link = "r" + self.dev
        run("rdma", "link", "add", link, "type", self.type, "netdev", self.dev)
        for knob, value in knobs.items():
            put(f"/sys/class/infiniband/{link}/kwarp/{knob}", value)
        state = f"/sys/class/infiniband/{link}/ports/1/state"
        wait_for("the link", lambda: "ACTIVE" in get(state))

    def attach(self, protocol, server):
        """Connect, and note the file that fio works on.

        This is done before the MTU of lo is lowered. TCP lowers the segment size of a connection
        later, but never raises it above the initial size.
        """
        try:
            self.at[protocol] = server.attach(self)
        except (OSError, subprocess.SubprocessError) as e:
            tell_absent(f"{self.name} {protocol}", e)

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
        # Context switches during the start and end of fio, and during its ramp time, are included.
        switched = switches() - before
        # Use fio's total latency ("lat"), which begins with the submission. Its completion latency
        # begins only when io_submit() returns, and a request may complete before that.
        percentiles = side["lat_ns"]["percentile"]
        return {"ops": side["total_ios"], "seconds": side["runtime"] / 1000, "switches": switched,
                "median": percentiles["50.000000"] / 1000, "p99": percentiles["99.000000"] / 1000}


def tell_absent(what, e):
    why = (getattr(e, "stderr", None) or str(e)).strip()[-300:]
    emit({"absent": what, "why": why})
    print(f"{what} does not take part: {why}", flush=True)


def make(name, number, servers):
    try:
        return Contender(name, number, servers)
    except (OSError, subprocess.SubprocessError) as e:
        tell_absent(name, e)
        return None


def serve(names):
    """Start the servers of the protocols that this kernel has."""
    servers = {}
    for name in names:
        server = PROTOCOLS[name]()
        try:
            server.serve()
            servers[name] = server
        except (OSError, subprocess.SubprocessError) as e:
            tell_absent(name, e)
    return servers


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
    p.add_argument("--who", nargs="+", default=USUAL, choices=list(CONTENDERS))
    p.add_argument("--cells", nargs="+", default=list(CELLS), choices=list(CELLS))
    p.add_argument("--protocols", nargs="+", default=list(PROTOCOLS), choices=list(PROTOCOLS))
    p.add_argument("--dry-run", action="store_true", help="check the options, and measure nothing")
    opt = p.parse_args()
    if opt.rounds < 1 or opt.seconds < 1:
        p.error("--rounds and --seconds must be more than 0")
    if opt.dry_run:
        return
    describe()
    run("modprobe", "dummy")
    run("ip", "link", "set", "lo", "up")
    servers = serve(opt.protocols)
    contenders = [who for who in (make(name, n, servers) for n, name in enumerate(opt.who, 1)) if who]
    if not any(who.name == "kwarp" for who in contenders):
        sys.exit("kwarp does not take part: nothing to measure")
    for number in range(opt.rounds):
        for mtu in opt.mtu:
            run("ip", "link", "set", "lo", "mtu", str(mtu))
            print(f"round {number + 1} of {opt.rounds}, MTU {mtu}", flush=True)
            turn = contenders[number % len(contenders):] + contenders[:number % len(contenders)]
            for protocol, cell in itertools.product(servers, opt.cells):
                print(f"  {protocol:4s} {cell:10s}",
                      "  ".join(one(who, protocol, cell, mtu, number, opt.seconds) for who in turn
                                if protocol in who.at), flush=True)


if __name__ == "__main__":
    main()
