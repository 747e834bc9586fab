# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of what kwarpctl doctor finds at the peer's port, against servers on this machine."""
import contextlib
import errno
import socket
import threading
import time
from unittest import mock

from kwarpctl import check_net, check_port
from kwarpctl.findings import OK, PROBLEM, WARNING

from .test_doctor import Checks

PEER = "10.98.0.9"
PING = "ping -n -q -U -c 3 -i 0.3 -W 1 -M do -s %d " + PEER
PONG = "3 packets transmitted, %d received, 0%% packet loss\n"


def read_until(sock, length):
    data = b""
    while len(data) < length:
        more = sock.recv(100)
        if not more:
            break
        data += more
    return data


@contextlib.contextmanager
def server(talk):
    """A server for one connection, to which it does TALK; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            with contextlib.suppress(OSError):
                sock, _ = listener.accept()
                with sock:
                    talk(sock)
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(20)


def like_kwarp(sock):
    data = b""
    while b"MPA ID Req Frame".startswith(data):
        data += sock.recv(100) or b"?"


def like_siw(sock):
    assert read_until(sock, 20)[18:] == b"\xff\xff"


class Probe(Checks):
    def asked(self, talk):
        with mock.patch.object(check_port, "WAITS", (0.1, 0.1, 0.3, 0.3)), server(talk) as port:
            return check_port.probe("127.0.0.1", port)

    def test_kinds(self):
        for talk, want in ((like_kwarp, (check_port.KWARP, b"")),
                           (like_siw, (check_port.DEVICE, b"")),
                           (lambda sock: read_until(sock, 10 ** 9), (check_port.SILENT, b"")),
                           (lambda sock: None, (check_port.CLOSES, b"")),
                           (lambda sock: sock.sendall(b"SSH-2.0\r\n"),
                            (check_port.SPEAKS, b"SSH-2.0\r\n")),
                           (lambda sock: (read_until(sock, 20), sock.sendall(b"HTTP/1.1 400 "),
                                          time.sleep(0.1)), (check_port.SPEAKS, b"HTTP/1.1 400 "))):
            self.assertEqual(self.asked(talk), (0, *want))

    def test_the_whole_is_a_header(self):
        whole = b"".join(check_port.PARTS)
        self.assertEqual(len(whole), 20)
        self.assertTrue(whole.startswith(b"MPA ID??eq Frame"))

    def test_nobody(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        self.assertEqual(check_port.probe("127.0.0.1", port)[0], errno.ECONNREFUSED)

    def port(self, level, words, *given, port=7174):
        self.found(lambda case: check_port.check_tcp(case, lambda *to: (*given, b"")[:3]), level,
                   words, peer=PEER, port=port)

    def test_findings(self):
        self.port(OK, "an RDMA program listens at 10.98.0.9 port 7174", 0, check_port.KWARP)
        self.port(WARNING, "no kwarp .siw.*kwarpctl set .* peer_to_peer=off", 0, check_port.DEVICE)
        self.port(PROBLEM, "it is no RDMA program: it says 'SSH-2.0.x1b'", 0, check_port.SPEAKS,
                  b"SSH-2.0\x1b")
        self.port(PROBLEM, "no RDMA program: it does not judge", 0, check_port.SILENT)
        self.port(PROBLEM, "no RDMA program: it closes", 0, check_port.CLOSES)
        self.port(PROBLEM, "nothing listens at .*127.0.0.1.*namespace: run kwarpctl doctor there",
                  errno.ECONNREFUSED, None)
        self.port(PROBLEM, "EHOSTUNREACH; a firewall", errno.EHOSTUNREACH, None)

    def test_the_other_device_with_the_right_knobs(self):
        for link in ("kwlo", "kws"):
            self.host.put("/sys/class/infiniband/%s/kwarp/peer_to_peer" % link, "off")
        self.port(OK, "no kwarp", 0, check_port.DEVICE)

    def test_silence(self):
        self.port(PROBLEM, "port 7174 does not answer; the host is down", errno.ETIMEDOUT, None)
        self.host.says(PING % 8, PONG % 0, 1)
        self.port(PROBLEM, "nor does the host answer ping", errno.ETIMEDOUT, None)
        self.host.says("ip neigh show " + PEER, PEER + " dev v0 FAILED\n")
        self.port(PROBLEM, "no host has this address", errno.ETIMEDOUT, None)
        self.host.says(PING % 8, PONG % 3)
        self.port(PROBLEM, "but the host answers ping; a firewall", errno.ETIMEDOUT, None)

    def usual(self, answers):
        return check_port.check_tcp(self.about(peer=PEER), lambda peer, port: answers[port])

    def test_usual_ports(self):
        refused, kwarp = (errno.ECONNREFUSED, None, b""), (0, check_port.KWARP, b"")
        found = self.usual({7174: refused, 18515: refused})
        self.assertEqual([f.level for f in found], [WARNING])
        found = self.usual({7174: refused, 18515: kwarp})
        self.assertEqual([(f.level, "port 18515 (perftest)" in f.text) for f in found], [(OK, True)])
        silent = (errno.ETIMEDOUT, None, b"")
        self.assertEqual([f.level for f in self.usual({7174: silent, 18515: silent})], [PROBLEM])
        self.assertEqual([f.level for f in self.usual({7174: silent, 18515: kwarp})], [PROBLEM, OK])

    def test_addresses_that_need_no_probe(self):
        for peer in (None, "127.0.0.1", "::1", "fe80::1"):
            self.assertEqual(check_port.check_tcp(self.about(peer=peer), None), [])
            self.assertEqual(check_port.check_large(self.about(peer=peer), None), [])


class Large(Checks):
    def large(self, small, large, mtu=9000, then=None):
        for size, got in ((8, small), (8972, large)):
            self.host.says(PING % size, PONG % got, 0 if got else 1)
        mtus = [mtu, then or mtu]
        return [(f.level, f.line()) for f in check_port.check_large(
            self.about(peer=PEER), lambda peer: {"errno": 0, "mtu": mtus.pop(0)})]

    def test_a_black_hole(self):
        found = self.large(3, 0)
        self.assertEqual(found[0][0], PROBLEM)
        self.assertIn("packets of 9000 octets to 10.98.0.9 get lost", found[0][1])

    def test_none(self):
        self.assertEqual(self.large(3, 3), [])
        self.assertEqual(self.large(3, 1), [])
        self.assertEqual(self.large(2, 0), [])
        self.assertEqual(self.large(0, 0), [])

    def test_a_router_that_says_so(self):
        self.assertEqual(self.large(3, 0, then=1500)[0][0], OK)

    def test_without_ping(self):
        self.assertEqual(check_net.check_large(self.about(peer="127.0.0.2")), [])
