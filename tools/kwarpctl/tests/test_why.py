# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kwarpctl why, and of what doctor and show tell of connections that ended by an error."""
import contextlib
import io
import json
import re
import struct

from kwarpctl import check_counts, cli, connections, netlink, why
from kwarpctl.explain import of_cause
from kwarpctl.causes import CAUSES
from kwarpctl.findings import OK, WARNING
from kwarpctl.findings import Case as Input
from kwarpctl.links import find_links

from .fake import ROOT, Case

UAPI = ROOT / "include/uapi/rdma"

# The records of one connection at both ends: the peer's Write has a wrong key.
FOUND = dict.fromkeys(netlink.RECORD_NAMES) | {
    "link": "kwlo", "seq": 1, "time": 900 * 10**9, "age_ms": 1500, "qp": 2, "program": "server",
    "pid": 100, "uid": 1000, "local": "10.99.0.1:7174", "remote": "10.99.0.1:40000",
    "error": "DDP_T_STAG", "vendor_err": 0x1100, "sent": 10, "received": 2048, "retrans": 0,
    "why": "STAG", "key": 0x1234, "address": 0x7000, "length": 64, "rights": "local-read",
    "text": "ended by DDP_T_STAG: the peer's Write, key 0x00001234, address 0x7000, 64 octets: no "
            "region or window has this key: it is wrong, or was deregistered"}
TOLD = FOUND | {
    "seq": 2, "time": 901 * 10**9, "qp": 3, "program": "client", "pid": 101, "why": None,
    "terminate": 0x1100, "text": "the peer says DDP_T_STAG (0x1100) about our Write, key 0x00001234"}
OWN = FOUND | {
    "link": "kws", "seq": 1, "time": 950 * 10**9, "qp": 2, "program": "\x1b[31mevil", "pid": None,
    "uid": None, "error": "LOCAL", "vendor_err": 0x10007, "why": "ORD", "text": "ended by LOCAL"}

# A program here did not connect; and what a peer has tried at a listener here.
STARTUP = dict.fromkeys(netlink.RECORD_NAMES) | {
    "link": "kwlo", "seq": 3, "time": 990 * 10**9, "age_ms": 20, "qp": 4, "program": "rping",
    "pid": 102, "uid": 1000, "local": "10.98.0.1:40000", "remote": "10.98.0.9:7174",
    "error": "STARTUP", "errno": 111, "why": "REJECTED_CRC", "startup": "WAIT_REP",
    "text": "rejected: the peer's Reply asks for CRC, which is off here"}
INBOUND = STARTUP | {
    "seq": 4, "qp": None, "program": None, "pid": None, "uid": None, "why": "NOT_MPA",
    "startup": "WAIT_REQ", "errno": 71, "local": "[fe80::1%kw]:7174", "remote": "[fe80::2]:999",
    "text": "the peer broke the protocol"}
REASONS = re.findall(r"\tWHY\((\w+),",
                     (ROOT / "drivers/infiniband/sw/kwarp/cm/ep_trouble.c").read_text())


