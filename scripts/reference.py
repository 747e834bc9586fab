#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Make the reference, Documentation/reference/{knobs,counters,traces,codes}.rst, and the part of the
# manual page kwarp(7) about knobs (settings of a link), from the sources.
#
#   scripts/reference.py            write these files
#   scripts/reference.py --check    print which of these files this script would change
#
# Sources: for knobs, the rows of KNOBS and the comment above them in knobs.h, the kinds of knobs in
# knobs.c (which values a knob takes), and the units in the kernel-doc of struct kwarp_knobs; for
# counters, the table in stats.c and the comment above it; for tracepoints, trace.h; for codes, the
# tables of "kwarpctl explain". A knob, counter or field of a tracepoint without a text is an error,
# and so is a text about one that does not exist.
"""Write or check the generated reference."""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools" / "kwarpctl"))

# pylint: disable=wrong-import-position
from kwctl import statuses, terms
from reference_sources import (Constants, Mistake, check_names, comments, entries_of, read_knobs,
                               texts_of)

DRIVER = "drivers/infiniband/sw/kwarp/"
ABI = "include/uapi/rdma/kwarp-abi.h"
PAGES = "Documentation/reference/"
MAN = "rdma-core-provider/man/kwarp.7"
WIDTH = 96


def source(name):
    """The text of a file of the driver."""
    return (ROOT / DRIVER / name).read_text(encoding="utf-8")


# ------------------------------------------------------- reStructuredText, troff

def fill(text, indent="", width=WIDTH):
    """Wrap a paragraph to lines, but not within literals and roles of reStructuredText."""
    parts = re.findall(r"(?::\w+:)?``.*?``|(?::\w+:)?`.*?`|[^`]+", text)
    kept = "".join(p.replace(" ", "\x00") if "`" in p else p for p in parts)
    lines = textwrap.wrap(kept, width, initial_indent=indent, subsequent_indent=indent,
                          break_long_words=False, break_on_hyphens=False)
    return [line.replace("\x00", " ") for line in lines]


def paragraphs(items, indent=""):
    """Lines of wrapped paragraphs, with an empty line after each."""
    return [line for item in items for line in fill(item, indent) + [""]]


def heading(text, rule):
    """Lines of a heading, underlined with RULE; with # also overlined."""
    line = rule * len(text)
    return ([line] if rule == "#" else []) + [text, line, ""]


def table(head, rows):
    """Lines of a simple table, in which cells of the last column are wrapped."""
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
    widths[-1] = min(widths[-1], WIDTH - sum(widths[:-1]) - len(widths) + 1)
    rule = " ".join("=" * width for width in widths)
    lines = [rule, line_of(head, widths), rule]
    for row in rows:
        first, *rest = fill(row[-1], width=widths[-1])
        lines.append(line_of(row[:-1] + [first], widths))
        lines += [line_of([""] * (len(row) - 1) + [part], widths) for part in rest]
    return lines + [rule, ""]


def line_of(cells, widths):
    """One line of a simple table. An empty first cell means that the line continues a row."""
    return " ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()


def page(title, origin, intro, body):
    """The text of a page."""
    line = "=" * len(title)
    head = [".. SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause", "",
            f".. Made by scripts/reference.py of {origin}:", "   change these, then run it.", "",
            line, title, line, ""]
    return "\n".join(head + paragraphs(intro) + body).rstrip() + "\n"


