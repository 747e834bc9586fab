#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Print the names under which iw_cm reports RDMA devices to the port mapper daemon, iwpmd.

    iwpmnames.py

Prints "NETDEV DEVICE" for each message of iw_cm, until killed. It must run in the first network
namespace, because iw_cm sends its messages only there.
"""
import socket
import struct

NETLINK_RDMA, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, GROUP_IWPM = 20, 270, 1, 2
IWCM_REG_PID = 2 << 10 | 0
IF_NAME, IBDEV_NAME = 2, 3


def attributes(data):
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:length].split(b"\0")[0].decode(errors="replace")
        data = data[(length + 3) & ~3:]


with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA) as s:
    s.bind((0, 0))
    s.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, GROUP_IWPM)
    print("listening", flush=True)
    while True:
        message = s.recv(65536)
        length, kind = struct.unpack_from("=IH", message)
        if kind == IWCM_REG_PID:
            names = dict(attributes(message[16:length]))
            print(names[IF_NAME], names[IBDEV_NAME], flush=True)
