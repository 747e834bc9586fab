#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Wire queue pairs of two links by hand, for 47-wire.sh; wire_ends.py explains the arguments."""
import errno
import ipaddress
import os
import signal
import socket
import time

import pyverbs.enums as e
from pyverbs.cmid import CMID, AddrInfo
from pyverbs.librdmacm_enums import RAI_PASSIVE, RDMA_PS_TCP
from pyverbs.qp import QPCap, QPInitAttr
from pyverbs.wr import SendWR, SGE

from wire_ends import End, GIDS, INIT, PORT, SLOW, events, pair, run, talk, want, wire

TIMES = 40


def basic():
    """All operations, and what query_qp shows in each state."""
    a, b = pair()
    want("state", a.state(), e.IBV_QPS_INIT)
    want("A to RTS", a.rts(), errno.EINVAL)
    want("A to RTR", a.rtr(b, traffic_class=0x28), 0)
    got = a.query()
    want("RTR", (got.qp_state, got.dest_qp_num, got.rq_psn, got.path_mtu, got.min_rnr_timer,
                 got.max_dest_rd_atomic), (e.IBV_QPS_RTR, b.qp.qp_num, b.psn, e.IBV_MTU_1024, 12, 4))
    route = got.ah_attr.gr if hasattr(got.ah_attr, "gr") else None
    if route:
        want("route", (route.sgid_index, route.hop_limit, route.traffic_class),
             (a.index, 7, 0x28))
    want("A to RTR again", a.rtr(b), errno.EINVAL)
    want("B to RTR", b.rtr(a), 0)
    want("A to RTS", a.rts(), 0)
    want("B to RTS", b.rts(), 0)
    got = a.query()
    want("RTS", (got.qp_state, got.sq_psn, got.timeout, got.retry_cnt, got.rnr_retry,
                 got.max_rd_atomic), (e.IBV_QPS_RTS, a.psn, 10, 7, 7, 4))
    talk(a, b)
    for x, y in ((a, b), (b, a)):
        y.recv(2)
        x.send(opcode=e.IBV_WR_SEND_WITH_IMM, imm_data=socket.htonl(0x01020304))
        x.ok(e.IBV_WC_SEND)
        wc = y.ok(e.IBV_WC_RECV)
        want("immediate", (wc.byte_len, wc.wc_flags & e.IBV_WC_WITH_IMM, socket.ntohl(wc.imm_data)),
             (5, e.IBV_WC_WITH_IMM, 0x01020304))
        wr = SendWR(num_sge=1, sg=[SGE(x.mr.buf, 64, x.mr.lkey)],
                    opcode=e.IBV_WR_RDMA_WRITE_WITH_IMM, send_flags=e.IBV_SEND_SIGNALED, imm_data=5)
        wr.set_wr_rdma(y.mr.rkey, y.mr.buf + 1024)
        x.qp.post_send(wr)
        x.ok(e.IBV_WC_RDMA_WRITE)
        y.ok(e.IBV_WC_RECV_RDMA_WITH_IMM)
        y.mr.write(b"read me!", 8, 512)
        wr = SendWR(num_sge=1, sg=[SGE(x.mr.buf + 2048, 8, x.mr.lkey)], opcode=e.IBV_WR_RDMA_READ,
                    send_flags=e.IBV_SEND_SIGNALED)
        wr.set_wr_rdma(y.mr.rkey, y.mr.buf + 512)
        x.qp.post_send(wr)
        x.ok(e.IBV_WC_RDMA_READ)
        want("data", x.mr.read(8, 2048), b"read me!")


def early():
    """Requests that are posted before the peer is ready wait; COMM_EST at an end in RTR."""
    for first, second in ((0, 1), (1, 0)):
        a, b = pair(first, second)
        want("A to RTR", a.rtr(b), 0)
        want("A to RTS", a.rts(timeout=14), 0)
        for _ in range(3):
            a.send()
        time.sleep(0.3)
        a.quiet()
        b.recv(3)
        want("B to RTR", b.rtr(a), 0)
        a.ok(e.IBV_WC_SEND, 3)
        b.ok(e.IBV_WC_RECV, 3)
        want("state of B", b.state(), e.IBV_QPS_RTR)
        want("events", events(b, 1), [e.IBV_EVENT_COMM_EST])
        want("B to RTS with another PSN", b.rts(sq_psn=b.psn + 1), errno.EINVAL)
        want("B to RTS", b.rts(), 0)
        talk(b, a)


