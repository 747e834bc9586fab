# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Query of the driver id of a device over netlink; the program rdma does not print the id.

libibverbs chooses the provider by the driver id, so links of type kwarp and of type kwarp-siw have
different ids.  The constants are those of the kernel's include/uapi/rdma/rdma_netlink.h.
"""
import socket
import struct
import sys

NETLINK_RDMA = 20
GET_CHARDEV = 5 << 10 | 15
NLM_F_REQUEST = 1
NLM_F_ACK = 4
ATTR_DEV_INDEX = 1
ATTR_CHARDEV_TYPE = 69
ATTR_DRIVER_ID = 73
HEADER = struct.Struct("=IHHII")

# Driver ids: KWARP_DRIVER_ID of kwarp-abi.h, and RDMA_DRIVER_SIW of the kernel's rdma_driver_id.
DRIVER_KWARP = 0x6b77
DRIVER_SIW = 18


def attribute(kind, value):
    pad = -len(value) % 4
    return struct.pack("=HH", len(value) + 4, kind) + value + b"\0" * pad


def request(index):
    """Message that asks for the uverbs device of an RDMA device."""
    body = attribute(ATTR_DEV_INDEX, struct.pack("=I", index))
    body += attribute(ATTR_CHARDEV_TYPE, b"uverbs\0")
    return HEADER.pack(HEADER.size + len(body), GET_CHARDEV, NLM_F_REQUEST | NLM_F_ACK, 1, 0) + body


def attributes(body):
    """Yield type and value of each attribute in a message."""
    while len(body) >= 4:
        length, kind = struct.unpack_from("=HH", body)
        if length < 4 or length > len(body):
            return
        yield kind & 0x3fff, body[4:length]
        body = body[(length + 3) & ~3:]


def parse_driver_id(message):
    """The driver id in the kernel's answer; None if there is none."""
    if len(message) < HEADER.size or HEADER.unpack_from(message)[1] != GET_CHARDEV:
        return None
    length = HEADER.unpack_from(message)[0]
    for kind, value in attributes(message[HEADER.size:length]):
        if kind == ATTR_DRIVER_ID and len(value) in (4, 8):
            return int.from_bytes(value, sys.byteorder)
    return None


def driver_id(index):
    """Driver id of the RDMA device with this index; None if the kernel does not tell it."""
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA) as sock:
            sock.settimeout(1)
            sock.bind((0, 0))
            sock.send(request(index))
            return parse_driver_id(sock.recv(65536))
    except OSError:
        return None
