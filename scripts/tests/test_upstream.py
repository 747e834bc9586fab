# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of upstream/core.py: what an edit changes, and that it says when it finds nothing."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "upstream"))

# pylint: disable=wrong-import-position
import core


class Drop(unittest.TestCase):
    """Functions and members that the series does not have."""

    def test_function(self):
        """The function goes with its comment and its declaration, and no other does."""
        text = ("/* keep */\nint a(void)\n{\n}\n\n/*\n * of b\n */\nstatic bool b(int x,\n\t      int y)\n"
                "{\n\tif (x) {\n\t\treturn a();\n\t}\n\treturn b(1, 2);\n}\n\nvoid c(void);\n")
        self.assertEqual(core.drop_function(text, "b"),
                         ("/* keep */\nint a(void)\n{\n}\n\nvoid c(void);\n", 1))
        self.assertEqual(core.drop_function("int b(int x,\n\t  int y);\nint c(void);\n", "b"),
                         ("int c(void);\n", 1))
        self.assertEqual(core.drop_function("\treturn b(1);\n", "b")[1], 0)

    def test_member(self):
        """A member goes with its description; one that has none is another struct's."""
        text = " * @a: one\n * @b: two\n *\tgoes on\n * @c: three\n */\nstruct s {\n\tint a;\n\tint *b;\n};\n"
        self.assertEqual(core.drop_member(text, "b"),
                         (" * @a: one\n * @c: three\n */\nstruct s {\n\tint a;\n};\n", 1))
        self.assertEqual(core.drop_member("\tint b;\n", "b"), ("\tint b;\n", 0))


class Edits(unittest.TestCase):
    """Other edits."""

    def test_replace(self):
        """Whole lines if there are such lines, else a part of one."""
        self.assertEqual(core.replace("x\n\ta;\n\tab;\n", "\ta;\n", ""), ("x\n\tab;\n", 1))
        self.assertEqual(core.replace("x\nf(a, b);\n", ", b\n", ""), ("x\nf(a);\n", 1))
        self.assertEqual(core.replace("x\n", "y\n", "z\n")[1], 0)

    def test_requirements(self):
        """The section takes the place of the number, each RFC and section once."""
        for before, after in (("5041-7.1-9", "RFC 5041 7.1"), ("5044-7.1.1-6, -7, -8;", "RFC 5044 7.1.1;"),
                              ("(5041-7.1-18, 5040-7.2-13)", "(RFC 5041 7.1, RFC 5040 7.2)"),
                              ("5044-3-4, 5044-4.5-1", "RFC 5044 3, 4.5"), ("6581-9.2-6, -20", "RFC 6581 9.2"),
                              ("7306-8.2-4 to -6", "RFC 7306 8.2"), ("2026-11-27", "2026-11-27")):
            for pattern, new in core.EVERYWHERE:
                before = re.sub(pattern, new, before, flags=re.M)
            self.assertEqual(before, after)

    def test_wrapped(self):
        """Comments that are too long get more lines, of 100 columns at most."""
        word = "abcdefghi " * 11
        for line in (f"\t * {word}\n", f"\t/* {word} */\n", f"\tint a;\t/* {word} */\n", f" * @a: {word}\n"):
            lines = core.wrapped(line).splitlines()
            self.assertGreater(len(lines), 1)
            self.assertLessEqual(max(len(part.expandtabs()) for part in lines), 100)
        self.assertEqual(core.wrapped("\tint a;\n"), "\tint a;\n")

    def test_nothing_found(self):
        """An edit that finds nothing is named."""
        tree = core.Core()
        tree.edit("queue/", lambda text: (text, 0), "what it looks for")
        with self.assertRaisesRegex(SystemExit, "queue/: what it looks for"):
            tree.check()


if __name__ == "__main__":
    unittest.main()
