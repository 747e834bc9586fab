# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kwarpctl lab, with programs that make and remove what they are told to."""
import json
from unittest import mock

from kwarpctl import lab
from kwarpctl.host import Result

from .test_cli import Runs


class Lab(Runs):
    def setUp(self):
        super().setUp()
        self.host.uid = 0
        self.calls, self.bad = [], {}
        self.host.run = self.run_program

    def run_program(self, *argv, timeout=10, env=None):
        line = " ".join(argv)
        self.calls.append(line)
        for words, result in self.bad.items():
            if words in line:
                return result
        where = lab.NAMESPACES + "/"
        if argv[:3] == ("ip", "netns", "add"):
            self.host.put(where + argv[3])
        elif argv[:3] == ("ip", "netns", "delete"):
            self.host.remove(where + argv[3])
        elif "rdma" in argv and "add" in argv:
            self.host.put("%s/%s/ports/1/state" % (lab.CLASS, argv[-1]), "4: ACTIVE")
        elif "rdma" in argv and "delete" in argv:
            self.host.remove("%s/%s" % (lab.CLASS, argv[-1]))
        return Result(0, "", "")

    def test_up_and_down(self):
        status, out, err = self.run_cli("lab", "up", "--json")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual([(e["link"], e["ipv4"], e["state"]) for e in json.loads(out)["ends"]],
                         [("kwlab-a", "10.77.0.1", "ACTIVE"), ("kwlab-b", "10.77.0.2", "ACTIVE")])
        self.assertNotIn("netem", " ".join(self.calls))
        status, out, _ = self.run_cli("lab")
        self.assertEqual(status, 0)
        self.assertIn("10.77.0.2, fd77::2", out)
        self.assertIn("type kwarp netdev", " ".join(self.calls))
        status, out, _ = self.run_cli("lab", "down")
        self.assertEqual((status, out), (0, "removed: namespace kwlab-a, namespace kwlab-b, "
                                         "link kwlab-a, link kwlab-b\n"))
        self.assertEqual(lab.parts(self.host), [])
        self.assertEqual(self.run_cli("lab", "down")[:2], (0, "there was no lab\n"))

    def test_options(self):
        self.assertEqual(self.run_cli("lab", "up", "--loss", "0.5", "--delay", "2.5", "--mtu",
                                      "9000", "--type", "kwarp-siw")[0], 0)
        calls = "\n".join(self.calls)
        self.assertEqual(calls.count("netem delay 2.5ms loss 0.5%"), 2)
        self.assertEqual(calls.count("mtu 9000"), 2)
        self.assertEqual(calls.count("type kwarp-siw"), 2)

    def refused(self, words, *argv):
        status, out, err = self.run_cli("lab", *argv)
        self.assertEqual((status, out, len(err.splitlines())), (1, "", 1), err)
        self.assertIn(words, err)

    def test_no_rights(self):
        self.host.uid = 1000
        self.refused("only root", "up")
        self.refused("only root", "down")
        self.assertEqual(self.calls, [])

    def test_no_lab(self):
        self.refused("there is no lab")

    def test_a_lab_is_there(self):
        self.run_cli("lab", "up")
        self.calls.clear()
        self.refused("there is a lab already", "up")
        self.assertEqual(self.calls, [])

    def test_what_fails_leaves_nothing(self):
        failed = Result(2, "", "RTNETLINK answers: no\nError: it does not work")
        for words in ("netns add kwlab-b", "type veth", "addr add", "mtu", "rdma link add kwlab-b",
                      "tc"):
            self.bad = {words: failed}
            self.refused("Error: it does not work", "up", "--loss", "1")
            self.bad = {}
            self.assertEqual(lab.parts(self.host), [], words)
        self.bad = {"tc": failed}
        self.refused("sch_netem", "up", "--delay", "1")
        self.bad = {"ip netns add": Result(None, "", "")}
        self.refused("the program ip is missing", "up")

    def test_what_cannot_be_removed(self):
        self.run_cli("lab", "up")
        self.bad = {"delete": Result(1, "", "busy")}
        self.refused("not removed: namespace kwlab-a", "down")

    def test_programs_that_stay(self):
        self.run_cli("lab", "up")
        self.host.put("/proc/77/comm", "\x1b[2Jrping")
        self.bad = {"netns pids kwlab-a": Result(0, "77\n", ""),
                    "netns pids kwlab-b": Result(0, "78\n", "")}
        out = self.run_cli("lab", "down")[1]
        self.assertIn("still run: \\x1b[2Jrping (77), ? (78)", out)

    def test_a_link_that_goes(self):
        self.run_cli("lab", "up")
        self.host.remove(lab.CLASS + "/kwlab-b")
        self.assertIn("gone", self.run_cli("lab")[1])

    def test_interrupted(self):
        with mock.patch.object(lab, "make_links", side_effect=KeyboardInterrupt):
            self.assertEqual(self.run_cli("lab", "up")[0], 130)
        self.assertEqual(lab.parts(self.host), [])
