# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The connections and listeners of links, from the programs rdma and ss."""
import ipaddress
import re

from . import rdma
from .terms import rows_of
from .text import duration

# A connection whose data waits is called stalled after so many milliseconds without an
# acknowledgement, and so many timeouts of TCP in a row.
QUIET_MS = 1000
TIMEOUTS = 2


def program_of(host, entry):
    """The name of the process or, if a kernel module has the object, the name that rdma prints."""
    pid = entry.get("pid")
    name = host.read("/proc/%s/comm" % pid) if pid else None
    return name or entry.get("comm", "?")


def ends_of(entry):
    local, local_port = rdma.split_address(entry.get("src-addr", ""))
    remote, remote_port = rdma.split_address(entry.get("dst-addr", ""))
    return {"local": local, "local_port": local_port, "remote": remote, "remote_port": remote_port}


def startup_of(ident):
    """The state of the connection in the module's cm, for how long it is in that state, and when it
    will be ended."""
    return {"startup": ident.get("drv_state"), "age_ms": ident.get("drv_state_ms"),
            "ends_ms": ident.get("drv_ends_ms")}


def error_of(pair):
    """The name of the error that has ended the stream of a queue pair, and who has found it."""
    short, own = pair.get("drv_peer_term"), pair.get("drv_error", "NONE")
    if short is not None:
        short = int(str(short), 0)
        rows = rows_of(short)
        return "peer says " + (rows[0].name if rows else "0x%04x" % short)
    return own if own != "NONE" else None


def number_in(name, text):
    found = re.search(r" %s(\d+)" % name, text)
    return int(found[1]) if found else 0


def sockets(host):
    """For the four parts of each TCP connection's address what TCP tells about it."""
    found = {}
    for line in rdma.output(host, "ss", "-HtinO").splitlines():
        words = line.split(None, 5)
        if len(words) < 6:
            continue
        text = " " + words[5]
        found[rdma.split_address(words[3]) + rdma.split_address(words[4])] = {
            "sent": number_in("bytes_acked:", text), "received": number_in("bytes_received:", text),
            "retransmitted": number_in(r"retrans:\d+/", text),
            "waits": bool(number_in("unacked:", text) or number_in("notsent:", text)),
            "no_room": bool(number_in("notsent:", text) and not number_in("unacked:", text)),
            "quiet_ms": number_in("lastack:", text),
            "timeouts": number_in("backoff:", text)}
    return found


NOTHING = dict.fromkeys(("sent", "received", "retransmitted", "waits", "no_room", "quiet_ms",
                         "timeouts"))


def add_socket(entry, found):
    key = (entry["local"], entry["local_port"], entry["remote"], entry["remote_port"])
    entry.update(found.get(key, NOTHING))


def stalled(entry):
    """Does data of this connection wait, and nothing is acknowledged?"""
    return bool(entry["waits"] and entry["quiet_ms"] >= QUIET_MS
                and entry["timeouts"] >= TIMEOUTS)


def unreachable(entry):
    """Does this listener wait at a loopback address?  rdma_cm listens there, and connects nobody."""
    return ipaddress.ip_address(entry["local"] or "0.0.0.0").is_loopback


def waits_for(entry):
    """What an established connection waits for, in words, if it has waited for a while; else ""."""
    if stalled(entry):
        return "stalled: no ACK for %s" % duration(entry["quiet_ms"])
    if entry["state"] != "RTS" or (entry["quiet_ms"] or 0) < QUIET_MS:
        return ""
    if entry["no_room"]:
        return "waits for room at the peer for %s" % duration(entry["quiet_ms"])
    if entry["reads_out"]:
        return "waits for the peer's answer to %d Read%s for %s" % (
            entry["reads_out"], "" if entry["reads_out"] == 1 else "s",
            duration(entry["quiet_ms"]))
    return ""


def find_connections(host, names, details=None):
    """Return two lists for the links NAMES: connections (queue pairs, and cm_ids that have no queue
    pair yet), and listeners.  DETAILS, a dict, gets all that the module tells about the queue
    pairs, by link and number."""
    if not names:
        return [], []
    ids = [i for i in rdma.rdma(host, "resource", "show", "cm_id") if i.get("ifname") in names]
    pairs = [q for q in rdma.rdma(host, "resource", "show", "qp") if q.get("ifname") in names]
    if details is not None:
        details.update(((q["ifname"], q.get("lqpn")), q) for q in pairs)
    by_pair = {(i["ifname"], i["lqpn"]): i for i in ids if "lqpn" in i}
    connections, listening = [], []
    for pair in pairs:
        ident = by_pair.pop((pair["ifname"], pair.get("lqpn")), {})
        connections.append(dict(
            link=pair["ifname"], qp=pair.get("lqpn"), state=pair.get("state", "?"),
            cm_state=ident.get("state"), pid=pair.get("pid"), program=program_of(host, pair),
            error=error_of(pair), reads_out=pair.get("drv_reads_out"),
            **startup_of(ident), **ends_of(ident)))
    for ident in ids:
        pending = "lqpn" not in ident and ident.get("state") != "LISTEN"
        entry = dict(link=ident["ifname"], pid=ident.get("pid"),
                     program=program_of(host, ident), **ends_of(ident))
        if ident.get("state") == "LISTEN":
            listening.append(entry)
        elif pending or (ident["ifname"], ident["lqpn"]) in by_pair:
            connections.append(dict(entry, qp=ident.get("lqpn"), state="-", error=None,
                                    reads_out=None,
                                    cm_state=ident.get("state"), **startup_of(ident)))
    if connections:
        found = sockets(host)
        for entry in connections:
            add_socket(entry, found)
    return connections, listening
