# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks of doctor: the way to the peer (route, MTU, TCP), ports, firewall."""
import errno
import ipaddress
import re
import socket

from . import check_port, connections, rdma
from .findings import ok, problem, warning
from .text import duration

IP_MTU, IP_MTU_DISCOVER, IP_PMTUDISC_DO = 14, 10, 2
IPV6_MTU, IPV6_MTU_DISCOVER = 24, 23


# ----------------------------------------------------------------------- peer

def probe_peer(peer):
    """Local address and path MTU of the route to the peer; an errno if there is no route."""
    number = ipaddress.ip_address(peer)
    v6 = number.version == 6
    level = socket.IPPROTO_IPV6 if v6 else socket.IPPROTO_IP
    try:
        with socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(level, IPV6_MTU_DISCOVER if v6 else IP_MTU_DISCOVER, IP_PMTUDISC_DO)
            # Not (peer, 9): connect() would ignore the interface in fe80::1%eth0.
            sock.connect(socket.getaddrinfo(peer, 9, type=socket.SOCK_DGRAM)[0][4])
            mtu = sock.getsockopt(level, IPV6_MTU if v6 else IP_MTU)
            return {"local": sock.getsockname()[0].split("%")[0], "mtu": mtu, "errno": 0}
    except OSError as error:
        return {"local": None, "mtu": None, "errno": error.errno or errno.EIO}


def interface_of(case, address, scope):
    """The interface that has an address, and the link on it; the link of a VLAN may be on the
    device below the VLAN.  SCOPE is the interface of a link-local address, which several may have,
    or ""."""
    for name, entry in case.interfaces.items():
        if address in entry["addresses"] and scope in ("", name):
            for link in case.all_links or case.links:
                if link.netdev == name or name in link.vlans:
                    return name, link
            return name, None
    return None, None


def check_peer(case, probe=probe_peer):
    """Find the link through which a connection to the peer (option --peer) goes, and check the
    path MTU."""
    if case.peer is None:
        return []
    if ipaddress.ip_address(case.peer).is_loopback:
        return [problem("peer", "rdma_cm finds no device for %s" % case.peer,
                        "use another address of this host")]
    address, _, scope = case.peer.partition("%")
    if ipaddress.ip_address(address).is_link_local and ":" in address and not scope:
        return [problem("peer", "%s is a link-local address, which each interface may reach"
                        % address, "give the interface, too: --peer %s%%NETDEV" % address)]
    way = probe(case.peer)
    if way["errno"]:
        return [problem("peer", "there is no route to %s: %s"
                        % (case.peer, errno.errorcode.get(way["errno"], way["errno"])),
                        "see ip route get " + case.peer)]
    name, link = interface_of(case, way["local"], scope)
    if link is None:
        return [problem("peer", "the route to %s leaves through %s (%s), which has no link"
                        % (case.peer, name or "an interface", way["local"]),
                        "rdma link add NAME type kwarp netdev %s, or change the route"
                        % (name or "NETDEV"))]
    found = [ok("peer", "%s is reached through %s, from %s" % (case.peer, link.name,
                                                              way["local"]))]
    return found + check_path_mtu(case, link, way["mtu"])


def check_path_mtu(case, link, mtu):
    if link.mtu is None or case.peer.partition("%")[0] in link.all_addresses():
        return []
    if mtu < link.mtu:
        return [warning("MTU", "the path to %s has MTU %d, but %s has %d"
                        % (case.peer, mtu, link.netdev, link.mtu),
                        "raise the MTU of the route or of the peer; or leave it: kwarp works, but "
                        "slower")]
    return [ok("MTU", "%d, the same for path and network device" % mtu)]


def check_large(case):
    return check_port.check_large(case, probe_peer)


def check_stalls(case):
    """Look for connections whose data waits, and of which the peer acknowledges nothing."""
    found = []
    ours, _ = connections.find_connections(case.host, [link.name for link in case.local_links()])
    for entry in filter(connections.stalled, ours):
        found.append(warning(
            "connection to %s port %d" % (entry["remote"], entry["remote_port"]),
            "data of %s (%s) waits, and nothing was acknowledged for %s"
            % (entry["program"], entry["pid"] or "kernel", duration(entry["quiet_ms"])),
            "is the peer up, and does ping reach it? If it does, large packets may get lost on the "
            "way: lower the MTU, or try sysctl net.ipv4.tcp_mtu_probing=1"))
    return found or [ok("connections", "%d, none of which waits in vain" % len(ours))]


# ---------------------------------------------------------------------- ports

