# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Causes that have no Terminate of their own (enum kwarp_vendor_err of kwarp-abi.h), asynchronous
events of verbs, and messages of usual programs, in words."""
from typing import NamedTuple


class Cause(NamedTuple):
    """A private number of vendor_err: what RFC 5040 calls "local catastrophic error"."""
    name: str
    number: int
    meaning: str
    action: str


WHY = "kwarpctl why has key, address, length and rights."

CAUSES = (
    Cause("STAG", 0x10001, "The lkey of an element belongs to no region, or to one that is not "
          "registered any more.", "Take lkey from ibv_reg_mr(), and deregister the region only "
          "after the completion. " + WHY),
    Cause("PD", 0x10002, "The region of an element belongs to another protection domain than the "
          "queue pair, or its window to another queue pair.",
          "Use one protection domain for both; with a shared receive queue, that of the queue."),
    Cause("RIGHT", 0x10003, "The region of an element lacks a right: receives, Reads and atomic "
          "operations need IBV_ACCESS_LOCAL_WRITE; with the knob strict on, Reads also need "
          "IBV_ACCESS_REMOTE_WRITE.", "Register the region with that right. " + WHY),
    Cause("WRAP", 0x10004, "Address plus length of an element exceed 2^64.",
          "Check addr and length of the element."),
    Cause("BOUNDS", 0x10005, "An element goes beyond its region.",
          "Check addr and length of the element against ibv_reg_mr(). " + WHY),
    Cause("ORD", 0x10007, "A Read or an atomic operation was posted, and the connection allows "
          "none (ORD 0).", "Set initiator_depth here and responder_resources at the peer in "
          "rdma_connect() and rdma_accept() to 1 or more."),
    Cause("ENTRY", 0x10008, "An entry in the queue is malformed: opcode, number of elements or "
          "length.", "The provider checks that before. The program has overwritten the queue's "
          "memory, or the provider does not fit the module."),
    Cause("RING", 0x10009, "The index in the queue's memory is impossible.",
          "The program has overwritten the memory of the queue: look for a wild pointer "
          "(valgrind, -fsanitize=address)."),
    Cause("CQ", 0x1000a, "The completion queue was full, and a completion was lost.",
          "Make it as large as all queues that use it together, or poll more often."),
    Cause("BIND", 0x1000e, "A memory window could not be bound.",
          "The region needs IBV_ACCESS_MW_BIND, and IBV_ACCESS_LOCAL_WRITE if peers may write; a "
          "window of type 2 must be invalidated before it is bound again."),
    Cause("INV", 0x1000f, "The key cannot be invalidated or registered on this queue pair.",
          "Only windows of type 2 and fast-register regions can be invalidated."),
    Cause("INJECTED", 0x10012, "Nothing is wrong: somebody has asked for this error, to test the "
          "program.", "Run kwarpctl fault, which lists the rules, and kwarpctl fault del all."),
    Cause("PEER", 0x10020, "The peer has ended the connection by a mistake of its own program or "
          "machine (Terminate 0/0/00).", "Look at the peer: kwarpctl why, and its first failed "
          "completion."),
)


class Async(NamedTuple):
    """An asynchronous event (enum ibv_event_type), which ibv_get_async_event() returns."""
    name: str
    meaning: str
    action: str


END = "Run kwarpctl why, which tells what has happened."

ASYNC = (
    Async("CQ_ERR", "A completion queue was full, and a completion was lost. The queue pairs that "
          "use it end.", "Make it as large as all queues that use it together, or poll more "
          "often."),
    Async("QP_FATAL", "The connection of the queue pair has ended by an error.", END),
    Async("QP_REQ_ERR", "The peer has sent a Terminate: it has refused a request of this end.",
          END),
    Async("QP_ACCESS_ERR", "The peer has used a key, an address or a right that it may not use.",
          END),
    Async("QP_LAST_WQE_REACHED", "The queue pair takes no more receives from its shared receive "
          "queue.", "Nothing: the queue pair is in error or is being closed."),
    Async("SRQ_LIMIT_REACHED", "The shared receive queue has fewer receives than srq_limit.",
          "Post receives, and arm the limit again (ibv_modify_srq)."),
    Async("PORT_ACTIVE", "The network device is up.", "Nothing."),
    Async("PORT_ERR", "The network device is down, or has no carrier.", "See ip link."),
    Async("DEVICE_FATAL", "The link goes away.", "Close everything on the device."),
    Async("GID_CHANGE", "An IP address or the hardware address of the network device has changed.",
          "Look up the index of the GID again if the program uses one."),
)


class Message(NamedTuple):
    """What a usual program prints.  PATTERN is a part of it, in lower case letters and digits."""
    pattern: str
    title: str
    meaning: str
    action: str


NO_CM = "With iWARP librdmacm connects queue pairs; this program has changed the state of a queue " \
    "pair itself, as is usual with InfiniBand, and the knob wire_port is 0 at one end, or the GID " \
    "is no IP address."
USE_CM = "perftest: give -R to both ends (and -F). Or set the knob wire_port at both ends, kwarpctl " \
    "set LINK wire_port=PORT, and give the program a GID index of 2 or more (-g, -x)."
OTHER_END = "The program at the other end has failed, and closed the TCP connection over which both " \
    "exchange their data."
LOOK_THERE = "See what it has printed there, and explain that."

MESSAGES = (
    Message("failedtomodifyqp", "Failed to modify QP to RTS (or INIT, RTR)", NO_CM, USE_CM),
    Message("ibvmodifyqpto", "ibv_modify_qp to RTS: Invalid argument (or to RTR)", NO_CM, USE_CM),
    Message("unabletoconnectthehca", "Unable to Connect the HCA's through the link", NO_CM, USE_CM),
    Message("couldntreadwriteremoteaddress", "Couldn't read/write remote address", OTHER_END,
            LOOK_THERE),
    Message("couldntreadremoteaddress", "Couldn't read remote address", OTHER_END, LOOK_THERE),
    Message("failedtoexchangedata", "Failed to exchange data between server and clients",
            OTHER_END, LOOK_THERE),
    Message("couldntcreateqp", "Couldn't create QP", "iWARP has reliable connections (RC) only: "
            "no UD, UC or XRC; or the queues asked for are too long.",
            "KWARP_DEBUG=1 in the environment of the program says which. See kwarp(7), LIMITS."),
    Message("unabletocreateqp", "Unable to create QP", "iWARP has reliable connections (RC) only: "
            "no UD, UC or XRC; or the queues asked for are too long.",
            "KWARP_DEBUG=1 in the environment of the program says which. See kwarp(7), LIMITS."),
    Message("cantreadsgid", "can't read sgid of index N", "There is no GID of this index: 0 and "
            "1 are the hardware address, 2 to 15 the IP addresses of the network device.",
            "See ibv_devinfo -v. With rdma_cm leave out the option for the index (-g, -x)."),
    Message("couldntgetlocallid", "Couldn't get local LID", "iWARP has no LIDs.", USE_CM),
    Message("rdmaresolveaddrinvalidargument", "rdma_resolve_addr: Invalid argument",
            "The address is 127.0.0.1, ::1 or localhost, for which rdma_cm has no device.",
            "Use another address of this host: ip addr add 10.77.0.1/32 dev lo."),
    Message("rdmacreateepinvalidargument", "rdma_create_ep: Invalid argument",
            "The address is 127.0.0.1, ::1 or localhost, for which rdma_cm has no device.",
            "Use another address of this host: ip addr add 10.77.0.1/32 dev lo."),
    Message("rdmaresolveaddrnosuchdevice", "rdma_resolve_addr: No such device",
            "No link serves the interface on the way to that address.",
            "Run kwarpctl doctor --peer ADDRESS; rdma link add kw0 type kwarp netdev NETDEV."),
    Message("couldntregistermr", "Couldn't register MR", "Memory cannot be registered, most often "
            "because RLIMIT_MEMLOCK is too small.",
            "ulimit -l unlimited. KWARP_DEBUG=1 in the environment says the reason."),
    Message("couldntallocatemr", "Couldn't allocate MR", "Memory cannot be registered, most often "
            "because RLIMIT_MEMLOCK is too small.",
            "ulimit -l unlimited. KWARP_DEBUG=1 in the environment says the reason."),
    Message("noibdevicesfound", "No IB devices found", "There is no link, or libibverbs has no "
            "provider for it, or the program may not open /dev/infiniband/uverbs*.",
            "Run kwarpctl doctor."),
    Message("correlationcoefficientr2", "Correlation coefficient r^2 < 0.9, Can't produce a report",
            "perftest does not trust the processor's clock.", "Give it the option -F."),
    Message("failedstatusworkrequestflushederror", "Failed status: Work Request Flushed Error",
            "The connection ended before the request was carried out.", END),
    Message("failedstatusremoteaccesserror", "Failed status: remote access error",
            "The peer refused a Read or an atomic operation: key, address, length or right.", END),
)
