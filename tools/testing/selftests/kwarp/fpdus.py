#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Analyse the FPDUs in a capture of one connection over IPv4 on Ethernet, with or without CRC, and
# without markers:
#
#   fpdus.py sizes FILE PORT TIME...   print the length of the initiator's longest FPDU in each span
#       between the times (seconds since 1970). The first half of each span except the first one is
#       left out, because its FPDUs may have been made before the span began.
#   fpdus.py segments FILE PORT        print for each end: the number of segments that begin with an
#       FPDU and hold whole FPDUs only; the number of other segments that are excused, because SACK
#       blocks have taken room in them, or in a segment whose octets TCP got in the same call; the
#       number of all segments; the largest number of FPDUs in one segment
#   fpdus.py startup FILE PORT         print revision and flags of the startup frames, and how many
#       FPDUs of both ends have a right CRC, zero instead of a CRC, or a wrong CRC
#   fpdus.py swap FILE PORT OUT        copy the capture, and exchange two segments of the initiator
#       in the middle
#   fpdus.py selftest                  test this program: it must join IP fragments, and fail if
#       something is missing
#
# Fails if the stream cannot be split into FPDUs up to its end.
"""Analyse the FPDUs in a capture: their lengths, CRCs and place in TCP's segments."""
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


def put_together(pieces):
    """Join IP fragments {offset: (octets, more follow)}; None if one is missing."""
    whole = b""
    for offset, (octets, more) in sorted(pieces.items()):
        if offset != len(whole):
            return None
        whole += octets
        if not more:
            return whole
    return None


def datagrams(data):
    """Time and payload of each IPv4 datagram that carries TCP.

    Fragments are joined: a segment that was made just before the route's MTU became smaller
    arrives in fragments.
    """
    fragments = {}
    for time, frame in packets(data):
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        length, number, cut = struct.unpack_from(">HHH", frame, 16)
        payload = frame[14 + 4 * (frame[14] & 15):14 + length]
        if cut & 0x3FFF:
            key = (frame[26:34], number)
            fragments.setdefault(key, {})[8 * (cut & 0x1FFF)] = (payload, cut & 0x2000)
            payload = put_together(fragments[key])
            if payload is None:
                continue
            del fragments[key]
        yield time, payload


# An upper bound of the octets that kwarp passes to TCP in one call: 64 KiB, and the rest of the
# message that crosses this limit.
AT_A_TIME = 2 * 65536


def has_sack(options):
    """Is there a SACK option among these TCP options?"""
    at = 0
    while at + 1 < len(options) and options[at] not in (0, 5):
        at += 1 if options[at] == 1 else max(2, options[at + 1])
    return options[at:at + 1] == b"\5"


def sent(data, port, initiator):
    """Segments with data that one end sent: sequence number, time, options, payload.

    PORT is the responder's port.
    """
    for time, tcp in datagrams(data):
        header = 4 * (tcp[12] >> 4)
        if struct.unpack_from(">H", tcp, 2 * initiator)[0] == port and len(tcp) > header:
            yield struct.unpack_from(">I", tcp, 4)[0], time, tcp[20:header], tcp[header:]


def segments(data, port, initiator=True):
    """Like sent(), without the options: sequence number, time, payload."""
    for seq, time, _, payload in sent(data, port, initiator):
        yield seq, time, payload


def stream(found):
    """All octets of the segments in order, and for each segment (offset of its begin, time)."""
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
    """Offset, time and length of each FPDU after the startup frame."""
    if octets[:16] != frame:
        sys.exit(f"the capture does not begin with {frame}")
    at, mark = 20 + struct.unpack_from(">H", octets, 18)[0], 0
    while at + 2 <= len(octets):
        length = (2 + struct.unpack_from(">H", octets, at)[0] + 3) // 4 * 4 + 4
        while mark + 1 < len(marks) and marks[mark + 1][0] <= at:
            mark += 1
        # The first octets of DDP have version 1 and no reserved bits. Anything else means that
        # the position in the stream is wrong.
        if at + length <= len(octets) and octets[at + 2] & 0x3F != 1:
            sys.exit(f"no FPDU at octet {at}")
        yield at, marks[mark][1], length
        at += length


def sizes(data, port, *times):
    """Print the length of the longest FPDU in each span."""
    found = list(fpdus(*stream(list(segments(data, port)))))
    ends = [float(time) for time in times] + [found[-1][1] + 1]
    begin = found[0][1]
    for number, end in enumerate(ends):
        since = begin if number == 0 else (begin + end) / 2
        print(max((size for _, time, size in found if since <= time < end), default=0))
        begin = end


