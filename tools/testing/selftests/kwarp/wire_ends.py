# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Queue pairs that are wired by hand, for wire.py and wire_raw.py, whose arguments this reads:

    CASE[,CASE...] LINK GID LINK GID PORT

LINK is an RDMA device, GID an IP address of it, as sysfs shows GIDs, PORT the knob wire_port of
both. The process has both ends; its own sockets are at the first. Each CASE is a function. WIRE_NS
has the names of the network namespaces of the links: a program of another one cannot wire.
"""
import contextlib
import os
import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AHAttr, GID, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import RecvWR, SendWR, SGE

SIZE = 4096
RIGHTS = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ
          | e.IBV_ACCESS_REMOTE_ATOMIC)
INIT = e.IBV_QP_STATE | e.IBV_QP_PKEY_INDEX | e.IBV_QP_PORT | e.IBV_QP_ACCESS_FLAGS
RTR = (e.IBV_QP_STATE | e.IBV_QP_AV | e.IBV_QP_PATH_MTU | e.IBV_QP_DEST_QPN | e.IBV_QP_RQ_PSN
       | e.IBV_QP_MAX_DEST_RD_ATOMIC | e.IBV_QP_MIN_RNR_TIMER)
RTS = (e.IBV_QP_STATE | e.IBV_QP_TIMEOUT | e.IBV_QP_RETRY_CNT | e.IBV_QP_RNR_RETRY
       | e.IBV_QP_SQ_PSN | e.IBV_QP_MAX_QP_RD_ATOMIC)

NAMES, GIDS, PORT = sys.argv[2:6:2], sys.argv[3:7:2], int(sys.argv[6])
SLOW = float(os.environ.get("WIRE_SLOW", "1"))
OPEN = {}
NAMESPACES = os.environ.get("WIRE_NS", "").split()


@contextlib.contextmanager
def namespace(end):
    """This thread is in the namespace of that end's link meanwhile."""
    if not NAMESPACES:
        yield
        return
    with open("/proc/thread-self/ns/net", "rb") as own, \
         open(f"/run/netns/{NAMESPACES[end]}", "rb") as other:
        os.setns(other.fileno())
        try:
            yield
        finally:
            os.setns(own.fileno())


def want(what, got, expected):
    """End the program unless both are the same."""
    if got != expected:
        sys.exit(f"{what}: {got!r}, not {expected!r}")


def open_link(name):
    """Open a device. get_async_event() blocks all threads, so make it return at once."""
    ctx = Context(name=name)
    for fd in os.listdir("/proc/self/fd"):
        try:
            if "infinibandevent" in os.readlink(f"/proc/self/fd/{fd}"):
                os.set_blocking(int(fd), False)
        except FileNotFoundError:
            pass
    return ctx


