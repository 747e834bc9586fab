#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Print who has chosen the name of an RDMA device.

    nameassign.py DEVICE

Prints "user", "unknown", or "?" if the kernel does not say. udev's rdma_rename does not rename a
device whose name a user has chosen. iproute2 does not show this attribute.
"""
import socket
import struct
import sys

NETLINK_RDMA = 20
NLM_F_REQUEST, NLM_F_DUMP, NLMSG_DONE = 1, 0x300, 3
NLDEV_GET = 5 << 10 | 1
DEV_NAME, NAME_ASSIGN_TYPE = 2, 101


def attributes(data):
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:length]
        data = data[(length + 3) & ~3:]


def devices():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA) as s:
        s.send(struct.pack("=IHHII", 16, NLDEV_GET, NLM_F_REQUEST | NLM_F_DUMP, 1, 0))
        while True:
            data = s.recv(65536)
            while len(data) >= 16:
                length, kind = struct.unpack_from("=IH", data)
                if kind == NLMSG_DONE:
                    return
                yield dict(attributes(data[16:length]))
                data = data[(length + 3) & ~3:]


for device in devices():
    if device.get(DEV_NAME, b"").rstrip(b"\0").decode() == sys.argv[1]:
        print({b"\0": "unknown", b"\1": "user"}.get(device.get(NAME_ASSIGN_TYPE), "?"))
        break
else:
    sys.exit(f"there is no RDMA device {sys.argv[1]}")
