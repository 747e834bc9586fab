# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl show: tables of links, connections and listeners."""
import json

from . import connections as cm
from . import links as kw
from . import rates
from .text import duration, end, marked, octets, printable, process, table

# Lines that say so are yellow in a terminal.
TROUBLE = r"\(stalled: |\(no peer |\bERR\b|, port (DOWN|INIT)\b"


def where(link):
    if link.netdev is None:
        return "-"
    return link.netdev if link.here else link.netdev + " (in another network namespace)"


def addresses(link):
    words = list(link.addresses)
    for name, found in link.vlans.items():
        words += ["%s (%s)" % (address, name) for address in found]
    return ", ".join(words) or "none"


def link_lines(link):
    lines = ["%s: type %s, netdev %s, port %s %s, %s, MTU %s, version %s"
             % (link.name, link.type, where(link), link.state, link.physical, link.speed,
                link.mtu or "?", link.version)]
    if link.here:
        lines.append("    addresses: " + addresses(link))
    if link.changed:
        lines.append("    knobs not at their defaults: " + ", ".join(
            "%s=%s" % pair for pair in sorted(link.changed.items())))
    elif not link.knobs:
        lines.append("    knobs: only shown in the network namespace of the link")
    return lines


def state_of(entry):
    """State of a connection: while it starts up that of the module's cm, with the time left."""
    state = entry["state"] if entry["state"] != "-" else entry["cm_state"] or "-"
    if entry["startup"] not in (None, "STREAM"):
        state = entry["startup"]
        if entry["ends_ms"] is not None:
            state += " (%s left)" % duration(entry["ends_ms"])
    if entry["error"]:
        state += ": " + entry["error"]
    if cm.waits_for(entry):
        state += " (%s)" % cm.waits_for(entry)
    return state


def connection_rows(connections):
    rows = [("LINK", "QP", "STATE", "AGE", "SENT", "RECEIVED", "RETRANS", "LOCAL", "REMOTE",
             "PROGRAM (PID)")]
    for c in connections:
        again = c["retransmitted"]
        rows.append((c["link"], str(c["qp"]) if c["qp"] is not None else "-", state_of(c),
                     duration(c["age_ms"]), octets(c["sent"]), octets(c["received"]),
                     "-" if again is None else str(again), end(c["local"], c["local_port"]),
                     end(c["remote"], c["remote_port"]), process(c)))
    return rows


def listener_rows(listening):
    rows = [("LINK", "LISTENS ON", "PROGRAM (PID)")]
    for entry in listening:
        where = end(entry["local"], entry["local_port"])
        if cm.unreachable(entry):
            where += " (no peer can reach that)"
        rows.append((entry["link"], where, process(entry)))
    return rows


def text(links, connections, listening):
    if not links:
        return "no links: rdma link add kw0 type kwarp netdev NETDEV adds one"
    lines = [printable(line) for link in links for line in link_lines(link)]
    if connections:
        lines += ["", *table(connection_rows(connections))]
    else:
        lines += ["", "no connections" if all(link.here for link in links) else
                  "no connections in this network namespace"]
    if listening:
        lines += ["", *table(listener_rows(listening))]
    return "\n".join(lines)


def command(host, args):
    if args.rates:
        return rates.command(host, args)
    links = kw.find_links(host, args.link)
    connections, listening = cm.find_connections(host, [link.name for link in links])
    if args.json:
        print(json.dumps({"links": [link.as_dict() for link in links],
                          "connections": connections, "listeners": listening}, indent=2))
    else:
        for line in text(links, connections, listening).splitlines():
            print(marked(line, TROUBLE))
    return 0
