# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Queries over netlink: the driver id of a device, which the program rdma does not print, the last
connections that ended by an error, and the rules for injected faults.

libibverbs chooses the provider by the driver id, so links of type kwarp and of type kwarp-siw have
different ids.  The constants are those of the kernel's include/uapi/rdma/rdma_netlink.h and
include/uapi/linux/genetlink.h, and of kwarp's include/uapi/rdma/kwarp-netlink.h.
"""
import contextlib
import errno
import os
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

NETLINK_GENERIC = 16
NLMSG_ERROR = 2
NLMSG_DONE = 3
NLM_F_DUMP = 0x300
GENL = struct.Struct("=BBH")
GENL_ID_CTRL = 0x10
CTRL_CMD_GETFAMILY = 3
CTRL_ATTR_FAMILY_ID = 1
CTRL_ATTR_FAMILY_NAME = 2
FAMILY = b"kwarp\0"
VERSION = 1
CMD_ENDED = 1
CMD_FAULT = 2
CMD_FAULT_ADD = 3
CMD_FAULT_DEL = 4
SOL_NETLINK = 270
NETLINK_CAP_ACK = 10
NETLINK_EXT_ACK = 11
NLMSGERR_ATTR_MSG = 1
NLMSGERR_ATTR_COOKIE = 3
# enum kwarp_nl_attr from 1 on: names in the records, and the kinds of their values
RECORD = (
    ("link", str), ("seq", int), ("time", int), ("age_ms", int), ("qp", int), ("program", str),
    ("pid", int), ("uid", int), ("local", str), ("remote", str), ("error", str),
    ("terminate", int), ("vendor_err", int), ("errno", int), ("text", str), ("sent", int),
    ("received", int), ("retrans", int), ("why", str), ("key", int), ("address", int),
    ("length", int), ("rights", str), ("mr_address", int), ("mr_length", int), ("mr_rights", str))
# The attributes of a rule that RECORD does not have follow those.
RULE = (
    ("fault", int), ("kind", str), ("arg", int), ("skip", int), ("times", int),
    ("probability", int), ("seed", int), ("matched", int), ("hits", int))
# Later ones, of records
MORE = (("startup", str),)
ATTRIBUTES = RECORD + RULE + MORE
RECORD_NAMES = tuple(name for name, _ in RECORD + MORE)
RULE_NAMES = tuple(name for name, _ in RULE) + ("link", "qp", "pid", "uid")

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


def generic(family, flags, command, version, body=b""):
    """A message of generic netlink."""
    size = HEADER.size + GENL.size + len(body)
    return HEADER.pack(size, family, NLM_F_REQUEST | flags, 1, 0) + GENL.pack(command, version, 0) \
        + body


def messages(data):
    """Yield type and body of each message."""
    while len(data) >= HEADER.size:
        length, kind = struct.unpack_from("=IH", data)
        if length < HEADER.size or length > len(data):
            return
        yield kind, data[HEADER.size:length]
        data = data[(length + 3) & ~3:]


def failure(body):
    """The errno in a message of type NLMSG_ERROR; 0: none."""
    return -struct.unpack_from("=i", body)[0] if len(body) >= 4 else errno.EIO


def parse_family(data):
    """The number of the family in the kernel's answer; None if there is none."""
    for kind, body in messages(data):
        if kind == GENL_ID_CTRL:
            for attr, value in attributes(body[GENL.size:]):
                if attr == CTRL_ATTR_FAMILY_ID and len(value) == 2:
                    return int.from_bytes(value, sys.byteorder)
    return None


def parse_record(body, names=RECORD_NAMES):
    """The attributes of these names in a message; those that are missing are None."""
    found = dict.fromkeys(names)
    for attr, value in attributes(body[GENL.size:]):
        if 1 <= attr <= len(ATTRIBUTES) and ATTRIBUTES[attr - 1][0] in found:
            name, kind = ATTRIBUTES[attr - 1]
            found[name] = int.from_bytes(value, sys.byteorder) if kind is int else \
                value.rstrip(b"\0").decode(errors="replace")
    return found


def encode(values):
    """The attributes of a rule: u32 and strings."""
    body = b""
    for number, (name, kind) in enumerate(ATTRIBUTES, 1):
        if values.get(name) is not None:
            body += attribute(number, struct.pack("=I", values[name]) if kind is int else
                              values[name].encode() + b"\0")
    return body


def parse_ack(body):
    """An acknowledgment with NETLINK_CAP_ACK: its errno, its text, and its cookie."""
    found = dict(attributes(body[4 + HEADER.size:]))
    return failure(body), found.get(NLMSGERR_ATTR_MSG, b"").rstrip(b"\0").decode(errors="replace"), \
        int.from_bytes(found.get(NLMSGERR_ATTR_COOKIE, b""), sys.byteorder)


@contextlib.contextmanager
def opened():
    """Context manager: a socket, and the number of the module's family; None: no such module."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC) as sock:
        sock.settimeout(5)
        sock.bind((0, 0))
        sock.send(generic(GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, 1,
                          attribute(CTRL_ATTR_FAMILY_NAME, FAMILY)))
        yield sock, parse_family(sock.recv(65536))


def dump(command, names):
    """All that the module has to tell about a command.  None: no such module is loaded.  OSError if
    netlink fails."""
    with opened() as (sock, family):
        if family is None:
            return None
        sock.send(generic(family, NLM_F_DUMP, command, VERSION))
        found = []
        while True:
            for kind, body in messages(sock.recv(1 << 20)):
                if kind == NLMSG_DONE:
                    return found
                if kind == NLMSG_ERROR and failure(body):
                    raise OSError(failure(body), "netlink")
                if kind == family:
                    found.append(parse_record(body, names))


def ended():
    """The last streams that ended by an error, and startups that failed, of all links in this network
    namespace, the oldest first: those of the caller, or with CAP_NET_ADMIN all."""
    return dump(CMD_ENDED, RECORD_NAMES)


def faults():
    """The rules for injected faults: the caller's or, with CAP_NET_ADMIN, all."""
    return dump(CMD_FAULT, RULE_NAMES)


def change(command, values):
    """Add or remove a rule.  The number of the new rule; None: no such module is loaded.  OSError
    with the module's words if it refuses."""
    with opened() as (sock, family):
        if family is None:
            return None
        for option in (NETLINK_CAP_ACK, NETLINK_EXT_ACK):
            sock.setsockopt(SOL_NETLINK, option, 1)
        sock.send(generic(family, NLM_F_ACK, command, VERSION, encode(values)))
        for kind, body in messages(sock.recv(65536)):
            if kind == NLMSG_ERROR:
                err, text, cookie = parse_ack(body)
                if err:
                    raise OSError(err, text or os.strerror(err))
                return cookie
        raise OSError(errno.EPROTO, "no answer")
