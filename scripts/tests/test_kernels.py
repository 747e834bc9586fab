# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kernels.py: which records are in the table, and which are refused."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
import kernels


def line(**changes):
    """A record of a run, with some fields changed."""
    fields = {"time": "2026-11-27T10:00:00", "commit": "0123abc", "release": "6.12.1-amd64",
              "arch": "amd64", "program": "e2e", "what": "rping", "passed": "2", "failed": "0",
              "skipped": "1", "names": ""}
    return "\t".join((fields | changes)[f] for f in kernels.FIELDS) + "\n"


def chosen(*lines):
    """Those records of LINES that get into the table."""
    return kernels.newest(kernels.read_records("".join(lines), "here"))


class Records(unittest.TestCase):
    """Reading of records."""

    def test_fields(self):
        """A missing field is an error, and so is a count that is not a number."""
        for text in (line().rstrip("\n").rsplit("\t", 1)[0], line(passed="two")):
            with self.assertRaises(kernels.Mistake):
                kernels.read_records(text, "here")

    def test_names_without_failure(self):
        """A record that names failed cases must not have 0 failures."""
        with self.assertRaises(kernels.Mistake):
            kernels.read_records(line(names="rping"), "here")

    def test_later_run_counts(self):
        """Of two runs the later one counts, in either order of reading."""
        late = line(time="2026-11-27T11:00:00", failed="1", names="rping")
        for lines in ((line(), late), (late, line())):
            self.assertEqual([r["failed"] for r in chosen(*lines)], ["1"])

    def test_other_cases_are_another_row(self):
        """Other cases, another kernel or another architecture make another row."""
        rows = chosen(line(), line(what="all cases"), line(release="6.1.0-amd64"), line(arch="arm64"))
        self.assertEqual([(r["release"], r["arch"], r["what"]) for r in rows],
                         [("6.1.0-amd64", "amd64", "rping"), ("6.12.1-amd64", "amd64", "all cases"),
                          ("6.12.1-amd64", "amd64", "rping"), ("6.12.1-amd64", "arm64", "rping")])

    def test_uncommitted_code(self):
        """A later run of uncommitted code does not replace a run of committed code."""
        rows = chosen(line(), line(time="2026-11-27T11:00:00", commit="0123abc-dirty"))
        self.assertEqual([r["commit"] for r in rows], ["0123abc"])


class Page(unittest.TestCase):
    """Writing of the page."""

    def test_failure_is_named(self):
        """A row has the counts and the names of failed cases."""
        text = kernels.row(chosen(line(failed="1", names="cm-one cm-two"))[0])
        self.assertIn("2 passed, 1 failed, 1 skipped: ``cm-one``, ``cm-two``", " ".join(text.split()))

    def test_text_around_stays(self):
        """Text around the table stays, and the table is replaced."""
        old = f"before\n{kernels.BEGIN}\nan old table\n{kernels.END}after\n"
        new = kernels.page(old, chosen(line()))
        self.assertTrue(new.startswith("before\n") and new.endswith("after\n"))
        self.assertNotIn("old", new)
        self.assertEqual(new, kernels.page(new, chosen(line())))

    def test_page_without_its_lines(self):
        """A page without the marker lines is an error."""
        with self.assertRaises(kernels.Mistake):
            kernels.page("nothing\n", chosen(line()))

    def test_round_trip(self):
        """Records that are written and read again are the same."""
        rows = chosen(line(), line(what="all cases", failed="1", names="rping"))
        self.assertEqual(kernels.read_records(kernels.tsv(rows), "here"), rows)


if __name__ == "__main__":
    unittest.main()
