#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Raw peers of wired queue pairs, for 47-wire.sh; wire_ends.py explains the arguments."""
import socket
import struct
import threading
import time

import pyverbs.enums as e

from wire_ends import End, GIDS, PORT, SLOW, run, want

REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
MAGIC = 0x6b774951


def private(qpn, peer_qpn, sq_psn, rq_psn, magic=MAGIC, version=1, flags=1):
    """Private data of a wired queue pair."""
    return struct.pack(">IBBBBIIIII", magic, version, flags, 7, 0, 0, qpn, peer_qpn, sq_psn, rq_psn)


def frame(key, pdata, flags=0x50, rev=2, ird=0x8000 | 4, ord_=0x8000 | 4):
    """An MPA startup frame; by default with enhanced data, peer-to-peer, Write as RTR."""
    enhanced = struct.pack(">HH", ird, ord_) if flags & 0x10 else b""
    return key + struct.pack(">BBH", flags, rev, len(enhanced + pdata)) + enhanced + pdata


def address(gid):
    """The family and the text of a GID."""
    raw = bytes.fromhex(gid.replace(":", ""))
    if raw[:12] == bytes(10) + b"\xff\xff":
        return socket.AF_INET, socket.inet_ntop(socket.AF_INET, raw[12:])
    return socket.AF_INET6, socket.inet_ntop(socket.AF_INET6, raw)


def read_frame(sock):
    """Return: flags, private data; None at the end of the stream."""
    data = b""
    while len(data) < 20 or len(data) < 20 + struct.unpack(">H", data[18:20])[0]:
        try:
            more = sock.recv(1024)
        except ConnectionResetError:
            return None
        if not more:
            return None
        data += more
    return data[16], data[20:]


def ask(request):
    """Connect to the second end, and send this. Return: answer of read_frame(), the socket."""
    family, text = address(GIDS[1])
    sock = socket.socket(family)
    sock.settimeout(20 * SLOW)
    sock.connect((text, PORT))
    sock.sendall(request)
    return read_frame(sock), sock


def strangers():
    """Requests of a raw peer: all but the right one get the same Reject."""
    b = End(1, 0xabcdef)
    mine, psn = 0x77, 0x123456
    want("B to RTR", b.rtr(gid=GIDS[0], dest_qp_num=mine, rq_psn=psn), 0)
    num = b.qp.qp_num
    right = private(mine, num, psn, b.psn)
    bad = {
        "no private data": frame(REQUEST, b""),
        "short": frame(REQUEST, right[:-1]),
        "magic": frame(REQUEST, private(mine, num, psn, b.psn, magic=MAGIC + 1)),
        "version": frame(REQUEST, private(mine, num, psn, b.psn, version=2)),
        "no such number": frame(REQUEST, private(mine, 0xfffff0, psn, b.psn)),
        "number of another": frame(REQUEST, private(mine + 1, num, psn, b.psn)),
        "PSN": frame(REQUEST, private(mine, num, psn + 1, b.psn)),
        "nothing proved": frame(REQUEST, private(mine, num, psn, b.psn, flags=0)),
        "not peer-to-peer": frame(REQUEST, right, ird=4),
        "no enhanced data": frame(REQUEST, right, flags=0x40),
        "revision 1": frame(REQUEST, right, flags=0x40, rev=1),
    }
    for what, request in bad.items():
        answer, sock = ask(request)
        want(f"{what}: answer", answer is not None and bool(answer[0] & 0x20), True)
        want(f"{what}: private data", answer[1][4:] if answer[0] & 0x10 else answer[1], b"")
        want(f"{what}: then", sock.recv(1), b"")
        sock.close()
    want("state", b.state(), e.IBV_QPS_RTR)
    # Half-open: a thousand that say nothing, and one that stops in the middle.
    family, text = address(GIDS[1])
    silent = []
    for n in range(1000):
        sock = socket.socket(family)
        sock.settimeout(20 * SLOW)
        sock.connect((text, PORT))
        if n == 999:
            sock.sendall(frame(REQUEST, right)[:25])
        silent.append(sock)
    answer, sock = ask(frame(REQUEST, right))
    want("the right one: accepted", answer is not None and not answer[0] & 0x20, True)
    want("its private data", answer[1][4:],
         struct.pack(">IBBBBIIIII", MAGIC, 1, 0, 0, 0, struct.unpack(">I", answer[1][12:16])[0],
                     num, mine, 0, psn))
    # A second one while the first has the queue pair.
    answer, other = ask(frame(REQUEST, right))
    want("a second one", answer is not None and bool(answer[0] & 0x20), True)
    other.close()
    sock.close()
    for sock in silent:
        sock.close()
    end = time.monotonic() + 10 * SLOW
    while b.state() != e.IBV_QPS_ERR and time.monotonic() < end:
        time.sleep(0.05)
    want("state after the peer's end", b.state(), e.IBV_QPS_ERR)


def impostors():
    """A raw peer answers the Request of a wired queue pair: nothing but the right Reply will do.

    The second end has the smaller address, so that it connects; the first has no wire_port."""
    family, text = address(GIDS[0])
    server = socket.socket(family)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((text, PORT))
    server.listen(64)
    answers = {
        "closes": lambda mine, peer, p, q: None,
        "garbage": lambda mine, peer, p, q: b"HTTP/1.1 400 Bad Request\r\n\r\n",
        "rejects": lambda mine, peer, p, q: frame(REPLY, b"", flags=0x70),
        "no private data": lambda mine, peer, p, q: frame(REPLY, b""),
        "PSN": lambda mine, peer, p, q: frame(REPLY, private(peer, mine, q + 1, p)),
        "number": lambda mine, peer, p, q: frame(REPLY, private(peer + 1, mine, q, p)),
        "revision 1": lambda mine, peer, p, q: frame(REPLY, private(peer, mine, q, p), flags=0x40, rev=1),
    }
    for what, reply in answers.items():
        a, peer, psn = End(1, 0xabcdef), 0xffffff, 0x123456
        stop = threading.Event()

        def serve(a=a, reply=reply, stop=stop):
            server.settimeout(0.2)
            while not stop.is_set():
                try:
                    sock = server.accept()[0]
                except TimeoutError:
                    continue
                sock.settimeout(10)
                read_frame(sock)
                data = reply(a.qp.qp_num, peer, a.psn, psn)
                if data:
                    sock.sendall(data)
                    try:
                        sock.recv(1)
                    except (ConnectionResetError, TimeoutError):
                        pass
                sock.close()
        thread = threading.Thread(target=serve)
        thread.start()
        want(f"{what}: to RTR", a.rtr(gid=GIDS[0], dest_qp_num=peer, rq_psn=psn), 0)
        want(f"{what}: to RTS", a.rts(timeout=8, retry_cnt=0), 0)
        a.send()
        want(f"{what}: status", a.done(20)[0].status, e.IBV_WC_RETRY_EXC_ERR)
        want(f"{what}: state", a.state(), e.IBV_QPS_ERR)
        stop.set()
        thread.join()
    server.close()
    # Nothing listens there.
    a = End(1, 0xabcdef)
    want("to RTR", a.rtr(gid=GIDS[0], dest_qp_num=0xffffff, rq_psn=1), 0)
    want("to RTS", a.rts(timeout=8, retry_cnt=0), 0)
    a.send()
    want("closed port: status", a.done(20)[0].status, e.IBV_WC_RETRY_EXC_ERR)


if __name__ == "__main__":
    run(globals())
