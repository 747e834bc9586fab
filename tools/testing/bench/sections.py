# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The sections of a benchmark report about one guest, as lines of Markdown."""
import statistics

from figures import (LIBRARY, MIB, NAMES, OPS, PLAIN, bandwidth, cpu_per_gib, cpu_per_message,
                           crc_bound, fpdus_each, instructions, median_latency, memory_each, octets,
                           rate, rate_key, ratios, receiver_cpu, sender_cpu, share_of, show, sizes,
                           tail_latency, thousands, values_of, went_wrong)
from targets import COUNTED, targets

# Operations of RFC 7306, with the sizes in octets that are measured.
RFC7306 = (("write-imm", (64, 4096, 65536)), ("fetch-add", (8,)), ("cmp-swap", (8,)))
WITHOUT_RFC7306 = ("siw", "kwarp-siw")


def table(title, head, rows):
    """A title and a table of the rows that have figures; nothing if none has."""
    shown = [row for row in rows if any(c != "–" for c in row[1:])]
    if not shown:
        return
    yield from (f"### {title}", "")
    for row in (head, ["---"] + ["---:"] * (len(head) - 1), *shown):
        yield "| " + " | ".join(row) + " |"
    yield ""


def row_of(fig, metric, mtu, label, kind, op, size, qps):
    shown = {who: show(values_of(fig, metric, mtu, who, kind, op, size, qps)) for who in fig.contenders()}
    # If only TCP has figures, return a row that table() drops. TCP's streams stand for all
    # operations, so such a row says nothing about the operation OP.
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
    rows = []
    for t in targets():
        goal = t.goal(fig)
        found = t.measure(fig) if goal is not None else []
        if found:
            rows.append([t.name, f"{t.sign()} {goal}", f"**{statistics.median(found):.2f}**",
                         f"{found[0]:.2f} – {found[-1]:.2f}", verdict(t, goal, found)])
        elif goal is not None:
            rows.append([t.name, f"{t.sign()} {goal}", "not measured", "", ""])
    yield from table("Targets", ["ratio", "target", "median", "lowest – highest", "met"], rows)


def section_rates(fig, mtu):
    for title, metric, wanted in (("MiB/s", bandwidth, lambda s: s >= 4096), ("messages/s", rate, lambda s: s < 4096)):
        rows = [row_of(fig, metric, mtu, f"{op} {octets(s)}", "rate", op, s, 1) for op in OPS for s in sizes(fig) if wanted(s)]
        yield from table(f"One queue pair, MTU {mtu}, {title}", head_of(fig, ""), rows)


def section_instructions(fig, mtu):
    """Instructions of both ends, kernel and programs. Only some guests count these."""
    if not fig.name.startswith(COUNTED):
        return
    cells = [(op, s) for op in OPS for s in sizes(fig)]
    cells += [(op, s) for op, possible in RFC7306 for s in possible]
    rows = [row_of(fig, instructions, mtu, f"{op} {octets(s)}", "rate", op, s, 1) for op, s in cells]
    yield from table(f"Thousands of instructions per message, one queue pair, MTU {mtu}", head_of(fig, "both ends"), rows)


def section_qps(fig, mtu):
    rows = []
    for size, metric, unit in ((65536, bandwidth, "MiB/s"), (64, rate, "/s")):
        for op in OPS:
            for qps in (1, 8, 64, 512):
                rows.append(row_of(fig, metric, mtu, f"{op} {octets(size)} × {qps} QPs, {unit}", "rate", op, size, qps))
    yield from table(f"Many queue pairs, MTU {mtu}", head_of(fig, "all together"), rows)


def section_latency(fig, mtu):
    rows = []
    for op in OPS:
        for size in sizes(fig, "latency"):
            for what, metric in (("median", median_latency), ("99 %", tail_latency)):
                rows.append(row_of(fig, metric, mtu, f"{op} {octets(size)}, {what}", "latency", op, size, 1))
    yield from table(f"Latency, µs, MTU {mtu}", head_of(fig, "Write, Send: half of to and fro"), rows)


