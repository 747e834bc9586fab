#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""crowd.py ADDRESS PORT COUNT: COUNT connections that say nothing, until killed."""
import resource
import select
import socket
import sys

address, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, count + 100))
family = socket.AF_INET6 if ":" in address else socket.AF_INET
sockets = []
for _ in range(count):
    s = socket.socket(family, socket.SOCK_STREAM)
    s.setblocking(False)
    s.connect_ex((address, port))
    sockets.append(s)
print("all have begun", flush=True)
select.select([], [], [])
