# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Statuses of completions (enum ibv_wc_status), events of rdma_cm, and errno, in words."""
from typing import NamedTuple


class Status(NamedTuple):
    """A status of a completion; its number is its index in STATUSES."""
    name: str
    text: str
    meaning: str
    rfc: str
    cause: str
    action: str


INFINIBAND = "InfiniBand only: no iWARP device has this."
NEVER = ("kwarp never gives it.", "The completion is from another device.",
         "Check which device the queue pair is on.")
FLUSHED = "Run kwarpctl why at both ends. vendor_err of each of these completions has the reason, " \
    "too: kwarpctl explain VENDOR_ERR."
ELEMENTS = "Check address, length and lkey of each element against the region."

STATUSES = (
    Status("SUCCESS", "success", "The request was carried out.", "", "-",
           "Nothing. For a Write and a Send it means that TCP has taken the data, and the peer "
           "need not have them yet."),
    Status("LOC_LEN_ERR", "local length error", "A message is longer than the receive.",
           "RFC 5041 section 7.1 (1/2/05)", "The receive that was posted is too short.",
           "Post receives as long as the longest Send of the peer."),
    Status("LOC_QP_OP_ERR", "local QP operation error", "The request itself is wrong.",
           "RFC 5040 section 7.1", "Its opcode or its number of elements is not allowed, or a "
           "Read or atomic operation was posted on a connection whose ORD is 0.",
           "Check opcode, num_sge and, in rdma_connect() or rdma_accept(), initiator_depth."),
    Status("LOC_EEC_OP_ERR", "local EE context operation error", INFINIBAND, "", *NEVER[1:]),
    Status("LOC_PROT_ERR", "local protection error", "An element is not within its region.",
           "RFC 5040 section 7.1", "The lkey is wrong, the element leaves the region, the region "
           "lacks IBV_ACCESS_LOCAL_WRITE where data arrive, or it has another protection domain. "
           "With the knob strict on, the sink of a Read also needs IBV_ACCESS_REMOTE_WRITE.",
           ELEMENTS),
    Status("WR_FLUSH_ERR", "Work Request Flushed Error", "The connection ended before the request "
           "was carried out.", "RFC 5040 section 6.2",
           "The connection was closed, or another request or message failed first.", FLUSHED),
    Status("MW_BIND_ERR", "memory management operation error", "A memory window could not be "
           "bound.", "RFC 5041 section 8.2",
           "Window, region and queue pair have different protection domains, the region lacks "
           "IBV_ACCESS_MW_BIND or local write, or a window of type 2 is bound already.",
           "Register the region with IBV_ACCESS_MW_BIND; invalidate the window before."),
    Status("BAD_RESP_ERR", "bad response error", INFINIBAND, "", *NEVER[1:]),
    Status("LOC_ACCESS_ERR", "local access error", NEVER[0], "", *NEVER[1:]),
    Status("REM_INV_REQ_ERR", "remote invalid request error", "The peer asked to invalidate what "
           "it may not.", "RFC 5040 sections 5.3 and 7.2 (0/1/00, 0/1/09)",
           "A Send with Invalidate named an STag that is unknown, or not of this connection.",
           "Use a plain Send, or name a window of this connection that is valid."),
    Status("REM_ACCESS_ERR", "remote access error", "The peer refused a Read or an atomic "
           "operation.", "RFC 5040 section 7.2 (0/1/xx)",
           "The rkey, the address, the length or the right of the remote region is wrong.",
           "Explain vendor_err; check the region at the peer."),
    Status("REM_OP_ERR", "remote operation error", "The peer could not carry out a Read or an "
           "atomic operation.", "RFC 5040 section 4.8",
           "The peer has no atomic operations (siw has none), or the address is not aligned.",
           "Explain vendor_err."),
    Status("RETRY_EXC_ERR", "transport retry counter exceeded", "The peer of a queue pair that is "
           "wired without rdma_cm did not connect in time.", "",
           "The peer is not in RTR, or wired with another address, number or PSN; its knob "
           "wire_port is another or 0; or a firewall drops TCP to that port.",
           "Compare both ends: wire_port, GIDs, queue pair numbers, PSNs."),
    Status("RNR_RETRY_EXC_ERR", "RNR retry counter exceeded", INFINIBAND + " With iWARP a Send "
           "without a receive ends the connection (1/2/02).", "", NEVER[1], NEVER[2]),
    Status("LOC_RDD_VIOL_ERR", "local RDD violation error", INFINIBAND, "", *NEVER[1:]),
    Status("REM_INV_RD_REQ_ERR", "remote invalid RD request", INFINIBAND, "", *NEVER[1:]),
    Status("REM_ABORT_ERR", "aborted error", INFINIBAND, "", *NEVER[1:]),
    Status("INV_EECN_ERR", "invalid EE context number", INFINIBAND, "", *NEVER[1:]),
    Status("INV_EEC_STATE_ERR", "invalid EE context state", INFINIBAND, "", *NEVER[1:]),
    Status("FATAL_ERR", "fatal error", "The device has failed as a whole. kwarp tells of that "
           "by IBV_EVENT_DEVICE_FATAL and gives IBV_WC_WR_FLUSH_ERR.", "", *NEVER[1:]),
    Status("RESP_TIMEOUT_ERR", "response timeout error", INFINIBAND, "", *NEVER[1:]),
    Status("GENERAL_ERR", "general error", "A failure for which no other status fits.", "",
           "On a link of type kwarp-siw: libsiw reports it for each failure for which siw has no "
           "status.", "Look at the kernel log with dynamic debug: "
           "echo 'module kwarp +p' > /sys/kernel/debug/dynamic_debug/control"),
    Status("TM_ERR", "TM error", INFINIBAND + " It is about tag matching.", "", *NEVER[1:]),
    Status("TM_RNDV_INCOMPLETE", "TM software rendezvous", INFINIBAND + " It is about tag "
           "matching.", "", *NEVER[1:]),
)