class End:
    """A queue pair at an end, with one CQ and one region."""

    def __init__(self, end, psn, depth=64):
        name, self.end = NAMES[end], end
        if name not in OPEN:
            ctx = open_link(name)
            OPEN[name] = ctx, next(i for i in range(2, 16)
                                   if str(ctx.query_gid(1, i)) == GIDS[end])
        self.ctx, self.index = OPEN[name]
        self.gid, self.psn = GIDS[end], psn
        self.pd = PD(self.ctx)
        self.cq = CQ(self.ctx, 4 * depth)
        self.mr = MR(self.pd, SIZE, RIGHTS)
        cap = QPCap(max_send_wr=depth, max_recv_wr=depth, max_send_sge=1, max_recv_sge=1)
        self.qp = QP(self.pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=cap))
        self.init()

    def modify(self, mask, **attrs):
        """Modify the queue pair. Return: 0 or the errno."""
        attr = QPAttr()
        for name, value in attrs.items():
            setattr(attr, name, value)
        try:
            self.qp.modify(attr, mask)
        except PyverbsRDMAError as error:
            return error.error_code
        return 0

    def state(self):
        """State that the verb query_qp shows."""
        return self.query().qp_state

    def query(self):
        """All attributes that the verb query_qp shows."""
        return self.qp.query(RTR | RTS | INIT)[0]

    def init(self):
        """RESET or INIT to INIT."""
        want("to INIT", self.modify(INIT, qp_state=e.IBV_QPS_INIT, pkey_index=0, port_num=1,
                                    qp_access_flags=RIGHTS), 0)

    def rtr(self, peer=None, mask=RTR, **attrs):
        """Wire the queue pair to the peer, but for @attrs. Return: 0 or the errno."""
        gid = attrs.pop("gid", peer and peer.gid)
        route = GlobalRoute(dgid=GID(gid), sgid_index=attrs.pop("index", self.index),
                            hop_limit=7, traffic_class=attrs.pop("traffic_class", 0))
        known = {"path_mtu": e.IBV_MTU_1024, "max_dest_rd_atomic": 4, "min_rnr_timer": 12}
        if peer:
            known.update(dest_qp_num=peer.qp.qp_num, rq_psn=peer.psn)
        ns = attrs.pop("ns", self.end)
        known.update(attrs)
        with namespace(ns):
            return self.modify(mask, qp_state=e.IBV_QPS_RTR,
                               ah_attr=AHAttr(gr=route, is_global=1, port_num=1), **known)

    def rts(self, **attrs):
        """To RTS. Return: 0 or the errno."""
        known = {"timeout": 10, "retry_cnt": 7, "rnr_retry": 7, "sq_psn": self.psn,
                 "max_rd_atomic": 4}
        known.update(attrs)
        return self.modify(RTS, qp_state=e.IBV_QPS_RTS, **known)

    def recv(self, n=1):
        """Post @n receives."""
        for _ in range(n):
            self.qp.post_recv(RecvWR(num_sge=1, sg=[SGE(self.mr.buf, SIZE, self.mr.lkey)]))

    def send(self, data=b"hello", opcode=e.IBV_WR_SEND, **more):
        """Post a request; @more: of SendWR."""
        self.mr.write(data, len(data))
        wr = SendWR(num_sge=1, sg=[SGE(self.mr.buf, len(data), self.mr.lkey)], opcode=opcode,
                    send_flags=e.IBV_SEND_SIGNALED, **more)
        self.qp.post_send(wr)

    def done(self, seconds=5, n=1):
        """Wait for @n completions, and return them."""
        got, end = [], time.monotonic() + seconds * SLOW
        while len(got) < n:
            _, wcs = self.cq.poll(n - len(got))
            got += wcs or []
            if time.monotonic() > end:
                sys.exit(f"{len(got)} of {n} completions after {seconds} s")
        return got

    def ok(self, opcode, n=1, seconds=5):
        """Wait for @n successful completions of this opcode, and return the last."""
        for wc in self.done(seconds, n):
            want("status", wc.status, e.IBV_WC_SUCCESS)
            want("opcode", wc.opcode, opcode)
        return wc

    def quiet(self):
        """There is no completion."""
        want("completions", self.cq.poll(1)[0], 0)


def events(end, n, seconds=10):
    """Wait for @n asynchronous events of this end's device, and return their types."""
    found, late = [], time.monotonic() + seconds * SLOW
    while len(found) < n and time.monotonic() < late:
        try:
            event = end.ctx.get_async_event()
            found.append(event.event_type)
            event.ack()
        except PyverbsRDMAError:
            time.sleep(0.01)
    return found


def pair(first=0, second=1):
    """Two queue pairs, not wired yet."""
    return End(first, 0x123456), End(second, 0xabcdef)


def wire(a, b, **rts):
    """Wire both to each other."""
    want("A to RTR", a.rtr(b), 0)
    want("B to RTR", b.rtr(a), 0)
    want("A to RTS", a.rts(**rts), 0)
    want("B to RTS", b.rts(**rts), 0)


def talk(a, b):
    """A Send each way."""
    for x, y in ((a, b), (b, a)):
        y.recv()
        x.send()
        x.ok(e.IBV_WC_SEND)
        want("length", y.ok(e.IBV_WC_RECV).byte_len, 5)


def run(cases):
    """Run the functions that the first argument names, of the dictionary @cases."""
    for case in sys.argv[1].split(","):
        print(case, flush=True)
        cases[case]()
    print("ok")
