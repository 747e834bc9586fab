#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Check the tables of Documentation/conformance against the source tree.
#
#   scripts/conformance.py           check; print "file:line: what is wrong"
#   scripts/conformance.py --write   write the generated parts, then check
#
# Generated are the table of counts in index.rst, and in the tables of the RFCs the names of the raw
# peer's cases. The raw peer is a test program that makes MPA, DDP and RDMAP octet by octet on a TCP
# socket (tools/testing/rawpeer). Each of its cases has a list of the requirements that it shows
# (.ids).
#
# The table of an RFC has one row for each statement of the RFC. Findings are: an ID that is missing
# or in the wrong place; a function or test in a row that does not exist (if the name ends in *, at
# least one must match); a row in scope without a function and without a reason; a row of level MUST
# without a test and without a reason; generated parts that are out of date. A reason that begins
# with "deviation:" says that the requirement is not met. A reason that begins with "not
# applicable:" says that the requirement does not concern this device; such a row names no test.
"""Check the conformance tables."""
import collections
import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "Documentation" / "conformance"
INDEX = TABLES / "index.rst"

# Number of statements of each RFC. Only this number shows that the last row of a table is missing,
# because that leaves no gap in the IDs.
TOTAL = {"5040": 305, "5041": 207, "5042": 62, "5044": 226, "6581": 96, "7306": 114}

COLUMNS = ["id", "level", "where", "requirement", "functions", "tests", "reason"]
IN_SCOPE = {"sender", "receiver", "both", "local-interface"}
OUT_OF_SCOPE = {"ULP", "doc"}
ROLES = {"", "(initiator)", "(responder)", "(requester)"}

# First words of the column "level", and the group in which the row is counted.
GROUPS = [
    (("MUST", "REQUIRED"), "MUST"),
    (("SHOULD", "NOT RECOMMENDED", "RECOMMENDED"), "SHOULD"),
    (("MAY", "OPTIONAL"), "MAY"),
    (("DEF", "DERIVED", "rule", "states", "info", "should", "recommended"), "plain"),
]
STATUSES = ["test", "code", "reason", "n/a", "deviates", "open", "outside"]

BEGIN = ".. count-begin"
END = ".. count-end"

Row = collections.namedtuple("Row", ["file", "line"] + COLUMNS)


class Findings:
    """A list of findings, in the order in which they were found."""

    def __init__(self):
        self.lines = []

    def add(self, path, line, what):
        """Add a finding."""
        self.lines.append(f"{path.relative_to(ROOT)}:{line}: {what}")

    def row(self, row, what):
        """Add a finding about a row."""
        self.add(row.file, row.line, f"{row.id}: {what}")


# ------------------------------------------------------------ the source tree

def sources(*patterns):
    """Path and text of each file that matches one of the patterns."""
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            yield path, path.read_text(encoding="utf-8")


# A function's definition in column 0: type, name, arguments, perhaps annotations, a brace.
FUNCTION = re.compile(r"^(?!typedef\b)[A-Za-z_][\w \t*]*?\b(\w+)\([^;{}]*\)[^;{}=]*\{",
                      re.MULTILINE)


def functions():
    """Names of the functions of driver and provider."""
    names = set()
    for path, text in sources("drivers/**/*.[ch]", "rdma-core-provider/*.[ch]"):
        if path.parent.name != "tests":
            names.update(FUNCTION.findall(text))
    return names


def kunit_tests(findings):
    """SUITE.FUNCTION of each KUnit case. SUITE is the name of its file without _kunit.c."""
    names, files = set(), {}
    for path, text in sources("drivers/**/*_kunit.c"):
        suite = path.stem[:-len("_kunit")]
        if suite in files:
            findings.add(path, 1, f"suite {suite} is also in {files[suite]}")
        files[suite] = path.relative_to(ROOT)
        cases = re.findall(r"\bKUNIT_CASE\w*\(\s*(\w+)", text)
        names.update(f"{suite}.{case}" for case in cases)
    return names


def e2e_cases():
    """Names of the cases of the end-to-end suite."""
    run = ROOT / "tools/testing/selftests/kwarp/run.sh"
    out = subprocess.run(["bash", str(run), "--list"], stdout=subprocess.PIPE, text=True,
                         check=True)
    return set(out.stdout.split())


def listed(struct, pattern):
    """The first string of each entry of all arrays of this struct type."""
    array = re.compile(r"\bstruct " + struct + r" \w+\[\] = \{\n(.*?)^\};", re.S | re.M)
    names = set()
    for _, text in sources(pattern):
        for body in array.findall(text):
            names.update(re.findall(r'^\t\{ "([^"]+)"', body, re.M))
    return names


RAW = "tools/testing/rawpeer/**/*.c"


def raw_cases():
    """Cases of the raw peer with a list of requirements: {name: set of IDs}."""
    pairs = []
    for _, text in sources(RAW):
        pairs += re.findall(r'\.name = "([^"]+)",\s*\.ids = "([^"]*)"', text)
    return {name: set(ids.split()) for name, ids in pairs}


