# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The plots of a benchmark report, made by gnuplot; there are none if gnuplot is missing."""
import shutil
import statistics
import subprocess

from figures import NAMES, OPS, bandwidth, cpu_per_gib, median_latency, sizes, values_of

COLOURS = {"kwarp": "#1b6ca8", "kwarp-crc": "#7fb3d5", "kwarp-align": "#1abc9c",
           "kwarp-short": "#2e4053", "kwarp-crc-short": "#85929e", "kwarp-siw": "#8e44ad",
           "siw": "#c0392b", "rxe": "#e59866", "tcp": "#7f8c8d", "iperf3": "#bdc3c7"}


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
    """Make a bar chart. Each row is (label, {who: value})."""
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
