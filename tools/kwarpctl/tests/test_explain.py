# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kwarpctl explain: each code has an explanation, and is found by its name and numbers."""
import re
import unittest

from kwarpctl import explain as ex
from kwarpctl.host import Usage
from kwarpctl.statuses import ERRNOS, EVENTS, STATUSES
from kwarpctl.terms import TERMS

from .fake import ROOT

ROW = re.compile(r"ROW\((\w+), (\d+), (\d+), (0x[0-9a-f]+|\d+), \w+\)")
PROTO = ROOT / "drivers/infiniband/sw/kwarp/proto"

# The names of enum ibv_wc_status of <infiniband/verbs.h>, in the order of their numbers.
WC = """SUCCESS LOC_LEN_ERR LOC_QP_OP_ERR LOC_EEC_OP_ERR LOC_PROT_ERR WR_FLUSH_ERR MW_BIND_ERR
BAD_RESP_ERR LOC_ACCESS_ERR REM_INV_REQ_ERR REM_ACCESS_ERR REM_OP_ERR RETRY_EXC_ERR
RNR_RETRY_EXC_ERR LOC_RDD_VIOL_ERR REM_INV_RD_REQ_ERR REM_ABORT_ERR INV_EECN_ERR INV_EEC_STATE_ERR
FATAL_ERR RESP_TIMEOUT_ERR GENERAL_ERR TM_ERR TM_RNDV_INCOMPLETE""".split()

# The names of enum rdma_cm_event_type of <rdma/rdma_cma.h>, in the order of their numbers.
CM = """ADDR_RESOLVED ADDR_ERROR ROUTE_RESOLVED ROUTE_ERROR CONNECT_REQUEST CONNECT_RESPONSE
CONNECT_ERROR UNREACHABLE REJECTED ESTABLISHED DISCONNECTED DEVICE_REMOVAL MULTICAST_JOIN
MULTICAST_ERROR ADDR_CHANGE TIMEWAIT_EXIT""".split()


def codes(text):
    return [entry["code"] for entry in ex.explain(text)]


class Tables(unittest.TestCase):
    def test_each_row_of_term_c(self):
        rows = {m[1]: (int(m[2]), int(m[3]), int(m[4], 0))
                for m in ROW.finditer((PROTO / "term.c").read_text())}
        self.assertGreater(len(rows), 30)
        self.assertEqual(rows, {t.name: (t.layer, t.etype, t.code) for t in TERMS})

    def test_each_error_of_perr_h(self):
        text = (PROTO / "perr.h").read_text()
        names = re.findall(r"^\tKWARP_PERR_(\w+),", text, re.MULTILINE)
        self.assertEqual([n for n in names if n != "COUNT"], [t.name for t in TERMS])

    def test_each_status(self):
        self.assertEqual([s.name for s in STATUSES], WC)

    def test_each_event(self):
        self.assertEqual([e.name for e in EVENTS], CM)

    def test_nothing_is_empty(self):
        for term in TERMS:
            self.assertTrue(term.meaning and term.cause and term.action, term.name)
        for status in STATUSES:
            self.assertTrue(status.meaning and status.cause and status.action, status.name)
        for event in EVENTS:
            self.assertTrue(event.meaning and event.action, event.name)
        for entry in ERRNOS:
            self.assertTrue(entry.meaning and entry.action, entry.name)

    def test_each_terminate_has_its_rfc(self):
        for term in TERMS:
            if term.name != "NONE":
                self.assertIn("RFC", term.rfc, term.name)


