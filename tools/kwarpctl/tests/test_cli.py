# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of the arguments and exit statuses of kwarpctl; errors never print a traceback."""
import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys
from unittest import mock

from kwarpctl import cli
from kwarpctl.bench import TESTS

from .fake import ROOT, Case

COMMAND = pathlib.Path(__file__).parents[1] / "kwarpctl"


class Runs(Case):
    """Base class of tests that run a command line."""

    def run_cli(self, *argv):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                status = cli.main(list(argv), self.host)
            except SystemExit as leave:
                status = leave.code
        return status, out.getvalue(), err.getvalue()


class Cli(Runs):
    def test_wrong_arguments(self):
        for line in ("nonsense", "--nonsense", "show --nonsense", "show a b", "show kw9",
                     "show -i 1", "show -n 1", "show --rates -i 0", "show --rates -i x",
                     "show --rates -n 0", "show --rates -n -1", "show --rates -i nan",
                     "doctor kw9", "doctor --peer", "doctor --peer foo", "doctor --port 0",
                     "doctor --port 65536", "doctor --port x", "doctor a b", "explain",
                     "explain nonsense", "explain 0xzz", "explain 1/2", "bench", "bench foo",
                     "bench --server 192.0.2.1", "bench 192.0.2.1 --port 65535", "bench ::1", "bench self",
                     "bench --port -1", "bench --server --json", "--json show", "top kw9", "top a b",
                     "top -i 0", "top -n 0", "lab sideways", "lab up down", "lab --mtu 1500",
                     "lab down --loss 1", "lab up --loss 101", "lab up --loss x", "lab up --loss -1",
                     "lab up --loss nan", "lab up --delay 60001", "lab up --mtu 1279",
                     "lab up --mtu 65536", "lab up --mtu 1500.5", "lab up --type siw", "set", "set kw9", "set kwlo crc", "set kwlo =on",
                     "set kwlo crc=", "set kwlo foo=1", "set kwlo --keep", "set kwlo --kept crc=on",
                     "set kwlo --kept --keep"):
            status, out, err = self.run_cli(*line.split())
            self.assertEqual((line, status, out), (line, 2, ""))
            self.assertEqual(len(err.splitlines()), 1, line)
            self.assertTrue(err.startswith("kwarpctl: "), line)
            self.assertNotIn("fault of kwarpctl", err, line)

    def test_version(self):
        here = re.search(r"^VERSION := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
        self.host.put("/sys/module/kwarp/version", "0.0.9")
        self.assertEqual(self.run_cli("--version"), (
            0, "kwarpctl %s\nmodule: 0.0.9 is loaded, 0.1.0 installed\n" % here, ""))
        self.assertEqual(json.loads(self.run_cli("--version", "--json")[1]),
                         {"kwarpctl": here, "loaded": "0.0.9", "installed": "0.1.0"})
        self.host.remove("/sys/module/kwarp")
        self.host.says("modinfo -F version kwarp", status=1)
        self.assertIn("module: none is loaded, none installed", self.run_cli("--version")[1])
        del self.host.programs["modinfo -F version kwarp"]
        self.assertIn("none is loaded, unknown installed", self.run_cli("--version")[1])
        self.assertEqual(self.run_cli("--version", "show")[0], 2)

    def test_help(self):
        for line in ("--help", "show --help", "doctor --help", "set --help",
                     "explain --help", "bench --help"):
            status, out, err = self.run_cli(*line.split())
            self.assertEqual((status, err), (0, ""), line)
            self.assertIn("usage: kwarpctl", out)

    def test_texts_of_errnos(self):
        """An errno can be given as its text, such as "Connection refused"."""
        for text, name in (("File exists", "EEXIST"), ("no such device", "ENODEV")):
            status, out, _ = self.run_cli("explain", *text.split())
            self.assertEqual(status, 0, text)
            self.assertIn(name, out)

    def test_show(self):
        status, out, _ = self.run_cli("show")
        self.assertEqual(status, 0)
        self.assertIn("kws: type kwarp-siw", out)
        self.assertEqual(self.run_cli(), (0, out, ""))
        self.assertEqual(self.run_cli("--json"), self.run_cli("show", "--json"))
        status, out, _ = self.run_cli("show", "kwlo", "--json")
        found = json.loads(out)
        self.assertEqual([link["name"] for link in found["links"]], ["kwlo"])
        self.assertEqual(len(found["connections"]), 2)

    def test_rates(self):
        status, out, _ = self.run_cli("show", "--rates", "-i", "0.05", "-n", "2", "--json")
        self.assertEqual(status, 0)
        found = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([sorted(entry["links"]) for entry in found], [["kwlo", "kws"]] * 2)
        self.assertEqual([c["qp"] for c in found[0]["connections"]], [2, 3])
        status, out, _ = self.run_cli("show", "kws", "--rates", "-i", "0.05")
        self.assertEqual(len(out.splitlines()), 4)

    def test_explain(self):
        for line in ("explain -111", "explain 1/2/02", "explain remote access error",
                     "explain --json -- -110", "explain -110 --json"):
            status, out, err = self.run_cli(*line.split())
            self.assertEqual((status, err), (0, ""), line)
            self.assertTrue(out)

    def test_set_takes_options_anywhere(self):
        for line in ("set kw0 --keep crc=on", "set --keep kw0 crc=on", "set kw0 crc=on --keep"):
            self.assertEqual(cli.options_first(line.split()), "set --keep kw0 crc=on".split())
        self.assertEqual(cli.options_first(["doctor", "kw0", "--all"]), ["doctor", "kw0", "--all"])

    def test_bench_without_perftest(self):
        status, _, err = self.run_cli("bench", "192.0.2.1")
        self.assertEqual(status, 1)
        self.assertIn("install the package perftest", err)

    def test_bench_that_fails(self):
        for test in TESTS:
            self.host.says(test.program)
        with mock.patch("socket.create_connection", side_effect=OSError(111, "refused")):
            status, _, err = self.run_cli("bench", "192.0.2.1")
        self.assertEqual((status, len(err.splitlines())), (1, 1))

    def test_a_fault_of_our_own(self):
        self.host.read = None
        status, out, err = self.run_cli("show")
        self.assertEqual((status, out, len(err.splitlines())), (1, "", 1))
        self.assertIn("fault of kwarpctl", err)

    def test_a_machine_without_anything(self):
        self.host.programs.clear()
        for line in ("show", "show --rates", "bench --server"):
            status, _, err = self.run_cli(*line.split())
            self.assertEqual(status, 1, line)
            self.assertEqual(len(err.splitlines()), 1, line)
            self.assertNotIn("fault of kwarpctl", err, line)

        status, out, err = self.run_cli("doctor")
        self.assertEqual((status, err), (1, ""))
        self.assertIn("the program rdma is missing", out)

    def test_the_command_itself(self):
        for argv, want in ((["explain", "nonsense"], 2), (["--help"], 0), (["explain", "5"], 0)):
            done = subprocess.run([sys.executable, COMMAND, *argv], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, want)
            self.assertNotIn("Traceback", done.stderr)
            self.assertFalse(done.stdout if want else done.stderr)

    def test_errors_are_printable(self):
        self.host.says("rdma -j -d -d dev show", "", 1, "error: \x1b[31mevil\n")
        status, out, err = self.run_cli("show")
        self.assertEqual((status, out), (1, ""))
        self.assertEqual(err, "kwarpctl: 'rdma -j -d -d dev show' fails: error: \\x1b[31mevil\n")

    def test_letters_that_the_terminal_does_not_have(self):
        self.host.put("/proc/69/comm", "\u20ac")
        out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        with contextlib.redirect_stdout(out):
            self.assertEqual(cli.main(["show"], self.host), 0)
        self.assertIn(b"\\u20ac (69)", out.buffer.getvalue())

    def test_nobody_reads(self):
        done = subprocess.run("'%s' '%s' explain 22 | true" % (sys.executable, COMMAND), shell=True,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")


def commands():
    """The parser of each command."""
    return next(a for a in cli.make_parser()._actions if a.dest == "command").choices


class ManualPage(Case):
    def test_options(self):
        text = (COMMAND.parent / "kwarpctl.8").read_text().replace("\\-", "-")
        for parser in commands().values():
            for action in parser._actions:
                for option in action.option_strings:
                    if option.startswith("--") and option != "--help":
                        self.assertTrue(option in text, option)
