#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A peer that stops sending, to measure the device's timers.

    timers.py request ADDR PORT    connect and send 3 octets of a Request
    timers.py verdict ADDR PORT    send a whole Request; the program at the other end never answers
    timers.py rtr ADDR PORT        send a whole Request, and no FPDU after the Reply
    timers.py linger ADDR PORT     like rtr, but do not close after the device has closed
    timers.py terminate ADDR PORT  send an FPDU with a wrong CRC, read the Terminate, do not close
    timers.py reply ADDR PORT      listen, read a Request, send no Reply

Prints "N ms": the time from the last octet in either direction until the device ends the connection
by a FIN or RST; with linger and terminate, the time from the device's FIN to its RST. With linger
it prints "established" before that.
"""

import select
import socket
import struct
import sys
import time

CRC, ENHANCED = 0x40, 0x10
PEER_TO_PEER, BY_WRITE = 0x8000, 0x8000
LONGEST = 150
# DDP and RDMAP control octets: of the last segment of a Send, and of a Terminate.
SEND, TERMINATE = 0x4143, 0x4147
CRC_ERROR = 0x2002


def request():
    depths = struct.pack(">HH", PEER_TO_PEER | 1, BY_WRITE | 1)
    return b"MPA ID Req Frame" + struct.pack(">BBH", CRC | ENHANCED, 2, len(depths)) + depths


def connect(addr, port):
    s = socket.create_connection((addr, port), timeout=LONGEST)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def until_end(s):
    """Return the seconds until a FIN or RST arrives. Data must not arrive."""
    begin = time.monotonic()
    try:
        got = s.recv(64)
    except ConnectionResetError:
        got = b""
    if got:
        sys.exit(f"got {got.hex()}, must be nothing")
    return time.monotonic() - begin


def take_reply(s):
    head = b""
    while len(head) < 20:
        head += s.recv(20 - len(head)) or sys.exit("there is no Reply")
    if head[:16] != b"MPA ID Rep Frame" or head[16] & 0x20:
        sys.exit(f"no accepting Reply: {head.hex()}")
    left = struct.unpack(">H", head[18:])[0]
    while left:
        left -= len(s.recv(left))


def stop_in_request(addr, port):
    s = connect(addr, port)
    s.sendall(request()[:3])
    return until_end(s)


def no_verdict(addr, port):
    s = connect(addr, port)
    s.sendall(request())
    return until_end(s)


def no_rtr(addr, port):
    s = connect(addr, port)
    s.sendall(request())
    take_reply(s)
    return until_end(s)


def until_reset(s):
    """Return the seconds from now, when the FIN has just arrived, until the RST arrives."""
    begin = time.monotonic()
    poll = select.poll()
    poll.register(s, 0)
    if not poll.poll(LONGEST * 1000):
        sys.exit("there is no RST")
    return time.monotonic() - begin


def no_fin(addr, port):
    s = connect(addr, port)
    s.sendall(request())
    take_reply(s)
    print("established", flush=True)
    if s.recv(1):
        sys.exit("got data, must be a FIN")
    return until_reset(s)


def until_fin(s):
    """Return all octets that arrive before the FIN."""
    octets = b""
    while True:
        more = s.recv(4096)
        if not more:
            return octets
        octets += more


def after_terminate(addr, port):
    s = connect(addr, port)
    # With revision 1 there is no ready-to-receive message, so after its Reply the device accepts
    # FPDUs.
    s.sendall(b"MPA ID Req Frame" + struct.pack(">BBH", CRC, 1, 0))
    take_reply(s)
    s.sendall(struct.pack(">HHIIIII", 18, SEND, 0, 0, 1, 0, 0xBADBAD))
    got = until_fin(s)
    opcode, error = struct.unpack_from(">2xH16xH", got.ljust(22))
    if (opcode, error) != (TERMINATE, CRC_ERROR):
        sys.exit(f"got {got.hex()}, must be a Terminate 2/0/02")
    return until_reset(s)


def no_reply(addr, port):
    listener = socket.create_server((addr, port))
    s, _ = listener.accept()
    s.settimeout(LONGEST)
    head = b""
    while len(head) < 20:
        head += s.recv(20 - len(head))
    s.recv(struct.unpack(">H", head[18:])[0] or 0) if head[18:] != b"\0\0" else None
    return until_end(s)


def main():
    modes = {"request": stop_in_request, "verdict": no_verdict,
             "rtr": no_rtr, "linger": no_fin, "terminate": after_terminate, "reply": no_reply}
    mode, addr, port = sys.argv[1:]
    print(f"{modes[mode](addr, int(port)) * 1000:.0f} ms")


main()