def fuzzers():
    """Names of the fuzz targets."""
    return {path.stem[len("fuzz_"):]
            for path, _ in sources("tools/testing/fuzz/fuzz_*.c")}


def provider_tests():
    """Functions in the provider's own table of tests."""
    names = set()
    for _, text in sources("rdma-core-provider/tests/*.c"):
        names.update(re.findall(r'^\t\{ "[^"]+", (test_\w+) \}', text, re.M))
    return names


def tests(findings):
    """Names of all tests that exist: {kind of test: names}."""
    return {
        "kunit": kunit_tests(findings),
        "e2e": e2e_cases(),
        "raw": listed("kwraw_scenario", RAW) | set(raw_cases()),
        "verbs": listed("kv_case", "tools/testing/programs/kwverbs/*.c"),
        "fuzz": fuzzers(),
        "provider": provider_tests(),
    }


# ------------------------------------------------------------------ the tables

def table_of(rfc):
    """Path of the table for an RFC."""
    return TABLES / f"rfc{rfc}.csv"


def read_table(path, findings):
    """Read the rows of a table. A line with a wrong number of columns is a finding."""
    rows = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        cells = text.split("|")
        if number == 1:
            if cells != COLUMNS:
                findings.add(path, 1, "the first line must be " + "|".join(COLUMNS))
        elif len(cells) != len(COLUMNS):
            findings.add(path, number, f"{len(cells)} columns, must be {len(COLUMNS)}")
        else:
            rows.append(Row(path, number, *cells))
    return rows


def check_order(rows, rfc, findings):
    """Check that the IDs of a section are consecutive, and count from 0 or 1 without a gap."""
    done, section, last = set(), None, 0
    for row in rows:
        match = re.fullmatch(rfc + r"-([\w.]+)-(\d+)", row.id)
        if not match:
            findings.row(row, f"no ID of the form {rfc}-SECTION-NUMBER")
            continue
        number = int(match[2])
        if match[1] == section:
            if number != last + 1:
                findings.row(row, f"follows {rfc}-{section}-{last}")
        else:
            if match[1] in done:
                findings.row(row, f"section {match[1]} has begun before")
            if number > 1:
                findings.row(row, f"section {match[1]} begins with {number}")
            section = match[1]
            done.add(section)
        last = number


def check_total(rows, path, rfc, findings):
    """Check the number of rows."""
    if rfc not in TOTAL:
        findings.add(path, 1, f"no total is known for RFC {rfc}")
    elif len(rows) != TOTAL[rfc]:
        findings.add(path, len(rows) + 1, f"{len(rows)} rows, must be {TOTAL[rfc]}")


def group(row):
    """The group of a row's level: MUST, SHOULD, MAY or plain; None for an unknown level."""
    for words, name in GROUPS:
        if row.level.startswith(words):
            return name
    return None


def in_scope(row):
    """Must the module fulfil this statement?"""
    return row.where.split(" ")[0] in IN_SCOPE


def check_cells(row, findings):
    """Check that a row has the cells that it must have."""
    place, _, role = row.where.partition(" ")
    if place not in IN_SCOPE | OUT_OF_SCOPE or role not in ROLES:
        findings.row(row, f"where '{row.where}' does not exist")
    if not group(row):
        findings.row(row, f"level '{row.level}' does not exist")
    if not row.requirement:
        findings.row(row, "no requirement")
    if not in_scope(row):
        if not row.reason:
            findings.row(row, "out of scope without a reason")
        return
    if not row.functions and not row.reason:
        findings.row(row, "neither function nor reason")
    if status(row) == "n/a" and row.tests:
        findings.row(row, "not applicable, but it names a test")
    if status(row) == "open":
        findings.row(row, f"{row.level} with neither test nor reason")


def check_names(row, known_functions, known_tests, findings):
    """Check that the functions and tests that a row names exist."""
    for name in row.functions.split():
        if name not in known_functions:
            findings.row(row, f"there is no function {name}()")
    for name in row.tests.split():
        kind, _, case = name.partition(":")
        if kind not in known_tests:
            findings.row(row, f"test '{name}' is of no known kind")
        elif not fnmatch.filter(known_tests[kind], case):
            findings.row(row, f"there is no test {name}")


# ------------------------------------------------------- cases of the raw peer

def by_family(wanted, names):
    """The wanted names, sorted. "BEGINNING-*" stands for all names with that beginning."""
    left, stars = set(wanted), []
    stems = {name[:dash.start()] + "-*" for name in wanted for dash in re.finditer("-", name)}
    for stem in sorted(stems, key=lambda stem: (len(stem), stem)):
        family = set(fnmatch.filter(names, stem))
        if len(family & left) > 1 and family <= wanted:
            stars.append(stem)
            left -= family
    return sorted(stars) + sorted(left)


