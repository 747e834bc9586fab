#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# How long the FPDUs of an initiator are, from a capture of one connection over IPv4
# on Ethernet, with CRC or without, without markers:
#
#   fpdu-sizes.py FILE PORT TIME...
#
# Prints the longest FPDU of each span between the times (seconds since 1970), the first
# half of each span but the first left out: it may have been made before the span began.
# Fails if the octets cannot be cut into FPDUs to the end.
"""Longest FPDUs of a capture."""
import struct
import sys

REQUEST = b"MPA ID Req Frame"


def packets(data):
    """Time and Ethernet frame of each packet of a capture in pcap format."""
    magic = struct.unpack_from("<I", data)[0]
    unit = {0xA1B2C3D4: 1e-6, 0xA1B23C4D: 1e-9}[magic]
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, length, _ = struct.unpack_from("<IIII", data, at)
        yield seconds + fraction * unit, data[at + 16:at + 16 + length]
        at += 16 + length


def segments(data, port):
    """Sequence number, time and payload of what is sent to the port."""
    for time, frame in packets(data):
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        tcp = 14 + 4 * (frame[14] & 15)
        end = 14 + struct.unpack_from(">H", frame, 16)[0]
        if struct.unpack_from(">H", frame, tcp + 2)[0] != port:
            continue
        payload = frame[tcp + 4 * (frame[tcp + 12] >> 4):end]
        if payload:
            yield struct.unpack_from(">I", frame, tcp + 4)[0], time, payload


def stream(found):
    """All octets in order, and (offset, time) of where each segment begins."""
    first = found[0][0]
    octets, marks = bytearray(), []
    for seq, time, payload in sorted((((s - first) & 0xFFFFFFFF), t, p) for s, t, p in found):
        if seq > len(octets):
            sys.exit(f"the capture lacks octets at {len(octets)}")
        if seq + len(payload) > len(octets):
            marks.append((len(octets), time))
            octets += payload[len(octets) - seq:]
    return octets, marks


def fpdus(octets, marks):
    """Time and length of each FPDU behind the Request."""
    if octets[:16] != REQUEST:
        sys.exit("the capture does not begin with an MPA Request")
    at, mark = 20 + struct.unpack_from(">H", octets, 18)[0], 0
    while at + 2 <= len(octets):
        length = (2 + struct.unpack_from(">H", octets, at)[0] + 3) // 4 * 4 + 4
        while mark + 1 < len(marks) and marks[mark + 1][0] <= at:
            mark += 1
        # The first octets of DDP: version 1, nothing reserved. Else we are lost.
        if at + length <= len(octets) and octets[at + 2] & 0x3F != 1:
            sys.exit(f"no FPDU at octet {at}")
        yield marks[mark][1], length
        at += length


def main():
    """Print one number for each span."""
    with open(sys.argv[1], "rb") as file:
        found = list(segments(file.read(), int(sys.argv[2])))
    if not found:
        sys.exit("the capture holds nothing of the connection")
    sizes = list(fpdus(*stream(found)))
    ends = [float(time) for time in sys.argv[3:]] + [sizes[-1][0] + 1]
    begin = sizes[0][0]
    for number, end in enumerate(ends):
        since = begin if number == 0 else (begin + end) / 2
        print(max((size for time, size in sizes if since <= time < end), default=0))
        begin = end


main()
