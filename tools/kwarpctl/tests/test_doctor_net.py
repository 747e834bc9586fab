# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of the checks of kwarpctl doctor about the network, knobs and counts."""
import errno
import re

from kwarpctl import check_counts, check_net, history, rdma
from kwarpctl import links as kw
from kwarpctl.findings import OK, PROBLEM, WARNING, Case as About
from kwarpctl.host import Trouble, Usage

from .fake import CM_IDS, DEVICES, KNOBS, SOCKETS
from .test_doctor import KWLO, Checks


class Net(Checks):
    def way(self, **more):
        return lambda peer: dict({"local": "10.98.0.1", "mtu": 1500, "errno": 0}, **more)

    def peer(self, level, words, **more):
        probe = self.way(**more)
        self.found(lambda case: check_net.check_peer(case, probe), level, words,
                   peer="10.98.0.9")

    def test_way_to_the_peer(self):
        self.peer(OK, "reached through kws, from 10.98.0.1")
        self.peer(OK, "MTU: 1500")
        self.peer(OK, "reached through kws", local="10.97.0.1")

    def test_the_link_of_another_interface(self):
        """`doctor kwlo` reports no problem if the route to the peer leads through the link kws."""
        case = About(host=self.host, links=kw.find_links(self.host, "kwlo"), peer="10.98.0.9",
                     all_links=kw.find_links(self.host), interfaces=rdma.addresses(self.host))
        self.assertEqual({f.level for f in check_net.check_peer(case, self.way())}, {OK})

    def test_no_way(self):
        self.peer(PROBLEM, "ENETUNREACH", errno=errno.ENETUNREACH)

    def test_way_without_link(self):
        self.host.remove("/sys/class/infiniband/kws")
        self.peer(PROBLEM, "leaves through v0 .* which has no link")

    def test_path_mtu(self):
        self.peer(WARNING, "has MTU 1400, but v0 has 1500", mtu=1400)

    def test_loopback(self):
        self.found(check_net.check_peer, PROBLEM, "finds no device for 127.0.0.1",
                   peer="127.0.0.1")

    def test_names(self):
        for name, want in (("node1", "10.98.0.9"), ("10.98.0.9", "10.98.0.9"), ("::1", "::1"),
                           ("fe80::1%lo", "fe80::1%lo"), ("fe80::1%1", "fe80::1%lo")):
            self.assertEqual(self.host.resolve(name), want)
        for name in ("node2", "fe80::1%nope", "", "a" * 70, "."):
            with self.assertRaisesRegex(Usage, "neither an IP address nor the name of a host: ."):
                self.host.resolve(name)

    def test_link_local(self):
        self.found(check_net.check_peer, PROBLEM, "fe80::1%NETDEV", peer="fe80::1")
        here = "fe80::9ca4:f6ff:fe21:aae8"
        text = self.host.run("ip", "-j", "-d", "addr", "show").out
        self.host.says("ip -j -d addr show", text.replace('"local":"::1"', '"local":"%s"' % here))
        for scope, link in (("v0", "kws"), ("lo", "kwlo")):
            self.found(lambda case: check_net.check_peer(case, self.way(local=here)), OK,
                       "is reached through %s, from" % link, peer="fe80::1%" + scope)
        way = check_net.probe_peer("fe80::1%lo")
        self.assertNotEqual(way["errno"], errno.EINVAL)

    def test_probes_on_this_machine(self):
        way = check_net.probe_peer("127.0.0.1")
        self.assertEqual((way["local"], way["errno"]), ("127.0.0.1", 0))
        self.assertGreater(way["mtu"], 1000)

    def test_stalls(self):
        self.found(check_net.check_stalls, OK, "2, none of which waits")
        self.host.says("ss -HtinO", SOCKETS.replace("unacked:1", "unacked:9 lastack:5100 backoff:4"))
        self.found(check_net.check_stalls, WARNING, r"connection to 10.99.0.1 port 7174: data of "
                   r"rping \(69\) waits, and nothing was acknowledged for 5.1 s; .*tcp_mtu_probing")

    def test_ports(self):
        self.found(check_net.check_ports, PROBLEM, "port 22: an ordinary TCP socket", port=22)
        self.found(check_net.check_ports, OK, "no ordinary socket has 7175", port=7175)
        self.found(check_net.check_ports, WARNING, r"port 7174: rping \(66\) listens on 10.99.0.1 "
                   "through kwlo", port=7174)
        self.found(check_net.check_ports, OK, r"port 7174: rping \(70\) listens on 10.98.0.1")
        self.host.says("rdma -j -d -d resource show cm_id", "[]")
        self.found(check_net.check_ports, WARNING, "port 7174: an ordinary TCP socket")

    def test_a_server_on_a_loopback_address(self):
        """rdma_listen() accepts 127.0.0.1, and no client ever comes: told for any port, and once."""
        for address, port in (("127.0.0.1", 7174), ("[::1]", 9999)):
            self.host.says("rdma -j -d -d resource show cm_id", CM_IDS.replace(
                "10.99.0.1:7174\",\"dst-addr\":\"0.0.0.0:0", "%s:%d" % (address, port)).replace(
                "10.98.0.1:7174\",\"dst-addr\":\"0.0.0.0:0", "%s:%d" % (address, port)))
            found = [f for f in check_net.check_ports(self.about()) if f.level == PROBLEM]
            self.assertEqual([f.subject for f in found], ["port %d" % port] * 2)
            self.assertIn("rping (66) listens on %s, a loopback address: peers on other machines "
                          "cannot reach it" % address.strip("[]"), found[0].text)
            self.assertIn("let it bind 10.99.0.1, or no address", found[0].action)
            self.assertNotIn("ordinary", str(found))

    def test_ss_is_missing(self):
        del self.host.programs["ss -Hltn"], self.host.programs["ss -HtinO"]
        with self.assertRaisesRegex(Trouble, "ss is missing: install the package iproute2"):
            check_net.check_ports(self.about())

    def test_nft(self):
        self.host.says("nft list ruleset", """table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
		tcp dport 22 accept
	}
}
""")
        self.found(check_net.check_firewall, WARNING, r"chain input \(input\) drops .*7174")
        self.host.says("nft list ruleset", "\t\ttcp dport 7174 counter drop\n")
        self.found(check_net.check_firewall, WARNING, "rule 'tcp dport 7174 counter drop'")
        self.host.says("nft list ruleset", "\t\ttype filter hook input priority 0; policy accept;\n"
                       "\t\tudp dport 53 drop\n")
        self.found(check_net.check_firewall, OK, "no rule")

    def test_iptables(self):
        self.host.says("iptables-save", ":INPUT DROP [0:0]\n-A INPUT -p tcp --dport 22 -j ACCEPT\n")
        self.found(check_net.check_firewall, WARNING, "chain INPUT drops")
        self.host.says("iptables-save", "-A INPUT -p tcp -m tcp --dport 80:9000 -j REJECT\n")
        self.found(check_net.check_firewall, WARNING, "rule '-A INPUT -p tcp")
        self.host.says("iptables-save", ":INPUT ACCEPT [0:0]\n-A INPUT -p udp -j DROP\n")
        self.found(check_net.check_firewall, OK, "no rule")

    def test_firewall_as_a_user(self):
        self.host.says("nft list ruleset", status=1, err="Operation not permitted")
        self.found(check_net.check_firewall, WARNING, "only root can")
        del self.host.programs["nft list ruleset"]
        self.found(check_net.check_firewall, OK, "neither nft nor iptables")