def troff(text):
    """Lines of a paragraph in troff, the language of manual pages."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = re.sub(r":doc:`/?([^`]*)`", r"Documentation/\1.rst", text)
    text = re.sub(r"``(.*?)``", r"\\fI\1\\fR", text)
    return [("\\&" + line if line[0] in ".'" else line) for line in textwrap.wrap(text, WIDTH)]


# ---------------------------------------------------------------------- pages

def synonym_words(synonyms):
    """Text that lists the synonyms of words."""
    parts = [", ".join(f"``{other}``" for other in others) + f" for ``{word}``"
             for word, others in synonyms.items() if others]
    return " and ".join(parts)


def knob_section(knob):
    """Lines about one knob."""
    return heading(f"``{knob.name}``", "=") + [
        f":Values: {knob.values}", f":Default: ``{knob.default}``", ""] + \
        paragraphs(knob.text.paragraphs)


def knobs_page(knobs, counts, synonyms, texts):
    """The text of reference/knobs.rst."""
    intro = [
        "Each link has a folder ``/sys/class/infiniband/NAME/kwarp/`` with one file per knob, mode "
        "0644.  Writing takes CAP_NET_ADMIN over the network namespace of the link.  A connection "
        "reads its knobs when it starts, so a new value applies to later connections only.  "
        "Module parameters of the same names are the defaults of links added later.  A knob "
        "refuses a wrong value with EINVAL, or a number that is too large with ERANGE, and keeps "
        "its old value.  The module does not load if a module parameter has a wrong value.",
        "The defaults are right if both ends are kwarp.  :doc:`/interop` says which to change for "
        "other peers; \"Knobs\" in :doc:`/admin-guide` says how to keep values over a reboot.",
    ]
    also = synonym_words(synonyms)
    if also:
        intro.append(f"A knob whose only values are ``on`` and ``off`` also takes {also}.")
    rows = [[f"``{k.name}``", f"``{k.default}``", k.short] for k in knobs]
    body = table(["Knob", "Default", "In short"], rows)
    for knob in knobs:
        body += knob_section(knob)
    body += heading("Files that can only be read", "=")
    for name in counts:
        body += [f"``{name}``"] + paragraphs(texts[name].paragraphs, "    ")
    return page("Knobs", "knobs.h, knobs.c, kwarp.h and stats.c", intro, body)


def man_part(knobs, counts, texts):
    """Lines about the knobs in kwarp(7)."""
    lines = []
    for knob in knobs:
        lines += [".TP", f".B {knob.name}"] + troff(f"{knob.values} (default ``{knob.default}``).")
        lines += [".br"] + troff(knob.text.paragraphs[0])
    lines += [".PP"] + troff("These files in the same folder can only be read:")
    for name in counts:
        lines += [".TP", f".B {name}"] + troff(texts[name].paragraphs[0])
    return lines


MAN_BEGIN, MAN_END = '.\\" knobs: made by scripts/reference.py', '.\\" end of knobs'


def with_man_part(text, lines):
    """The manual page with LINES between its two markers."""
    head, begin, rest = text.partition(MAN_BEGIN + "\n")
    _, end, tail = rest.partition(MAN_END + "\n")
    if not begin or not end:
        raise Mistake(f"{MAN}: the lines '{MAN_BEGIN}' and '{MAN_END}' are missing")
    return head + begin + "\n".join(lines) + "\n" + end + tail


# ------------------------------------------------------------------- counters

def counter_rows(text):
    """(name, kind) of each row of the table in stats.c."""
    match = re.search(r"struct row rows\[\] = \{\n(.*?)^\};", text, re.DOTALL | re.MULTILINE)
    rows = re.findall(r'\{ "(\w+)", (\w+),', match[1]) if match else []
    if not rows:
        raise Mistake("stats.c: no table rows[]")
    return rows


def counter_list(names, texts):
    """Lines of a definition list. Names with a common text have a common entry."""
    lines, done = [], set()
    for name in names:
        if name in done:
            continue
        done.update(texts[name].names)
        lines += [", ".join(f"``{n}``" for n in texts[name].names)]
        lines += paragraphs(texts[name].paragraphs, "    ")
    return lines


def counters_page(text):
    """The text of reference/counters.rst."""
    rows, texts = counter_rows(text), texts_of(text, "stats.c")
    check_names(texts, [name for name, _ in rows], "stats.c", "counter")
    intro = [
        "``rdma statistic show link kw0/1`` prints the counters of a link, and "
        "``/sys/class/infiniband/kw0/ports/1/hw_counters`` has a file for each.  Counters are 0 "
        "when the link is added.",
        "``/sys/class/infiniband/kw0/ports/1/counters`` has InfiniBand's counters, made of these: "
        "\"Counts, details and traces\" in :doc:`../admin-guide`.",
    ]
    streams = [name for name, kind in rows if kind == "STREAM"]
    others = [name for name, kind in rows if kind != "STREAM"]
    body = heading("Counters of streams", "=") + paragraphs([
        "The counter of a queue pair (``rdma statistic qp bind link kw0/1 lqpn N``, then "
        "``rdma statistic qp show link kw0``) has these, too.  ``tx_`` counts what this end sent, "
        "``rx_`` what it received."])
    body += counter_list(streams, texts)
    body += heading("Counters of the device", "=") + counter_list(others, texts)
    return page("Counters", "stats.c", intro, body)


# --------------------------------------------------------------------- traces

EVENT = re.compile(r"(/\*(?:(?!\*/).)*\*/\n)?TRACE_EVENT\((\w+),(.*?)^\);",
                   re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"__(field|array)\((.+?), (\w+)(?:, \w+)?\)")


def numbers(text, enum=None, prefix=None):
    """(value, name) of each member of an enum, or of each #define with this prefix."""
    if enum:
        body = re.search(r"enum %s \{(.*?)\};" % enum, text, re.DOTALL)[1]
        found = re.findall(r"^\s*(\w+)\s*=\s*(\w+),", body, re.MULTILINE)
    else:
        found = re.findall(r"^#define\s+(%s\w*)\s+(0x[0-9a-f]+|\d+)\b" % prefix, text,
                           re.MULTILINE)
    return [(int(value, 0), name) for name, value in found]