class Event(NamedTuple):
    """An event of rdma_cm."""
    name: str
    meaning: str
    cause: str
    action: str


USUAL = ("This is part of the usual course.", "Nothing.")

# In the order of enum rdma_cm_event_type, so that the index of an event is its number.
EVENTS = (
    Event("ADDR_RESOLVED", "The address leads to a device.", *USUAL),
    Event("ADDR_ERROR", "The address leads to no RDMA device.",
          "No link serves the interface on the way there (status -19, ENODEV), or no neighbour "
          "answers (-110, -113).", "Run kwarpctl doctor --peer ADDRESS."),
    Event("ROUTE_RESOLVED", "The way to the peer is known.", *USUAL),
    Event("ROUTE_ERROR", "The way to the peer is not known.", "iWARP hardly ever has this.",
          "Run kwarpctl doctor --peer ADDRESS."),
    Event("CONNECT_REQUEST", "A peer wants to connect.", *USUAL),
    Event("CONNECT_RESPONSE", "The peer has answered. iWARP gives ESTABLISHED instead.", *USUAL),
    Event("CONNECT_ERROR", "The connection failed for another reason than a refusal or silence.",
          "The ends disagree about MPA (status -71, EPROTO): something other than RDMA answers "
          "at the port, or crc=required met a peer without CRCs.",
          "Look at the status: kwarpctl explain ERRNO. Check that the port is the RDMA one."),
    Event("UNREACHABLE", "Nobody answers at that address.",
          "The host is down, a firewall drops the packets, or the server's program does not "
          "accept within 30 seconds.", "Run kwarpctl doctor --peer ADDRESS --port PORT."),
    Event("REJECTED", "The peer has refused.",
          "Nothing listens at that port (status -111, ECONNREFUSED), the server's program called "
          "rdma_reject(), the peer has crc=required and this end crc=off, or the connection was "
          "reset while it was made (-104).",
          "Start the server first, check address and port, and compare the knobs crc. If the peer "
          "is siw, set the knob peer_to_peer to off."),
    Event("ESTABLISHED", "The connection is there.", *USUAL),
    Event("DISCONNECTED", "The connection has ended.",
          "One end has closed it, or an error has ended it.",
          "If nobody wanted that, run kwarpctl why, or look at vendor_err of the completions "
          "that failed."),
    Event("DEVICE_REMOVAL", "The link goes away.",
          "The link was deleted, its network device was removed, or the module is unloaded.",
          "The program has to close everything on the device; then add the link again."),
    Event("MULTICAST_JOIN", INFINIBAND, *NEVER[1:]),
    Event("MULTICAST_ERROR", INFINIBAND, *NEVER[1:]),
    Event("ADDR_CHANGE", "The hardware address of the network device has changed.",
          "A bond has switched over, or somebody changed the address.",
          "Nothing. Connections of kwarp go on."),
    Event("TIMEWAIT_EXIT", "The connection's number may be used again.", *USUAL),
)


