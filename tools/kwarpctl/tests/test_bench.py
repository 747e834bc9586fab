# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kwarpctl bench: parsing of perftest's output, client and server."""
import socket
import struct
import threading
import time
from unittest import mock

from kwarpctl import bench
from kwarpctl.host import Result, Trouble

from .fake import Case

RULE = "-" * 87 + "\n"
BANDWIDTH = RULE + """                    RDMA_Write BW Test
 #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]
 65536      52000            0.00               812.36             0.012998
""" + RULE
LATENCY = "                    RDMA_Write Latency Test\n" \
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    " \
    "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n" \
    " 64      5000          7.31           51.20        9.42               9.80           " \
    "1.20            14.33                  20.10\n"
WRITE, LAT = bench.TESTS[0], bench.TESTS[3]


class Child:
    def __init__(self, status):
        self.status = status
        self.ended = False

    def poll(self):
        return self.status

    def kill(self):
        self.ended = True

    def wait(self):
        pass


class FakeLine:
    ipv6 = False

    def __init__(self, *heard):
        self.heard, self.said = list(heard), []

    def say(self, text):
        self.said.append(text)

    def hear(self):
        return self.heard.pop(0)

    def wait_up_to(self, seconds):
        pass


class Figures(Case):
    def test_bandwidth(self):
        found = bench.parse(BANDWIDTH, WRITE)
        self.assertEqual(found["mib"], 812.36)
        self.assertAlmostEqual(found["rate"], 12998)

    def test_latency(self):
        self.assertEqual(bench.parse(LATENCY, LAT), {"median_us": 9.42, "p99_us": 14.33})

    def test_no_figures(self):
        for text in ("", "Couldn't connect", " 65536 1 2 3 4", BANDWIDTH.replace(" 65536", " 1")):
            self.assertIsNone(bench.parse(text, WRITE))

    def test_figures_that_are_none(self):
        found = bench.parse(BANDWIDTH.replace("812.36", "inf").replace("0.012998", "-nan"), WRITE)
        self.assertAlmostEqual(found["rate"], 52000 / 3)
        self.assertAlmostEqual(found["mib"], 52000 / 3 / 16)
        found = bench.parse(LATENCY.replace("9.42", "inf").replace("14.33", "-nan"), LAT)
        self.assertEqual(found, {"median_us": None, "p99_us": None})
        self.assertEqual(bench.rows([(LAT, found)])[1][2:], ("-",) * 4)

    def test_why(self):
        self.assertEqual(bench.why("a\nUnable to connect\nb\n"), "Unable to connect")
        self.assertEqual(bench.why(""), "it said nothing")

    def test_table(self):
        rows = bench.rows([(WRITE, bench.parse(BANDWIDTH, WRITE)),
                           (LAT, bench.parse(LATENCY, LAT))])
        self.assertEqual(rows[1][2:], ("812.4", "12998", "-", "-"))
        self.assertEqual(rows[2][2:], ("-", "-", "9.42", "14.33"))


