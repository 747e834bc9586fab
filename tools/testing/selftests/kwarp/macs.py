#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""macs.py INTERFACE SECONDS: change the hardware address of the interface all the time.

Prints how many changes were made.
"""
import fcntl
import socket
import struct
import sys
import time

SIOCSIFHWADDR = 0x8924
ARPHRD_ETHER = 1

interface, end = sys.argv[1].encode(), time.monotonic() + float(sys.argv[2])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
requests = [struct.pack("16sH6s8x", interface, ARPHRD_ETHER, bytes((2, 0, 0, 0, 0, i)))
            for i in (1, 2)]
changes = 0
while time.monotonic() < end:
    fcntl.ioctl(s, SIOCSIFHWADDR, requests[changes % 2])
    changes += 1
print(f"{changes} changes")