class Counts(Checks):
    def test_each_knob(self):
        for knob, value, effect, _ in check_counts.KNOBS:
            self.assertIn(knob, KNOBS)
            self.assertNotEqual(KNOBS[knob], value)
            self.host.put(KWLO + "/kwarp/" + knob, value)
            self.found(check_counts.check_knobs, WARNING,
                       "knob %s of kwlo: %s: %s" % (knob, value, re.escape(effect)))

    def test_short_times(self):
        for knob in ("keepalive", "user_timeout"):
            self.host.put(KWLO + "/kwarp/" + knob, "2")
            self.found(check_counts.check_knobs, WARNING, "knob %s of kwlo: 2 s" % knob)

    def count(self, name, value):
        self.host.put("%s/ports/1/hw_counters/%s" % (KWLO, name), value)

    def test_each_count(self):
        for name, base, _, _, _ in check_counts.COUNTS:
            self.assertTrue(self.host.exists("%s/ports/1/hw_counters/%s" % (KWLO, name)), name)
            value = check_counts.FEW if base else 1
            self.count(name, value)
            self.found(check_counts.check_counts, WARNING,
                       "count %s of kwlo: %d since" % (name, value))
            if base:
                # A count that is compared with another one (base) is ignored if it is small, or a
                # small share of the other.
                self.count(name, value - 1)
                lines = [f.line() for f in check_counts.check_counts(self.about())]
                self.assertFalse([line for line in lines if name in line])
                self.count(name, value)
                self.count(base, 1000000)
                lines = [f.line() for f in check_counts.check_counts(self.about())]
                self.assertFalse([line for line in lines if name in line])
            self.count(name, 0)

    def lines(self, after=0, **more):
        """What a run of root prints about counts, so many seconds after the last run."""
        self.host.uid = 0
        self.host.clock += after
        return [f.line() for f in check_counts.check_counts(self.about(**more))]

    def test_counts_of_last_week(self):
        self.count("no_receive", 3)
        self.assertIn("warning  count no_receive of kwlo: 3 since the link was added: ", self.lines()[0])
        self.assertIn("3 since the link was added: ", self.lines(60)[0])
        self.count("crc_errors", 2)
        self.assertEqual(len(self.lines(60)), 2)
        self.assertRegex(self.lines(3600)[0], "count crc_errors of kwlo: 2 in the last 62 min: ")
        self.assertEqual(self.lines(7200), [
            "ok       counts: none that points to a cause has grown lately; before (--all): "
            "no_receive of kwlo 3, crc_errors of kwlo 2"])
        self.assertEqual(len(self.lines(all_counts=True)), 2)
        self.count("no_receive", 5)
        self.assertIn("count no_receive of kwlo: 2 in the last 2 h", self.lines(60)[0])

    def test_counts_of_a_link_that_was_added_anew(self):
        self.count("no_receive", 3)
        self.lines()
        self.assertIn("ok ", self.lines(3600)[0])
        self.host.says("rdma -j -d -d dev show", DEVICES.replace('"ifindex":0', '"ifindex":5'))
        self.assertIn("3 since the link was added", self.lines(1)[0])

    def test_counts_as_a_user(self):
        """A user sees what has grown since root's run, and writes nothing."""
        self.count("no_receive", 3)
        self.found(check_counts.check_counts, WARNING, "3 since the link was added")
        self.assertFalse(self.host.exists(history.FILE))
        self.lines()
        text = self.host.read(history.FILE)
        self.host.uid = 1000
        self.host.clock += 3600
        self.found(check_counts.check_counts, OK, "none that points to a cause has grown lately")
        self.assertEqual(self.host.read(history.FILE), text)

    def test_a_file_with_nonsense(self):
        self.count("no_receive", 3)
        for text in ("", "{", "[]", '{"kwlo": 5}', '{"kwlo": {"index": 0}}',
                     '{"kwlo": {"index": 0, "last": {"time": "x"}}}',
                     '{"kwlo": {"index": 0, "last": {"time": 1, "counts": {"no_receive": "x"}}}}',
                     '{"kwlo": {"index": 0, "base": [], "last": {"time": 1, "counts": {}}}}'):
            self.host.put(history.FILE, text)
            self.assertIn("no_receive", self.lines()[0])

    def test_no_counts(self):
        self.host.remove(KWLO + "/ports/1/hw_counters")
        self.found(check_counts.check_counts, WARNING, "counts of kwlo: the module has none")