def with_raw_cases(row, cases):
    """The row's tests, with all cases of the raw peer that list its ID."""
    kept = [test for test in row.tests.split()
            if not (test.startswith("raw:") and fnmatch.filter(cases, test[4:]))]
    wanted = {name for name, ids in cases.items() if row.id in ids}
    if in_scope(row):
        kept += ["raw:" + name for name in by_family(wanted, cases)]
    return " ".join(kept)


def write_tables(tables, cases):
    """Write the cases of the raw peer to the tables, and return the new rows."""
    new = {}
    for rfc, rows in tables.items():
        new[rfc] = [row._replace(tests=with_raw_cases(row, cases)) for row in rows]
        lines = ["|".join(COLUMNS)] + ["|".join(row[2:]) for row in new[rfc]]
        table_of(rfc).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return new


def check_raw_cases(tables, cases, findings):
    """Check that each row has the raw peer's cases that list it, and that their IDs exist."""
    rows = {row.id: row for table in tables.values() for row in table}
    for row in rows.values():
        if row.tests != with_raw_cases(row, cases):
            findings.row(row, "the raw cases are old: scripts/conformance.py --write")
    for name, ids in cases.items():
        for missing in sorted(ids - set(rows)):
            findings.add(TABLES, 0, f"raw:{name} is for {missing}, which does not exist")


# ------------------------------------------------------------------- the count

def status(row):
    """One of STATUSES: how the requirement is met.

    "test": a test shows it; "reason": the row says why there is no test; "code": a function meets
    it, and the level is not MUST, so that no test is needed; "open": test and reason are missing;
    "deviates": it is not met; "n/a": it is not applicable; "outside": it is out of scope.
    """
    if not in_scope(row):
        return "outside"
    if row.reason.startswith("deviation: "):
        return "deviates"
    if row.reason.startswith("not applicable: "):
        return "n/a"
    if row.tests:
        return "test"
    if row.reason:
        return "reason"
    return "open" if group(row) == "MUST" else "code"


def count_lines(tables):
    """The table of counts, as reStructuredText."""
    def line(cells):
        return "| " + " | ".join(f"{c:<8}" for c in cells) + " |"

    def numbers(label, level, counts):
        return line([label, level] + [counts[s] for s in STATUSES] + [sum(counts.values())])

    rule = "+" + "+".join(["-" * 10] * (len(STATUSES) + 3)) + "+"
    lines = [rule, line(["RFC", "level"] + STATUSES + ["all"]), rule.replace("-", "=")]
    everything = collections.Counter()
    levels = [name for _, name in GROUPS]
    for rfc, rows in tables.items():
        for level in levels:
            counts = collections.Counter(status(r) for r in rows if group(r) == level)
            everything.update(counts)
            lines += [numbers(rfc, level, counts), rule]
    lines += [numbers("all", "", everything), rule]
    return lines


def split_index():
    """Lines of index.rst up to the first marker, between the markers, and from the second on."""
    lines = INDEX.read_text(encoding="utf-8").splitlines()
    begin, end = lines.index(BEGIN), lines.index(END)
    return lines[:begin + 1], lines[begin + 1:end], lines[end:]


def write_count(tables):
    """Write the table of counts to index.rst."""
    head, _, tail = split_index()
    text = "\n".join(head + [""] + count_lines(tables) + [""] + tail) + "\n"
    INDEX.write_text(text, encoding="utf-8")


def check_count(tables, findings):
    """Check that the counts in index.rst are those of the tables."""
    head, count, _ = split_index()
    if [l for l in count if l] != count_lines(tables):
        findings.add(INDEX, len(head), "the count is old: scripts/conformance.py --write")


# ------------------------------------------------------------------------ main

def read_tables(findings):
    """Read and check all tables: {RFC number: rows}."""
    tables = {}
    for rfc in TOTAL:
        path = table_of(rfc)
        if not path.exists():
            findings.add(path, 1, "is missing")
            continue
        tables[rfc] = read_table(path, findings)
        check_order(tables[rfc], rfc, findings)
    for path in sorted(TABLES.glob("*.csv")):
        rfc = path.stem[len("rfc"):]
        check_total(tables.get(rfc, []), path, rfc, findings)
    return tables


def check_rows(tables, findings):
    """Check the cells and names of all rows."""
    known_functions, known_tests = functions(), tests(findings)
    for rows in tables.values():
        for row in rows:
            check_cells(row, findings)
            check_names(row, known_functions, known_tests, findings)


def main(argv):
    """Write with --write, then check."""
    if argv not in ([], ["--write"]):
        sys.exit(f"usage: {sys.argv[0]} [--write]")
    findings = Findings()
    tables, cases = read_tables(findings), raw_cases()
    if argv and not findings.lines:
        tables = write_tables(tables, cases)
        write_count(tables)
    check_rows(tables, findings)
    check_raw_cases(tables, cases, findings)
    check_count(tables, findings)
    for line in findings.lines:
        print(line)
    return 1 if findings.lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