class Spellings(unittest.TestCase):
    def test_terminates(self):
        for text in ("1/2/02", "1/2/2", "1/2/0x02", "0x1202", "0X1202", "DDP_U_NOBUF",
                     "ddp-u-nobuf", "KWARP_PERR_DDP_U_NOBUF", "4610"):
            self.assertIn("DDP_U_NOBUF", codes(text)[0], text)

    def test_each_row_by_number_and_name(self):
        for term in TERMS:
            self.assertTrue(any(term.name in c for c in codes(term.name)), term.name)
            if term.name != "NONE":
                self.assertTrue(codes(term.triple())[0].endswith(term.name), term.name)
                self.assertTrue(codes("0x%04x" % term.short())[0].endswith(term.name), term.name)

    def test_causes(self):
        for text in ("0x10007", "65543", "LOCAL_ORD", "KWARP_VENDOR_ORD"):
            self.assertEqual(codes(text), ["vendor_err 0x10007, LOCAL_ORD"], text)
        with self.assertRaisesRegex(Usage, "0x10001"):
            ex.explain("0x10999")

    def test_async_events(self):
        for text in ("IBV_EVENT_CQ_ERR", "ibv_event_cq_err", "CQ_ERR"):
            self.assertEqual(codes(text), ["event IBV_EVENT_CQ_ERR of ibv_get_async_event()"])

    def test_messages_of_programs(self):
        for text, want in (
                ("Failed to modify QP to RTS", "Failed to modify QP"),
                ("ibv_modify_qp to RTS: Invalid argument", "ibv_modify_qp to RTS"),
                (" Unable to Connect the HCA's through the link", "Unable to Connect"),
                ("Couldn't create QP", "Couldn't create QP"),
                ("Couldn't read/write remote address", "Couldn't read/write"),
                ("ethernet_read_keys: Couldn't read remote address", "Couldn't read remote"),
                ("rdma_resolve_addr: Invalid argument", "rdma_resolve_addr"),
                ("rdma_create_ep: Invalid argument", "rdma_create_ep"),
                ("can't read sgid of index 3", "can't read sgid"),
                ("Correlation coefficient r^2: 0.53 < 0.9, Can't produce a report", "Correlation"),
                ("client: recv failed: Work Request Flushed Error, vendor_err 0x1100", "status 5"),
                ("Failed status 10: wr_id 0 syndrom 0x0102", "R_ACCESS"),
                ("cma event RDMA_CM_EVENT_REJECTED, error -111", "RDMA_CM_EVENT_REJECTED"),
                ("kw0: connection 10.0.0.1:1, peer 10.0.0.2:2: ended by DDP_U_NOBUF: the peer's",
                 "DDP_U_NOBUF"),
                ("bind: Address already in use", "EADDRINUSE")):
            self.assertTrue(any(want in code for code in codes(text)), (text, codes(text)))
        for text in ("nonsense", "E", "0x", "EFOOBAR", "hello EARTH"):
            with self.assertRaises(Usage):
                ex.explain(text)

    def test_codes_of_three_parts_are_hexadecimal(self):
        self.assertIn("O_UNSPEC", codes("0/2/ff")[0])

    def test_siw_exchanges_layer_and_type(self):
        found = codes("0x2006")
        self.assertIn("MPA_IRD", found[0])
        self.assertIn("0/2/06", found[1])
        self.assertIn("siw", found[1])
        self.assertEqual(len(codes("0x1104")), 1)

    def test_zero(self):
        found = codes("0x0")
        self.assertIn("LOCAL", found[0])
        self.assertIn("NONE", found[1])

    def test_unknown_terminates(self):
        self.assertIn("MPA says", ex.explain("2/0/55")[0]["meaning"])
        for text in ("3/0/00", "0xf000", "0x12345", "1/16/00"):
            with self.assertRaises(Usage):
                ex.explain(text)

    def test_statuses(self):
        for text in ("IBV_WC_WR_FLUSH_ERR", "ibv_wc_wr_flush_err", "IB_WC_WR_FLUSH_ERR",
                     "WR_FLUSH_ERR", "Work Request Flushed Error", "work request flushed error",
                     "5"):
            self.assertIn("IBV_WC_WR_FLUSH_ERR", codes(text)[0], text)
        for number, name in enumerate(WC):
            self.assertIn("IBV_WC_" + name, codes(str(number))[0])
            self.assertIn("IBV_WC_" + name, codes(STATUSES[number].text)[0])

    def test_events_and_errnos(self):
        self.assertIn("RDMA_CM_EVENT_REJECTED", codes("RDMA_CM_EVENT_REJECTED")[0])
        self.assertIn("event 8 ", codes("rejected")[0])
        for text in ("ECONNREFUSED", "-111", "111"):
            self.assertIn("ECONNREFUSED", codes(text)[0], text)

    def test_a_number_may_mean_several(self):
        self.assertEqual(len(codes("22")), 2)

    def test_nonsense(self):
        for text in ("", "  ", "nonsense", "IBV_WC_", "99999", "1/2", "1/2/3/4", "-"):
            with self.assertRaises(Usage, msg=text):
                ex.explain(text)

    def test_lines_are_short(self):
        for term in TERMS:
            for line in ex.show([ex.of_term(term)]).splitlines():
                self.assertLessEqual(len(line), 100)
