# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Text for a terminal: tables, and names that other users have chosen."""
import os
import re
import sys


def colours():
    """May the output have colours?  See https://no-color.org."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and \
        os.environ.get("TERM", "dumb") != "dumb"


def marked(line, words):
    """The line, in yellow if WORDS (a regular expression) is in it and colours are wanted."""
    return "\033[33m%s\033[0m" % line if colours() and re.search(words, line) else line


def printable(text):
    r"""The text with control characters escaped, as \x1b.  Any user chooses the names of his
    processes, and must not control the terminal of the user who looks at them."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def end(address, port):
    if not address:
        return "-"
    return ("[%s]:%d" if ":" in address else "%s:%d") % (address, port)


def process(entry):
    pid = entry["pid"]
    return "%s (%s)" % (entry["program"], pid) if pid else entry["program"]


def duration(milliseconds):
    """A time in one unit: 3.1 s, 27 s, 5 min, 26 h, 12 d; "-" for None."""
    if milliseconds is None:
        return "-"
    seconds = milliseconds / 1000
    if seconds < 10:
        return "%.1f s" % seconds
    for limit, unit, name in ((120, 1, "s"), (7200, 60, "min"), (172800, 3600, "h")):
        if seconds < limit:
            return "%d %s" % (seconds / unit, name)
    return "%d d" % (seconds / 86400)


def octets(number):
    """A number of octets with three digits: 812, 9.54K, 1.21M, 305G; "-" for None."""
    if number is None:
        return "-"
    for unit in ("", "K", "M", "G", "T"):
        if number < 1000 or unit == "T":
            break
        number /= 1024
    digits = 0 if unit == "" or number >= 100 else 1 if number >= 10 else 2
    return "%.*f%s" % (digits, number, unit)


def table(rows, numbers_from=None):
    """Lines of a table, each column as wide as its longest cell; the first row is the heading.
    Columns from number NUMBERS_FROM on are aligned right."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = len(widths) if numbers_from is None else numbers_from
    return ["  ".join(cell.ljust(w) if i < left else cell.rjust(w)
                      for i, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in rows]