class Why(Case):
    def setUp(self):
        super().setUp()
        self.host.records = [FOUND, TOLD, OWN]

    def run_why(self, *argv):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = cli.main(["why", *argv], self.host)
        return status, re.sub(r"\s+", " ", out.getvalue()), err.getvalue()

    def test_all(self):
        status, out, _ = self.run_why()
        self.assertEqual(status, 0)
        for words in ("kwlo, QP 2 of server (pid 100): ended 100 s ago, after 1.5 s",
                      "10.99.0.1:7174 -> 10.99.0.1:40000, 10 sent, 2.00K received, 0 sent again",
                      "why ended by DDP_T_STAG: the peer's Write, key 0x00001234",
                      "code Terminate 1/1/00, vendor_err 0x1100, DDP_T_STAG",
                      "The peer's program has asked for that",
                      "kwarpctl why at the peer tells",
                      "code vendor_err 0x10007, LOCAL_ORD"):
            self.assertIn(words, out)
        self.assertNotIn("\x1b", out)

    def test_which(self):
        for argv, want in (((), [1, 2, 1]), (("--last",), [1]), (("100",), [1]), (("3",), [2]),
                           (("2",), [1, 1]), (("client",), [2]), (("--link", "kwlo"), [1, 2]),
                           (("--link", "kwlo", "--last"), [2]), (("nobody",), []),
                           (("2", "--link", "kws"), [1])):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.assertEqual(cli.main(["why", *argv, "--json"], self.host), 0)
            self.assertEqual([e["seq"] for e in json.loads(out.getvalue())], want, argv)

    def test_nothing(self):
        self.assertIn("no connection of nobody has ended by an error, or failed to start (only root",
                      self.run_why("nobody")[1])
        self.host.uid, self.host.records = 0, []
        self.assertEqual(self.run_why()[1], "no connection has ended by an error, or failed to start ")
        self.host.put("/sys/class/infiniband/kws/ports/1/gid_attrs/ndevs/0", "far0")
        self.assertIn("not asked: kws, in another network namespace", self.run_why()[1])
        self.assertNotIn("not asked", self.run_why("--link", "kwlo")[1])

    def test_bad_input(self):
        status, out, err = self.run_why("--link", "kw9")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("there are kwlo, kws", err)
        self.host.records = None
        status, out, err = self.run_why()
        self.assertEqual((status, out), (1, ""))
        self.assertIn("modprobe kwarp", err)
        self.assertEqual(self.run_why("--what")[0], 2)

    def test_lost(self):
        """What to do depends on the errno, since MPA_LOST has one text for all of them."""
        self.host.records = [FOUND | {"error": "MPA_LOST", "vendor_err": 0x2001, "why": None,
                                      "errno": 103, "text": "lost: ended on this machine"}]
        out = self.run_why()[1]
        self.assertIn("do Find out who has ended it: ss -K", out)
        self.assertNotIn("likely", out)
        self.host.records[0]["errno"] = None
        self.assertIn("likely The peer's program or machine died", self.run_why()[1])

    def test_a_siw_exchanges_layer_and_type(self):
        self.host.records = [TOLD | {"error": "OTHER", "terminate": 0x2006, "vendor_err": 0x2006}]
        self.assertIn("O_OPCODE, if it is from siw", self.run_why()[1])

    def test_a_record_of_a_later_module(self):
        """A name that this kwarpctl does not know is no fault."""
        self.host.records = [FOUND | {"error": "NEW", "why": "NEW"}]
        status, out, _ = self.run_why()
        self.assertEqual(status, 0)
        self.assertNotIn("code", out)

    def test_startups(self):
        """Connections that did not start, at the end whose program has tried, and at the other."""
        self.host.records = [STARTUP, INBOUND]
        status, out, _ = self.run_why()
        self.assertEqual(status, 0)
        for words in ("kwlo, QP 4 of rping (pid 102): did not connect, 10 s ago (WAIT_REP) "
                      "10.98.0.1:40000 -> 10.98.0.9:7174 why rejected: the peer's Reply asks for CRC",
                      "do The peer may require CRC",
                      "kwarpctl set kwlo crc=on",
                      "kwlo, a listener: did not connect, 10 s ago (WAIT_REQ)",
                      "do Something other than RDMA connects to the port"):
            self.assertIn(words, out)
        self.host.records = [STARTUP | {"why": "NO_TCP", "startup": "CONNECT", "errno": 104}]
        out = self.run_why()[1]
        self.assertIn("CRC, which is off here (ECONNRESET)", out)
        self.assertIn("kwarpctl doctor --peer 10.98.0.9 --port 7174", out)
        self.host.records = [STARTUP | {"why": "NOT_MPA"}]
        self.assertIn("Something other than RDMA listens there", self.run_why()[1])
        self.host.records = [STARTUP | {"why": "NEW"}]
        self.assertEqual(self.run_why()[0], 0)

    def test_each_reason_has_a_remedy(self):
        self.assertGreater(len(REASONS), 12)
        self.assertEqual(set(REASONS), set(why.STARTUPS))
        for reason in REASONS:
            found = why.remedy(STARTUP | {"why": reason})
            self.assertTrue(found and "{" not in found, reason)

    def test_doctor_about_startups(self):
        """At the end that has tried, doctor warns, and says what to do; later it only tells."""
        self.host.records = [STARTUP, INBOUND]
        found = check_counts.check_ended(Input(host=self.host, links=find_links(self.host)))
        self.assertEqual([(f.level, f.subject) for f in found], [(WARNING, "last error of kwlo")])
        self.assertIn("10 s ago, rping (pid 102): rejected: the peer's Reply asks", found[0].text)
        self.assertIn("crc=on", found[0].action)
        self.host.clock += 700
        found = check_counts.check_ended(Input(host=self.host, links=find_links(self.host)))
        self.assertEqual([f.level for f in found], [OK])

    def test_doctor(self):
        links = find_links(self.host)
        found = check_counts.check_ended(Input(host=self.host, links=links))
        self.assertEqual([f.subject for f in found], ["last error of kwlo", "last error of kws"])
        self.assertIn("99 s ago, client (pid 101): the peer says DDP_T_STAG", found[0].text)
        self.host.records = None
        self.assertEqual(check_counts.check_ended(Input(host=self.host, links=links)), [])

    def test_counts(self):
        for count in ("term_sent_rdmap", "term_sent_ddp", "term_received_rdmap",
                      "term_received_ddp", "term_received_mpa", "term_received_other"):
            self.host.put("/sys/class/infiniband/kwlo/ports/1/hw_counters/" + count, "3")
            found = check_counts.check_counts(Input(host=self.host, links=find_links(self.host)))
            self.assertEqual([(f.subject, f.action) for f in found],
                             [("count %s of kwlo" % count, "run kwarpctl why")])
            self.host.put("/sys/class/infiniband/kwlo/ports/1/hw_counters/" + count, "0")
        self.host.put("/sys/class/infiniband/kwlo/ports/1/hw_counters/term_sent_ddp", "3")
        self.host.put("/sys/class/infiniband/kwlo/ports/1/gid_attrs/ndevs/0", "far0")
        found = check_counts.check_counts(Input(host=self.host, links=find_links(self.host)))
        self.assertEqual(found[0].action,
                         "run kwarpctl why in the network namespace of the link")

    def counts(self, all_counts=False, **counts):
        for count, value in counts.items():
            self.host.put("/sys/class/infiniband/kwlo/ports/1/hw_counters/" + count, value)
        self.host.remove("/run/kwarp/counts.json")
        return [f.line() for f in check_counts.check_counts(Input(
            host=self.host, links=find_links(self.host), all_counts=all_counts))]

    def test_when_it_was(self):
        """Root is told when a count has grown last, and is not warned of what is long ago."""
        self.host.records = [FOUND, TOLD, STARTUP, INBOUND]
        counts = {"term_sent_ddp": 1, "term_received_ddp": 2, "cm_rejected": 3, "cm_bad": 4}
        self.assertNotIn(" ago", " ".join(self.counts(**counts)))
        self.host.uid = 0
        found = self.counts(**counts)
        self.assertEqual(len(found), 4)
        for line, ago in zip(found, ("100 s", "99 s", "10 s", "10 s")):
            self.assertIn("since the link was added, the last %s ago: " % ago, line)
        self.host.clock += 580
        found = self.counts()
        self.assertEqual(len(found), 2)
        self.host.clock += 100
        self.assertEqual(self.counts(), [
            "ok       counts: none that points to a cause has grown lately; before (--all): "
            "term_sent_ddp of kwlo 1, term_received_ddp of kwlo 2, cm_bad of kwlo 4, "
            "cm_rejected of kwlo 3"])
        self.assertEqual(len(self.counts(all_counts=True)), 4)
        # A count that no record tells of
        self.assertIn("tx_no_memory", self.counts(tx_no_memory=1)[0])

    def test_which_counts(self):
        for entry, want in ((FOUND, "term_sent_ddp"), (TOLD, "term_received_ddp"),
                            (TOLD | {"terminate": 0x2002}, "term_received_mpa"),
                            (TOLD | {"terminate": 0xf000}, "term_received_other"),
                            (OWN, "term_sent_rdmap"), (FOUND | {"error": "MPA_CRC"}, "crc_errors"),
                            (FOUND | {"error": "MPA_LOST"}, "streams_lost"),
                            (FOUND | {"why": "NO_RECEIVE"}, "no_receive"),
                            (STARTUP, "cm_rejected"), (INBOUND, "cm_bad"),
                            (STARTUP | {"why": "CRC_REQUIRED"}, "cm_bad"),
                            (INBOUND | {"why": "CRC_REQUIRED"}, "cm_refused"),
                            (STARTUP | {"why": "NO_REPLY"}, "cm_timeouts")):
            self.assertIn(want, check_counts.counts_grown(entry))
            self.assertIn(want, [row[0] for row in check_counts.COUNTS])


