#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Mutation test of the conformance tables, which have a row for each requirement of the RFCs, with
# the functions that fulfil it and the tests that show it. Do these tests fail if the requirement is
# not fulfilled? Draw rows of level MUST at random. For each row, break one of its functions, and
# run its tests; one of these must fail.
#
#   scripts/mutate.py [--rows 40] [--seed N] [--minutes M] [--only ID...] [--kunit-only]
#                     [--kernel 6.12] [--list]
#
# How a function is broken: if the function, or the comment before it, cites the requirement's ID,
# the next condition after the citation is inverted. If not, the function returns at once, as if it
# had succeeded. All changes are made in a copy of the tree, build/mutate/tree.
#
# KUnit cases run first. If none of them fails, the cases of the raw peer and of the end-to-end
# suite run in a virtual machine; without KVM, those with the kernel uml-up are the faster ones. The
# raw peer is a test program that makes MPA, DDP and RDMAP octet by octet on a TCP socket
# (tools/testing/rawpeer). Rows that name only other kinds of tests (fuzz, provider) are not drawn.
#
# Results are in build/mutate/result.txt. In the last line, "N passed, N failed, N skipped", passed
# are functions whose fault a test has found ("killed"), failed are those whose fault no test has
# found ("survived"), and skipped are those that were not tried or did not compile.
"""Break functions that the conformance tables name, and check that the named tests fail."""
import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import conformance  # noqa: E402

WORK = ROOT / "build" / "mutate"
TREE = WORK / "tree"
DRIVER = "drivers/infiniband/sw/kwarp"
# Largest number of cases of the raw peer, and of the suite, that a guest runs for one row.
MOST_CASES, MOST_SUITE = 6, 2
# SCENARIOS are cases of the raw peer that the end-to-end suite runs as cases of its own (bad-NAME).
SCENARIOS = conformance.listed("kwraw_scenario", conformance.RAW)
ALL_RAW = SCENARIOS | set(conformance.raw_cases())


# ------------------------------------------------------------------- the rows

def testable(row):
    """The row's tests that can be run by name."""
    return [t for t in row.tests.split() if t.split(":")[0] in ("kunit", "raw", "e2e", "verbs")]


def candidates():
    """Rows that may be drawn: in scope, of level MUST, with a test and a function of the driver."""
    tables = conformance.read_tables(conformance.Findings())
    rows = [row for table in tables.values() for row in table]
    return [row for row in rows if conformance.group(row) == "MUST"
            and conformance.status(row) == "test" and testable(row) and sites(row)]


# -------------------------------------------------------------- the functions

HEAD = r"^(?!typedef\b)(?P<type>[A-Za-z_][\w \t*]*?\**)\b%s\([^;{}]*\)[^;{}=]*\{\n"


def sites(row):
    """(file, function) for each function of the row that exactly one file of the driver defines."""
    found = []
    for name in row.functions.split():
        files = [path for path, text in sources()
                 if re.search(HEAD % re.escape(name), text, re.MULTILINE)]
        if len(files) == 1:
            found.append((files[0], name))
    return found


_sources = []


def sources():
    """Path and text of each file of the driver. The files are read once."""
    if not _sources:
        for path in sorted((ROOT / DRIVER).glob("**/*.[ch]")):
            if path.parent.name != "tests":
                _sources.append((path.relative_to(ROOT), path.read_text(encoding="utf-8")))
    return _sources


# An "if" with its condition, in which parentheses are at most two deep.
CONDITION = re.compile(r"\bif \((?P<cond>(?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")


def success(kind):
    """The return statement for success in a function of this type; None if there is none."""
    kind = kind.replace("static", "").replace("inline", "").strip()
    if kind.endswith("*"):
        return "return NULL;"
    if kind == "void":
        return "return;"
    if kind == "bool":
        return "return true;"
    if kind.startswith("struct"):
        return None
    return "return 0;"


