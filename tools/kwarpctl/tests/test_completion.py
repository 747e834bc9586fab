# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of the completion for bash."""
import os
import subprocess

from kwarpctl import explain, knobs

from .fake import KNOBS, Case
from .test_cli import COMMAND, commands

WORDS = 'KWARPCTL_SYSFS=$1; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kwarpctl; ' \
    'printf "%s\\n" "${COMPREPLY[@]}"'


class Completion(Case):
    def complete(self, *words):
        """What TAB after these words offers; the last word may be unfinished."""
        done = subprocess.run(
            ["bash", "-c", ". '%s'; %s" % (COMMAND.parent / "kwarpctl.bash", WORDS), "bash",
             self.host.path("/sys/class/infiniband"), "kwarpctl", *words], capture_output=True,
            text=True, check=False, cwd=self.host.root,
            env=dict(os.environ, PATH="%s:%s" % (COMMAND.parent, os.environ["PATH"])))
        self.assertEqual(done.stderr, "")
        return done.stdout.split("\n")[:-1] if done.stdout.strip() else []

    def test_options(self):
        self.assertEqual(self.complete("d"), ["doctor"])
        for name, parser in commands().items():
            options = [o for a in parser._actions for o in a.option_strings if o.startswith("--")]
            self.assertEqual(sorted(self.complete(name, "--")), sorted(options), name)

    def test_links_and_knobs(self):
        self.assertEqual(self.complete("show", "k"), ["kwlo", "kws"])
        self.assertEqual(self.complete("bench", "--link", "kwl"), ["kwlo"])
        self.assertEqual(self.complete("set", "kwlo", "cr"), ["crc="])
        self.assertEqual(self.complete("doctor", "--port", ""), [])
        self.assertEqual(self.complete("lab", "u"), ["up"])
        self.assertEqual(self.complete("lab", "up", "--type", "kwarp-"), ["kwarp-siw"])
        self.assertEqual(self.complete("lab", "up", "--loss", ""), [])

    def test_a_name_that_is_a_command(self):
        """The name of a link is not run, neither by the completion nor by the line it completes."""
        for name in ("$(touch mark)", "`touch mark`", "a;touch mark", "x y"):
            self.host.put("/sys/class/infiniband/%s/kwarp/crc" % name)
            for words in (("show", ""), ("bench", "--link", ""), ("set", "")):
                found = self.complete(*words)
                done = subprocess.run(["bash", "-c", "printf '%%s\\n' %s" % " ".join(found)],
                                      capture_output=True, text=True, check=True,
                                      cwd=self.host.root)
                self.assertIn(name, done.stdout.splitlines())
        self.assertFalse(self.host.exists("/mark"))

    def test_values(self):
        for knob in KNOBS:
            found = self.complete("set", "kwlo", knob, "=")
            if "on" in knobs.VALUES[knob].replace(",", " ").split():
                self.assertLessEqual({"on", "off"}, set(found), knob)
            if knob in ("mpa_rev", "rtr"):
                self.assertIn(KNOBS[knob], found)
        self.assertEqual(self.complete("set", "kwlo", "crc", "=", "re"), ["required"])
        self.assertEqual(self.complete("set", "kwlo", "tos", "="), [])

    def test_codes(self):
        found = self.complete("explain", "")
        for name in ("DDP_U_NOBUF", "IBV_WC_WR_FLUSH_ERR", "RDMA_CM_EVENT_REJECTED",
                     "ECONNREFUSED"):
            self.assertIn(name, found)
        for name in explain.names():
            self.assertTrue(explain.explain(name), name)