def rfc7306_rows():
    """Rows: (label, metric, kind, operation, size, queue pairs)."""
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
    """Compare kwarp with rxe, the only other device with immediate data and atomic operations.

    The columns of siw, and of kwarp with libsiw (the user library of the siw driver), say "cannot".
    The benchmark measures everything once in each of several rounds. For each round there is the
    ratio of kwarp's value to rxe's; the last column is the median of these ratios.
    """
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
    head = ["latency of Writes: half of to and fro", *(NAMES[who] for who in able), "kwarp to rxe"]
    yield from table(f"Immediate data and atomic operations (RFC 7306), MTU {mtu}", head, rows)


def section_cpu(fig, mtu):
    rows = [row_of(fig, cpu_per_gib, mtu, f"{op} 64 KiB, s per GiB", "cpu", op, 65536, 1) for op in OPS]
    rows += [row_of(fig, cpu_per_message, mtu, f"{op} 64, µs per message", "cpu", op, 64, 1) for op in OPS]
    yield from table(f"Processor time of both ends, with completion events, MTU {mtu}", head_of(fig, "user and kernel"), rows)


def section_machines(fig, mtu):
    """Processor time of the sender and of the receiver apart, if they are two machines."""
    rows = [row_of(fig, metric, mtu, f"{op} {octets(size)}, {end}", "rate", op, size, 1)
            for op in OPS for size in sizes(fig) if size >= 65536
            for end, metric in (("sender", sender_cpu), ("receiver", receiver_cpu))]
    yield from table(f"Processor time of each machine, s per GiB, MTU {mtu}", head_of(fig, "user and kernel"), rows)


def section_paths(fig, mtu):
    """How FPDUs were received. A counter that is 0 is left out."""
    ours = [who for who in fig.contenders() if who.startswith("kwarp")]
    rows = []
    for op in OPS:
        for size in sizes(fig):
            for what, metric in (("FPDUs per 64 KiB", fpdus_each), ("% predicted", share_of("rx_predicted")),
                                 ("% in several pieces", share_of("rx_split"))):
                found = [values_of(fig, metric, mtu, who, "rate", op, size, 1) for who in ours]
                if any(value for values in found for value in values.values()):
                    rows.append([f"{op} {octets(size)}: {what}", *map(show, found)])
    yield from table(f"How FPDUs were received, MTU {mtu}", ["one queue pair", *(NAMES[who] for who in ours)], rows)


def section_crc(fig):
    rows = []
    for mtu in fig.mtus():
        figures = [fig.values(bandwidth, mtu, *rate_key(*k)) for k in
                   ((LIBRARY, LIBRARY), ("kwarp", "write"), ("kwarp-crc", "write"))]
        rows.append([str(mtu), *(show(f) for f in figures[:2]), show(crc_bound(fig, mtu)), show(figures[2])])
    yield from table("CRC32c", ["MTU; MiB/s", "crc32c alone", "Write 64 KiB, CRC off", "bound with CRC", "CRC on"], rows)


def section_connections(fig):
    mtu = 1500
    rows = [row_of(fig, rate, mtu, f"per second, {q} at a time", "connect", "connect", 64, q) for q in (1, 64)]
    rows.append(row_of(fig, memory_each, mtu, "KiB of each that is idle, both ends", "memory", "idle", 0, 512))
    yield from table("Connections", head_of(fig, "connect, message to and fro, disconnect"), rows)


def section_storage(fig):
    """Storage protocols, both ends on one machine, measured by fio."""
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
        yield from table(f"Storage, MTU {mtu}", [*head_of(fig, "fio, requests in flight"), "kwarp to TCP"], rows)


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
    for mtu in fig.mtus():
        for section in (section_instructions, section_rates, section_qps, section_latency,
                        section_rfc7306, section_cpu, section_machines, section_paths):
            yield from section(fig, mtu)
    yield from section_crc(fig)
    yield from section_connections(fig)
    yield from section_errors(fig)
