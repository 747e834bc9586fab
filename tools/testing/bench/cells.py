# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The cells of run.py: which kinds of traffic are measured, and which contender takes part.

A cell has a kind ("rate", "latency", "cpu", "connect" or "memory"), an operation, a message size
in octets, and a number of queue pairs ("qps").  A contender ("who"), for example kwarp or siw, is
what is measured: it has a name and the type of its RDMA links, which is None for plain TCP.
"""

import os

LIBRARY = "crc32c"
SIZES = (64, 1024, 4096, 65536, 1 << 20)
OPS = ("write", "read", "send")
# Operations of RFC 7306. siw and its provider do not have these. rxe has them, from InfiniBand.
IMM, ATOMICS = "write-imm", ("fetch-add", "cmp-swap")
WORD = 8  # octets that an atomic operation changes
IN_FLIGHT = 4 << 20  # octets of requests that one queue pair has at a time
# The same on a network with a large delay (run.py --netem). If that network loses packets, far less
# is under way, and a measurement cannot be shorter than the requests of one queue pair.
FAR_IN_FLIGHT = 128 << 20
IPERF_STREAMS = 128  # the largest number that iperf3 accepts
# On one processor, two programs that poll would wait for each other's time slices. So in cells in
# which both ends would poll, both sleep until an event comes.
ALONE = os.cpu_count() == 1


def depth_of(cell, far=False):
    """Requests per queue pair at a time: fewer if there are many queue pairs or large messages.

    Far: on a network with a large delay, without loss; rdma_cm has the number of Reads as an octet.
    """
    if far:
        return max(1, min(255 if cell["op"] == "read" else 1024, FAR_IN_FLIGHT // cell["size"]))
    return max(1, min(128, IN_FLIGHT // cell["size"], max(4, 512 // cell["qps"])))


def sleeps(cell):
    """Does each end sleep until an event comes? The alternative is polling."""
    heard = cell["kind"] == "latency" or cell["op"] in ("send", IMM)
    return cell["kind"] == "cpu" or ALONE and heard


def rate_cells():
    """Throughput. Cells whose figures are compared with each other come one after the other.

    So a machine that becomes slower or faster during the run affects them alike.
    """
    for qps, sizes in ((1, SIZES), (8, (64, 65536)), (64, (64, 65536)), (512, (64, 65536))):
        for size in sizes:
            for op in OPS:
                yield {"kind": "rate", "op": op, "size": size, "qps": qps}
            if qps == 1 or size == 65536:
                yield {"kind": "rate", "op": "stream", "size": size, "qps": qps}


def library_cell():
    """The CRC alone, of 64 KiB at a time: they fit in the processor's cache.

    kwarp also computes CRCs of such amounts, since it passes up to 64 KiB to TCP in one call.
    """
    return {"kind": "rate", "op": LIBRARY, "size": 65536, "qps": 1}


def rfc7306_cells(mtu):
    """Operations of RFC 7306. Atomic operations are small, so they are measured at one MTU only."""
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


def name_of(cell):
    return f"{cell['kind']}-{cell['op']}-{cell['size']}-{cell['qps']}"


UNITS = {"latency": "us", "memory": "KiB", "cpu": "us of CPU each", "connect": "/s"}


def unit_of(cell):
    return UNITS.get(cell["kind"]) or ("/s" if cell["size"] < 65536 else "MiB/s")


def cannot(who, cell):
    return cell["op"] in (IMM, *ATOMICS) and who.type in ("siw", "kwarp-siw")


def takes_part(who, cell):
    """RDMA operations are measured on contenders with RDMA links, streams on plain TCP."""
    if cell["op"] == LIBRARY:
        return who.name == LIBRARY
    if cell["op"] == "stream":
        return who.name == "tcp" or who.name == "iperf3" and cell["kind"] == "rate" and cell["qps"] <= IPERF_STREAMS
    if cannot(who, cell):
        return False
    # On one processor (ALONE) the latency of Writes is not measured: the far program must poll,
    # because a Write causes no event there, and would take the near program's processor time.
    if ALONE and cell["kind"] == "latency" and cell["op"] == "write":
        return False
    return who.type is not None