def number_list(pairs):
    """Text that lists numbers and their names."""
    words = [f"``{value} {name.split('_', 2)[2]}``" for value, name in sorted(pairs)]
    return ", ".join(words) + "."


def event_section(name, comment, body, common):
    """Lines about a tracepoint: when it occurs, its fields, its printed form."""
    when, entries = entries_of(comment or "")
    if not when:
        raise Mistake(f"trace.h: no text for the tracepoint {name}: say in a comment before it "
                      "when it comes")
    own = {n: " ".join(e.paragraphs) for e in entries for n in e.names}
    rows = []
    for array, kind, field in FIELD.findall(body):
        if field not in own and field not in common:
            raise Mistake(f"trace.h: no text for the field {field} of {name}")
        rows.append([f"``{field}``", "text" if array == "array" else kind,
                     own.pop(field, None) or common[field]])
    if own:
        raise Mistake(f"trace.h: {name} has no field {', '.join(own)}")
    printed = re.search(r'TP_printk\("([^"]*)"', body)[1]
    return heading(f"``{name}``", "=") + paragraphs([when]) + \
        table(["Field", "Type", "What"], rows) + ["Printed as::", "", f"    {printed}", ""]


def traces_page(text, ddp, abi):
    """The text of reference/traces.rst."""
    first = next((e for e in map(entries_of, comments(text)) if e[1]), ("", []))[1]
    common = {n: " ".join(e.paragraphs) for e in first for n in e.names}
    intro = [
        "The tracepoints are in ``/sys/kernel/tracing/events/kwarp``, one folder each.  Fields can "
        "be used in filters, for example ``echo 'qpn == 17' > "
        "/sys/kernel/tracing/events/kwarp/filter``.  \"Counts, details and traces\" in "
        ":doc:`/admin-guide` has the commands, and a bpftrace script that makes histograms.",
    ]
    body, names = [], []
    for comment, name, rest in EVENT.findall(text):
        names.append(name)
        body += event_section(name, comment, rest, common)
    if not names:
        raise Mistake("trace.h: no tracepoints")
    body += heading("Numbers", "=") + paragraphs([
        "``opcode`` of messages (RFC 5040, RFC 7306): "
        + number_list(numbers(ddp, enum="kwarp_rdmap_op")),
        "``opcode`` of completions: " + number_list(numbers(abi, enum="kwarp_wr_opcode")
                                                   + numbers(abi, prefix="KWARP_WC_RECV")),
        "``status`` of completions: " + number_list(numbers(abi, enum="kwarp_wc_status")),
    ])
    return page("Tracepoints", "trace.h", intro, body)


# ---------------------------------------------------------------------- codes

def escaped(text):
    """Plain text as reStructuredText. Text in backquotes becomes a literal."""
    text = re.sub(r"`([^`]*)`", r"``\1``", text)
    return re.sub(r"(?<!`)([*|])", r"\\\1", text)


