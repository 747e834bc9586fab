#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Ask root's question about ended connections through the socket of a user, for 27-why.sh.

Prints the number of records that come: none, because the user could read them."""
import os
import socket
import struct

USER = 12345
GENERIC, CONTROLLER, GETFAMILY, FAMILY_ID, FAMILY_NAME = 16, 16, 3, 1, 2
REQUEST, DUMP, ERROR, DONE = 1, 0x300, 2, 3


def message(kind, flags, command, body=b""):
    return struct.pack("=IHHIIBBH", 20 + len(body), kind, REQUEST | flags, 1, 0, command, 1, 0) + body


def answers(sock):
    """Yield type and body of each message, until the last."""
    while True:
        data = sock.recv(1 << 20)
        while len(data) >= 16:
            length, kind = struct.unpack_from("=IH", data)
            if kind in (DONE, ERROR):
                return
            yield kind, data[20:length]
            data = data[(length + 3) & ~3:]


def family(sock):
    name = b"kwarp\0"
    sock.send(message(CONTROLLER, 0, GETFAMILY,
                      struct.pack("=HH", 4 + len(name), FAMILY_NAME) + name + bytes(-len(name) % 4)))
    for _, body in answers(sock):
        while body:
            length, attr = struct.unpack_from("=HH", body)
            if attr == FAMILY_ID:
                return struct.unpack_from("=H", body, 4)[0]
            body = body[(length + 3) & ~3:]
    raise SystemExit("there is no family kwarp")


def count(user):
    """Records that come if @user has made the socket, and root sends the request."""
    os.seteuid(user)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, GENERIC) as sock:
        os.seteuid(0)
        sock.settimeout(10)
        sock.bind((0, 0))
        number = family(sock)
        sock.send(message(number, DUMP, 1))
        return sum(kind == number for kind, _ in answers(sock))


print("own", "some" if count(0) else "none")
print("lent", count(USER))
