#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The guest's part of `make bench`: measures kwarp, siw, rxe and plain TCP ("contenders").

Each contender has its own pair of network devices from the near end to the far one (see links.py),
and an RDMA link at each end (plain TCP has none).  All contenders are set up at the same time.
Each kind of traffic (a "cell", see cells.py) is measured on all contenders within seconds.  A round
measures all cells once; there are several rounds.  So a machine that becomes slower or faster
during the run affects all contenders alike.

Standard output has progress for people, and for each measurement a line "@{...}" of JSON.  These
lines are printed at once, so that they are not lost if the guest dies later.
"""

import argparse
import json
import os
import platform
import re
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from cells import (LIBRARY, all_cells, cannot, depth_of, name_of, sleeps, takes_part,
                   unit_of)
from links import KINDS, difference, machine, make_link, run, sample, slow_down

TOOLS = os.environ.get("KWARP_TOOLS", "/opt/kwarp/tools")
# name -> type of its links, knobs and their values
CONTENDERS = {
    "kwarp": ("kwarp", {"crc": "off"}),
    "kwarp-crc": ("kwarp", {"crc": "on"}),
    "kwarp-align": ("kwarp", {"crc": "off", "align": "on"}),
    "kwarp-short": ("kwarp", {"crc": "off", "long_frames": "off"}),
    "kwarp-crc-short": ("kwarp", {"crc": "on", "long_frames": "off"}),
    "kwarp-siw": ("kwarp-siw", {"crc": "off"}),
    "siw": ("siw", {}),
    "rxe": ("rxe", {}),
    "tcp": (None, {}),
    "iperf3": (None, {}),
}
USUAL = ["kwarp", "kwarp-crc", "siw", "rxe", "tcp", "iperf3", LIBRARY]
GRACE = 20  # seconds that a run may take longer than its measurement


def emit(record):
    print("@" + json.dumps(record), flush=True)


def on_processor(number):
    return lambda: os.sched_setaffinity(0, {number})


NEAR = on_processor(0)
SERVER = on_processor(os.cpu_count() - 1)


class Failed(Exception):
    pass


class Contender:
    """The network, links and servers of one contender."""

    def __init__(self, name, number, link, opt):
        self.name, self.link, self.sleep = name, link, opt.sleep
        lossy = bool(opt.netem) and "loss" in opt.netem
        self.deep = bool(opt.netem) and not lossy
        # With loss TCP's slow start has to be over, or short runs would be faster than long ones.
        self.warm = 1 / 3 if lossy else 0
        # Losses make one phase of a measurement several times as slow as another.
        self.grace = 10 * GRACE if lossy else GRACE
        self.type, self.knobs = CONTENDERS[name]
        self.near, self.far = f"{name}0"[-12:], f"{name}1"[-12:]
        self.addr = f"10.9.{number}.2"
        self.servers = []
        self.make_net(f"10.9.{number}.1")
        if self.type:
            self.add_links()
        self.start_servers()

    def ends(self):
        """The words before a command for each end, and its network device."""
        return ([], self.near), (self.link.far, self.far)

    def make_net(self, near_addr):
        self.link.add(self.near, self.far, self.ends())
        for (where, dev), addr in zip(self.ends(), (near_addr, self.addr)):
            run(*where, "ip", "addr", "add", addr + "/24", "dev", dev)
            run(*where, "ip", "link", "set", dev, "up")

    def add_links(self):
        for where, dev in self.ends():
            run(*where, "rdma", "link", "add", "r" + dev, "type", self.type, "netdev", dev)
            for knob, value in self.knobs.items():
                run(*machine(self.link, where), "sh", "-c", f"echo {value} >/sys/class/infiniband/r{dev}/kwarp/{knob}")

    def set_mtu(self, mtu):
        self.link.allow_mtu(mtu)
        for where, dev in self.ends():
            run(*where, "ip", "link", "set", dev, "mtu", str(mtu))

    def samples(self):
        ours = (self.type or "").startswith("kwarp")
        return [sample(self.link, where, dev, "r" + dev if ours else None) for where, dev in self.ends()]

    def steer(self):
        """Receive packets on the processor of the program that they are for, as on two machines."""
        for (where, dev), number in zip(self.ends(), (0, os.cpu_count() - 1)):
            run(*where, "sh", "-c", f"echo {1 << number:x} >/sys/class/net/{dev}/queues/rx-0/rps_cpus")

    def serve(self, port, *command):
        log = open(f"/tmp/{self.name}-{port}.log", "w")
        self.servers.append(subprocess.Popen([*self.link.far, *command], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                             preexec_fn=SERVER))
        for _ in range(100):
            if run(*self.link.far, "ss", "-Hltn", f"src {self.addr} and sport = :{port}").stdout:
                return
            time.sleep(0.02 if self.type != "rxe" else 0.005)
        # rxe does not listen on a TCP port. For rxe the loop is a delay of half a second.

    def start_servers(self):
        if self.type:
            self.serve(7175, f"{TOOLS}/kwconn", "-s", "-a", self.addr, "-p", "7175")
            self.serve(7176, f"{TOOLS}/kwbench", "-s", "-a", self.addr, "-p", "7176")
        elif self.name == "tcp":
            self.serve(7176, f"{TOOLS}/kwbench", "-s", "-T", "-a", self.addr, "-p", "7176")
        else:
            self.serve(5201, "iperf3", "-s", "-B", self.addr)

    def restart_servers(self):
        for p in self.servers:
            p.kill()
        for p in self.servers:
            p.wait()
        self.servers = []
        self.start_servers()

    def measure(self, cell, seconds):
        if self.name == "iperf3":
            return measure_iperf(self, cell, seconds)
        if cell["kind"] == "connect":
            return measure_connects(self, cell)
        before = self.samples()
        result = measure_kwbench(self, cell, seconds, self.grace)
        near, far = map(difference, before, self.samples())
        return {**result, "near": near, "far": far}


class Library:
    """The kernel's crc32c alone, as a contender: no CRC of all octets can be faster than this."""

    name, type = LIBRARY, None

    def __init__(self):
        run("modprobe", "-a", "algif_hash", "crc32c", check=False)
        listener = socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)
        listener.bind(("hash", "crc32c"))
        self.op, _ = listener.accept()

    def set_mtu(self, mtu):
        pass

    def restart_servers(self):
        pass

    def measure(self, cell, seconds):
        octets, ops, began = os.urandom(cell["size"]), 0, time.monotonic()
        while time.monotonic() < began + seconds:
            # 64 buffers in one call, so that the system call itself costs little.
            self.op.sendmsg([octets] * 64)
            self.op.recv(4)
            ops += 64
        return {"ops": ops, "seconds": time.monotonic() - began}


