#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Check that Documentation/reference and kwarp(7) describe each knob, counter, tracepoint and code,
and no other. Defaults, fields and numbers have to agree, too, and so do the texts about codes that
"kwarpctl explain" prints.

   scripts/lint/names.py     print findings, PAGE: WHAT"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))

from kwarpctl import causes, statuses, terms  # pylint: disable=wrong-import-position

DRIVER, PAGES = "drivers/infiniband/sw/kwarp/", "Documentation/reference/"


def read(name):
    """The text of a file."""
    return (ROOT / name).read_text(encoding="utf-8")


def find(pattern, text):
    """All matches of a pattern in which ^ and $ are ends of lines, and a dot may be a newline."""
    return re.findall(pattern, text, re.MULTILINE | re.DOTALL)


def compare(page, wanted, found):
    """Report what the sources have and the page has not, and the opposite."""
    for one in sorted(set(wanted) - set(found)):
        print(f"{page}: no text for {one}")
    for one in sorted(set(found) - set(wanted)):
        print(f"{page}: a text for {one}, which the sources do not have")


def check_knobs():
    """Knobs and their defaults, which end their words for modinfo; files that can only be read."""
    table = find(r"#define KNOBS\(X\)(.*?[^\\])\n", read(DRIVER + "knobs.h"))[0]
    knobs = find(r'X\((\w+),[^"]*"[^"]*\(([\w,]+)\)"\)', table)
    counts = find(r"^COUNT\((\w+),", read(DRIVER + "knobs.c"))
    text, files = read(PAGES + "knobs.rst").split("\nFiles that can only be read\n")
    compare("knobs.rst, table", knobs, find(r"^``(\w+)`` +``([\w,]+)`` ", text))
    compare("knobs.rst", knobs,
            find(r"^``(\w+)``\n=+\n\n:Values: [^\n]+\n:Default: ``([^`]+)``$", text))
    compare("knobs.rst, files", counts, find(r"^``(\w+)``$", files))
    man = read("rdma-core-provider/man/kwarp.7")
    text, files = find(r"^\.SH KNOBS$(.*?)^These files(.*?)^\.SH", man)[0]
    compare("kwarp.7", knobs, find(r"^\.B (\w+)\n[^(]*\(default \\fI([^\\]+)\\fR\)\.$", text))
    compare("kwarp.7, files", counts, find(r"^\.B (\w+)$", files))


def check_counters():
    """Counters; those that queue pairs have are in a section of their own."""
    rows = find(r'^\t\{ "(\w+)", (\w+),', read(DRIVER + "stats.c"))
    sections = read(PAGES + "counters.rst").split("\nCounters of the device\n")
    for section, of_qp in zip(sections, (True, False)):
        compare("counters.rst", [name for name, kind in rows if (kind == "STREAM") == of_qp],
                find(r"\w+", " ".join(find(r"^``\w+``[`\w, ]*$", section))))


def check_traces():
    """Tracepoints, with their fields and printed forms; numbers of opcodes and statuses."""
    text, numbers = read(PAGES + "traces.rst").split("\nNumbers\n")
    sections = dict(find(r"^``(\w+)``\n=+\n(.*?)(?=^``\w+``\n=|\Z)", text))
    events = dict(find(r"^TRACE_EVENT\((\w+),(.*?)^\);", read(DRIVER + "trace.h")))
    compare("traces.rst", events, sections)
    for name in events.keys() & sections.keys():
        compare(f"traces.rst, {name}",
                find(r"__(?:field|array)\([^,]+, (\w+)", events[name]) +
                find(r'TP_printk\("([^"]*)"', events[name]),
                find(r"^``(\w+)`` ", sections[name]) + find(r"^    (\w+=[^\n]*)$", sections[name]))
    values = find(r"^(?:#define|\t)\s*KWARP_(?:OP|WR|WC)_(\w+)[ \t=]+(\w+)\b",
                  read(DRIVER + "proto/ddp.h") + read("include/uapi/rdma/kwarp-abi.h"))
    compare("traces.rst, Numbers", [(int(value, 0), name) for name, value in values],
            [(int(value), name) for value, name in find(r"``(\d+)\s(\w+)``", numbers)])


def check_codes():
    """Codes, and their texts."""
    wanted = {f"``{term.name}``" if term in terms.NOT_SENT else
              f"``{term.triple()}``, ``0x{term.short():04x}``, ``{term.name}``": term
              for term in terms.TERMS}
    wanted |= {f'``IBV_WC_{status.name}`` ({number}), "{status.text}"': status
               for number, status in enumerate(statuses.STATUSES)}
    wanted |= {f"``0x{cause.number:05x}``, ``LOCAL_{cause.name}``": cause
               for cause in causes.CAUSES}
    wanted |= {f"``RDMA_CM_EVENT_{event.name}``": event for event in statuses.EVENTS}
    wanted |= {f"``IBV_EVENT_{event.name}``": event for event in causes.ASYNC}
    wanted |= {f"``{errno.name}``": errno for errno in statuses.ERRNOS}
    # The page leaves out what only other devices have.
    wanted = {title: code for title, code in wanted.items()
              if getattr(code, "cause", "") != statuses.NEVER[1]}
    found = dict(find(r"^(``[^\n]+)\n(    [^\n]+\n(?:\n|    [^\n]+\n)*)",
                      read(PAGES + "codes.rst")))
    compare("codes.rst", wanted, found)
    for title in wanted.keys() & found.keys():
        code, text = wanted[title], " ".join(re.sub(r"[\\`]", "", found[title]).split())
        for part in (code.meaning, getattr(code, "cause", ""), code.action):
            if part.rstrip("-.").replace("`", "") not in text and part != statuses.USUAL[1]:
                print(f"codes.rst: {title} is explained in other words than: {part}")


for check in (check_knobs, check_counters, check_traces, check_codes):
    check()
