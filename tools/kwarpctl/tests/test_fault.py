# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kwarpctl fault: arguments, the rules that are sent and shown, and the run of a program."""
import errno
import json
import os
import re
import signal
import struct
import subprocess
import sys
from unittest import mock

from kwarpctl import cli, fault, netlink
from kwarpctl.host import Trouble, Usage

from .fake import ROOT
from .test_cli import COMMAND, Runs

DRIVER = ROOT / "drivers/infiniband/sw/kwarp"
RULE = {"fault": 3, "kind": "terminate", "arg": 0x1202, "link": "kwlo", "qp": None, "pid": 100,
        "uid": 1000, "skip": 2, "times": 0, "probability": 50, "seed": 7, "matched": 10, "hits": 4}


class Fault(Runs):
    def setUp(self):
        super().setUp()
        self.sent = []
        self.host.rules = [RULE, RULE | {"fault": 4, "kind": "register", "arg": errno.ENOMEM,
                                         "link": None, "pid": None, "times": 1}]
        self.host.change_fault = lambda command, values: self.sent.append((command, values)) or 7

    def test_list(self):
        for line in ("fault", "fault list"):
            status, out, _ = self.run_cli(*line.split())
            self.assertEqual(status, 0)
            self.assertRegex(out, r"3 +terminate +DDP_U_NOBUF +kwlo +all +100 +2 +- +50 +7 +10 +4\n")
            self.assertRegex(out, r"4 +register +ENOMEM +all +all +all +2 +1 +")
        self.assertEqual(json.loads(self.run_cli("fault", "--json")[1])[0], RULE)
        self.host.rules = []
        self.assertIn("nothing is made to fail by you", self.run_cli("fault")[1])
        self.host.rules = None
        status, _, err = self.run_cli("fault")
        self.assertEqual((status, len(err.splitlines())), (1, 1))

    def test_arguments_of_kinds(self):
        for words, kind, arg in (
                ("terminate DDP_U_NOBUF", "terminate", 0x1202), ("terminate 1/2/02", "terminate", 0x1202),
                ("terminate 0x1202", "terminate", 0x1202), ("terminate LOCAL", "terminate", 0),
                ("reset", "reset", None), ("stall 250", "stall", 250),
                ("register ENOMEM", "register", errno.ENOMEM), ("post 5", "post", 5)):
            self.assertEqual(self.run_cli("fault", "add", *words.split()), (0, "rule 7\n", ""))
            command, values = self.sent.pop()
            self.assertEqual((command, values["kind"], values["arg"]),
                             (netlink.CMD_FAULT_ADD, kind, arg), words)
        self.run_cli(*"fault add slow 5 --link kwlo --qp 2 --pid 9 --skip 1 --times 3 --probability 40 --seed 8".split())
        self.assertEqual(self.sent.pop()[1], {
            "kind": "slow", "arg": 5, "link": "kwlo", "qp": 2, "pid": 9, "skip": 1, "times": 3,
            "probability": 40, "seed": 8})

    def test_delete(self):
        for words, number in (("5", 5), ("all", None)):
            self.assertEqual(self.run_cli("fault", "del", words), (0, "", ""))
            self.assertEqual(self.sent.pop(), (netlink.CMD_FAULT_DEL, {"fault": number}))

    def test_wrong_arguments(self):
        for line in ("fault sideways", "fault list x", "fault list --qp 1", "fault add", "fault add foo", "fault add reset 5",
                     "fault add stall", "fault add stall 0", "fault add stall 600001", "fault add stall -5",
                     "fault add stall 1.5", "fault add stall 5 6", "fault add register", "fault add register 0",
                     "fault add register 134", "fault add register ENONSENSE", "fault add terminate",
                     "fault add terminate FOO", "fault add terminate 1/2", "fault add reset --qp 0",
                     "fault add reset --pid x", "fault add reset --probability 0", "fault add reset --json",
                     "fault add reset --probability 101", "fault add reset --times 0", "fault add reset -- true",
                     "fault del", "fault del 0", "fault del x", "fault del 1 2", "fault del all --link kwlo",
                     "fault run reset", "fault run reset --", "fault run -- true", "fault run reset --pid 1 -- true",
                     "fault run reset --qp 1 -- true", "fault run post EIO --link kwlo -- true"):
            status, out, err = self.run_cli(*line.split())
            self.assertEqual((line, status, out), (line, 2, ""))
            self.assertEqual(len(err.splitlines()), 1, line)
            self.assertNotIn("fault of kwarpctl", err, line)
        self.assertEqual(self.sent, [])
        self.assertIn("fault run reset -- PROGRAM", self.run_cli("fault", "run", "reset", "true")[2])
        self.assertIn("\nstall MS ", self.run_cli("fault", "--help")[1])

    def test_refused(self):
        for kind, status in ((Trouble, 1), (Usage, 2)):
            def refuse(_command, _values, kind=kind):
                raise kind("the process belongs to another user")
            self.host.change_fault = refuse
            self.assertEqual(self.run_cli("fault", "add", "reset"),
                             (status, "", "kwarpctl: the process belongs to another user\n"))
        self.host.change_fault = lambda *_: None
        self.assertEqual(self.run_cli("fault", "add", "reset")[0], 1)

    def test_kinds_are_those_of_the_module(self):
        text = (DRIVER / "fault.c").read_text()
        kinds = re.findall(r'\[KWARP_FAULT_(\w+)\] = \{ "(.*)", KWARP_FAULT_(\w+),', text)
        self.assertEqual([name for _, name, _ in kinds], list(fault.KINDS))
        ours = {None: "NO_ARG", "ms": "MS", "errno": "ERRNO", "code": "TERM"}
        self.assertEqual([(n.lower().replace("_", "-"), a) for n, _, a in kinds],
                         [(name, ours[kind.arg]) for name, kind in fault.KINDS.items()])
        page = (ROOT / "Documentation/fault-injection.rst").read_text()
        completion = (COMMAND.parent / "kwarpctl.bash").read_text().split()
        self.assertLessEqual(set(fault.KINDS), set(completion))
        manual = (COMMAND.parent / "kwarpctl.8").read_text().replace("\\-", "-")
        for name in fault.KINDS:
            self.assertIn("``%s" % name, page)
            self.assertRegex(manual, r"(?m)^\.BI? %s\b" % name)


