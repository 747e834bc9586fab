#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What `make bench` has measured, as JSON, as a report, as a verdict.

    bench-report.py collect RECORDS MACHINE OUT.json   the guest's records, cell by cell
    bench-report.py report DIR                         DIR/*.json -> report.md, *.svg
    bench-report.py judge FILE.json...                 TAP: gross losses against the targets; of several
                                                       runs the best counts, and errors of all

Of each cell the report gives the median of all rounds, and the spread: how far the lowest
and the highest round are apart, in per cent of the median.  A ratio is taken round by round,
between runs that were seconds apart, and its median is told with its lowest and highest.
"""

import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

KEYS = ("mtu", "who", "kind", "op", "size", "qps")
GIB = 1 << 30
MIB = 1 << 20
OPS = ("write", "read", "send")
# Operation, sizes.
RFC7306 = (("write-imm", (64, 4096, 65536)), ("fetch-add", (8,)), ("cmp-swap", (8,)))
WITHOUT_RFC7306 = ("siw", "kwarp-siw")
NAMES = {"kwarp": "kwarp", "kwarp-crc": "kwarp, CRC", "kwarp-align": "kwarp, aligned", "kwarp-siw": "kwarp, libsiw", "siw": "siw", "rxe": "rxe", "tcp": "TCP", "iperf3": "iperf3"}
LIBRARY = "crc32c"
PLAIN = ("tcp", "iperf3")


# ------------------------------------------------------------------- collecting


def machine_of(path):
    with open(path) as f:
        return dict(line.rstrip("\n").split(": ", 1) for line in f if ": " in line)


def collect(records, machine, out):
    data = {"format": 1, "date": time.strftime("%Y-%m-%d"), "machine": machine_of(machine), "absent": {}, "cells": []}
    cells = {}
    with open(records) as f:
        for line in f:
            record = json.loads(line)
            if "guest" in record:
                data["guest"] = record["guest"]
            elif "absent" in record:
                data["absent"][record["absent"]] = record["why"]
            else:
                add_record(cells, record)
    data["cells"] = list(cells.values())
    with open(out, "w") as f:
        f.write(one_cell_per_line(data))


def add_record(cells, record):
    key = tuple(record[k] for k in KEYS)
    cell = cells.setdefault(key, {**dict(zip(KEYS, key)), "runs": {}})
    if "error" in record:
        cell.setdefault("errors", []).append(record["error"])
        return
    if "retried" in record:
        cell.setdefault("retried", []).append(record["retried"])
    cell["runs"][record["round"]] = {k: v for k, v in record.items() if k not in KEYS and k not in ("round", "count", "retried")}


def one_cell_per_line(data):
    cells = ",\n".join("  " + json.dumps(c) for c in data["cells"])
    rest = json.dumps({k: v for k, v in data.items() if k != "cells"}, indent=1)
    return rest[:-2] + ',\n "cells": [\n' + cells + "\n ]\n}\n"


# ---------------------------------------------------------------------- figures


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
        """{round: value}"""
        return {r: metric(run, key[4]) for r, run in self.runs(*key).items()}

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
    """In thousands, where one takes a nanosecond."""
    return run["seconds"] / run["ops"] * 1e6


def median_latency(run, size):
    return run["median"]


def tail_latency(run, size):
    return run["p99"]


def cpu_per_gib(run, size):
    return run["busy"] / (run["ops"] * size) * GIB


def cpu_per_message(run, size):
    return run["busy"] / run["ops"] * 1e6


def memory_each(run, size):
    return run["kib_each"]


def show(values):
    """Median and spread of {round: value}."""
    if not values:
        return "–"
    v = sorted(values.values())
    mid = statistics.median(v)
    text = f"{mid:.0f}" if mid >= 100 else f"{mid:.3g}"
    if len(v) > 1 and mid:
        text += f" ±{(v[-1] - v[0]) / mid * 50:.0f}%"
    return text


def ratios(ours, theirs):
    return sorted(ours[r] / theirs[r] for r in ours if theirs.get(r))


# ---------------------------------------------------------------------- targets


def rate_key(who, op, size=65536, qps=1, kind="rate"):
    return (who, kind, op, size, qps)


def crc_bound(fig, mtu):
    """{round: MiB/s} of large Writes if CRC cost one pass at each end and nothing else.

    Both passes are the same processor's: what veth carries is received by the one that sent it.
    """
    off = fig.values(bandwidth, mtu, *rate_key("kwarp", "write"))
    alone = fig.values(bandwidth, mtu, *rate_key(LIBRARY, LIBRARY))
    return {r: 1 / (1 / off[r] + 2 / alone[r]) for r in off if r in alone}


class Target:
    """What the project wants of a ratio: at least, or (most=True) at most, `goal`."""

    def __init__(self, name, goals, mtu, metric, ours, theirs, most=False):
        self.name, self.goals, self.mtu, self.metric = name, goals, mtu, metric
        self.ours, self.theirs, self.most = ours, theirs, most

    def goal(self, fig):
        """Of this guest; None: there is none."""
        return self.goals.get(fig.name)

    def measure(self, fig):
        # If the operations differ in size or kind, values per octet or per message are compared.
        return ratios(fig.values(self.metric, self.mtu, *self.ours), fig.values(self.metric, self.mtu, *self.theirs))

    def met(self, ratio, goal):
        return ratio <= goal if self.most else ratio >= goal

    def grossly_missed(self, ratio, goal):
        return not self.met(ratio, goal * 2 if self.most else goal / 2)

    def sign(self):
        return "≤" if self.most else "≥"


class CrcTarget(Target):
    """The bound is computed, so it is no cell."""

    def __init__(self, mtu):
        super().__init__(f"write-64k-crc-bound-{mtu}", {"uml-up": 0.9}, mtu, bandwidth,
                         rate_key("kwarp-crc", "write"), None)

    def measure(self, fig):
        return ratios(fig.values(self.metric, self.mtu, *self.ours), crc_bound(fig, self.mtu))


TCP = rate_key("tcp", "stream")
IPERF = rate_key("iperf3", "stream")
ONE, STEER, STOCK = "uml-up", "uml-steer", "6.12"
COUNTED = "icount"


def targets_of_bandwidth():
    """Of 64 KiB; guest: goal."""
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


def targets_of_messages():
    """Of 64 octets."""
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
    yield from targets_of_messages()
    yield from targets_of_many()


# What `judge` counts as a failure: streams of large Writes. In a short run on two emulated
# processors the other figures depend on which program had to wait for a processor. They are
# printed only.
JUDGED = re.compile(r"write-64k-(tcp|siw)-")


def ours_went_wrong(fig):
    """Errors of what kwarp could not do, or not at once."""
    for cell in fig.data["cells"]:
        if cell["who"].startswith("kwarp"):
            yield from cell.get("errors", []) + cell.get("retried", [])


def went_wrong(cell):
    """Lines that tell of it, whoever it was."""
    name = f"{NAMES.get(cell['who'], cell['who'])}, {name_of_cell(cell)}"
    if cell.get("errors"):
        yield f"{name}: `{cell['errors'][0]}`"
    if cell.get("retried"):
        yield f"{name}: worked when it was tried again, in {len(cell['retried'])} rounds: `{cell['retried'][0]}`"


def verdict_of(target, fig):
    """One line of TAP.  What siw could not do is no verdict on kwarp; all else must be measured."""
    name = f"bench/{target.name}"
    found = target.measure(fig)
    if not found:
        theirs = fig.runs(target.mtu, *target.theirs)
        if target.theirs[0] == "siw" and not theirs and fig.runs(target.mtu, *target.ours):
            return f"ok {name} # SKIP siw has no figures"
        return f"not ok {name}: not measured"
    ratio, goal = statistics.median(found), target.goal(fig)
    text = f"{name}: {ratio:.2f}, target {target.sign()} {goal}"
    if target.grossly_missed(ratio, goal):
        return f"not ok {text}"
    return f"ok {text}" + ("" if target.met(ratio, goal) else " (missed, by less than a factor of two)")


def best_verdict_of(target, figs):
    """Half a second of one contender a neighbour on the host can slow down by anything; what the
    code costs it costs in each run."""
    lines = [verdict_of(target, fig) for fig in figs]
    good = [line for line in lines if line.startswith("ok ") and "# SKIP" not in line]
    chosen = (good or lines)[0]
    for line in lines:
        if line is not chosen:
            print(f"# in another run: {line}")
    return chosen


def judge(*paths):
    """As many verdicts as there are targets, measured or not, and one on kwarp's errors.

    What was tried again is told of all; that kwarp needed it is an error."""
    figs = [Figures(path) for path in paths]
    lines = []
    for t in targets():
        if t.goal(figs[0]) is None:
            continue
        if JUDGED.match(t.name):
            lines.append(best_verdict_of(t, figs))
            continue
        found = t.measure(figs[0])
        if found:
            print(f"# bench/{t.name}: {statistics.median(found):.2f}, target {t.sign()} {t.goal(figs[0])}")
    for fig in figs:
        for cell in fig.data["cells"]:
            for line in went_wrong(cell):
                print(f"# {line}")
    wrong = sum(1 for fig in figs for _ in ours_went_wrong(fig))
    lines.append(("not ok" if wrong else "ok") + f" bench/errors: {wrong} runs of kwarp failed, or had to be tried again")
    print(f"1..{len(lines)}")
    print("\n".join(lines))


# ----------------------------------------------------------------------- report


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "|---" + "|---:" * (len(head) - 1) + "|"
    for row in rows:
        if any(c != "–" for c in row[1:]):
            yield "| " + " | ".join(row) + " |"
    yield ""


def octets(size):
    return f"{size >> 20} MiB" if size >= MIB else f"{size >> 10} KiB" if size >= 1024 else str(size)


def values_of(fig, metric, mtu, who, kind, op, size, qps):
    """Plain TCP has streams only, and they are compared with all operations."""
    plain = who in PLAIN
    return fig.values(metric, mtu, who, kind, "stream" if plain and kind != "connect" else op, size, qps)


def row_of(fig, metric, mtu, label, kind, op, size, qps):
    shown = {who: show(values_of(fig, metric, mtu, who, kind, op, size, qps)) for who in fig.contenders()}
    # A row with TCP's figures only is left out: it says nothing about an operation.
    if all(text == "–" for who, text in shown.items() if who not in PLAIN):
        return [label]
    return [label, *shown.values()]


def head_of(fig, first):
    return [first] + [NAMES[w] for w in fig.contenders()]


def verdict(target, goal, found):
    met = target.met(statistics.median(found), goal)
    sure = target.met(found[0], goal) == target.met(found[-1], goal)
    return ("yes" if met else "no") + ("" if sure else ", not in all rounds" if met else ", but in some rounds")


def section_targets(fig):
    yield "### Targets"
    yield ""
    rows = []
    for t in targets():
        goal = t.goal(fig)
        found = t.measure(fig) if goal is not None else []
        if found:
            rows.append([t.name, f"{t.sign()} {goal}", f"**{statistics.median(found):.2f}**",
                         f"{found[0]:.2f} – {found[-1]:.2f}", verdict(t, goal, found)])
        elif goal is not None:
            rows.append([t.name, f"{t.sign()} {goal}", "not measured", "", ""])
    yield from table(["ratio", "target", "median", "lowest – highest", "met"], rows)


def sizes(fig, kind="rate"):
    return sorted({k[4] for k in fig.cells if k[2] == kind and k[3] != "connect"})


def section_rates(fig, mtu):
    yield f"### One queue pair, MTU {mtu}"
    yield ""
    plot = plot_sizes(fig, mtu)
    if plot:
        yield f"![bandwidth by size]({plot})"
        yield ""
    for title, metric, wanted in (("MiB/s", bandwidth, lambda s: s >= 4096), ("messages/s", rate, lambda s: s < 4096)):
        rows = [row_of(fig, metric, mtu, f"{op} {octets(s)}", "rate", op, s, 1) for op in OPS for s in sizes(fig) if wanted(s)]
        yield from table(head_of(fig, title), rows)


def section_instructions(fig, mtu):
    """Where the clock counts them: of all that both ends execute, programs included."""
    if fig.name != COUNTED:
        return
    yield f"### Thousands of instructions per message, one queue pair, MTU {mtu}"
    yield ""
    cells = [(op, s) for op in OPS for s in sizes(fig)]
    cells += [(op, s) for op, possible in RFC7306 for s in possible]
    rows = [row_of(fig, instructions, mtu, f"{op} {octets(s)}", "rate", op, s, 1) for op, s in cells]
    yield from table(head_of(fig, "both ends"), rows)


def section_qps(fig, mtu):
    rows = []
    for size, metric, unit in ((65536, bandwidth, "MiB/s"), (64, rate, "/s")):
        for op in OPS:
            for qps in (1, 8, 64, 512):
                rows.append(row_of(fig, metric, mtu, f"{op} {octets(size)} × {qps} QPs, {unit}", "rate", op, size, qps))
    yield f"### Many queue pairs, MTU {mtu}"
    yield ""
    yield from table(head_of(fig, "all together"), rows)


def section_latency(fig, mtu):
    rows = []
    for op in OPS:
        for size in sizes(fig, "latency"):
            for what, metric in (("median", median_latency), ("99 %", tail_latency)):
                rows.append(row_of(fig, metric, mtu, f"{op} {octets(size)}, {what}", "latency", op, size, 1))
    yield f"### Latency, µs, MTU {mtu}"
    yield ""
    yield from table(head_of(fig, "Write, Send: half of to and fro"), rows)


def rfc7306_rows():
    """(label, metric, kind, operation, size, queue pairs)"""
    for op, possible in RFC7306:
        for size in possible:
            name = f"{op} {octets(size)}"
            for qps in (1, 64):
                many = "" if qps == 1 else f" × {qps} QPs"
                yield f"{name}{many}, thousands/s", thousands, "rate", op, size, qps
                if size == 65536:
                    yield f"{name}{many}, MiB/s", bandwidth, "rate", op, size, qps
            yield f"{name}, latency, median, µs", median_latency, "latency", op, size, 1
            yield f"{name}, latency, 99 %, µs", tail_latency, "latency", op, size, 1


def section_rfc7306(fig, mtu):
    """Beside rxe, the only other one that has them.  Of siw it is said that it has not."""
    links = [who for who in fig.contenders() if who not in PLAIN]
    able = [who for who in NAMES if who == "siw" or who in links]
    rows = []
    for label, metric, *cell in rfc7306_rows():
        found = {who: fig.values(metric, mtu, who, *cell) for who in able}
        if not any(found.values()):
            continue
        shown = ["cannot" if who in WITHOUT_RFC7306 else show(v) for who, v in found.items()]
        against = ratios(found.get("kwarp", {}), found.get("rxe", {}))
        rows.append([label, *shown, f"{statistics.median(against):.2f}" if against else "–"])
    if not rows:
        return
    yield f"### Immediate data and atomic operations (RFC 7306), MTU {mtu}"
    yield ""
    head = ["latency of Writes: half of to and fro", *(NAMES[who] for who in able), "kwarp to rxe"]
    yield from table(head, rows)


def section_cpu(fig, mtu):
    rows = [row_of(fig, cpu_per_gib, mtu, f"{op} 64 KiB, s per GiB", "cpu", op, 65536, 1) for op in OPS]
    rows += [row_of(fig, cpu_per_message, mtu, f"{op} 64, µs per message", "cpu", op, 64, 1) for op in OPS]
    yield f"### Processor time of both ends, with completion events, MTU {mtu}"
    yield ""
    yield from table(head_of(fig, "user and kernel"), rows)


def section_crc(fig):
    yield "### CRC32c"
    yield ""
    rows = []
    for mtu in fig.mtus():
        figures = [fig.values(bandwidth, mtu, *rate_key(*k)) for k in
                   ((LIBRARY, LIBRARY), ("kwarp", "write"), ("kwarp-crc", "write"))]
        rows.append([str(mtu), *(show(f) for f in figures[:2]), show(crc_bound(fig, mtu)), show(figures[2])])
    yield from table(["MTU; MiB/s", "crc32c alone", "Write 64 KiB, CRC off", "bound with CRC", "CRC on"], rows)


def section_connections(fig):
    mtu = 1500
    rows = [row_of(fig, rate, mtu, f"per second, {q} at a time", "connect", "connect", 64, q) for q in (1, 64)]
    rows.append(row_of(fig, memory_each, mtu, "KiB of each that is idle, both ends", "memory", "idle", 0, 512))
    yield "### Connections"
    yield ""
    yield from table(head_of(fig, "connect, message to and fro, disconnect"), rows)


def section_storage(fig):
    """NVMe over Fabrics and NFS: both ends on one machine, by fio."""
    for mtu in fig.mtus():
        rows = []
        for op, size, depth in sorted({k[3:] for k in fig.cells if k[2] == "storage"}):
            lone = depth == 1
            metric = median_latency if lone else bandwidth if size >= 65536 else rate
            unit = "µs" if lone else "MiB/s" if size >= 65536 else "/s"
            found = {who: fig.values(metric, mtu, who, "storage", op, size, depth) for who in fig.contenders()}
            against = ratios(found.get("kwarp", {}), found.get("tcp", {}))
            rows.append([f"{op} {octets(size)} × {depth}, {unit}", *(show(v) for v in found.values()),
                         f"{statistics.median(against):.2f}" if against else "–"])
        yield f"### Storage, MTU {mtu}"
        yield ""
        yield from table([*head_of(fig, "fio, requests in flight"), "kwarp to TCP"], rows)


def name_of_cell(c):
    return f"MTU {c['mtu']}, {c['kind']} {c['op']} {c['size']} × {c['qps']}"


def section_errors(fig):
    lines = [line for c in fig.data["cells"] for line in went_wrong(c)]
    if not lines and not fig.data["absent"]:
        return
    yield "### What did not work"
    yield ""
    for name, why in fig.data["absent"].items():
        yield f"- {NAMES.get(name, name)} did not take part: `{why}`"
    yield from (f"- {line}" for line in lines)
    yield ""


def section_machine(fig):
    guest = fig.data.get("guest", {})
    rounds = max((len(c["runs"]) for c in fig.data["cells"]), default=0)
    yield f"## Guest {fig.name}"
    yield ""
    yield f"- {fig.data['date']}, {rounds} rounds"
    for k, v in fig.data["machine"].items():
        yield f"- {k}: {v}"
    if guest:
        yield (f"- in the guest: Linux {guest['kernel']}, {guest['processors']} processors, "
               f"{guest['memory_kib'] / MIB:.1f} GiB, clock {guest['clocksource']}")
    yield ""


def sections(fig):
    yield from section_machine(fig)
    if any(k[2] == "storage" for k in fig.cells):
        yield from section_storage(fig)
        yield from section_errors(fig)
        return
    yield from section_targets(fig)
    for name in plot_bars(fig):
        yield f"![{name}]({name})"
        yield ""
    for mtu in fig.mtus():
        for section in (section_instructions, section_rates, section_qps, section_latency,
                        section_rfc7306, section_cpu):
            yield from section(fig, mtu)
    yield from section_crc(fig)
    yield from section_connections(fig)
    yield from section_errors(fig)


# ------------------------------------------------------------------------ plots

COLOURS = {"kwarp": "#1b6ca8", "kwarp-crc": "#7fb3d5", "kwarp-align": "#1abc9c", "kwarp-siw": "#8e44ad", "siw": "#c0392b", "rxe": "#e59866", "tcp": "#7f8c8d", "iperf3": "#bdc3c7"}


def gnuplot(script, out):
    if not shutil.which("gnuplot"):
        return None
    head = f'set terminal svg size 800,420 font "sans,13" background "white"\nset output "{out}"\n'
    subprocess.run(["gnuplot"], input=head + script, text=True, check=True)
    return out


def data_block(name, points):
    return f"${name} << EOD\n" + "\n".join(" ".join(str(v) for v in p) for p in points) + "\nEOD\n"


def middle(values):
    return statistics.median(values.values()) if values else None


def plot_sizes(fig, mtu):
    blocks, lines = "", []
    for who in fig.contenders():
        points = []
        for s in sizes(fig):
            v = values_of(fig, bandwidth, mtu, who, "rate", "write", s, 1)
            if v:
                points.append((s, middle(v), min(v.values()), max(v.values())))
        if points:
            name = who.replace("-", "_")
            blocks += data_block(name, points)
            lines.append(f'${name} with yerrorlines lw 2 pt 7 ps 0.5 lc rgb "{COLOURS[who]}" title "{NAMES[who]}"')
    if not lines:
        return None
    return gnuplot(blocks + f'set title "Write (TCP: stream), one queue pair, MTU {mtu}, guest {fig.name}"\n'
                   'set logscale x 2\nset logscale y 10\nset format x "%b %B"\nset xlabel "octets per message"\n'
                   'set ylabel "MiB/s"\nset key left top\nset grid\n'
                   'set xtics ("64" 64, "1 Ki" 1024, "4 Ki" 4096, "64 Ki" 65536, "1 Mi" 1048576)\n'
                   "plot " + ", ".join(lines) + "\n", f"{fig.name}-sizes-{mtu}.svg")


def bars(fig, title, unit, rows, out):
    """rows: (label, {who: value})"""
    who = [w for w in fig.contenders() if any(r[1].get(w) for r in rows)]
    rows = [r for r in rows if any(r[1].values())]
    if not rows:
        return None
    points = [[f'"{label}"'] + [values.get(w) or 0 for w in who] for label, values in rows]
    plots = [f'$d using {i}:xtic(1) lc rgb "{COLOURS[w]}" title "{NAMES[w]}"' for i, w in enumerate(who, 2)]
    return gnuplot(data_block("d", points) + f'set title "{title}, guest {fig.name}"\nset style data histograms\n'
                   "set style histogram clustered gap 1\nset style fill solid 0.9 border -1\nset grid ytics\n"
                   f'set yrange [0:*]\nset ylabel "{unit}"\nset key outside right\nplot ' + ", ".join(plots) + "\n", out)


def medians(fig, metric, mtu, kind, op, size, qps):
    return {w: middle(values_of(fig, metric, mtu, w, kind, op, size, qps)) for w in fig.contenders()}


def plot_bars(fig):
    mtus = fig.mtus()
    wanted = (
        ("64 KiB, one queue pair", "MiB/s", f"{fig.name}-mtu.svg",
         [(f"{op} {mtu}", medians(fig, bandwidth, mtu, "rate", op, 65536, 1)) for op in OPS for mtu in mtus]),
        ("64 KiB Writes, MTU 1500", "MiB/s", f"{fig.name}-qps.svg",
         [(f"{q} QP", medians(fig, bandwidth, 1500, "rate", "write", 65536, q)) for q in (1, 8, 64, 512)]),
        ("64 octets, median latency, MTU 1500", "µs", f"{fig.name}-latency.svg",
         [(op, medians(fig, median_latency, 1500, "latency", op, 64, 1)) for op in OPS]),
        ("Processor time, 64 KiB", "s per GiB, both ends", f"{fig.name}-cpu.svg",
         [(f"{op} {mtu}", medians(fig, cpu_per_gib, mtu, "cpu", op, 65536, 1)) for op in OPS for mtu in mtus]),
    )
    made = [bars(fig, title, unit, rows, out) for title, unit, out, rows in wanted]
    return [m for m in made if m]


def report(folder):
    os.chdir(folder)
    lines = ["<!-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause -->", "# kwarp: performance", "",
             "Made by `make bench`; how it measures and how to read this is in "
             "[index.rst](index.rst). Compare figures within one guest only.", "",
             "Each figure: median of all rounds ± half of what the lowest and the highest are apart.", ""]
    for path in sorted(glob.glob("*.json"), reverse=True):
        lines += sections(Figures(path))
    with open("report.md", "w") as f:
        f.write("\n".join(lines) + "\n")


def main():
    commands = {"collect": collect, "report": report, "judge": judge}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
