# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl show: tables of links, connections and listeners."""
import json

from . import links as kw
from . import rates
from .text import printable, table


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


def end(address, port):
    if not address:
        return "-"
    return ("[%s]:%d" if ":" in address else "%s:%d") % (address, port)


def process(entry):
    pid = entry["pid"]
    return "%s (%s)" % (entry["program"], pid) if pid else entry["program"]


def connection_rows(connections):
    rows = [("LINK", "QP", "STATE", "LOCAL", "REMOTE", "PROGRAM (PID)")]
    for c in connections:
        state = c["state"] if c["state"] != "-" else c["cm_state"] or "-"
        rows.append((c["link"], str(c["qp"]) if c["qp"] is not None else "-", state,
                     end(c["local"], c["local_port"]), end(c["remote"], c["remote_port"]),
                     process(c)))
    return rows


def listener_rows(listening):
    rows = [("LINK", "LISTENS ON", "PROGRAM (PID)")]
    for entry in listening:
        rows.append((entry["link"], end(entry["local"], entry["local_port"]), process(entry)))
    return rows


def text(links, connections, listening):
    if not links:
        return "no links: rdma link add kw0 type kwarp netdev NETDEV adds one"
    lines = [printable(line) for link in links for line in link_lines(link)]
    if connections:
        lines += ["", *table(connection_rows(connections))]
    else:
        lines += ["", "no connections"]
    if listening:
        lines += ["", *table(listener_rows(listening))]
    return "\n".join(lines)


def command(host, args):
    if args.rates:
        return rates.command(host, args)
    links = kw.find_links(host, args.link)
    connections, listening = kw.find_connections(host, [link.name for link in links])
    if args.json:
        print(json.dumps({"links": [link.as_dict() for link in links],
                          "connections": connections, "listeners": listening}, indent=2))
    else:
        print(text(links, connections, listening))
    return 0