class Run(Runs):
    """fault run, with a process of its own, so that fork() does not copy the tests."""

    CODE = """
import sys
sys.path.insert(0, %r)
from kwarpctl import cli, netlink
from kwarpctl.host import Host, Trouble
class Fake(Host):
    def change_fault(self, command, values):
        if %r:
            raise Trouble("no rights")
        print(command, values.get("kind"), values.get("pid"), values.get("fault"), flush=True)
        return 7
sys.exit(cli.main(sys.argv[1:], Fake()))
"""

    def go(self, *argv, refused=False):
        done = subprocess.run([sys.executable, "-c", self.CODE % (str(COMMAND.parents[1]), refused),
                               "fault", "run", *argv], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_rule_about_the_program(self):
        status, out, err = self.go("reset", "--times", "1", "--", "sh", "-c", "echo $$; exit 7")
        self.assertEqual((status, err), (7, ""))
        add, pid, remove = out.splitlines()
        self.assertEqual(add, "%d reset %s None" % (netlink.CMD_FAULT_ADD, pid))
        self.assertEqual(remove, "%d None None 7" % netlink.CMD_FAULT_DEL)

    def test_status(self):
        for script, want in (("exit 0", 0), ("kill -TERM $$", 143)):
            self.assertEqual(self.go("reset", "--", "sh", "-c", script)[0], want)
        status, _, err = self.go("reset", "--", "/no/such/program")
        self.assertEqual((status, len(err.splitlines())), (127, 1))
        self.assertEqual(self.go("reset", "--", "/")[0], 126)

    SIGNALS = """
import signal, sys, time
got = []
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: got.append(number))
print("ready", flush=True)
while not got:
    time.sleep(0.05)
time.sleep(1)
sys.exit(sum(got))
"""

    def test_signals(self):
        """Who presses Ctrl-C sends SIGINT to the program, too, which decides what to do."""
        for number, send in ((signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)):
            with subprocess.Popen([sys.executable, "-c", self.CODE % (str(COMMAND.parents[1]), False),
                                   "fault", "run", "reset", "--", sys.executable, "-c", self.SIGNALS],
                                  stdout=subprocess.PIPE, start_new_session=True, text=True) as run:
                while "ready" not in run.stdout.readline():
                    pass
                send(run.pid, number)
                out, _ = run.communicate(timeout=30)
                self.assertEqual((run.returncode, len(out.splitlines())), (number, 1))

    def test_post_is_for_the_provider(self):
        status, out, _ = self.go("post", "ENOMEM", "--skip", "3", "--", "sh", "-c", "echo $KWARP_FAULT")
        self.assertEqual((status, out), (0, "post=%d,skip=3\n" % errno.ENOMEM))

    def test_no_rights(self):
        self.assertEqual(self.go("reset", "--", "echo", "ran", refused=True),
                         (1, "", "kwarpctl: no rights\n"))


class Netlink(Runs):
    def test_attributes(self):
        text = (ROOT / "include/uapi/rdma/kwarp-netlink.h").read_text()
        commands = re.findall(r"KWARP_NL_CMD_(\w+)(?: = 1)?,", text)
        self.assertEqual(commands, ["ENDED", "FAULT", "FAULT_ADD", "FAULT_DEL"])
        body = netlink.GENL.pack(2, 1, 0) + netlink.encode({"fault": 3, "kind": "slow", "arg": 5,
                                                           "link": "kw0", "qp": None})
        found = netlink.parse_record(body, netlink.RULE_NAMES)
        self.assertEqual((found["fault"], found["kind"], found["arg"], found["link"], found["qp"]),
                         (3, "slow", 5, "kw0", None))
        self.assertNotIn("local", found)

    def test_acknowledgment(self):
        echo = b"\0" * netlink.HEADER.size
        self.assertEqual(netlink.parse_ack(struct.pack("=i", -errno.EPERM) + echo + netlink.attribute(
            netlink.NLMSGERR_ATTR_MSG, b"no\0")), (errno.EPERM, "no", 0))
        self.assertEqual(netlink.parse_ack(struct.pack("=i", 0) + echo + netlink.attribute(
            netlink.NLMSGERR_ATTR_COOKIE, struct.pack("=Q", 9))), (0, "", 9))

    def test_errors(self):
        for number, kind in ((errno.EINVAL, Usage), (errno.EPERM, Trouble)):
            with mock.patch("kwarpctl.netlink.change", side_effect=OSError(number, os.strerror(number))):
                with self.assertRaises(Trouble) as caught:
                    super(type(self.host), self.host).change_fault(1, {})
            self.assertEqual(caught.exception.status, 2 if kind is Usage else 1)
        with mock.patch("kwarpctl.netlink.faults", return_value=[]):
            self.assertEqual(super(type(self.host), self.host).faults(), [])
        self.assertTrue(cli)