def mismatch():
    """A peer that is wired to another is none: after the time, RETRY_EXC_ERR and QP_FATAL."""
    wrong = ({"rq_psn": 1}, {"dest_qp_num": 0xfffff0}, {"gid": GIDS[0][:-1] + "f"})
    for first, second in ((0, 1), (1, 0)):
        for attrs in wrong:
            a, b = pair(first, second)
            want("A to RTR", a.rtr(b), 0)
            want("A to RTS", a.rts(timeout=8, retry_cnt=0), 0)
            # A's first Request, from RTR, has no PSN: B in RTS would accept it, and be reset.
            time.sleep(0.2 * SLOW)
            b.rtr(a, **attrs)
            want("B to RTS", b.rts(), 0)
            time.sleep(0.2)
            want("state of A before a request", a.state(), e.IBV_QPS_RTS)
            a.recv()
            began = time.monotonic()
            a.send()
            a.send()
            wcs = a.done(15, 3)
            want("statuses", sorted(wc.status for wc in wcs),
                 sorted([e.IBV_WC_RETRY_EXC_ERR] + 2 * [e.IBV_WC_WR_FLUSH_ERR]))
            want("first status", wcs[0].status, e.IBV_WC_RETRY_EXC_ERR)
            took = time.monotonic() - began
            want(f"{took} s is 1 s or more", took >= 0.9, True)
            want("events", events(a, 1), [e.IBV_EVENT_QP_FATAL])
            want("state of A", a.state(), e.IBV_QPS_ERR)
            want("state of B", b.state(), e.IBV_QPS_RTS)


def attributes():
    """Values that are refused, and lose nothing."""
    a, b = pair()
    for bad in ({"path_mtu": 0}, {"path_mtu": 9}, {"min_rnr_timer": 32}, {"index": 0}, {"index": 1},
                {"gid": "ff02:0000:0000:0000:0000:0000:0000:0001"},
                {"gid": "0000:0000:0000:0000:0000:0000:0000:0000"},
                {"gid": "0000:0000:0000:0000:0000:ffff:0000:0000"},
                {"gid": "0000:0000:0000:0000:0000:ffff:e000:0001"},
                {"gid": "2001:0db8:0000:0000:0000:0000:0000:0099" if GIDS[0].startswith("0000")
                        else "0000:0000:0000:0000:0000:ffff:c000:0263"},
                {"dest_qp_num": 1 << 24}):
        want(f"RTR with {bad}", a.rtr(b, **bad), errno.EINVAL)
        want("state", a.state(), e.IBV_QPS_INIT)
    want("RTR with an unused GID", a.rtr(b, index=15) != 0, True)
    want("RTR to itself", a.rtr(a), errno.EINVAL)
    want("A to RTR", a.rtr(b), 0)
    for bad in ({"timeout": 32}, {"retry_cnt": 8}, {"rnr_retry": 8}):
        want(f"RTS with {bad}", a.rts(**bad), errno.EINVAL)
        want("state", a.state(), e.IBV_QPS_RTR)
    want("A to INIT", a.modify(INIT, qp_state=e.IBV_QPS_INIT, port_num=1), errno.EINVAL)
    want("B to RTR", b.rtr(a), 0)
    want("A to RTS", a.rts(), 0)
    want("B to RTS", b.rts(), 0)
    talk(a, b)


def again():
    """RESET and a second wiring, with others; ERR and the end of a queue pair at the other end."""
    a, b = pair()
    c, d = pair()
    wire(a, b)
    wire(c, d)
    talk(a, b)
    # An end that never had a connection would not learn that its peer has gone.
    talk(c, d)
    for x in (a, d):
        want("to RESET", x.modify(e.IBV_QP_STATE, qp_state=e.IBV_QPS_RESET), 0)
        want("state", x.state(), e.IBV_QPS_INIT)
        want("number of the peer", x.query().dest_qp_num, 0)
        x.psn += 77
        x.init()
    wire(a, d)
    talk(a, d)
    # The other ends of the two see it after a second.
    for x in (b, c):
        x.recv()
        want("flushed", x.done(10)[0].status, e.IBV_WC_WR_FLUSH_ERR)
        want("state", x.state(), e.IBV_QPS_ERR)
    d.recv()
    want("A to ERR", a.modify(e.IBV_QP_STATE, qp_state=e.IBV_QPS_ERR), 0)
    want("state", a.state(), e.IBV_QPS_ERR)
    want("flushed", d.done(10)[0].status, e.IBV_WC_WR_FLUSH_ERR)
    # Wired, and destroyed while the initiator tries.
    for first, second in ((0, 1), (1, 0)):
        x, y = pair(first, second)
        want("to RTR", x.rtr(y), 0)
        want("to RTS", x.rts(), 0)
        x.send()
        x.qp.close()


def closing():
    """RESET while this end still sends, and the peer has closed. TCP's buffers are small."""
    a, b = End(0, 0x123456, 512), End(1, 0xabcdef)
    wire(a, b)
    for _ in range(500):
        a.send(bytes(4096))
    want("B to SQD", b.modify(e.IBV_QP_STATE, qp_state=e.IBV_QPS_SQD), 0)
    end = time.monotonic() + 10 * SLOW
    while a.state() == e.IBV_QPS_RTS and time.monotonic() < end:
        time.sleep(0.01)
    want("state of A", a.state(), e.IBV_QPS_SQD)
    want("A to RESET", a.modify(e.IBV_QP_STATE, qp_state=e.IBV_QPS_RESET), 0)
    want("state", a.state(), e.IBV_QPS_INIT)


