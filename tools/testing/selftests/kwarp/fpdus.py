#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The FPDUs of a capture of one connection over IPv4 on Ethernet, with CRC or without,
# without markers:
#
#   fpdus.py sizes FILE PORT TIME...   the longest FPDU of the initiator in each span between
#       the times (seconds since 1970), the first half of each span but the first left out:
#       it may have been made before the span began
#   fpdus.py segments FILE PORT        of either end: segments that begin with an FPDU and
#       hold nothing but whole ones, segments in all, and the most FPDUs in one
#
# Fails if the octets cannot be cut into FPDUs to the end.
"""FPDUs of a capture: how long they are, how they lie in TCP's segments."""
import struct
import sys
from bisect import bisect_left

REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"


def packets(data):
    """Time and Ethernet frame of each packet of a capture in pcap format."""
    magic = struct.unpack_from("<I", data)[0]
    unit = {0xA1B2C3D4: 1e-6, 0xA1B23C4D: 1e-9}[magic]
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, length, _ = struct.unpack_from("<IIII", data, at)
        yield seconds + fraction * unit, data[at + 16:at + 16 + length]
        at += 16 + length


def segments(data, port, initiator=True):
    """Sequence number, time and payload of what an end sends; it is the responder's port."""
    for time, frame in packets(data):
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        tcp = 14 + 4 * (frame[14] & 15)
        end = 14 + struct.unpack_from(">H", frame, 16)[0]
        if struct.unpack_from(">H", frame, tcp + 2 * initiator)[0] != port:
            continue
        payload = frame[tcp + 4 * (frame[tcp + 12] >> 4):end]
        if payload:
            yield struct.unpack_from(">I", frame, tcp + 4)[0], time, payload


def stream(found):
    """All octets in order, and (offset, time) of where each segment begins."""
    if not found:
        sys.exit("the capture holds nothing of the connection")
    first = found[0][0]
    octets, marks = bytearray(), []
    for seq, time, payload in sorted((((s - first) & 0xFFFFFFFF), t, p) for s, t, p in found):
        if seq > len(octets):
            sys.exit(f"the capture lacks octets at {len(octets)}")
        if seq + len(payload) > len(octets):
            marks.append((len(octets), time))
            octets += payload[len(octets) - seq:]
    return octets, marks


def fpdus(octets, marks, frame=REQUEST):
    """Offset, time and length of each FPDU behind the startup frame."""
    if octets[:16] != frame:
        sys.exit(f"the capture does not begin with {frame}")
    at, mark = 20 + struct.unpack_from(">H", octets, 18)[0], 0
    while at + 2 <= len(octets):
        length = (2 + struct.unpack_from(">H", octets, at)[0] + 3) // 4 * 4 + 4
        while mark + 1 < len(marks) and marks[mark + 1][0] <= at:
            mark += 1
        # The first octets of DDP: version 1, nothing reserved. Else we are lost.
        if at + length <= len(octets) and octets[at + 2] & 0x3F != 1:
            sys.exit(f"no FPDU at octet {at}")
        yield at, marks[mark][1], length
        at += length


def sizes(data, port, *times):
    """One number for each span."""
    found = list(fpdus(*stream(list(segments(data, port)))))
    ends = [float(time) for time in times] + [found[-1][1] + 1]
    begin = found[0][1]
    for number, end in enumerate(ends):
        since = begin if number == 0 else (begin + end) / 2
        print(max((size for _, time, size in found if since <= time < end), default=0))
        begin = end


def alignment(data, port):
    """Numbers of one end on a line."""
    for initiator, frame in ((True, REQUEST), (False, REPLY)):
        octets, marks = stream(list(segments(data, port, initiator)))
        begins = [at for at, _, _ in fpdus(octets, marks, frame)]
        cuts = [at for at, _ in marks if at >= begins[0]] + [len(octets)]
        known = set(begins) | {len(octets)}
        whole = sum(a in known and b in known for a, b in zip(cuts, cuts[1:]))
        most = max(bisect_left(begins, b) - bisect_left(begins, a) for a, b in zip(cuts, cuts[1:]))
        print(whole, len(cuts) - 1, most)


def main():
    """What the first argument names."""
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    {"sizes": sizes, "segments": alignment}[sys.argv[1]](data, int(sys.argv[3]), *sys.argv[4:])


main()