class Errno(NamedTuple):
    """An errno of verbs and rdma_cm; the status of an rdma_cm event is a negative errno."""
    name: str
    meaning: str
    action: str


ERRNOS = (
    Errno("EPERM", "The caller may not do that: a knob or a link without CAP_NET_ADMIN, or a "
          "queue pair of another user; or ibv_reg_mr(), and no memory may be locked (ulimit -l 0).",
          "Do it as root, or raise ulimit -l."),
    Errno("EAGAIN", "There was no room at that moment.", "Try again."),
    Errno("ENOMEM", "There is no memory, or not as much may be locked, or the user's queues hold "
          "too much: 64 MiB, and what may be locked.",
          "Raise the limit of locked memory: ulimit -l unlimited, or LimitMEMLOCK=infinity."),
    Errno("EACCES", "The caller may not open the device file; on a link of type kwarp-siw, the "
          "program has changed its user after it had opened it.",
          "See ls -l /dev/infiniband, and udev's rule for it."),
    Errno("EBUSY", "Something is still in use: a region that a window is bound to, a module with "
          "open devices.", "End what uses it first."),
    Errno("EEXIST", "There is one already: the network device has a link, or the name is taken.",
          "See rdma link show."),
    Errno("ENODEV", "No RDMA device serves the interface of the address; rdma link add: there is "
          "no such network device in this namespace.",
          "Add a link for the network device that has the address, in its namespace: kwarpctl "
          "doctor --peer ADDRESS."),
    Errno("EINVAL", "An argument is not allowed. ibv_post_send() says so of too many elements or "
          "octets inline, ibv_create_qp() of queues that are too long, ibv_reg_mr() of remote "
          "write without local write; rdma_resolve_addr() of 127.0.0.1 and ::1; ibv_modify_qp() "
          "of a program that connects without rdma_cm; rdma link add of a type whose module does "
          "not load; a knob that does not take the value.",
          "KWARP_DEBUG=1 in the environment of the program says which limit or rule it is. Use "
          "another address of the host; use rdma_cm (perftest: -R); see modprobe kwarp, and "
          "kwarpctl set LINK."),
    Errno("EPIPE", "The connection has been closed.", "Look at the peer."),
    Errno("EPROTO", "The peer does not keep to MPA while the connection is made: it is no iWARP "
          "peer, or one that crc=required refuses.",
          "Check the port; compare the knobs crc and mpa_rev."),
    Errno("EOPNOTSUPP", "The device does not have this: iWARP has reliable connections (RC) only, "
          "and no UD, UC, XRC or on-demand paging; or a link of type kwarp-siw lacks it; or, when "
          "the device is opened, module and provider have no version of the ABI in common.",
          "See kwarp(7), LIMITS; KWARP_DEBUG=1 in the environment of the program says what it "
          "is. If the device cannot be opened: run make install, rmmod kwarp, and add the links "
          "again."),
    Errno("EAFNOSUPPORT", "The address is neither IPv4 nor IPv6.", "Use one of these."),
    Errno("EADDRINUSE", "The port is taken by an ordinary TCP socket, or by a siw link of the "
          "same network device.", "See ss -ltnp, and kwarpctl doctor --port PORT."),
    Errno("EADDRNOTAVAIL", "The host does not have that address, or all ports are in use.",
          "See ip addr."),
    Errno("ENETUNREACH", "There is no route to the address.", "See ip route get ADDRESS."),
    Errno("ECONNABORTED", "The connection was given up at this end, as the link goes away.",
          "Add the link again."),
    Errno("ECONNRESET", "The peer has cut the connection, or refused the startup.",
          "Look at the peer: its counts cm_bad, cm_refused and cm_evicted."),
    Errno("ENOTCONN", "The queue pair is not connected.", "Connect with rdma_cm first."),
    Errno("ETIMEDOUT", "The peer did not answer in time.",
          "Check firewall and route: kwarpctl doctor --peer ADDRESS --port PORT."),
    Errno("ECONNREFUSED", "Nothing listens at that port of the peer, or its program refused, or "
          "the peer has crc=required and this end crc=off.",
          "Start the server first, check address and port, and compare the knobs crc."),
    Errno("EHOSTUNREACH", "No neighbour answers for that address.", "See ip neigh, and the "
          "peer's network device."),
    Errno("EIO", "The device has gone.", "Open the device again after the link has been added."),
)
