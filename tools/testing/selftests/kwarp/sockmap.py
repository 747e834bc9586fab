#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""sockmap.py CGROUP: put every TCP connection and listener of a control group into a sockmap.

A BPF program puts a connection into the sockmap as soon as it is established, before the owner of
the listener sees the connection, and a listener as soon as it begins to listen. sockmap.py runs
until it gets SIGTERM, and then detaches the BPF program.
"""
import ctypes
import os
import platform
import signal
import struct
import sys

BPF = {"x86_64": 321}.get(platform.machine(), 280)  # the system call's number; 280 is generic
MAP_CREATE, PROG_LOAD, PROG_ATTACH = 0, 5, 8
SOCKMAP, SOCK_OPS, CGROUP_SOCK_OPS = 15, 13, 3
SOCK_MAP_UPDATE = 53
ESTABLISHED_ACTIVE, ESTABLISHED_PASSIVE, LISTEN = 4, 5, 11

libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, attr):
    buf = ctypes.create_string_buffer(attr.ljust(128, b"\0"), 128)
    ret = libc.syscall(BPF, command, buf, 128)
    if ret < 0:
        raise OSError(ctypes.get_errno(), f"bpf({command})")
    return ret


def insn(code, dst=0, src=0, off=0, imm=0):
    return struct.pack("<BBhi", code, src << 4 | dst, off, imm)


fd = bpf(MAP_CREATE, struct.pack("<IIII", SOCKMAP, 4, 4, 64))
program = b"".join([
    insn(0xbf, 6, 1),                           # r6 = context
    insn(0x61, 2, 1),                           # r2 = op
    insn(0x15, 2, 0, 2, ESTABLISHED_PASSIVE),   # goto update
    insn(0x15, 2, 0, 1, LISTEN),                # goto update
    insn(0x55, 2, 0, 8, ESTABLISHED_ACTIVE),    # else goto out
    insn(0x62, 10, 0, -4, 0),                   # update: key = 0
    insn(0xbf, 1, 6),
    insn(0x18, 2, 1, 0, fd), insn(0),           # r2 = map
    insn(0xbf, 3, 10),
    insn(0x07, 3, 0, 0, -4),                    # r3 = &key
    insn(0xb7, 4, 0, 0, 0),                     # r4 = BPF_ANY
    insn(0x85, 0, 0, 0, SOCK_MAP_UPDATE),
    insn(0xb7, 0, 0, 0, 1),                     # out: return 1
    insn(0x95),
])
code = ctypes.create_string_buffer(program, len(program))
text = ctypes.create_string_buffer(b"GPL")
prog = bpf(PROG_LOAD, struct.pack("<IIQQ", SOCK_OPS, len(program) // 8,
                                  ctypes.addressof(code), ctypes.addressof(text)))
group = os.open(sys.argv[1], os.O_RDONLY)
bpf(PROG_ATTACH, struct.pack("<IIII", group, prog, CGROUP_SOCK_OPS, 0))
print("attached", flush=True)
signal.signal(signal.SIGTERM, lambda *_: None)
signal.pause()
bpf(9, struct.pack("<IIII", group, prog, CGROUP_SOCK_OPS, 0))