# ------------------------------------------------------------------ measuring


def client(limit, *command):
    try:
        done = subprocess.run(command, text=True, capture_output=True, timeout=limit, preexec_fn=NEAR)
    except subprocess.TimeoutExpired:
        raise Failed(f"no end after {limit:.0f} s") from None
    if done.returncode:
        raise Failed(f"status {done.returncode}: {done.stderr.strip()[-200:]}")
    return done


def measure_kwbench(who, cell, seconds, grace=GRACE):
    args = ["-c", "-a", who.addr, "-q", str(cell["qps"])]
    if cell["kind"] == "memory":
        args += ["-o", "idle", "-w", "16", "-m", "4096"]
    else:
        args += ["-o", cell["op"], "-m", str(cell["size"]), "-t", str(int(seconds * 1000))]
        args += ["-l", "-w", "4"] if cell["kind"] == "latency" else ["-w", str(depth_of(cell, who.deep))]
        args += ["-u", str(max(200, int(seconds * 1000 * who.warm)))] + (["-e"] if who.sleep or sleeps(cell) else [])
    return json.loads(client(seconds + grace, f"{TOOLS}/kwbench", *args).stdout)


def measure_connects(who, cell):
    """Connect, echo a message, disconnect: cell["count"] times, cell["qps"] at the same time."""
    done = client(GRACE, f"{TOOLS}/kwconn", "-c", "-a", who.addr, "-p", "7175", "-n", str(cell["count"]),
                  "-P", str(cell["qps"]))
    seconds = int(re.search(r"all took (\d+) ms", done.stderr).group(1)) / 1000
    return {"ops": cell["count"], "seconds": max(seconds, 0.001)}


def idle_time():
    with open("/proc/stat") as f:
        fields = f.readline().split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


