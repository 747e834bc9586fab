# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The cells of run.py: kinds of traffic, each with its operation, size and number of queue pairs."""

import os

LIBRARY = "crc32c"
SIZES = (64, 1024, 4096, 65536, 1 << 20)
OPS = ("write", "read", "send")
# RFC 7306, which neither siw nor its provider has; InfiniBand does, and so rxe.
IMM, ATOMICS = "write-imm", ("fetch-add", "cmp-swap")
WORD = 8  # octets of an atomic operation
IN_FLIGHT = 4 << 20  # octets that may be under way on one queue pair
IPERF_STREAMS = 128  # iperf3 has no more
# Two programs that poll would wait for each other's time slices: then but one polls.
ALONE = os.cpu_count() == 1


def depth_of(cell):
    """Requests per queue pair: fewer where there are many, or where they are large."""
    return max(1, min(128, IN_FLIGHT // cell["size"], max(4, 512 // cell["qps"])))


def sleeps(cell):
    """Does each end sleep for events?"""
    heard = cell["kind"] == "latency" or cell["op"] in ("send", IMM)
    return cell["kind"] == "cpu" or ALONE and heard


def rate_cells():
    """Those that are compared with each other are neighbours."""
    for qps, sizes in ((1, SIZES), (8, (64, 65536)), (64, (64, 65536)), (512, (64, 65536))):
        for size in sizes:
            for op in OPS:
                yield {"kind": "rate", "op": op, "size": size, "qps": qps}
            if qps == 1 or size == 65536:
                yield {"kind": "rate", "op": "stream", "size": size, "qps": qps}


def library_cell():
    """Its octets go through the processor's cache, as those of a batch do."""
    return {"kind": "rate", "op": LIBRARY, "size": 65536, "qps": 1}


def rfc7306_cells(mtu):
    """What an atomic operation takes does not depend on the MTU."""
    for qps in (1, 64):
        for size in (64, 65536):
            yield {"kind": "rate", "op": IMM, "size": size, "qps": qps}
    for size in (64, 4096):
        yield {"kind": "latency", "op": IMM, "size": size, "qps": 1}
    if mtu == 1500:
        for op in ATOMICS:
            for qps in (1, 64):
                yield {"kind": "rate", "op": op, "size": WORD, "qps": qps}
            yield {"kind": "latency", "op": op, "size": WORD, "qps": 1}


def all_cells(mtu):
    yield from rate_cells()
    yield from rfc7306_cells(mtu)
    yield library_cell()
    for op in OPS:
        for size in (64, 4096):
            yield {"kind": "latency", "op": op, "size": size, "qps": 1}
        for size in (64, 65536):
            yield {"kind": "cpu", "op": op, "size": size, "qps": 1}
    for size in (64, 4096):
        yield {"kind": "latency", "op": "stream", "size": size, "qps": 1}
    for size in (64, 65536):
        yield {"kind": "cpu", "op": "stream", "size": size, "qps": 1}
    if mtu == 1500:
        yield {"kind": "connect", "op": "connect", "size": 64, "qps": 1, "count": 100}
        yield {"kind": "connect", "op": "connect", "size": 64, "qps": 64, "count": 512}
        yield {"kind": "memory", "op": "idle", "size": 0, "qps": 512}


def short_cells(mtu):
    """What the targets are about, as far as it takes two minutes."""
    yield {"kind": "rate", "op": "stream", "size": 65536, "qps": 1}
    for op in OPS:
        yield {"kind": "rate", "op": op, "size": 65536, "qps": 1}
    if mtu == 1500:
        yield {"kind": "rate", "op": "write", "size": 64, "qps": 1}
        yield {"kind": "rate", "op": "write", "size": 65536, "qps": 512}
        yield {"kind": "cpu", "op": "write", "size": 65536, "qps": 1}
        yield {"kind": "connect", "op": "connect", "size": 64, "qps": 1, "count": 50}
        for op in OPS:
            yield {"kind": "latency", "op": op, "size": 64, "qps": 1}
        # Of RFC 7306 each operation once: no ratio, but that it works at full speed.
        for kind, op, size in (("rate", IMM, 64), ("rate", "fetch-add", WORD), ("latency", "cmp-swap", WORD)):
            yield {"kind": kind, "op": op, "size": size, "qps": 1}


def name_of(cell):
    return f"{cell['kind']}-{cell['op']}-{cell['size']}-{cell['qps']}"


UNITS = {"latency": "us", "memory": "KiB", "cpu": "us of CPU each", "connect": "/s"}


def unit_of(cell):
    return UNITS.get(cell["kind"]) or ("/s" if cell["size"] < 65536 else "MiB/s")


def cannot(who, cell):
    return cell["op"] in (IMM, *ATOMICS) and who.type in ("siw", "kwarp-siw")


def takes_part(who, cell):
    """Operations of RDMA are for those that have links."""
    if cell["op"] == LIBRARY:
        return who.name == LIBRARY
    if cell["op"] == "stream":
        return who.name == "tcp" or who.name == "iperf3" and cell["kind"] == "rate" and cell["qps"] <= IPERF_STREAMS
    if cannot(who, cell):
        return False
    # A Write makes no event at the far side.
    if ALONE and cell["kind"] == "latency" and cell["op"] == "write":
        return False
    return who.type is not None
