#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Turn the records of `make bench` into JSON, a report, or a verdict.

    report.py collect RECORDS MACHINE OUT.json   group the guest's records by cell
    report.py report DIR                         make report.md from DIR/*.json
    report.py judge FILE.json                    print as TAP which messages take too many
                                                       instructions

A cell is one kind of traffic: MTU, program or device ("who": kwarp, siw, rxe, tcp ...), kind,
operation, size, number of queue pairs.  It is measured once in each round.  The report has the
median of all rounds of a cell, and plus or minus half the distance between lowest and highest
round, in per cent of the median.  Ratios are calculated for each round, between runs that were
seconds apart; the report has the median, the lowest and the highest of these ratios.
"""

import glob
import json
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from figures import KEYS, Figures, instructions, rate_key, went_wrong
from sections import sections
from targets import INSTRUCTIONS, SLACK

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


# --------------------------------------------------------------------- verdicts


def ours_went_wrong(fig):
    """The errors of kwarp's runs, including errors of runs that succeeded at the second try."""
    for cell in fig.data["cells"]:
        if cell["who"].startswith("kwarp"):
            yield from cell.get("errors", []) + cell.get("retried", [])


def judge(path):
    """Print one verdict for each operation of INSTRUCTIONS, and one on errors.

    After a failed try the benchmark tries once more. A second try counts as an error.
    """
    fig = Figures(path)
    lines = []
    for (kind, op, size), usual in INSTRUCTIONS.items():
        name = f"bench/{kind}-{op}-{size}"
        found = fig.values(instructions, 1500, *rate_key("kwarp", op, size, kind=kind))
        if not found:
            lines.append(f"not ok {name}: not measured")
            continue
        count = statistics.median(found.values())
        verdict = "ok" if count <= usual * SLACK else "not ok"
        lines.append(f"{verdict} {name}: {count:.2f} thousand instructions, usually {usual}, limit {usual * SLACK:.2f}")
    for cell in fig.data["cells"]:
        for line in went_wrong(cell):
            print(f"# {line}")
    wrong = sum(1 for _ in ours_went_wrong(fig))
    lines.append(("not ok" if wrong else "ok") + f" bench/errors: {wrong} runs of kwarp failed, or had to be tried again")
    print(f"1..{len(lines)}")
    print("\n".join(lines))


# ----------------------------------------------------------------------- report


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