class Runs(Case):
    def test_perftest_is_missing(self):
        with self.assertRaisesRegex(Trouble, "install the package perftest"):
            bench.need_perftest(self.host)

    def test_arguments(self):
        self.host.says("ib_write_bw")
        argv = bench.argv_of(self.host, WRITE, 18515, "kw0", False)
        self.assertEqual(argv[:5], ["/usr/bin/ib_write_bw", "-R", "-F", "-p", "18515"])
        self.assertEqual(argv[-2:], ["-d", "kw0"])
        argv = bench.argv_of(self.host, WRITE, 18515, None, True)
        self.assertEqual(argv[-1], "--ipv6-addr")
        self.assertNotIn("-d", argv)

    def test_a_client_tries_again(self):
        answers = [Result(139, "", ""), Result(0, BANDWIDTH, "")]
        line = FakeLine("ready", "ready")
        self.host.run = lambda *argv, timeout=0: answers.pop(0)
        self.assertEqual(bench.measure(self.host, line, 0, ["x"])["mib"], 812.36)
        self.assertEqual(line.said, ["start 0", "start 0"])

    def test_a_client_gives_up(self):
        self.host.run = lambda *argv, timeout=0: Result(1, "", "Unexpected CM event: rejected")
        with self.assertRaisesRegex(Trouble, "rejected; run kwarpctl doctor"):
            bench.measure(self.host, FakeLine(*["ready"] * bench.TRIES), 0, ["x"])
        with self.assertRaisesRegex(Trouble, "the server says: it is broken"):
            bench.measure(self.host, FakeLine("it is broken"), 0, ["x"])
        with self.assertRaisesRegex(Trouble, "the server has ended"):
            bench.measure(self.host, FakeLine(""), 0, ["x"])

    def server(self, status, listening):
        self.host.says("ib_write_bw")
        self.host.says("ss -Hltn", "LISTEN 0 1 *:%d *:*\n" % listening)
        self.children = []

        def launch(argv):
            self.launched = argv
            self.children.append(Child(status))
            return self.children[-1]

        return bench.Server(self.host, 18516, None, launch)

    def test_server(self):
        server, line = self.server(None, 18516), FakeLine("start 0", "start 2", "")
        server.serve(line)
        self.assertEqual(line.said, [bench.HELLO, "ready", "ready"])
        self.assertEqual([c.ended for c in self.children], [True, True])

    def test_server_that_ends(self):
        server, line = self.server(1, 1), FakeLine("start 0", "")
        server.serve(line)
        self.assertRegex(line.said[1], "ib_write_bw ends at once; run there: .*-p 18516")

    def test_nonsense_for_the_server(self):
        for words in ("start 9", "start", "GET / HTTP/1.0", "start 00"):
            server, line = self.server(None, 18516), FakeLine(words, "start 0")
            server.serve(line)
            self.assertEqual((line.said, self.children), ([bench.HELLO], []))

    def test_both_ends_on_this_machine(self):
        """If the client connects over IPv4, perftest gets no option for IPv6, although the
        server's listening socket is an IPv6 one."""
        self.both_ends("127.0.0.1")
        self.assertNotIn("--ipv6-addr", self.launched)

    def test_both_ends_ipv6(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError as error:
            self.skipTest("no IPv6 here: %s" % error)
        self.both_ends("::1")
        self.assertIn("--ipv6-addr", self.launched)

    def both_ends(self, address):
        listener = bench.listen(0)
        self.addCleanup(listener.close)
        port = listener.getsockname()[1]
        server = self.server(None, 18516)

        def one():
            sock, peer = listener.accept()
            with sock:
                server.serve(bench.Line(sock, peer[0]))

        thread = threading.Thread(target=one)
        thread.start()
        line = bench.call(address, port)
        self.assertEqual(line.ipv6, ":" in address)
        bench.ask(line, "start 0")
        line.file.close()
        line.sock.close()
        thread.join()
        self.assertTrue(self.children[0].ended)

    def test_a_client_that_has_gone(self):
        """A client that resets its connection at once, like a port scan, does not end the server."""
        listener = bench.listen(0)
        self.addCleanup(listener.close)
        client = socket.create_connection(("127.0.0.1", listener.getsockname()[1]))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        sock, peer = listener.accept()
        with sock:
            self.server(None, 18516).serve(bench.Line(sock, peer[0]))
        self.assertEqual(self.children, [])

    def test_silent_clients(self):
        """Clients that send nothing, or stop in the middle, do not keep the server from others."""
        listener = bench.listen(0)
        self.addCleanup(listener.close)
        server = self.server(None, 18516)
        with mock.patch.multiple(bench, FIRST=0.1, LIMIT=0.1):
            for words in ("", "start 0\n"):
                with socket.create_connection(listener.getsockname()[:2]) as client:
                    client.sendall(words.encode())
                    sock, peer = listener.accept()
                    begin = time.monotonic()
                    with sock:
                        server.serve(bench.Line(sock, peer[0]))
                    self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual([c.ended for c in self.children], [True])

    def test_nobody_serves(self):
        with self.assertRaisesRegex(Trouble, "no .kwarpctl bench --server. at 127.0.0.1 port 1:"):
            bench.call("127.0.0.1", 1)