def break_function(text, name, ident):
    """(text with the function broken, description of the change); None if that is not possible."""
    head = re.search(HEAD % re.escape(name), text, re.MULTILINE)
    begin, end = head.end(), text.index("\n}\n", head.end())
    cited = text.find(ident, max(0, text.rfind("\n}\n", 0, head.start())), end)
    if cited >= 0:
        condition = CONDITION.search(text, max(cited, begin), end)
        if condition:
            was = condition["cond"]
            line = text.count("\n", 0, condition.start()) + 1
            return (text[:condition.start("cond")] + f"!({was})" + text[condition.end("cond"):],
                    f"line {line}: if (!({' '.join(was.split())}))")
    early = success(head["type"])
    if not early:
        return None
    return text[:begin] + f"\t{early}\n" + text[begin:], f"begins with '{early}'"


# -------------------------------------------------------------------- running

def run(command, limit, log, **env):
    """Run a command in the copy, and return its exit status; 124 after the time limit."""
    with open(log, "w", encoding="utf-8") as out:
        child = subprocess.Popen(HEAVY + command, cwd=TREE, stdout=out, stderr=out,
                                 env={**os.environ, "KWARP_RESULTS": "", **env},
                                 stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            return child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return 124


# KWARP_RUN_AS: a program with arguments, through which each command is run. It may, for example,
# wait until a shared machine is free.
HEAVY = os.environ.get("KWARP_RUN_AS", "").split()


def suites():
    """{name of a KUnit suite: its name in the tables, which is that of its file}."""
    return {name: path.stem[:-len("_kunit")]
            for path, text in conformance.sources("drivers/**/*_kunit.c")
            for name in re.findall(r'^\t\.name = "kwarp_(\w+)"', text, re.M)}


def kunit_passed():
    """Run KUnit: (names SUITE.CASE of the cases that passed, whether the kernel was built)."""
    names = suites()
    log = WORK / "kunit.log"
    run(["scripts/kunit.sh", "--timeout=90"], 900, log)
    text = (TREE / "build" / "kunit.log").read_text(encoding="utf-8", errors="replace")
    suite, passed = "", set()
    for line in text.splitlines():
        head = re.search(r"=+ kwarp_(\w+) \(\d+ subtests?\)", line)
        if head:
            suite = names.get(head[1], head[1])
        case = re.search(r"\[PASSED\] (test_\w+)", line)
        if case:
            passed.add(f"{suite}.{case[1]}")
    return passed, "Starting KUnit Kernel" in text


def guest_passed(tests):
    """Run the tests in a virtual machine: (whether all passed, whether the module was built)."""
    names = [n for t in tests if t.startswith("raw:")
             for n in sorted(conformance.fnmatch.filter(ALL_RAW, t[4:]))]
    raw = [n for n in names if n not in SCENARIOS][:MOST_CASES]
    e2e = ([t[4:] for t in tests if t.startswith("e2e:")] +
           ["bad-" + n for n in names if n in SCENARIOS] +
           (["bad-verbs"] if any(t.startswith("verbs:") for t in tests) else []))[:MOST_SUITE]
    log = WORK / "guest.log"
    cases = e2e + (["raw-fpdu"] if raw else [])
    # The kernel panics at the first oops or soft lockup, so that the run does not wait for the time
    # limit.
    status = run(["tools/testing/selftests/e2e.sh", "--kernel", OPTIONS.kernel] + cases, 900, log,
                 KWARP_RAW_CASES=" ".join(raw), KWARP_APPEND="oops=panic softlockup_panic=1")
    return status == 0, "running the end-to-end suite" in log.read_text(errors="replace")


def judge(row, known_kunit):
    """Run the row's tests: ("killed", "survived" or "broken", the tests or the reason).

    "broken": the changed code does not compile.
    """
    tests = testable(row)
    kunit = [t[6:] for t in tests if t.startswith("kunit:")]
    if kunit:
        passed, built = kunit_passed()
        if not built:
            return "broken", "does not build"
        lost = [name for name in known_kunit
                if any(conformance.fnmatch.fnmatch(name, k) for k in kunit) and name not in passed]
        if lost:
            return "killed", "kunit:" + lost[0]
        others = sorted(known_kunit - passed)
    others_say = f", though {others[0]} fails" if kunit and others else ""
    guest = [t for t in tests if not t.startswith("kunit:")]
    if guest and not OPTIONS.kunit_only:
        good, built = guest_passed(guest)
        if not built:
            return "broken", "does not build"
        if not good:
            return "killed", " ".join(guest[:MOST_CASES])
    return "survived", " ".join(tests) + others_say


def outdated(rows, known_kunit):
    """Unit tests that rows name, but that did not pass when no function was broken."""
    return [f"{row.id} {test}" for row in rows for test in testable(row)
            if test.startswith("kunit:")
            and not conformance.fnmatch.filter(known_kunit, test[6:])]


def copy_tree():
    """Copy all files that git tracks or would add, in their present state."""
    TREE.mkdir(parents=True, exist_ok=True)
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    subprocess.run(["rsync", "-a", "--files-from=-", f"{ROOT}/", f"{TREE}/"], input=names,
                   text=True, check=False)


def draw(rows, count, seed):
    """Draw rows, and for each row the function to break: (row, file, function)."""
    rng = random.Random(seed)
    chosen = rng.sample(rows, min(count, len(rows)))
    return [(row, *rng.choice(sites(row))) for row in chosen]


def one(row, path, name, known_kunit):
    """Break the function in the copy, run the row's tests, and restore the file."""
    # The original tree is not changed, so that it can be edited during the run.
    target = TREE / path
    text = target.read_text(encoding="utf-8")
    broken = break_function(text, name, row.id)
    if not broken:
        return "broken", "no way to break it", ""
    target.write_text(broken[0], encoding="utf-8")
    try:
        return (*judge(row, known_kunit), broken[1])
    finally:
        target.write_text(text, encoding="utf-8")


def main():
    """Draw rows and test them, until all are done or the time is over."""
    seed = OPTIONS.seed if OPTIONS.seed is not None else random.randrange(100000)
    rows = candidates()
    if OPTIONS.only:
        rows = [row for row in rows if row.id in OPTIONS.only]
    chosen = draw(rows, OPTIONS.rows, seed)
    # Rows with a KUnit test come first, because KUnit runs are short.
    chosen.sort(key=lambda c: "kunit:" not in c[0].tests)
    print(f"seed {seed}: {len(chosen)} of {len(rows)} rows", flush=True)
    if OPTIONS.list:
        for row, path, name in chosen:
            print(f"{row.id} {path}:{name} {row.tests}")
        return 0
    WORK.mkdir(parents=True, exist_ok=True)
    copy_tree()
    known, built = kunit_passed()
    if not built or not known:
        sys.exit(f"the unit tests do not run as they are: {WORK}/kunit.log")
    if not OPTIONS.kunit_only and not guest_passed(["e2e:data-plain-1500"])[0]:
        sys.exit(f"the guest does not run as it is: {WORK}/guest.log")
    old = outdated(candidates(), known)
    if old:
        sys.exit("these do not run, so that no mutant could be found by them: " + ", ".join(old))
    count = {"killed": 0, "survived": 0, "broken": 0, "late": 0}
    end = time.monotonic() + 60 * OPTIONS.minutes
    with open(WORK / "result.txt", "w", encoding="utf-8") as result:
        for row, path, name in chosen:
            if time.monotonic() > end or (OPTIONS.kunit_only and "kunit:" not in row.tests):
                count["late"] += 1
                continue
            verdict, by, what = one(row, path, name, known)
            count[verdict] += 1
            line = f"{verdict} | {row.id} | {path.name}:{name} {what} | {by}"
            print(line, flush=True)
            print(line, file=result, flush=True)
    results = os.environ.get("KWARP_RESULTS")
    numbers = (count["killed"], count["survived"], count["late"] + count["broken"])
    if results:
        with open(results, "a", encoding="utf-8") as out:
            print(*numbers, file=out)
    print("{} passed, {} failed, {} skipped".format(*numbers))
    return 1 if count["survived"] else 0


def options():
    """The command line."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--rows", type=int, default=40, help="how many to draw (%(default)s)")
    p.add_argument("--seed", type=int, help="what to draw them by (random)")
    p.add_argument("--minutes", type=float, default=600,
                   help="rows that have not begun by then are skipped (%(default)s)")
    p.add_argument("--only", nargs="+", metavar="ID", help="draw from these rows of the tables only")
    p.add_argument("--kunit-only", action="store_true",
                   help="rows that name unit tests, and no tests in a guest")
    p.add_argument("--kernel", default="6.12", help="kernel of the virtual machine (%(default)s)")
    p.add_argument("--list", action="store_true", help="print the rows that are drawn, and run nothing")
    return p.parse_args()


if __name__ == "__main__":
    OPTIONS = options()
    sys.exit(main())
