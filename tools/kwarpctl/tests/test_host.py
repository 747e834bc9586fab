# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of Host: root may run kwarpctl in a folder whose owner wants to run code as root."""
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from kwarpctl import check_user
from kwarpctl.host import Host

COMMAND = pathlib.Path(__file__).parents[1] / "kwarpctl"
MODULES = ("argparse", "ctypes", "ipaddress", "json", "socket", "subprocess", "kwarpctl")
PROGRAMS = ("rdma", "ip", "ss", "modinfo", "dmesg", "nft", "python3", "ib_write_bw")


class HostileFolder(unittest.TestCase):
    """The current folder has Python modules and programs that leave a mark when they run."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.mark = self.folder / "mark"
        for name in MODULES:
            (self.folder / (name + ".py")).write_text("open(%r, 'a').write('%s ')\n"
                                                      % (str(self.mark), name))
        for name in PROGRAMS:
            program = self.folder / name
            program.write_text("#!/bin/sh\necho %s >>'%s'\n" % (name, self.mark))
            program.chmod(0o755)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def nothing_ran(self):
        self.assertFalse(self.mark.exists(), self.mark.exists() and self.mark.read_text())

    def test_the_probe(self):
        check_user.probe(Host(), ["kw0"])
        self.nothing_ran()

    def test_the_command(self):
        done = subprocess.run([COMMAND, "explain", "5"], capture_output=True, check=False,
                              env=dict(os.environ, PYTHONPATH=str(self.folder)))
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.nothing_ran()

    def test_programs(self):
        for path in (".:/usr/bin:/bin", "", ":/usr/bin", "bin:/usr/bin:/bin:"):
            with mock.patch.dict(os.environ, PATH=path):
                for name in PROGRAMS[:-2]:
                    Host().run(name, "--help")
                self.assertIsNone(Host().which("ib_write_bw-of-nobody"))
                self.assertNotEqual(Host().which("rdma"), "./rdma")
        self.nothing_ran()
