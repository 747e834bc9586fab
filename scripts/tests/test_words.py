# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of words.py: what it must find in a tree, and what it must let pass."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent

# A file, its text, and the expected finding.
FOUND = [
    ("nor.c", "/* Nor does it wait. */", 'begins with "Nor"'),
    ("not-so.c", "/*\n * It waits.\n *\n * Not so here.\n */", 'begins with "Not so"'),
    ("whoever.h", "int a;\t/* Whoever asks gets it. */", 'begins with "Whoever"'),
    ("who.c", "// Who finds it active sets it.", 'begins with "Who"'),
    ("who-2.c", "/* The first one waits.  Who comes later does\n * not. */", 'begins with "Who"'),
    ("kernel-doc.h", "/**\n * f - a function\n * @a: Who asks\n */", 'begins with "Who"'),
    ("message.c", 'die("Nor this");', 'begins with "Nor"'),
    ("comment.sh", "# Whoever calls it.\ntrue", 'begins with "Whoever"'),
    ("message.sh", 'die "Nor is it here"', 'begins with "Nor"'),
    ("script.py", "# It waits. Nor does it end.\n", 'begins with "Nor"'),
    ("string.py", 'X = "Who calls is wrong."\n', 'begins with "Who"'),
    ("page.rst", "A link ends.\nNor does it stay.\n", 'begins with "Nor"'),
    ("list.rst", "- one\n- Who reads this knows.\n", 'begins with "Who"'),
    ("page.md", "Text.\n\nWhoever installs it.\n", 'begins with "Whoever"'),
    ("behind.c", "/* The entry behind it. */", '"behind" for "after"'),
    ("behind-2.c", "/* What is\n * behind the header. */", '"behind" for "after"'),
    ("capital.rst", "Behind the header is the rest.\n", '"behind" for "after"'),
    ("behind.py", '"""Octets behind the header."""\n', '"behind" for "after"'),
    ("gone.c", "/* See engine/gone.c. */", "there is no engine/gone.c"),
    ("gone.rst", "``gone.sh`` does it.\n", "there is no gone.sh"),
    ("literal.rst", "So::\n\n    scripts/gone.sh --all\n", "there is no scripts/gone.sh"),
    ("glob.rst", "Its files are ``gone_*.c``.\n", "there is no gone_*.c"),
    ("braces.sh", "# Of {nor,lost}.c\n", "there is no {nor,lost}.c"),
    ("gone.py", "# scripts/gone.py makes it\n", "there is no scripts/gone.py"),
    ("Makefile", "x:\n\t@$(scripts)/gone.sh\n\t@$(scripts)/kept.sh\n", "there is no scripts/gone.sh"),
]

# A file, and a text without a finding.
PASSES = [
    ("question.c", "/* Who may write? Only the runner. */"),
    ("table.rst", "===== =====\nWho   What\n===== =====\na     b\n===== =====\n"),
    ("lower.c", "/* The one who asks, nor the other. North of it. */"),
    ("firewall.rst", "A peer behind a firewall is not reached.\n"),
    ("left.c", "/* Nothing is left behind. */"),
    ("name.c", "/* read-bounds-behind is a case, urgent_behind() runs it. */"),
    ("literal.md", "Text.\n"),
    ("output.rst", "It prints::\n\n    Nor is it behind that\n"),
    ("there.c", "/* See there.c, and a/deep/file.h, deep/file.h and file.h. */"),
    ("glob.c", "/* Files deep/*.h, {there,glob}.c */"),
    ("other.rst", "``drivers/infiniband/core/none.c`` and ``net/ipv4/none.c`` are the kernel's.\n"),
    ("holder.sh", "# NAME.c, FILE.sh, *.mod.c and the end _kunit.c\n"),
    ("include.c", '#include "gone.h"\nint a;'),
    ("code.c", 'int who = NOR; /* fine */ char *a = "%s: it waits";'),
    ("a/deep/file.h", "/* A file. */"),
    ("scripts/kept.sh", "# A file of the Makefile above.\n"),
]


class Words(unittest.TestCase):
    """A tree with the files of all examples is checked once."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            subprocess.run(["git", "init", "-q", folder], check=True)
            for name, text in [f[:2] for f in FOUND] + PASSES:
                (root / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
                (root / "tree" / name).write_text(text + "\n", encoding="utf-8")
            out = subprocess.run([sys.executable, "-B", str(SCRIPTS / "lint" / "words.py"), "--root", folder],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
        cls.lines = out.splitlines()

    def said_of(self, name):
        """The findings about one file."""
        return [line for line in self.lines if line.startswith(f"tree/{name}:")]

    def test_found(self):
        for name, _, what in FOUND:
            with self.subTest(name):
                self.assertEqual(len(self.said_of(name)), 1, self.said_of(name))
                self.assertIn(what, self.said_of(name)[0])

    def test_passes(self):
        for name, _ in PASSES:
            with self.subTest(name):
                self.assertEqual(self.said_of(name), [])

    def test_lines(self):
        """A finding names the line that it is in."""
        for name, line in (("not-so.c", 4), ("who-2.c", 1), ("behind-2.c", 2), ("page.rst", 2),
                           ("list.rst", 2), ("literal.rst", 3), ("nor.c", 1)):
            with self.subTest(name):
                self.assertTrue(self.said_of(name)[0].startswith(f"tree/{name}:{line}: "),
                                self.said_of(name))


if __name__ == "__main__":
    unittest.main()
