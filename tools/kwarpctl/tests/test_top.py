# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kwarpctl top: its page, and how it treats a real terminal."""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from unittest import mock

from kwarpctl import top

from .fake import QPS, SOCKETS
from .test_cli import Runs

TOOLS = pathlib.Path(__file__).parents[2]
# A process with a terminal that shows the connections of the fake machine.
CHILD = """
import sys
sys.path.insert(0, %r)
from kwarpctl import cli
from kwarpctl.tests.fake import healthy
sys.exit(cli.main(sys.argv[2:], healthy(sys.argv[1])))
"""


class Page(Runs):
    def sample(self):
        _, found, names = top.sample(self.host, None)
        return top.with_rates({}, found, 1), names

    def test_columns(self):
        self.host.says("rdma -j -d -d resource show qp",
                       QPS.replace('"lqpn":2,', '"lqpn":2,"drv_sq_used":7,"drv_tcp_rtt_us":812,'))
        found, names = self.sample()
        lines = top.page(found, names, "f", (200, 24))
        self.assertRegex(lines[0], "2 links, 2 connections, 0 busy; .* by requests in flight")
        self.assertRegex(lines[3], "LINK +QP +STATE +out MiB/s")
        self.assertRegex(lines[4], r"kwlo +2 +RTS +0 +0 +7 +812 .* rping \(69\)")

    def test_waits(self):
        entry = dict(startup=None, waits=False, quiet_ms=0, timeouts=0)
        for more, detail, want in (
                ({}, {}, "-"), ({"startup": "WAIT_REP"}, {}, "an answer"),
                ({"startup": "CONNECT"}, {}, "its startup"), ({"startup": "STREAM"}, {}, "-"),
                ({"waits": True, "quiet_ms": 5000, "timeouts": 3}, {}, "the peer, for 5.0 s"),
                ({}, {"drv_reads_out": 2}, "answers to Reads"),
                ({"waits": True}, {"drv_sq_used": 1}, "acknowledgements"),
                ({}, {"drv_sq_held": 1}, "more requests")):
            self.assertEqual(top.waits_for(dict(entry, **more), detail), want)

    def test_rates(self):
        _, before, _ = top.sample(self.host, None)
        self.host.says("ss -HtinO", SOCKETS.replace("bytes_acked:13709293",
                                                    "bytes_acked:%d" % (13709293 + 4 * top.MIB)))
        _, after, _ = top.sample(self.host, None)
        self.assertEqual(sorted(c["tx_mib"] for c in top.with_rates(before, after, 2)), [0, 2.0])

    def test_a_small_terminal(self):
        found, names = self.sample()
        lines = top.page(found * 30, names, "r", (20, 10))
        self.assertLessEqual(len(lines), 10)
        self.assertLessEqual(max(map(len, lines)), 20)
        self.assertTrue(lines[-1].startswith("and "), lines)
        self.assertTrue(top.page(found, names, "r", (1, 1)))

    def test_nothing_to_show(self):
        self.assertIn("no links", top.page([], [], "r", (80, 24))[3])
        self.assertEqual(top.page([], ["kw0"], "r", (80, 24))[3], "no connections")

    def test_hostile_names(self):
        self.host.put("/proc/69/comm", "\x1b[2J\x07evil")
        found, names = self.sample()
        text = "".join(top.page(found, names, "r", (400, 24)))
        self.assertIn("\\x1b[2J\\x07evil", text)
        self.assertNotIn("\x1b", text)

    def test_links_that_go(self):
        """Links are deleted while the programs that list them run."""
        real = self.host.run

        def run(*argv, **more):
            if argv[-1] == "qp":
                self.host.remove("/sys/class/infiniband/kwlo")
                self.host.remove("/sys/class/infiniband/kws")
                self.host.says("rdma -j -d -d resource show qp", status=1, err="No such device")
            return real(*argv, **more)
        with mock.patch.object(self.host, "run", run):
            self.assertEqual(top.sample(self.host, None)[1], {})

    def test_batch(self):
        status, out, _ = self.run_cli("top", "-i", "0.05", "-n", "2")
        self.assertEqual((status, out.count("PROGRAM")), (0, 2))
        status, out, _ = self.run_cli("top", "kwlo", "-i", "0.05", "--json")
        self.assertEqual((status, json.loads(out)["links"]), (0, ["kwlo"]))

    def test_no_links(self):
        for link in ("kwlo", "kws"):
            self.host.remove("/sys/class/infiniband/" + link)
        status, out, err = self.run_cli("top")
        self.assertEqual((status, out, len(err.splitlines())), (1, "", 1))
        self.assertIn("no links", err)


class Terminal(Runs):
    def begin(self, *argv, **env):
        """Start kwarpctl top in a terminal of 100 columns."""
        pid, self.master = pty.fork()
        if pid == 0:
            os.environ.update(dict(TERM="xterm", **env))
            # The size is set before the program asks for it.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
            # A shell starts jobs in the background with SIGINT ignored.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execv(sys.executable, [sys.executable, "-B", "-c", CHILD % str(TOOLS),
                                      self.host.root, "top", *argv])
        self.addCleanup(os.close, self.master)
        self.text, self.pid = "", pid

    def see(self, words, seconds=20):
        """Read from the terminal until these words appear."""
        end = time.monotonic() + seconds
        while not re.search(words, self.text):
            self.assertTrue(select.select([self.master], [], [], max(0, end - time.monotonic()))[0],
                            "no '%s' in %r" % (words, self.text))
            try:
                self.text += os.read(self.master, 4096).decode(errors="replace")
            except OSError:
                self.fail("no '%s' in %r" % (words, self.text))

    def press(self, key):
        os.write(self.master, key.encode())

    def ended(self):
        """Read the rest, and return the exit status and whether the terminal echoes as before."""
        echo = termios.tcgetattr(self.master)[3] & termios.ECHO
        with self.assertRaises(OSError):
            while True:
                self.text += os.read(self.master, 4096).decode(errors="replace")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), bool(echo)

    def test_q(self):
        self.begin("-i", "30")
        self.see("by rate")
        self.see(r"rping \(69\)|and \d more|PROGRAM")
        self.assertFalse(termios.tcgetattr(self.master)[3] & termios.ECHO)
        self.press("t")
        self.see("by round-trip time")
        self.press("x")
        self.press("q")
        self.see(re.escape(top.LEAVE))
        self.assertEqual(self.ended(), (0, True))
        self.assertTrue(self.text.startswith(top.ENTER), self.text[:40])
        self.assertLessEqual(max(map(len, re.split("\x1b[^A-Za-z]*[A-Za-z]|\r\n", self.text))), 100)

    def test_count_and_no_colour(self):
        self.begin("-i", "0.05", "-n", "2", NO_COLOR="1")
        self.see(re.escape(top.LEAVE))
        self.assertEqual(self.ended()[0], 0)
        self.assertEqual(self.text.count(top.HOME), 2)
        self.assertNotIn("\x1b[33m", self.text)

    def test_signals(self):
        """Whatever ends it, the terminal is as before."""
        for number, want in ((signal.SIGTERM, 130), (signal.SIGINT, 130)):
            self.begin("-i", "30")
            self.see("by rate")
            os.kill(self.pid, number)
            self.see(re.escape(top.LEAVE))
            self.assertEqual(self.ended(), (want, True))

    def test_control_z(self):
        self.begin("-i", "30")
        self.see("by rate")
        self.press("\x1a")
        self.press("w")
        self.see("by waiting time")
        self.press("q")
        self.see(re.escape(top.LEAVE))
        self.assertEqual(self.ended()[0], 0)
