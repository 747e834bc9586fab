#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A peer that speaks only the startup frames of MPA, revision 2, over an ordinary TCP socket.

mpa.py ask ADDRESS PORT
    send a Request in peer-to-peer mode, print whether the Reply accepts or rejects, send no
    ready-to-receive message (RTR), and wait until the other end has closed
mpa.py fast ADDRESS PORT
    send the same Request with the SYN (TCP Fast Open), and close after the Reply
mpa.py answer ADDRESS PORT FILE [no-crc]
    accept one connection, read its Request, wait until FILE exists, send an accepting Reply, and
    print in hexadecimal all octets that follow until the other end has closed; with no-crc the
    Reply asks for no CRC
mpa.py deaf ADDRESS PORT
    accept connections and send nothing, until killed
mpa.py other ADDRESS PORT
    accept connections and greet each in a protocol that is not MPA, until killed
"""
import os
import select
import socket
import struct
import sys
import time

KEY = {"ask": b"MPA ID Req Frame", "answer": b"MPA ID Rep Frame"}
CRC, REJECT, ENHANCED = 0x40, 0x20, 0x10
# The words of the enhanced startup (RFC 6581): peer-to-peer mode; the ready-to-receive message may
# be a Write or a Read. Each depth is 1.
IRD, ORD = 0x8000 | 1, 0x8000 | 0x4000 | 1
LIMIT = 120


def frame(role, crc=CRC):
    return KEY[role] + struct.pack(">BBHHH", crc | ENHANCED, 2, 4, IRD, ORD)


def receive(sock, length):
    data = b""
    while len(data) < length:
        more = sock.recv(length - len(data))
        if not more:
            sys.exit(f"the connection ended after {data.hex()}")
        data += more
    return data


def receive_frame(sock):
    head = receive(sock, 20)
    receive(sock, struct.unpack(">H", head[18:])[0])
    return head


def until_closed(sock):
    data = b""
    try:
        while True:
            more = sock.recv(65536)
            if not more:
                return data
            data += more
    except ConnectionResetError:
        return data


def ask(address, port):
    sock = socket.create_connection((address, port), LIMIT)
    sock.sendall(frame("ask"))
    flags = receive_frame(sock)[16]
    print("rejected" if flags & REJECT else "accepted", flush=True)
    until_closed(sock)
    print("closed", flush=True)


def fast(address, port):
    sock = socket.socket()
    sock.settimeout(LIMIT)
    sock.sendto(frame("ask"), socket.MSG_FASTOPEN, (address, port))
    print("rejected" if receive_frame(sock)[16] & REJECT else "accepted", flush=True)


def answer(address, port, path, no_crc=None):
    sock = socket.create_server((address, port)).accept()[0]
    sock.settimeout(LIMIT)
    receive_frame(sock)
    print("asked", flush=True)
    while not os.path.exists(path):
        time.sleep(0.02)
    sock.sendall(frame("answer", 0 if no_crc else CRC))
    print(until_closed(sock).hex(), flush=True)


def deaf(address, port):
    listener = socket.create_server((address, port))
    kept = []
    while True:
        select.select([listener], [], [])
        kept.append(listener.accept())
        print("connected", flush=True)


def other(address, port):
    listener = socket.create_server((address, port))
    while True:
        conn = listener.accept()[0]
        conn.sendall(b"220 hello\r\n")
        conn.recv(100)


MODES = {"ask": ask, "fast": fast, "answer": answer, "deaf": deaf, "other": other}
MODES[sys.argv[1]](sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
