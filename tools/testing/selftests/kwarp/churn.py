#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""churn.py ADDRESS PORT COUNT [INTERFACE]: make COUNT connections that never finish MPA startup.

Each connection sends nothing, a part of an MPA Request, or a whole Request. It is reset after 300
more connections have been made. Prints "COUNT done" at the end.

With INTERFACE each connection sends a whole Request, and its socket is bound to this interface, as
the listener on one of the interface's own addresses is.
"""
import collections
import resource
import socket
import struct
import sys

AT_A_TIME = 300
REQUEST = b"MPA ID Req Frame" + struct.pack("!BBH", 0x40, 1, 0)

address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
interface = "".join(sys.argv[4:5]).encode()
resource.setrlimit(resource.RLIMIT_NOFILE, (2 * AT_A_TIME, 2 * AT_A_TIME))
sockets = collections.deque()


def end(s):
    # With this option close() sends a reset, so that no socket in TIME_WAIT is left.
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


for i in range(count):
    s = socket.socket()
    s.settimeout(30)
    if interface:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface)
    try:
        s.connect((address, port))
        s.send(REQUEST if interface else REQUEST[:i % (len(REQUEST) + 1)])
    except OSError:
        pass
    sockets.append(s)
    if len(sockets) > AT_A_TIME:
        end(sockets.popleft())
for s in sockets:
    end(s)
print(count, "done", flush=True)