def aligned(found, shortened, frame):
    """Count the segments of one end: whole FPDUs only, excused, all; and most FPDUs in a segment.

    SHORTENED has the sequence numbers of segments with SACK blocks. These blocks take room that
    the FPDUs, made before, needed. So TCP cuts the segment within an FPDU, and also the segments
    after it, up to the end of the octets that TCP got in the same call. These are excused.
    """
    octets, marks = stream(found)
    begins = [at for at, _, _ in fpdus(octets, marks, frame)]
    cuts = [at for at, _ in marks if at >= begins[0]] + [len(octets)]
    known = set(begins) | {len(octets)}
    whole = beyond = most = 0
    excused = 0
    for a, b in zip(cuts, cuts[1:]):
        most = max(most, bisect_left(begins, b) - bisect_left(begins, a))
        if a in known:
            excused = a + AT_A_TIME if (found[0][0] + a) & 0xFFFFFFFF in shortened else 0
        if a in known and b in known:
            whole += 1
        else:
            beyond += a < excused
    return whole, beyond, len(cuts) - 1, most


def alignment(data, port):
    """Print the counts of aligned() for each end, one end per line."""
    for initiator, frame in ((True, REQUEST), (False, REPLY)):
        first = {}
        for seq, _, options, _ in sent(data, port, initiator):
            first.setdefault(seq, has_sack(options))
        shortened = {seq for seq, sack in first.items() if sack}
        print(*aligned(list(segments(data, port, initiator)), shortened, frame))


# CRC_TABLE[i]: CRC32c of the octet i, least significant bit first.
CRC_TABLE = []
for octet in range(256):
    for _ in range(8):
        octet = octet >> 1 ^ (0x82F63B78 if octet & 1 else 0)
    CRC_TABLE.append(octet)


def crc32c(octets):
    """CRC32c (Castagnoli), as MPA and iSCSI use it."""
    crc = 0xFFFFFFFF
    for octet in octets:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ octet) & 0xFF]
    return crc ^ 0xFFFFFFFF


def trailers(octets, marks, frame):
    """Count the FPDUs of one end whose CRC is right, zero, or wrong."""
    count = [0, 0, 0]
    for at, _, length in fpdus(octets, marks, frame):
        if at + length > len(octets):
            sys.exit(f"the capture ends within the FPDU at octet {at}")
        crc = struct.unpack_from("<I", octets, at + length - 4)[0]
        right = crc == crc32c(octets[at:at + length - 4])
        count[0 if right else 1 if not crc else 2] += 1
    return count


def flags_of(octet):
    """The flags of a startup frame as the RFCs' letters: markers, CRC, rejected, enhanced (S)."""
    return "".join(letter for bit, letter in zip((0x80, 0x40, 0x20, 0x10), "MCRS") if octet & bit)


def startup(data, port):
    """Print a line for each startup frame, and one for all FPDUs."""
    numbers = [0, 0, 0]
    for name, initiator, frame in (("request", True, REQUEST), ("reply", False, REPLY)):
        octets, marks = stream(list(segments(data, port, initiator)))
        numbers = [a + b for a, b in zip(numbers, trailers(octets, marks, frame))]
        print(f"{name} rev={octets[17]} flags={flags_of(octets[16])}")
    print("fpdus right={} zero={} wrong={}".format(*numbers))


def swap(data, port, out):
    """Write a copy of the capture in which two segments have changed places."""
    ends, begins = [24], []
    for _, frame in packets(data):
        begins.append(ends[-1])
        ends.append(ends[-1] + 16 + len(frame))
    records = [data[a:b] for a, b in zip(begins, ends[1:])]
    head, middle = data[:24], len(records) // 2
    ours = [i for i, record in enumerate(records) if list(segments(head + record, port))]
    first, second = [i for i in ours if i >= middle][:2]
    # The time stamps stay in order, only the contents change places.
    records[first], records[second] = (records[first][:8] + records[second][8:],
                                       records[second][:8] + records[first][8:])
    with open(out, "wb") as file:
        file.write(head + b"".join(records))


