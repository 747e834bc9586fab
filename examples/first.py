#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A first RDMA program with pyverbs: the client writes a line into the server's memory.

   first.py -s ADDRESS     wait for one client
   first.py ADDRESS        be the client
"""
import struct
import sys

import pyverbs.enums as e
from pyverbs.cmid import CMID, AddrInfo
from pyverbs.librdmacm_enums import RAI_PASSIVE, RDMA_PS_TCP
from pyverbs.qp import QPCap, QPInitAttr

PORT, SIZE = "7472", 64
PLACE = struct.Struct("=QII")           # address, length and key of the server's memory


def done(what, completion):
    """End the program if a completion reports an error."""
    print(f"{what}: status {completion.status}")
    if completion.status != e.IBV_WC_SUCCESS:
        sys.exit(f"vendor_err {completion.vendor_err:#x}")


def make_id(address, server):
    attr = QPInitAttr(cap=QPCap(max_send_wr=2, max_recv_wr=2), sq_sig_all=1)
    if server:
        info = AddrInfo(src=address, src_service=PORT, port_space=RDMA_PS_TCP, flags=RAI_PASSIVE)
    else:
        info = AddrInfo(dst=address, dst_service=PORT, port_space=RDMA_PS_TCP)
    return CMID(creator=info, qp_init_attr=attr)


def serve(address):
    listener = make_id(address, True)
    listener.listen()
    ident = listener.get_request()
    board = ident.reg_write(SIZE)
    words = ident.reg_msgs(SIZE)
    notice = ident.reg_msgs(SIZE)
    ident.post_recv(notice)
    ident.accept()
    words.write(PLACE.pack(board.buf, SIZE, board.rkey), PLACE.size)
    ident.post_send(words, length=PLACE.size)
    done("send", ident.get_send_comp())
    done("receive", ident.get_recv_comp())
    print("the board says:", board.read(SIZE, 0).rstrip(b"\0").decode())
    ident.disconnect()


def call(address):
    ident = make_id(address, False)
    words = ident.reg_msgs(SIZE)
    ident.post_recv(words)
    ident.connect()
    done("receive", ident.get_recv_comp())
    where, length, key = PLACE.unpack(words.read(PLACE.size, 0))
    words.write(b"pyverbs was here".ljust(length, b"\0"), length)
    ident.post_write(words, length, where, key, e.IBV_SEND_SIGNALED)
    done("write", ident.get_send_comp())
    ident.post_send(words)
    done("send", ident.get_send_comp())
    ident.disconnect()


if len(sys.argv) == 3 and sys.argv[1] == "-s":
    serve(sys.argv[2])
elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
    call(sys.argv[1])
else:
    sys.exit("usage: first.py [-s] ADDRESS")
