#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The table in Documentation/kernels.rst: which kernel has run what, with which result.
#
#   scripts/kernels.py            take the records of build/kernel-runs into
#                                      Documentation/kernels.tsv, and make the table of that
#   scripts/kernels.py --check    print what differs from what is there
#
# A run of the end-to-end suite, or of the unit tests, leaves a record (record_run in lib.sh).
# Of runs of the same kernel with the same cases the last one counts. A record of code that is
# not committed is left out: nobody else could repeat the run.
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
    """A record that is none."""


def read_records(text, where):
    """The runs in TEXT, one a line, as dictionaries."""
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
    """The last one for each kernel and each choice of cases, without code that nobody has."""
    last = {}
    for record in sorted(records, key=lambda r: r["time"]):
        if not record["commit"].endswith("-dirty"):
            last[tuple(record[f] for f in ("release", "arch", "program", "what"))] = record
    return sorted(last.values(), key=order)


def order(record):
    """Old kernels first, and of a kernel its architectures and programs together."""
    numbers = [int(n) for n in re.findall(r"\d+", record["release"])]
    return numbers, record["release"], record["arch"], record["program"], record["what"]


def result(record):
    """In words; names of what failed are part of it."""
    words = f"{record['passed']} passed, {record['failed']} failed, {record['skipped']} skipped"
    if record["names"]:
        words += ": " + ", ".join(f"``{n}``" for n in record["names"].split())
    return words


def row(record):
    """One run, as a row of a list-table."""
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
    """The list-table of RECORDS."""
    head = ("kernel", "architecture", "what ran", "result", "code, day")
    lines = [".. list-table::\n   :header-rows: 1\n   :widths: 22 10 30 26 12\n\n"]
    lines.append("".join(("   * - " if n == 0 else "     - ") + h + "\n" for n, h in enumerate(head)))
    return "".join(lines + [row(r) for r in records])


def page(text, records):
    """The page's TEXT with the table of RECORDS in its place."""
    try:
        before, rest = text.split(BEGIN)
        after = rest.split(END)[1]
    except (ValueError, IndexError):
        raise Mistake(f"{PAGE.name} has not both lines '{BEGIN[:-1]}' and '{END[:-1]}'") from None
    return f"{before}{BEGIN}\n{table(records)}\n{END}{after}"


def tsv(records):
    """What kernels.tsv says of RECORDS."""
    return HEAD + "".join("\t".join(r[f] for f in FIELDS) + "\n" for r in records)


def known():
    """Records that are committed."""
    return read_records(TABLE.read_text(encoding="utf-8"), TABLE.name) if TABLE.exists() else []


def check():
    """Whether the page is that of kernels.tsv; says what differs."""
    records = known()
    differs = [path for path, text in ((TABLE, tsv(newest(records))),
                                       (PAGE, page(PAGE.read_text(encoding="utf-8"), records)))
               if path.read_text(encoding="utf-8") != text]
    for path in differs:
        print(f"Documentation/{path.name} is not what scripts/kernels.py makes")
    return not differs


def write():
    """Take new records, and make the page."""
    runs = []
    for path in sorted(RUNS.glob("*.tsv")):
        runs += read_records(path.read_text(encoding="utf-8"), path.name)
    records = newest(known() + runs)
    TABLE.write_text(tsv(records), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), records), encoding="utf-8")
    return True


def main(args):
    """0 if all is well."""
    if args not in ([], ["--check"]):
        sys.exit(f"usage: {sys.argv[0]} [--check]")
    try:
        return 0 if (check() if args else write()) else 1
    except Mistake as mistake:
        sys.exit(f"error: {mistake}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