class State(Case):
    def test_error(self):
        for pair, want in (({"drv_error": "NONE"}, None), ({}, None),
                           ({"drv_error": "DDP_T_STAG"}, "DDP_T_STAG"),
                           ({"drv_error": "NONE", "drv_peer_term": "0x1100"}, "peer says DDP_T_STAG"),
                           ({"drv_error": "NONE", "drv_peer_term": 4352}, "peer says DDP_T_STAG"),
                           ({"drv_error": "LOCAL", "drv_peer_term": "0x2fff"}, "peer says 0x2fff")):
            self.assertEqual(connections.error_of(pair), want)


    def test_what_it_waits_for(self):
        quiet = {"state": "RTS", "quiet_ms": 5000, "waits": False, "no_room": False,
                 "timeouts": 0, "reads_out": 0}
        for change, want in (
                ({}, ""), ({"waits": True}, ""), ({"quiet_ms": None, "reads_out": None}, ""),
                ({"waits": True, "timeouts": 3}, "stalled: no ACK for 5.0 s"),
                ({"waits": True, "no_room": True}, "waits for room at the peer for 5.0 s"),
                ({"reads_out": 1}, "waits for the peer's answer to 1 Read for 5.0 s"),
                ({"reads_out": 4}, "waits for the peer's answer to 4 Reads for 5.0 s"),
                ({"reads_out": 4, "quiet_ms": 3}, ""), ({"reads_out": 4, "state": "ERR"}, "")):
            self.assertEqual(connections.waits_for(quiet | change), want, change)