def alone():
    """Wire a queue pair to a peer that is not there."""
    a = End(0, 0x123456)
    want("to RTR", a.rtr(gid=GIDS[1], dest_qp_num=0xffffff, rq_psn=1), 0)
    print("wired", flush=True)
    time.sleep(600)


def elsewhere():
    """The link of another network namespace may be opened, and not wired."""
    a, b = pair()
    want("B to RTR", b.rtr(a, ns=0), errno.EINVAL)
    want("B to RTR in its namespace", b.rtr(a), 0)


def receives():
    """Sends wait for receives as long as the RNR timer says."""
    for first, second in ((0, 1), (1, 0)):
        a, b = pair(first, second)
        wire(a, b)
        for n in range(20):
            a.send(bytes([n]) * 3000)
        time.sleep(0.5)
        b.quiet()
        want("state", b.state(), e.IBV_QPS_RTS)
        b.recv(20)
        b.ok(e.IBV_WC_RECV, 20)
        a.ok(e.IBV_WC_SEND, 20)
        talk(b, a)
        # Without retries the connection ends at once; with two after 2 * 10.24 ms.
        for retries in (0, 2):
            a, b = pair(first, second)
            wire(a, b, rnr_retry=retries)
            b.recv()
            a.send()
            a.ok(e.IBV_WC_SEND)
            b.ok(e.IBV_WC_RECV)
            a.send()
            end = time.monotonic() + 5 * SLOW
            while b.state() == e.IBV_QPS_RTS and time.monotonic() < end:
                time.sleep(0.01)
            want("state", b.state(), e.IBV_QPS_ERR)


def selfs():
    """Queue pairs of one link."""
    for end in (0, 1):
        a, b = pair(end, end)
        wire(a, b)
        talk(a, b)
        c, d = pair(end, end)
        wire(d, c)
        talk(c, d)


def dangling():
    """Leave wires of all kinds to the end of the process."""
    keep = []
    for first, second in ((0, 1), (1, 0)):
        for step in range(3):
            a, b = pair(first, second)
            keep += [a, b]
            a.rtr(b)
            if step > 0:
                a.rts()
                a.send()
            if step > 1:
                b.rtr(a)
                b.rts()
    print("ok", flush=True)
    os._exit(0)


def tell_median(what, times):
    print(f"{what} median {sorted(times)[len(times) // 2] * 1e6:.0f} us")


def speed():
    """Print the median time from RTS to the first completion, in microseconds."""
    times = []
    for _ in range(TIMES):
        a, b = pair(0, 0)
        b.recv()
        want("A to RTR", a.rtr(b), 0)
        want("B to RTR", b.rtr(a), 0)
        want("B to RTS", b.rts(), 0)
        began = time.monotonic()
        want("A to RTS", a.rts(), 0)
        a.send()
        a.ok(e.IBV_WC_SEND)
        times.append(time.monotonic() - began)
    tell_median("RTS", times)


def cm_id(**where):
    """An end with rdma_cm."""
    attr = QPInitAttr(cap=QPCap(max_send_wr=2, max_recv_wr=2), sq_sig_all=1)
    return CMID(creator=AddrInfo(port_space=RDMA_PS_TCP, **where), qp_init_attr=attr)


def cm_server(address, ready):
    """Accept connections, each of which gets one message."""
    listener = cm_id(src=address, src_service=str(PORT + 1), flags=RAI_PASSIVE)
    listener.listen(TIMES)
    os.write(ready, b"!")
    for _ in range(TIMES):
        ident = listener.get_request()
        ident.post_recv(ident.reg_msgs(64))
        ident.accept()
        ident.get_recv_comp()


def cm_speed():
    """The same with rdma_cm: from rdma_connect() to the first completion."""
    address = str(ipaddress.IPv6Address(GIDS[0]).ipv4_mapped)
    readable, writable = os.pipe()
    server = os.fork()
    if not server:
        signal.alarm(60)
        try:
            cm_server(address, writable)
        finally:
            os._exit(0)
    os.close(writable)
    want("server is ready", os.read(readable, 1), b"!")
    times = []
    for _ in range(TIMES):
        ident = cm_id(dst=address, dst_service=str(PORT + 1))
        words = ident.reg_msgs(64)
        began = time.monotonic()
        ident.connect()
        ident.post_send(words)
        want("status", ident.get_send_comp().status, e.IBV_WC_SUCCESS)
        times.append(time.monotonic() - began)
        ident.disconnect()
    tell_median("rdma_connect()", times)


if __name__ == "__main__":
    run(globals())
