# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Text for a terminal: tables, and names that other users have chosen."""


def printable(text):
    r"""The text with control characters escaped, as \x1b.  Any user chooses the names of his
    processes, and must not control the terminal of the user who looks at them."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def table(rows, numbers_from=None):
    """Lines of a table, each column as wide as its longest cell; the first row is the heading.
    Columns from number NUMBERS_FROM on are aligned right."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = len(widths) if numbers_from is None else numbers_from
    return ["  ".join(cell.ljust(w) if i < left else cell.rjust(w)
                      for i, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in rows]
