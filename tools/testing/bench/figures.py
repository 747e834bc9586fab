# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The figures of one guest, read from the JSON of report.py, and values computed from them.

A cell is one kind of traffic: MTU, program or device ("who"), kind, operation, size in octets,
number of queue pairs.  Each cell is measured once in each round of the benchmark.  A run is the
result of one such measurement, for example number of operations, seconds, processor time ("busy",
seconds), latency ("median", "p99", microseconds).
"""
import json
import os
import statistics

KEYS = ("mtu", "who", "kind", "op", "size", "qps")
GIB = 1 << 30
MIB = 1 << 20
OPS = ("write", "read", "send")
NAMES = {"kwarp": "kwarp", "kwarp-crc": "kwarp, CRC", "kwarp-align": "kwarp, aligned",
         "kwarp-short": "kwarp, short FPDUs", "kwarp-crc-short": "kwarp, CRC, short FPDUs",
         "kwarp-siw": "kwarp, libsiw", "siw": "siw", "rxe": "rxe", "tcp": "TCP", "iperf3": "iperf3"}
LIBRARY = "crc32c"
PLAIN = ("tcp", "iperf3")


class Figures:
    """The cells of one guest, and values computed from them."""

    def __init__(self, path):
        with open(path) as f:
            self.data = json.load(f)
        self.name = os.path.basename(path)[: -len(".json")]
        self.cells = {tuple(c[k] for k in KEYS): c for c in self.data["cells"]}

    def runs(self, mtu, who, kind, op, size, qps):
        cell = self.cells.get((mtu, who, kind, op, size, qps), {"runs": {}})
        return cell["runs"]

    def values(self, metric, *key):
        """Values of one cell by round: {round: value}."""
        found = {r: metric(run, key[4]) for r, run in self.runs(*key).items()}
        return {r: value for r, value in found.items() if value is not None}

    def mtus(self):
        return sorted({k[0] for k in self.cells})

    def contenders(self):
        seen = {k[1] for k in self.cells}
        return [n for n in NAMES if n in seen]


def rate(run, size):
    return run["ops"] / run["seconds"]


def thousands(run, size):
    return rate(run, size) / 1000


def bandwidth(run, size):
    return rate(run, size) * size / MIB


def instructions(run, size):
    """Thousands of instructions per operation, if the guest's clock counts each as a nanosecond."""
    return run["seconds"] / run["ops"] * 1e6


def median_latency(run, size):
    return run["median"]


def tail_latency(run, size):
    return run["p99"]


def cpu_per_gib(run, size):
    return run["busy"] / (run["ops"] * size) * GIB


def cpu_per_message(run, size):
    return run["busy"] / run["ops"] * 1e6


def ends_of(run):
    """What sender and receiver of the payload did: {name: value}, see difference() of links.py."""
    ends = [run[end] for end in ("near", "far") if end in run]
    return sorted(ends, key=lambda end: end["received"]) or [{}, {}]


def cpu_of(number):
    """Processor time of an end of ends_of(), a machine, seconds per GiB that came by the link."""
    def cpu(run, size):
        ends = ends_of(run)
        return ends[number]["cpu"] / ends[1]["received"] * GIB if ends[number].get("cpu") else None
    return cpu


sender_cpu, receiver_cpu = cpu_of(0), cpu_of(1)


def share_of(counter):
    """Share of the FPDUs, in per cent, that this counter has counted."""
    def share(run, size):
        receiver = ends_of(run)[1]
        return 100 * receiver[counter] / receiver["rx_fpdus"] if receiver.get("rx_fpdus") else None
    return share


def fpdus_each(run, size):
    """FPDUs per 64 KiB that came by the link."""
    receiver = ends_of(run)[1]
    return receiver["rx_fpdus"] / receiver["received"] * 65536 if receiver.get("rx_fpdus") else None


def memory_each(run, size):
    return run["kib_each"]


def show(values):
    """Text of the median and the spread of {round: value}."""
    if not values:
        return "–"
    v = sorted(values.values())
    mid = statistics.median(v)
    text = f"{mid:.0f}" if mid >= 100 else f"{mid:.3g}"
    if len(v) > 1 and mid:
        text += f" ±{(v[-1] - v[0]) / mid * 50:.0f}%"
    return text


def octets(size):
    return f"{size >> 20} MiB" if size >= MIB else f"{size >> 10} KiB" if size >= 1024 else str(size)


def ratios(ours, theirs):
    return sorted(ours[r] / theirs[r] for r in ours if theirs.get(r))


def rate_key(who, op, size=65536, qps=1, kind="rate"):
    return (who, kind, op, size, qps)


def crc_bound(fig, mtu):
    """Bandwidth of large Writes, {round: MiB/s}, if CRC cost one pass at each end and nothing else.

    One processor does both passes: a veth pair receives on the processor that sent.
    """
    off = fig.values(bandwidth, mtu, *rate_key("kwarp", "write"))
    alone = fig.values(bandwidth, mtu, *rate_key(LIBRARY, LIBRARY))
    return {r: 1 / (1 / off[r] + 2 / alone[r]) for r in off if r in alone}


def values_of(fig, metric, mtu, who, kind, op, size, qps):
    """Values of a cell by round. Plain TCP has streams only, which stand for all operations."""
    plain = who in PLAIN
    return fig.values(metric, mtu, who, kind, "stream" if plain and kind != "connect" else op, size, qps)


def sizes(fig, kind="rate"):
    return sorted({k[4] for k in fig.cells if k[2] == kind and k[3] != "connect"})


def name_of_cell(c):
    return f"MTU {c['mtu']}, {c['kind']} {c['op']} {c['size']} × {c['qps']}"


def went_wrong(cell):
    """Lines about the errors of this cell, and about tries that failed before one succeeded."""
    name = f"{NAMES.get(cell['who'], cell['who'])}, {name_of_cell(cell)}"
    if cell.get("errors"):
        yield f"{name}: `{cell['errors'][0]}`"
    if cell.get("retried"):
        yield f"{name}: worked when it was tried again, in {len(cell['retried'])} rounds: `{cell['retried'][0]}`"
