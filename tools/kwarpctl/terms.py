# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Explanations of each protocol error that the driver knows (table in its proto/term.c).  A test
compares the two tables."""
from typing import NamedTuple


class Term(NamedTuple):
    """A protocol error, and the codes of its Terminate message."""
    name: str
    layer: int
    etype: int
    code: int
    meaning: str
    rfc: str
    cause: str
    action: str

    def short(self):
        """The three codes of the Terminate as one number, as in vendor_err of a completion."""
        return self.layer << 12 | self.etype << 8 | self.code

    def triple(self):
        return "%d/%d/%02x" % (self.layer, self.etype, self.code)


LAYERS = {0: "RDMAP", 1: "DDP", 2: "MPA"}
TYPES = {
    (0, 0): "local catastrophic error", (0, 1): "remote protection error",
    (0, 2): "remote operation error", (1, 0): "local catastrophic error",
    (1, 1): "tagged buffer error", (1, 2): "untagged buffer error", (2, 0): "MPA error",
}

RIGHTS = "Register the region with the right that the peer needs (IBV_ACCESS_REMOTE_READ, " \
    "REMOTE_WRITE or REMOTE_ATOMIC), and keep it registered until the peer has finished."
SAME = "Compare the programs of both ends: they disagree about what the peer may touch."
WIRE = "Capture the connection (tcpdump; Wireshark decodes MPA, DDP and RDMAP) and look at the " \
    "last messages before the Terminate."
HARDWARE = "Look at the network card and its driver: switch off its offloads (ethtool -K) one by " \
    "one, and watch crc_errors in `kwarpctl show --rates`."

# kwarp sends no Terminate for it: it has a name, but no code of its own.
NOT_SENT = (
    Term("NONE", 0, 0, 0x00, "The stream ended without an error.", "",
         "One end closed the connection, and requests that were left over were flushed.",
         "Nothing, if your program wanted to close."),
)

RDMAP = (
    Term("LOCAL", 0, 0, 0x00, "The end that sent this has an error of its own.",
         "RFC 5040 sections 4.8 and 7.1",
         "A work request of that end was refused, its completion queue overflowed, or its "
         "kernel had no memory.",
         "Look at that end: kwarpctl why, its first failed completion, and IBV_EVENT_CQ_ERR."),
    Term("R_STAG", 0, 1, 0x00, "A Read, an atomic operation or an invalidation names a region "
         "that does not exist.", "RFC 5040 section 7.2 and Figure 9",
         "The rkey is wrong or old, or the region has been deregistered or invalidated.",
         "Send the rkey anew after each registration. " + SAME),
    Term("R_BOUNDS", 0, 1, 0x01, "A Read or an atomic operation leaves the bounds of its region.",
         "RFC 5040 section 7.2 and Figure 9",
         "The remote address plus length is after the end of the region.",
         "Check remote_addr and length of the request against the region that the peer has."),
    Term("R_ACCESS", 0, 1, 0x02, "The region, or the queue pair, does not grant the right.",
         "RFC 5040 section 8.1.1 and Figure 9",
         "The region lacks IBV_ACCESS_REMOTE_READ or REMOTE_ATOMIC, or qp_access_flags does.",
         RIGHTS),
    Term("R_STREAM", 0, 1, 0x03, "The region or window is not for this connection.",
         "RFC 5040 section 7.2 and Figure 9",
         "The region has another protection domain, or the window is bound to another queue pair.",
         "Make queue pair and region in one protection domain; bind the window to this queue "
         "pair."),
    Term("R_WRAP", 0, 1, 0x04, "A Read or an atomic operation runs over the end of the address "
         "space.", "RFC 5040 section 7.2 and Figure 9",
         "Remote address plus length is more than 64 bits hold.",
         "Check remote_addr: it is often a number that was never set."),
    Term("R_CANNOT_INV", 0, 1, 0x09, "The peer asked to invalidate what it may not.",
         "RFC 5040 sections 5.3 and 7.2",
         "A Send with Invalidate names a region of user space, or one of another connection.",
         "Use a plain Send, or name a memory window of this connection."),
    Term("O_VERSION", 0, 2, 0x05, "The RDMAP version of a message is not 1.",
         "RFC 5040 section 7.2",
         "The peer does not speak RDMAP of RFC 5040, or it has sent a wrong frame length.", WIRE),
    Term("O_OPCODE", 0, 2, 0x06, "A message of a kind that is not known, or does not belong there.",
         "RFC 5040 section 7.2; RFC 7306",
         "The peer sent immediate data or an atomic operation and this end does not have them "
         "(siw has neither, a link of type kwarp-siw has neither, the knob rfc7306 is off), or a "
         "Read Response came that nobody has asked for.",
         "Do not use IBV_WR_RDMA_WRITE_WITH_IMM and atomic operations, or use links of type "
         "kwarp with rfc7306 on at both ends."),
    Term("O_STREAM", 0, 2, 0x07, "This connection cannot go on.",
         "RFC 5040 section 4.8; RFC 7306 section 8.2",
         "An atomic operation was not aligned to 8 octets, or a message of RFC 7306 had a wrong "
         "length or identifier.",
         "Align the remote address of atomic operations to 8."),
    Term("O_GLOBAL", 0, 2, 0x08, "The peer's device has failed as a whole.",
         "RFC 5040 section 4.8", "An error in the peer's adapter. kwarp never sends this.",
         "Look at the peer: its kernel log, and its firmware."),
    Term("O_CANNOT_INV", 0, 2, 0x09, "An STag cannot be invalidated.", "RFC 5040 section 4.8",
         "The peer refused a Send with Invalidate. kwarp itself answers with 0/1/09.",
         "Use a plain Send, or check which STag the request names."),
    Term("O_UNSPEC", 0, 2, 0xff, "An error for which RDMAP has no code.", "RFC 5040 section 4.8",
         "A Read Request or a Terminate was too short or came in several segments.", WIRE),
)

DDP = (
    Term("DDP_LOCAL", 1, 0, 0x00, "A frame is shorter than the header that it should hold.",
         "RFC 5041 section 7.2",
         "The peer sent a frame that is too short, or a wrong frame length.", WIRE),
    Term("DDP_T_STAG", 1, 1, 0x00, "A Write or a Read Response names memory that it may not "
         "place in.", "RFC 5041 section 7.1",
         "The rkey is wrong or old, the region has been deregistered, or it lacks "
         "IBV_ACCESS_REMOTE_WRITE. DDP has one code for all of these.", RIGHTS),
    Term("DDP_T_BOUNDS", 1, 1, 0x01, "A Write or a Read Response leaves the bounds of its region.",
         "RFC 5041 section 7.1", "The remote address plus length is after the end of the region.",
         "Check remote_addr and length of the request against the region that the peer has."),
    Term("DDP_T_STREAM", 1, 1, 0x02, "The region or window of a Write is not for this connection.",
         "RFC 5041 section 8.2",
         "The region has another protection domain, or the window is bound to another queue pair.",
         "Make queue pair and region in one protection domain; bind the window to this queue "
         "pair."),
    Term("DDP_T_WRAP", 1, 1, 0x03, "A Write runs over the end of the address space.",
         "RFC 5041 section 7.1", "Remote address plus length is more than 64 bits hold.",
         "Check remote_addr: it is often a number that was never set."),
    Term("DDP_T_VERSION", 1, 1, 0x04, "The DDP version of a tagged segment is not 1.",
         "RFC 5041 section 4.1", "The peer does not speak DDP of RFC 5041, or it has sent a wrong "
         "frame length.", WIRE),
    Term("DDP_U_QN", 1, 2, 0x01, "A message is for a queue that does not exist.",
         "RFC 5041 section 7.1",
         "The peer sent an Atomic Response (queue 3) and this end has no atomic operations, or "
         "its header is wrong.",
         "Set rfc7306 to on at both ends, or do not use atomic operations."),
    Term("DDP_U_NOBUF", 1, 2, 0x02, "A message came for which there was no buffer.",
         "RFC 5041 section 7.1",
         "A Send, or immediate data, came before the program had posted a receive; or the peer "
         "has more Reads and atomic operations outstanding than were agreed (IRD).",
         "Post receives before the connection, and new ones in time; let the sender wait for "
         "credits. iWARP does not try again (no RNR). Compare the ORD of the sender "
         "(initiator_depth) with the IRD of the receiver (responder_resources)."),
    Term("DDP_U_MSN", 1, 2, 0x03, "The number of a message is out of its order.",
         "RFC 5041 section 7.1", "The peer's software has a fault.", WIRE),
    Term("DDP_U_MO", 1, 2, 0x04, "The offset of a segment within its message is wrong.",
         "RFC 5041 section 7.1", "The peer's software has a fault.", WIRE),
    Term("DDP_U_LONG", 1, 2, 0x05, "A message is longer than the buffer that it was for.",
         "RFC 5041 section 7.1",
         "The receive that took the Send is too short. Its completion says IBV_WC_LOC_LEN_ERR.",
         "Post receives as long as the longest Send of the peer."),
    Term("DDP_U_VERSION", 1, 2, 0x06, "The DDP version of an untagged segment is not 1.",
         "RFC 5041 section 4.1", "The peer does not speak DDP of RFC 5041, or it has sent a wrong "
         "frame length.", WIRE),
)

MPA = (
    Term("MPA_LOST", 2, 0, 0x01, "TCP closed or lost the connection in the middle of a frame or "
         "message. No Terminate is sent for this.", "RFC 5044 section 8; RFC 5040 section 6.2",
         "The peer's program or machine died, a link was deleted, a firewall forgot the "
         "connection, or the peer did not answer in time (knobs keepalive, user_timeout).",
         "Look at the peer and at the way there. Raise keepalive and user_timeout if the "
         "network pauses for longer than 60 seconds."),
    Term("MPA_CRC", 2, 0, 0x02, "The CRC of a frame is wrong.", "RFC 5044 sections 4.4 and 8",
         "Octets have changed on the way, in a network card, or in the memory of the sender "
         "while they were sent. If the peer is siw: it reports a wrong CRC when TCP delivers the "
         "CRC in two parts.",
         HARDWARE + " If the peer is siw, set the knob align to on."),
    Term("MPA_MARKER", 2, 0, 0x03, "A marker and the length of a frame disagree.",
         "RFC 5044 section 8", "The peer counts its markers wrongly.",
         "Set the knob markers to off, so that the peer is not asked for any."),
    Term("MPA_FRAME", 2, 0, 0x04, "The first frame of the connection is not an MPA frame. No "
         "Terminate is sent for this: the connection is closed at once.",
         "RFC 5044 sections 7.1 and 8",
         "Something other than RDMA has connected to the port: a scanner, a health check, a "
         "program of plain TCP.",
         "Find out what connects: ss -tn, tcpdump. If it has to connect, give it another port."),
    Term("MPA_LOCAL", 2, 0, 0x05, "The end that connected could not take the connection after the "
         "other had accepted it.", "RFC 6581 section 8",
         "The end that connected had no memory, or its queue pair was gone meanwhile.",
         "Look at the kernel log of the end that connected."),
    Term("MPA_IRD", 2, 0, 0x06, "The responder wants more Reads outstanding than the other end "
         "can serve.", "RFC 6581 section 9.1",
         "initiator_depth of the program that accepts is more than the device of the other end "
         "has (255 with kwarp).",
         "Lower initiator_depth in rdma_accept(), or raise responder_resources in "
         "rdma_connect() at the other end."),
    Term("MPA_RTR", 2, 0, 0x07, "The two ends agree on no form of the first message (RTR) of "
         "peer-to-peer mode.", "RFC 6581 section 9.2",
         "The knob rtr offers forms that the peer does not have, or the peer did not send what "
         "it had promised.",
         "Set the knob rtr to send,write,read; or peer_to_peer to off if the client speaks "
         "first."),
)

TERMS = NOT_SENT + RDMAP + DDP + MPA


def rows_of(short):
    """The Terminates with this code, in 16 bits."""
    return [t for t in RDMAP + DDP + MPA if t.short() == short]