def check_ports(case):
    """Look for who listens on a port that an RDMA program needs: if it is an ordinary TCP socket,
    kwarp cannot listen there."""
    host = case.host
    _, ours = connections.find_connections(host, [link.name for link in case.links])
    found = []
    asked = {case.port: "you"} if case.port is not None and case.peer is None else \
        check_port.USUAL_PORTS
    for port, user in sorted(asked.items()):
        here = [entry for entry in ours if entry["local_port"] == port]
        if here:
            found += [listener(port, entry, user) for entry in here
                      if not connections.unreachable(entry)]
            continue
        others = [address for address, number in rdma.listeners(host) if number == port]
        if others:
            make = problem if user == "you" else warning
            found.append(make("port %d" % port, "an ordinary TCP socket listens on %s"
                              % ", ".join(sorted(set(others))), "rdma_listen() would get "
                              "EADDRINUSE: end that program (ss -ltnp), or use another port"))
    found += bound_to_loopback(case, ours)
    if found:
        return found
    return [ok("ports", "no ordinary socket has " + ", ".join(map(str, sorted(asked))))]


def bound_to_loopback(case, listening):
    """Programs that listen on a loopback address: on each link, though nobody can connect."""
    usable = [a for link in case.local_links() for a in link.all_addresses()
              if not ipaddress.ip_address(a).is_loopback]
    ours = {(entry["local"], entry["local_port"], entry["pid"]): entry
            for entry in filter(connections.unreachable, listening)}
    return [problem("port %d" % entry["local_port"], "%s (%s) listens on %s, a loopback address: peers "
                    "on other machines cannot reach it, nor does rdma_cm connect to it here"
                    % (entry["program"], entry["pid"] or "kernel", entry["local"]),
                    "let it bind %s, or no address" % (usable[0] if usable else
                                                       "the address of a link's network device"))
            for entry in ours.values()]


def listener(port, entry, user):
    """Tell who listens on a port.  If the user asked for the port, he may want to use it."""
    text = "%s (%s) listens on %s through %s" % (entry["program"], entry["pid"] or "kernel",
                                                 entry["local"], entry["link"])
    if user != "you":
        return ok("port %d" % port, text)
    return warning("port %d" % port, text, "rdma_bind_addr() of another program would get "
                   "EADDRINUSE there: end that program, unless it is yours, or use another port")


# ------------------------------------------------------------------- firewall

def parse_nft(text):
    """Parse `nft list ruleset`: chains that drop by default, and rules that drop or reject TCP."""
    found, chain, hook = [], "", ""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["chain"]:
            chain, hook = words[1], ""
        if " hook " in line:
            hook = line.split(" hook ")[1].split()[0]
            if hook in ("input", "output") and "policy drop" in line:
                found.append("chain %s (%s) drops what no rule accepts" % (chain, hook))
        elif re.search(r"\b(drop|reject)\b", line) and "tcp" in line:
            found.append("rule '%s'" % line.strip())
    return found


def parse_iptables(text):
    """Parse `iptables-save`: chains that drop by default, and rules that drop or reject."""
    found = []
    for line in text.splitlines():
        if re.match(r":(INPUT|OUTPUT) (DROP|REJECT)", line):
            found.append("chain %s drops what no rule accepts" % line.split()[0][1:])
        elif re.match(r"-A .*-j (DROP|REJECT)", line) and "-p udp" not in line:
            found.append("rule '%s'" % line)
    return found


def unseen_firewall(host):
    if host.uid:
        return warning("firewall", "not checked: only root can read its rules", "run this as root")
    return warning("firewall", "its rules cannot be read here", "see what nft list ruleset says")


def check_firewall(case):
    """Look for firewall rules that may drop packets of RDMA connections.  The check does not know
    whether such packets meet a rule, so it only warns."""
    hints, seen = [], False
    for argv, parse in ((("nft", "list", "ruleset"), parse_nft),
                        (("iptables-save",), parse_iptables),
                        (("ip6tables-save",), parse_iptables)):
        result = case.host.run(*argv)
        if result.ok:
            seen = True
            hints += [hint for hint in parse(result.out) if hint not in hints]
    if hints:
        port = "port %d" % case.port if case.port is not None else \
            "the server's port (rping 7174, perftest 18515)"
        more = " (and %d more)" % (len(hints) - 1) if len(hints) > 1 else ""
        return [warning("firewall", hints[0] + more, "let TCP %s through, if connections are "
                        "refused or time out" % port)]
    if not seen and any(case.host.which(program) for program in ("nft", "iptables-save")):
        return [unseen_firewall(case.host)]
    if not seen:
        return [ok("firewall", "not checked: there is neither nft nor iptables")]
    return [ok("firewall", "no rule that drops TCP")]