def definition(title, *words):
    """Lines of an entry of a definition list, without empty paragraphs."""
    return [title] + paragraphs([escaped(w) for w in words if w], "    ")


def sure(text, what):
    """The text with its name WHAT before it; "" if the text is empty or a dash."""
    return f"{what}: {text}" if text not in ("", "-") else ""


def codes_page():
    """The text of reference/codes.rst."""
    intro = ["``kwarpctl explain CODE`` prints the same about a single code."]
    body = heading("Terminates", "=") + paragraphs([
        "Each entry begins with layer, type and code (the code in hexadecimal), then the number "
        "and the name.  The number, layer << 12 | type << 8 | code, is in ``vendor_err`` of "
        "completions and in tracepoints.  Tracepoints and ``rdma resource show qp -dd`` print the "
        "name."])
    for term in terms.TERMS:
        wire = term.name not in [t.name for t in terms.NOT_SENT]
        title = f"``{term.triple()}``, ``0x{term.short():04x}``, ``{term.name}``" if wire \
            else f"``{term.name}``"
        rfc = f" ({term.rfc})" if term.rfc else ""
        meaning = term.meaning.rstrip(".") + rfc + "." if rfc else term.meaning
        body += definition(title, meaning, sure(term.cause, "Cause"), sure(term.action, "To do"))
    body += heading("Statuses of completions", "=")
    for number, status in enumerate(statuses.STATUSES):
        if status.cause == statuses.NEVER[1]:
            continue
        body += definition(f"``IBV_WC_{status.name}`` ({number}), \"{status.text}\"",
                           status.meaning, sure(status.cause, "Cause"),
                           sure(status.action, "To do"))
    body += heading("Events of rdma_cm", "=")
    for event in statuses.EVENTS:
        if event.cause == statuses.NEVER[1]:
            continue
        usual = (event.cause, event.action) == statuses.USUAL
        body += definition(f"``RDMA_CM_EVENT_{event.name}``", event.meaning,
                           event.cause if usual else sure(event.cause, "Cause"),
                           "" if usual else sure(event.action, "To do"))
    body += heading("Errno", "=")
    for entry in statuses.ERRNOS:
        body += definition(f"``{entry.name}``", entry.meaning, sure(entry.action, "To do"))
    return page("Codes", "terms.py and statuses.py of tools/kwarpctl/kwctl", intro, body)


# ----------------------------------------------------------------------- main

def everything():
    """{path: text} of all files that this script writes."""
    header, code, stats = source("knobs.h"), source("knobs.c"), source("stats.c")
    headers = [path.read_text(encoding="utf-8") for path in (ROOT / DRIVER).rglob("*.h")]
    knobs, counts, synonyms = read_knobs(header, code, source("kwarp.h"), Constants(headers))
    texts = texts_of(stats, "stats.c") | texts_of(header, "knobs.h")
    check_names({n: t for n, t in texts.items() if n in counts}, counts, "knobs.h or stats.c",
                "file that can only be read")
    abi = (ROOT / ABI).read_text(encoding="utf-8")
    man = (ROOT / MAN).read_text(encoding="utf-8")
    return {
        PAGES + "knobs.rst": knobs_page(knobs, counts, synonyms, texts),
        PAGES + "counters.rst": counters_page(stats),
        PAGES + "traces.rst": traces_page(source("trace.h"), source("proto/ddp.h"), abi),
        PAGES + "codes.rst": codes_page(),
        MAN: with_man_part(man, man_part(knobs, counts, texts)),
    }


def main(argv):
    """Write the files, or compare them with --check; return the exit status."""
    if argv not in ([], ["--check"]):
        sys.exit(f"usage: {sys.argv[0]} [--check]")
    try:
        wanted = everything()
    except Mistake as mistake:
        sys.exit(DRIVER + str(mistake) if not str(mistake).startswith(MAN) else str(mistake))
    old = 0
    for name, text in wanted.items():
        path = ROOT / name
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        if there == text:
            continue
        if argv:
            print(f"{name} is old: run scripts/reference.py")
            old = 1
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(name)
    return old


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