class Netlink(Case):
    def test_family(self):
        body = netlink.GENL.pack(1, 2, 0) + netlink.attribute(2, b"kwarp\0") + \
            netlink.attribute(1, struct.pack("=H", 33))
        head = netlink.HEADER.pack(netlink.HEADER.size + len(body), netlink.GENL_ID_CTRL, 0, 1, 0)
        self.assertEqual(netlink.parse_family(head + body), 33)
        for broken in (b"", head, head[:7], head + b"\0" * 9, b"\0" * 40):
            self.assertIsNone(netlink.parse_family(broken))

    def test_record(self):
        body = netlink.GENL.pack(1, 1, 0) + netlink.attribute(1, b"kw0\0") + \
            netlink.attribute(2, struct.pack("=Q", 7)) + netlink.attribute(5, struct.pack("=I", 3)) + \
            netlink.attribute(6, b"a\xff\0") + netlink.attribute(999, b"new!")
        found = netlink.parse_record(body)
        self.assertEqual((found["link"], found["seq"], found["qp"], found["program"], found["pid"]),
                         ("kw0", 7, 3, "a\ufffd", None))

    def test_names_are_those_of_the_header(self):
        text = (UAPI / "kwarp-netlink.h").read_text()
        names = [n for n in re.findall(r"\tKWARP_NL_([A-Z_]+),", text) if n not in ("PAD", "COUNT")]
        names = [n for n in names if not n.startswith("CMD_")]
        ours = {"qp": "QPN", "age_ms": "AGE", "key": "STAG", "probability": "PERCENT"}
        self.assertEqual([ours.get(n, n.upper()) for n, _ in netlink.ATTRIBUTES], names)

    def test_causes_are_those_of_the_abi(self):
        text = (UAPI / "kwarp-abi.h").read_text()
        found = re.findall(r"KWARP_VENDOR_(\w+)\s+= (0x\w+)", text)
        self.assertEqual([(n, int(v, 0)) for n, v in found], [(c.name, c.number) for c in CAUSES])
        for cause in CAUSES:
            self.assertTrue(of_cause(cause)["meaning"] and of_cause(cause)["action"])