def measure_iperf(who, cell, seconds):
    """Run iperf3. The busy time of the processors is measured in the middle of the run only."""
    seconds = max(1, round(seconds))
    command = ["iperf3", "-c", who.addr, "-t", str(seconds), "-l", str(cell["size"]), "-J",
               "-P", str(cell["qps"])]
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=NEAR)
    try:
        time.sleep(0.3 * seconds)
        began, idle = time.monotonic(), idle_time()
        time.sleep(0.6 * seconds)
        share = os.cpu_count() - (idle_time() - idle) / (time.monotonic() - began)
        out, _ = p.communicate(timeout=GRACE)
    except subprocess.TimeoutExpired:
        p.kill()
        raise Failed("iperf3 does not end") from None
    report = json.loads(out)
    if "error" in report:
        raise Failed(report["error"])
    total = report["end"]["sum_received"]
    return {"ops": total["bytes"] // cell["size"], "seconds": total["seconds"], "busy": share * total["seconds"]}


# ----------------------------------------------------------------------- rounds


def brief(cell, result):
    if "error" in result:
        return "failed"
    if cell["kind"] == "latency":
        return f"{result['median']:.1f}"
    if cell["kind"] == "memory":
        return f"{result['kib_each']:.0f}"
    if cell["kind"] == "cpu":
        return f"{result['busy'] / result['ops'] * 1e6:.1f}"
    rate = result["ops"] / result["seconds"]
    return f"{rate:.0f}" if cell["size"] < 65536 else f"{rate * cell['size'] / (1 << 20):.0f}"


class Bench:
    def __init__(self, opt, contenders):
        self.opt = opt
        self.contenders = contenders
        self.given_up = set()

    def one(self, who, cell):
        """Measure one cell. After a failure restart the servers and try once more.

        If the second try succeeds, the result has the first error as "retried".
        """
        try:
            return who.measure(cell, self.opt.seconds)
        except (Failed, ValueError, OSError) as e:
            first = str(e)
        who.restart_servers()
        try:
            return {**who.measure(cell, self.opt.seconds), "retried": first}
        except (Failed, ValueError, OSError) as e:
            who.restart_servers()
            return {"error": str(e)}

    def cell(self, number, mtu, cell):
        shown = []
        # Another contender begins in each round, because the one that begins finds cold caches.
        able = [who for who in self.contenders if takes_part(who, cell)]
        first = number % max(len(able), 1)
        for who in able[first:] + able[:first]:
            key = (who.name, mtu, name_of(cell))
            if key in self.given_up:
                continue
            result = self.one(who, cell)
            if "error" in result:
                self.given_up.add(key)
            emit({"round": number, "mtu": mtu, "who": who.name, **cell, **result})
            shown.append(f"{who.name} {brief(cell, result)}")
        if shown:
            shown += [f"{who.name} cannot" for who in self.contenders if cannot(who, cell)]
            print(f"  {name_of(cell):26s} {unit_of(cell):>6s}  {'  '.join(shown)}", flush=True)

    def round(self, number):
        for mtu in self.opt.mtu:
            print(f"round {number + 1} of {self.opt.rounds}, MTU {mtu}", flush=True)
            for who in self.contenders:
                who.set_mtu(mtu)
            for cell in self.opt.chosen[mtu]:
                self.cell(number, mtu, cell)


def make_contenders(opt):
    """Make the contenders that work on this kernel.

    siw may be missing, and the rxe of some kernels works in one network namespace only.
    """
    made, link = [], make_link(opt.link)
    for number, name in enumerate(opt.who, 1):
        try:
            who = Library() if name == LIBRARY else Contender(name, number, link, opt)
            if opt.steer and name != LIBRARY:
                who.steer()
            if opt.netem and name != LIBRARY:
                for where, dev in who.ends():
                    slow_down(where, dev, opt.netem)
            if who.type:
                measure_kwbench(who, {"kind": "rate", "op": "write", "size": 64, "qps": 1}, 0.1,
                             grace=15 if who.type == "rxe" else GRACE)
            made.append(who)
        except (Failed, ValueError, OSError, subprocess.CalledProcessError) as e:
            why = getattr(e, "stderr", None) or str(e)
            emit({"absent": name, "why": why.strip()[-300:]})
            print(f"{name} does not take part: {why.strip()[-300:]}", flush=True)
    return made


def describe():
    with open("/proc/meminfo") as f:
        memory = int(f.readline().split()[1])
    clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    emit({"guest": {"kernel": platform.release(), "processors": os.cpu_count(), "memory_kib": memory,
                    "clocksource": open(clock).read().strip() if os.path.exists(clock) else None}})


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=1.0)
    p.add_argument("--mtu", type=int, nargs="+", default=[1500, 9000, 65000])
    p.add_argument("--who", nargs="+", default=USUAL, choices=[*CONTENDERS, LIBRARY])
    p.add_argument("--cells", default="", help="regular expression for names such as 1500-rate-write-65536-1")
    p.add_argument("--steer", action="store_true", help="receive packets of each end on the processor of its program")
    p.add_argument("--link", choices=KINDS, default="veth", help="how packets get to the far end (links.py)")
    p.add_argument("--netem", help="arguments of netem at both ends, such as 'delay 10ms loss 0.1%%'")
    p.add_argument("--sleep", action="store_true", help="both ends sleep until an event comes, in all cells")
    p.add_argument("--dry-run", action="store_true", help="check the options, and measure nothing")
    opt = p.parse_args()
    if opt.rounds < 1 or opt.seconds <= 0:
        p.error("--rounds and --seconds must be more than 0")
    opt.chosen = {mtu: [cell for cell in all_cells(mtu)
                        if re.search(opt.cells, f"{mtu}-{name_of(cell)}")] for mtu in opt.mtu}
    if not any(opt.chosen.values()):
        p.error(f"--cells '{opt.cells}' matches no cell; 1500-rate-write-65536-1 is one")
    return opt


def main():
    opt = parse()
    if opt.dry_run:
        return
    run("modprobe", "rdma_ucm")
    describe()
    bench = Bench(opt, make_contenders(opt))
    if not any(who.name == "kwarp" for who in bench.contenders):
        sys.exit("kwarp does not take part: nothing to measure")
    for number in range(opt.rounds):
        bench.round(number)


if __name__ == "__main__":
    main()
