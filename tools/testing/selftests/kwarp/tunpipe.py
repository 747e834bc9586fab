#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Connect two tun interfaces, each in its own network namespace.

    tunpipe.py NETNS0 NETNS1 NAME [renege]

The interface NAME is opened in both namespaces, or made there. Packets that one of the two
interfaces sends are received by the other one, until this program is killed.

With "renege", receivers of TCP over IPv4 seem to acknowledge octets selectively (SACK, RFC 2018)
and then to discard them. This program drops two segments of a stream from time to time. It changes
the acknowledgments that follow, so that they have a SACK block for the second segment. After the
sender has repeated the first segment, acknowledgments are no longer changed, so the sender has to
repeat the second segment, too.
"""
import fcntl
import os
import select
import struct
import sys

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
EVERY = 30  # segments of a stream between two losses
SACK = 5


def open_tun(netns, name):
    os.setns(os.open(f"/run/netns/{netns}", os.O_RDONLY), os.CLONE_NEWNET)
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return tun


def internet_sum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data[:len(data) & ~1]))
    total += data[-1] << 8 if len(data) & 1 else 0
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Segment:
    """A TCP segment over IPv4. For any other packet is_tcp is false, and the fields are not set."""

    def __init__(self, packet):
        self.packet = packet
        self.tcp = (packet[0] & 15) * 4
        self.is_tcp = packet[0] >> 4 == 4 and packet[9] == 6
        if not self.is_tcp:
            return
        self.src, self.dst = packet[12:16], packet[16:20]
        self.sport, self.dport, self.seq, self.ack, offset = struct.unpack_from(
            "!HHIIB", packet, self.tcp)
        self.data = self.tcp + (offset >> 4) * 4
        self.length = struct.unpack_from("!H", packet, 2)[0] - self.data
        self.stream = (self.src, self.sport, self.dst, self.dport)
        self.other_way = (self.dst, self.dport, self.src, self.sport)

    def sack_option(self):
        """Offset and length in octets of the SACK blocks; (0, 0) if there are none."""
        at = self.tcp + 20
        while at < self.data and self.packet[at] != 0:
            if self.packet[at] == 1:
                at += 1
                continue
            kind, length = self.packet[at:at + 2]
            if kind == SACK:
                return at + 2, length - 2
            at += length
        return 0, 0

    def claim(self, begin, end):
        """Return the packet with one SACK block changed.

        The block that begins at sequence number end is extended: it then begins at begin.
        """
        at, length = self.sack_option()
        packet = bytearray(self.packet)
        for left in range(at, at + length, 8):
            if struct.unpack_from("!I", packet, left)[0] == end:
                struct.pack_into("!I", packet, left, begin)
        packet[self.tcp + 16:self.tcp + 18] = b"\0\0"
        pseudo = self.src + self.dst + struct.pack("!HH", 6, len(packet) - self.tcp)
        struct.pack_into("!H", packet, self.tcp + 16,
                         internet_sum(pseudo + bytes(packet[self.tcp:])))
        return bytes(packet)


class Stream:
    """One direction of a connection: the segments that this program drops.

    seen: number of segments so far, without repeated ones. top: sequence number after the last of
    them. claimed: two adjacent segments were dropped, and acknowledgments are changed so that a
    SACK block covers the second one, which the receiver has never got.
    """

    def __init__(self):
        self.seen, self.top = 0, None
        self.lost = []      # the last two dropped segments, as (begin, end) in sequence numbers
        self.claimed = False

    def loses(self, segment):
        begin, end = segment.seq, (segment.seq + segment.length) & 0xFFFFFFFF
        if self.top is None:
            self.top = begin
        repeated = begin != self.top
        # A retransmitted segment may also have new octets at its end.
        if (end - self.top) & 0xFFFFFFFF >= 1 << 31:
            return False
        self.top = end
        self.seen += not repeated
        if repeated or self.claimed or self.seen % EVERY < EVERY - 2:
            return False
        self.lost = self.lost[-1:] + [(begin, end)]
        self.claimed = len(self.lost) == 2 and self.lost[0][1] == begin
        return True

    def acknowledged(self, segment):
        begin, end = self.lost[1]
        if (segment.ack - begin) & 0xFFFFFFFF < 1 << 31:
            self.claimed, self.lost = False, []
            return segment.packet
        return segment.claim(begin, end)


class Reneger:
    def __init__(self):
        self.streams = {}

    def passes(self, packet):
        """The packet to forward, perhaps changed; None if it is dropped."""
        segment = Segment(packet)
        if not segment.is_tcp:
            return packet
        answered = self.streams.get(segment.other_way)
        if segment.length >= 500:
            if self.streams.setdefault(segment.stream, Stream()).loses(segment):
                return None
        if answered and answered.claimed:
            return answered.acknowledged(segment)
        return packet


ends = [open_tun(netns, sys.argv[3]) for netns in sys.argv[1:3]]
tamper = Reneger().passes if sys.argv[4:] == ["renege"] else bytes
print("ready", flush=True)
while True:
    for tun in select.select(ends, [], [])[0]:
        packet = tamper(os.read(tun, 65536))
        if packet is None:
            continue
        try:
            os.write(ends[1 - ends.index(tun)], packet)
        except OSError:
            pass  # the interface is not up yet: the packet is lost