def made_up(cuts, leave_out=None):
    """A capture of one segment (Request, FPDU of 40 octets) as IP fragments, cut at CUTS.

    LEAVE_OUT: the fragment that begins at this offset is missing.
    """
    fpdu = struct.pack(">HH", 34, 0x4143) + bytes(36)
    tcp = struct.pack(">HHIIBBHHH", 1000, 2000, 77, 0, 5 << 4, 0x18, 0, 0, 0) + REQUEST + bytes(4) + fpdu
    ends = [*cuts, len(tcp)]
    capture = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for begin, end in zip([0, *cuts], ends):
        if begin == leave_out:
            continue
        more = 0x2000 if end != len(tcp) else 0
        frame = bytes(12) + b"\x08\x00" + struct.pack(">BBHHHBBHII", 0x45, 0, 20 + end - begin, 5, more | begin // 8, 64,
                                                      6, 0, 1, 2) + tcp[begin:end]
        capture += struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame
    return capture


def test_alignment():
    """Test aligned(): three FPDUs of 40 octets, cut into segments at the FPDUs' ends or elsewhere.

    The lists are: ends of the segments; offsets of segments with SACK blocks (20 is the first
    FPDU, after the Request); the result of aligned().
    """
    three = 3 * (struct.pack(">HH", 34, 0x4143) + bytes(36))
    for ends, shortened, numbers in (
            ((40, 80, 120), (), (3, 0, 3, 1)), ((80, 120), (), (2, 0, 2, 2)), ((36, 76, 120), (), (0, 0, 3, 1)),
            ((36, 76, 120), (20,), (0, 3, 3, 1)), ((36, 80, 100, 120), (20,), (0, 2, 4, 1)),
            ((36, 80, 120), (56,), (1, 0, 3, 1))):
        cut = [(77 + 20 + a, 1.0, three[a:b]) for a, b in zip((0, *ends), ends)]
        got = aligned([(77, 1.0, REQUEST + bytes(4)), *cut], {77 + at for at in shortened}, REQUEST)
        assert got == numbers, (ends, shortened, got)
    # Only AT_A_TIME octets after a shortened segment are excused, not later ones. The first segment
    # has 396 octets and all others 400, ten FPDUs, so that no segment ends where an FPDU ends.
    many = AT_A_TIME // 20 * three[:40]
    cut = [(97, 1.0, many[:396])] + [(97 + at, 1.0, many[at:at + 400]) for at in range(396, len(many), 400)]
    whole, beyond, number, _ = aligned([(77, 1.0, REQUEST + bytes(4)), *cut], {97}, REQUEST)
    assert whole == 0 and number == len(cut) and number > beyond == 1 + AT_A_TIME // 400, (whole, beyond, number)
    for options, so in ((b"", False), (bytes(4), False), (b"\1\1\x08\x0a" + bytes(8), False),
                        (b"\1\1\x08\x0a" + 8 * b"\5" + b"\1\1\5\x0a" + bytes(8), True)):
        assert has_sack(options) == so, options


def test_trailers():
    """Test trailers(): a right CRC, none, and a wrong one, after a startup frame."""
    assert crc32c(b"123456789") == 0xE3069283
    fpdu = struct.pack(">HH", 34, 0x4143) + bytes(range(32))
    all_three = b"".join(fpdu + struct.pack("<I", crc) for crc in (crc32c(fpdu), 0, crc32c(fpdu) ^ 1))
    octets, marks = stream([(77, 1.0, REQUEST + b"\x50\2\0\0" + all_three)])
    assert trailers(octets, marks, REQUEST) == [1, 1, 1]
    assert flags_of(octets[16]) == "CS" and flags_of(0xA0) == "MR"


def selftest():
    """Run the tests. A failed test is an exception."""
    test_alignment()
    test_trailers()
    for cuts in ([], [24], [24, 56]):
        assert [size for _, _, size in fpdus(*stream(list(segments(made_up(cuts), 2000))))] == [40], cuts
        for missing in cuts:
            assert not list(segments(made_up(cuts, missing), 2000)), (cuts, missing)
    first, second = (77, 1.0, b"x"), (79, 1.0, b"x")
    try:
        stream([first, second])
    except SystemExit:
        return
    raise AssertionError("nothing was missed")


def main():
    """Run the command that the first argument names."""
    if sys.argv[1:] == ["selftest"]:
        selftest()
        return
    with open(sys.argv[2], "rb") as file:
        data = file.read()
    {"sizes": sizes, "segments": alignment, "startup": startup, "swap": swap}[sys.argv[1]](data, int(sys.argv[3]), *sys.argv[4:])


main()
