# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The table of kernels: which records are in it, and which are refused."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
import kernels


def line(**changes):
    """A record, as a run leaves it."""
    fields = {"time": "2026-11-27T10:00:00", "commit": "0123abc", "release": "6.12.1-amd64",
              "arch": "amd64", "program": "e2e", "what": "rping", "passed": "2", "failed": "0",
              "skipped": "1", "names": ""}
    return "\t".join((fields | changes)[f] for f in kernels.FIELDS) + "\n"


def chosen(*lines):
    """Records that the table has, of LINES."""
    return kernels.newest(kernels.read_records("".join(lines), "here"))


class Records(unittest.TestCase):
    """What is read."""

    def test_fields(self):
        """A line that is cut short is an error, and so is a count that is none."""
        for text in (line().rstrip("\n").rsplit("\t", 1)[0], line(passed="two")):
            with self.assertRaises(kernels.Mistake):
                kernels.read_records(text, "here")

    def test_names_without_failure(self):
        """Something that failed is counted."""
        with self.assertRaises(kernels.Mistake):
            kernels.read_records(line(names="rping"), "here")

    def test_later_run_counts(self):
        """Whatever the order in which they are read."""
        late = line(time="2026-11-27T11:00:00", failed="1", names="rping")
        for lines in ((line(), late), (late, line())):
            self.assertEqual([r["failed"] for r in chosen(*lines)], ["1"])

    def test_other_cases_are_another_row(self):
        """Also on another kernel, and on another machine."""
        rows = chosen(line(), line(what="all cases"), line(release="6.1.0-amd64"), line(arch="arm64"))
        self.assertEqual([(r["release"], r["arch"], r["what"]) for r in rows],
                         [("6.1.0-amd64", "amd64", "rping"), ("6.12.1-amd64", "amd64", "all cases"),
                          ("6.12.1-amd64", "amd64", "rping"), ("6.12.1-amd64", "arm64", "rping")])

    def test_uncommitted_code(self):
        """It hides no run of code that others have."""
        rows = chosen(line(), line(time="2026-11-27T11:00:00", commit="0123abc-dirty"))
        self.assertEqual([r["commit"] for r in rows], ["0123abc"])


class Page(unittest.TestCase):
    """What is written."""

    def test_failure_is_named(self):
        """With its counts."""
        text = kernels.row(chosen(line(failed="1", names="cm-one cm-two"))[0])
        self.assertIn("2 passed, 1 failed, 1 skipped: ``cm-one``, ``cm-two``", " ".join(text.split()))

    def test_text_around_stays(self):
        """And the table is made anew."""
        old = f"before\n{kernels.BEGIN}\nan old table\n{kernels.END}after\n"
        new = kernels.page(old, chosen(line()))
        self.assertTrue(new.startswith("before\n") and new.endswith("after\n"))
        self.assertNotIn("old", new)
        self.assertEqual(new, kernels.page(new, chosen(line())))

    def test_page_without_its_lines(self):
        """Is an error, not a page without a table."""
        with self.assertRaises(kernels.Mistake):
            kernels.page("nothing\n", chosen(line()))

    def test_round_trip(self):
        """What is written is read as it was."""
        rows = chosen(line(), line(what="all cases", failed="1", names="rping"))
        self.assertEqual(kernels.read_records(kernels.tsv(rows), "here"), rows)


if __name__ == "__main__":
    unittest.main()
