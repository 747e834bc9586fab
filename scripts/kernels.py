#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Make the table in Documentation/kernels.rst: which tests have run on which kernel, and the
# results.
#
#   scripts/kernels.py            add the records in build/kernel-runs to Documentation/kernels.tsv,
#                                 and make the table from that file
#   scripts/kernels.py --check    print which of these files this script would change, without
#                                 adding records
#
# Each run of the end-to-end suite or of the unit tests leaves a record (record_run in lib.sh). For
# the same kernel and the same cases, the last run counts. Records of uncommitted code are left out,
# because others could not repeat the run.
"""Write or check the table of kernels."""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = ROOT / "build" / "kernel-runs"
TABLE = ROOT / "Documentation" / "kernels.tsv"
PAGE = ROOT / "Documentation" / "kernels.rst"
BEGIN, END = ".. table begins\n", ".. table ends\n"
FIELDS = ("time", "commit", "release", "arch", "program", "what", "passed", "failed", "skipped",
          "names")
HEAD = """\
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Made by scripts/kernels.py from records of runs: do not edit.
# """ + " ".join(FIELDS) + "\n"
PROGRAMS = {"e2e": "end-to-end", "kunit": "KUnit", "kunit-be": "KUnit"}


class Mistake(Exception):
    """A record with a wrong form, or a page without its marker lines."""


def read_records(text, where):
    """Read records, one per line of TEXT, and return them as dictionaries."""
    records = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        values = line.split("\t")
        if len(values) != len(FIELDS):
            raise Mistake(f"{where}: {len(values)} fields, not {len(FIELDS)}: {line}")
        record = dict(zip(FIELDS, values))
        for field in ("passed", "failed", "skipped"):
            if not record[field].isdigit():
                raise Mistake(f"{where}: {field} is no number: {line}")
        if int(record["failed"]) == 0 and record["names"]:
            raise Mistake(f"{where}: nothing failed, and yet {record['names']} did")
        records.append(record)
    return records


def newest(records):
    """The last record of each kernel and set of cases, without records of uncommitted code."""
    last = {}
    for record in sorted(records, key=lambda r: r["time"]):
        if not record["commit"].endswith("-dirty"):
            last[tuple(record[f] for f in ("release", "arch", "program", "what"))] = record
    return sorted(last.values(), key=order)


def order(record):
    """Sort key: by kernel version, then by architecture, program and cases."""
    numbers = [int(n) for n in re.findall(r"\d+", record["release"])]
    return numbers, record["release"], record["arch"], record["program"], record["what"]


def result(record):
    """The result in words, with the names of failed cases."""
    words = f"{record['passed']} passed, {record['failed']} failed, {record['skipped']} skipped"
    if record["names"]:
        words += ": " + ", ".join(f"``{n}``" for n in record["names"].split())
    return words


def row(record):
    """A record as a row of a list-table."""
    cells = (f"{record['release']}", record["arch"],
             f"{PROGRAMS.get(record['program'], record['program'])}: {record['what']}",
             result(record), f"{record['commit']}, {record['time'][:10]}")
    lines = []
    for n, cell in enumerate(cells):
        lead = "   * - " if n == 0 else "     - "
        cell = re.sub(r"([*|_])(?![^`]*``)", r"\\\1", cell)
        lines += textwrap.wrap(cell, 96, initial_indent=lead, subsequent_indent="       ",
                               break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def table(records):
    """RECORDS as a list-table."""
    head = ("kernel", "architecture", "what ran", "result", "code, day")
    lines = [".. list-table::\n   :header-rows: 1\n   :widths: 22 10 30 26 12\n\n"]
    lines.append("".join(("   * - " if n == 0 else "     - ") + h + "\n" for n, h in enumerate(head)))
    return "".join(lines + [row(r) for r in records])


def page(text, records):
    """TEXT, the page, with its table replaced by that of RECORDS."""
    try:
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
    except (ValueError, IndexError):
        raise Mistake(f"{PAGE.name} has not both lines '{BEGIN[:-1]}' and '{END[:-1]}'") from None
    return f"{before}{BEGIN}\n{table(records)}\n{END}{after}"


def tsv(records):
    """The contents of kernels.tsv for RECORDS."""
    return HEAD + "".join("\t".join(r[f] for f in FIELDS) + "\n" for r in records)


def known():
    """The records in kernels.tsv."""
    return read_records(TABLE.read_text(encoding="utf-8"), TABLE.name) if TABLE.exists() else []


def check():
    """Are both files what this script makes of kernels.tsv? Print those that are not."""
    records = known()
    differs = [path for path, text in ((TABLE, tsv(newest(records))),
                                       (PAGE, page(PAGE.read_text(encoding="utf-8"), records)))
               if path.read_text(encoding="utf-8") != text]
    for path in differs:
        print(f"Documentation/{path.name} is not what scripts/kernels.py makes")
    return not differs


def write():
    """Add new records, and write the page."""
    runs = []
    for path in sorted(RUNS.glob("*.tsv")):
        runs += read_records(path.read_text(encoding="utf-8"), path.name)
    records = newest(known() + runs)
    TABLE.write_text(tsv(records), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), records), encoding="utf-8")
    return True


def main(args):
    """Check or write, and return the exit status."""
    if args not in ([], ["--check"]):
        sys.exit(f"usage: {sys.argv[0]} [--check]")
    try:
        return 0 if (check() if args else write()) else 1
    except Mistake as mistake:
        sys.exit(f"error: {mistake}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
