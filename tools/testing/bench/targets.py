# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The targets of `make bench`, ratios of figures that the project wants to reach, by guest; and the
numbers of instructions that `bench.sh --short` compares with.

A cell has the results of one kind of traffic: a program or device, an operation, a size and so on.
Each cell is measured once in each round, so each has one result for each round.
"""
from figures import (OPS, bandwidth, cpu_per_gib, crc_bound, median_latency, octets, rate,
                           rate_key, ratios, receiver_cpu, tail_latency)

TCP = rate_key("tcp", "stream")
IPERF = rate_key("iperf3", "stream")
ONE, STEER, STOCK = "uml-up", "uml-steer", "6.12"
# Guests whose clock counts instructions: their names begin with this.
COUNTED = "icount"
NIC, GRO, TWO, TWO_TSO = "icount-nic", "icount-gro", "two", "two-tso"


# Thousands of instructions that a message or a connection of kwarp takes, both ends together, at MTU
# 1500 in the guest icount, by kind of cell, operation and size. With SLACK more, the step bench of
# make check fails: other releases of kernel and compiler make a difference, too. A change that makes
# the code faster lowers them.
INSTRUCTIONS = {
    ("rate", "write", 64): 2.24, ("rate", "read", 64): 3.79, ("rate", "send", 64): 3.35,
    ("rate", "write", 65536): 83.0, ("rate", "read", 65536): 84.6, ("rate", "send", 65536): 85.7,
    ("rate", "write-imm", 64): 4.18, ("rate", "fetch-add", 8): 4.33, ("connect", "connect", 64): 610,
}
SLACK = 1.1


class Target:
    """The ratio of two cells ("ours" to "theirs") is at least, or with most=True at most, a goal.

    "goals" has the goal of each guest.
    """

    def __init__(self, name, goals, mtu, metric, ours, theirs, most=False):
        self.name, self.goals, self.mtu, self.metric = name, goals, mtu, metric
        self.ours, self.theirs, self.most = ours, theirs, most

    def goal(self, fig):
        """The goal for this guest, or None."""
        return self.goals.get(fig.name)

    def measure(self, fig):
        # One ratio for each round. The two cells may have different sizes or kinds if the metric is
        # per octet or per message.
        return ratios(fig.values(self.metric, self.mtu, *self.ours), fig.values(self.metric, self.mtu, *self.theirs))

    def met(self, ratio, goal):
        return ratio <= goal if self.most else ratio >= goal

    def sign(self):
        return "≤" if self.most else "≥"


class CrcTarget(Target):
    """Writes with CRC, compared with crc_bound(), which is computed and not a cell."""

    def __init__(self, mtu):
        super().__init__(f"write-64k-crc-bound-{mtu}", {"uml-up": 0.9}, mtu, bandwidth,
                         rate_key("kwarp-crc", "write"), None)

    def measure(self, fig):
        return ratios(fig.values(self.metric, self.mtu, *self.ours), crc_bound(fig, self.mtu))


def targets_of_bandwidth():
    """Bandwidth and processor time of messages of 64 KiB."""
    for mtu, tcp, siw in ((1500, {"write": 3.5, "send": 2}, 20), (9000, {"write": 6, "send": 3}, 5)):
        for op, steered in (("write", 2.5), ("send", 1.5)):
            ours = rate_key("kwarp", op)
            goals = {ONE: tcp[op], STEER: steered, STOCK: 1.5}
            yield Target(f"{op}-64k-tcp-{mtu}", goals, mtu, bandwidth, ours, TCP)
            yield Target(f"{op}-64k-iperf3-{mtu}", goals, mtu, bandwidth, ours, IPERF)
            yield Target(f"{op}-64k-siw-{mtu}", {ONE: siw, STEER: siw, STOCK: 15 if mtu == 1500 else 2}, mtu,
                         bandwidth, ours, rate_key("siw", op))
        yield Target(f"read-over-write-64k-{mtu}", {ONE: 0.95, STEER: 0.95, STOCK: 0.95}, mtu, bandwidth,
                     rate_key("kwarp", "read"), rate_key("kwarp", "write"))
        yield Target(f"write-cpu-tcp-{mtu}", {ONE: 0.4, STEER: 0.4, STOCK: 0.4}, mtu, cpu_per_gib,
                     rate_key("kwarp", "write", kind="cpu"), rate_key("tcp", "stream", kind="cpu"), most=True)
        yield CrcTarget(mtu)


def targets_of_links():
    """Messages of 64 KiB on links that deliver packets as network cards do, against TCP there."""
    for op in OPS:
        yield Target(f"{op}-64k-tcp-link", {NIC: 0.8, GRO: 0.8, TWO: 1.1, TWO_TSO: 1.3}, 1500, bandwidth,
                     rate_key("kwarp", op), TCP)
        yield Target(f"{op}-64k-crc-tcp-link", {NIC: 0.59, GRO: 0.59}, 1500, bandwidth, rate_key("kwarp-crc", op), TCP)
    yield Target("write-receiver-cpu-tcp-link", {TWO: 1.1, TWO_TSO: 1.1}, 1500, receiver_cpu, rate_key("kwarp", "write"),
                 TCP, most=True)


def targets_of_messages():
    """Rate and latency of messages of 64 octets."""
    for op, goal in (("write", 12), ("read", 15), ("send", 6)):
        yield Target(f"{op}-rate-64-siw", {ONE: goal, STOCK: goal}, 1500, rate, rate_key("kwarp", op, 64),
                     rate_key("siw", op, 64))
    for op in OPS:
        ours, theirs = (rate_key(who, op, 64, kind="latency") for who in ("kwarp", "siw"))
        goal = 0.7 if op == "read" else 0.85
        yield Target(f"{op}-latency-64-siw", {STEER: goal, STOCK: goal}, 1500, median_latency, ours, theirs, most=True)
        yield Target(f"{op}-p99-64-siw", {STEER: 0.5, STOCK: 0.5}, 1500, tail_latency, ours, theirs, most=True)


def targets_of_many():
    for op in OPS:
        for size, metric, goal in ((65536, bandwidth, 0.9), (64, rate, 1.5)):
            yield Target(f"{op}-{octets(size).replace(' ', '')}-64qp-over-1qp", {ONE: goal}, 1500, metric,
                         rate_key("kwarp", op, size, 64), rate_key("kwarp", op, size))
        for qps, goal in ((8, 0.7), (64, 0.3), (512, 0.2)):
            yield Target(f"{op}-64-{qps}qp-over-1qp", {STEER: goal}, 1500, rate, rate_key("kwarp", op, 64, qps),
                         rate_key("kwarp", op, 64))
    yield Target("write-64KiB-512qp-over-1qp", {STEER: 0.8}, 1500, bandwidth, rate_key("kwarp", "write", qps=512),
                 rate_key("kwarp", "write"))
    key = ("connect", "connect", 64, 1)
    yield Target("connections-1-siw", {ONE: 1.05, STEER: 1.05, STOCK: 1.05}, 1500, rate, ("kwarp", *key), ("siw", *key))


def targets():
    yield from targets_of_bandwidth()
    yield from targets_of_links()
    yield from targets_of_messages()
    yield from targets_of_many()
