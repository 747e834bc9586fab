#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""crowd.py ADDRESS PORT COUNT [request]: make COUNT connections, and keep them open until killed.

The connections send nothing, or with "request" a valid MPA Request. Prints "N rejected after S s"
for each rejecting Reply: N is the number of such Replies so far, S the time since the Request.
"""
import resource
import select
import socket
import struct
import sys
import time

address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, count + 100))
family = socket.AF_INET6 if ":" in address else socket.AF_INET
asks = sys.argv[4:] == ["request"]
sockets = []
asked = {}
for _ in range(count):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.setblocking(asks)
    s.connect_ex((address, port))
    if asks:
        asked[s.fileno()] = time.monotonic()
        s.sendall(b"MPA ID Req Frame" + struct.pack("!BBH", 0x40, 1, 0))
    sockets.append(s)
print("all have begun", flush=True)

poll = select.poll()
for s in sockets if asks else []:
    poll.register(s, select.POLLIN)
by_fd = {s.fileno(): s for s in sockets}
rejected = 0
while True:
    for fd, _ in poll.poll():
        try:
            reply = by_fd[fd].recv(20)
        except OSError:
            reply = b""
        poll.unregister(fd)
        if len(reply) == 20 and reply[16] & 0x20:
            rejected += 1
            print(f"{rejected} rejected after {time.monotonic() - asked[fd]:.1f} s", flush=True)
