# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks of doctor: does an RDMA program listen at the peer, and do large packets get there?

The peer's port is asked in the words of iWARP's first layer, MPA, but the program there is not
disturbed: it would see a complete Request, and a server for one client would end after it.  So the
probe sends a Request that is wrong.  An iWARP device judges it itself, and closes the connection
without a word.  The probe sends the Request in three parts: devices differ in when they judge:

    the first letters of the key    right, so a device waits for the rest
    two wrong letters               kwarp closes at once, and counts no error (cm/startup.c); siw
                                    waits until the header is complete
    the rest, a wrong revision      every other device closes now

Whoever answers in words of his own, or is silent to the end, is no iWARP device.
"""
import errno
import ipaddress
import re
import socket
import time

from .findings import ok, problem, warning

USUAL_PORTS = {7174: "rping", 18515: "perftest"}
PARTS = (b"", b"MPA ID", b"??", b"eq Frame\0\xff\xff\xff")
# How long to wait for an answer to each part, in seconds, and for the connection itself.
WAITS = (0.4, 0.4, 1.0, 2.0)
CONNECT = 3
PINGS = 3
# What is found at a port.
KWARP, DEVICE, SPEAKS, SILENT, CLOSES = "kwarp", "device", "speaks", "silent", "closes"


def answer(sock, seconds):
    """What the peer says within this time: its octets, b"" if it closes, None if it is silent."""
    sock.settimeout(seconds)
    try:
        return sock.recv(200)
    except TimeoutError:
        return None
    except OSError:
        return b""


def ask(sock, round_trip):
    """Say the parts of a wrong Request.  Return what is at the port, and its words."""
    closed = (CLOSES, CLOSES, KWARP, DEVICE)
    for part, wait, kind in zip(PARTS, WAITS, closed):
        try:
            sock.sendall(part)
        except OSError:
            return kind, b""
        said = answer(sock, wait + 4 * round_trip)
        if said:
            return SPEAKS, said
        if said == b"":
            return kind, b""
    return SILENT, b""


def probe(peer, port):
    """Return an errno (0: connected), what is at the port, and its words."""
    begin = time.monotonic()
    try:
        with socket.create_connection((peer, port), timeout=CONNECT) as sock:
            return 0, *ask(sock, time.monotonic() - begin)
    except TimeoutError:
        return errno.ETIMEDOUT, None, b""
    except OSError as error:
        return error.errno or errno.EIO, None, b""


# --------------------------------------------------------------------- findings

def no_way(case):
    """Is there no peer, or one of which the check of the way says that no device gets there?"""
    if case.peer is None:
        return True
    address, _, scope = case.peer.partition("%")
    number = ipaddress.ip_address(address)
    return number.is_loopback or (number.version == 6 and number.is_link_local and not scope)


def check_tcp(case, ask_port=probe):
    """Does an RDMA program listen at the peer?  Without a port from the user, the usual ports are
    tried.  An older kwarp at the peer counts a probe in cm_bad."""
    if no_way(case):
        return []
    ports = USUAL_PORTS if case.port is None else {case.port: None}
    answers = {port: ask_port(case.peer, port) for port in ports}
    if case.port is None and all(a[0] == errno.ECONNREFUSED for a in answers.values()):
        return [warning("port", "nothing listens at %s on the ports of rping (7174) and perftest "
                        "(18515)" % case.peer, "start the server first; if it runs, kwarpctl doctor "
                        "there says where it listens; for another program give --port")]
    found = [about(case, port, user, *answers[port]) for port, user in ports.items()
             if case.port is not None or answers[port][0] != errno.ECONNREFUSED]
    # One that does not answer at all is the same host for each port.
    return found[:1] if len({f.action for f in found}) == 1 and found[0].level != "ok" else found


def about(case, port, user, error, kind, words):
    where = "%s port %d%s" % (case.peer, port, " (%s)" % user if user else "")
    if error:
        return unreachable(case, where, error)
    if kind == KWARP:
        return ok("port", "an RDMA program listens at %s, on a device of kwarp" % where)
    if kind == DEVICE:
        return other_device(case, where)
    says = {SPEAKS: "it says %s" % ascii(words.decode(errors="replace")[:40]),
            SILENT: "it does not judge an MPA Request",
            CLOSES: "it closes the connection before it has heard a Request"}[kind]
    return problem("port", "something listens at %s, but it is no RDMA program: %s" % (where, says),
                   "start the RDMA program there, or give its --port; a program that has a socket "
                   "of its own for arrangements (perftest without -R) connects with RDMA elsewhere")


def other_device(case, where):
    """An iWARP device that is no kwarp: in most cases siw."""
    text = "an RDMA program listens at %s, on an iWARP device that is no kwarp (siw?)" % where
    eager = [link.name for link in case.local_links() if link.knobs.get("peer_to_peer") == "on"]
    if eager:
        return warning("port", text, "with siw connections may hang: kwarpctl set %s "
                       "peer_to_peer=off align=on" % eager[0])
    return ok("port", text)


def unreachable(case, where, error):
    if error == errno.ECONNREFUSED:
        return problem("port", "nothing listens at " + where, "start the server first; if it runs, "
                       "it listens on another address (127.0.0.1?), port, interface or network "
                       "namespace: run kwarpctl doctor there")
    pings = pings_answered(case, 8) if error == errno.ETIMEDOUT else None
    if pings:
        return problem("port", "%s does not answer, but the host answers ping" % where,
                       "a firewall drops packets to the port: let it through at both ends")
    if error in (errno.ETIMEDOUT, errno.EHOSTUNREACH) and neighbour_failed(case):
        return problem("port", "%s: no host has this address" % where,
                       "is the host up, is that its address, and is the cable in the right port?")
    if error == errno.ETIMEDOUT:
        return problem("port", "%s does not answer%s"
                       % (where, "" if pings is None else ", nor does the host answer ping"),
                       "the host is down, or a firewall drops all packets")
    if error in (errno.EHOSTUNREACH, errno.EACCES, errno.EPERM):
        return problem("port", "%s: %s" % (where, errno.errorcode[error]),
                       "a firewall refuses that, here (nft list ruleset) or there, or there is no "
                       "way: see ip route get " + case.peer)
    return problem("port", "%s: %s" % (where, errno.errorcode.get(error, error)),
                   "see ip route get " + case.peer)


def pings_answered(case, size):
    """How many of PINGS packets of this size (without headers), of which no router makes two, does
    the peer answer?  None if ping is not installed, or may not run."""
    result = case.host.run("ping", "-n", "-q", "-U", "-c", str(PINGS), "-i", "0.3", "-W", "1", "-M",
                           "do", "-s", str(size), case.peer)
    found = re.search(r" (\d+) received", result.out)
    return int(found[1]) if result.status in (0, 1) and found else None


def neighbour_failed(case):
    """Has the kernel asked in vain who has the peer's address?"""
    address, _, scope = case.peer.partition("%")
    argv = ("ip", "neigh", "show", address) + (("dev", scope) if scope else ())
    return " FAILED" in case.host.run(*argv).out or " INCOMPLETE" in case.host.run(*argv).out


# ------------------------------------------------------------------- black holes

def check_large(case, way):
    """Do packets as large as the path's MTU get to the peer?  If small ones do and large ones
    vanish without a message, connections are made, and then stall."""
    if no_way(case):
        return []
    found = way(case.peer)
    own = {a for entry in case.interfaces.values() for a in entry["addresses"]}
    if found["errno"] or not found["mtu"] or case.peer.partition("%")[0] in own:
        return []
    headers = 48 if ":" in case.peer else 28
    if pings_answered(case, 8) != PINGS or pings_answered(case, found["mtu"] - headers) != 0:
        return []
    # The kernel may just have learnt a smaller MTU from a router, and uses that from now on.
    learnt = way(case.peer)["mtu"]
    if learnt and learnt < found["mtu"]:
        return [ok("large packets", "a router on the way to %s says that its MTU is %d"
                   % (case.peer, learnt))]
    return [problem("large packets", "packets of %d octets to %s get lost, small ones do not: "
                    "connections will be made, and then stall" % (found["mtu"], case.peer),
                    "set the MTU of both ends and of all switches to the same value, or try sysctl "
                    "net.ipv4.tcp_mtu_probing=1")]
