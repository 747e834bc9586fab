# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks of doctor: links, their network devices, and RDMA devices of other drivers on the same
network devices."""
from . import links as kw
from . import rdma
from .check_module import loaded
from .findings import ok, problem, warning


FEW = 3


def check_netns(case):
    """Are the network devices of the links in this network namespace?"""
    if not case.links and loaded(case.host) is None:
        return []
    mode = rdma.netns_mode(case.host)
    away = [link for link in case.links if not link.here]
    if away and not case.local_links():
        return [problem("namespace", "%s: in another network namespace, so programs here cannot "
                        "connect through any link" % names_of(away), "run the program there (ip "
                        "netns exec NS ...), or add a link for a network device of this "
                        "namespace")]
    if mode == "exclusive" and not case.links:
        return [warning("namespace", "RDMA namespaces are exclusive, and no link is in this one",
                        "move the link here: rdma dev set LINK netns NS")]
    if away:
        return [ok("namespace", "%s: in another network namespace, for the programs there"
                   % names_of(away))]
    return [ok("namespace", "RDMA namespaces are %s, and each link that is seen has its network "
               "device here" % (mode or "shared"))]


def names_of(links):
    """Links with their network devices; of many links only the first, and the number of all."""
    named = ["%s on %s" % (link.name, link.netdev or "?") for link in links[:FEW]]
    return ", ".join(named) + (" and %d more" % (len(links) - FEW) if len(links) > FEW else "")


def check_links(case):
    """Is there a link, and is its port active?"""
    if case.blind:
        return []
    if not case.links:
        return [problem("link", "there is none" + (" in this namespace" if loaded(case.host)
                                                  else ""),
                        "rdma link add kw0 type kwarp netdev NETDEV")]
    found = []
    for link in case.local_links():
        found += check_link(link)
    return found


def check_link(link):
    subject = "link " + link.name
    if link.state == "ACTIVE":
        return [ok(subject, "type %s on %s, port ACTIVE, MTU %s"
                   % (link.type, link.netdev, link.mtu or "?"))]
    if link.state == "INIT":
        return [problem(subject, "the port is INIT: %s is up and has no address" % link.netdev,
                        "ip addr add ADDRESS/LEN dev %s" % link.netdev)]
    return [problem(subject, "the port is %s: %s is down or has no carrier"
                    % (link.state, link.netdev), "ip link set %s up, and look at cable and switch "
                    "(or the other end of a veth)" % link.netdev)]


def check_netdevs(case):
    """Is the network device of each link up, with an address that rdma_cm can use?"""
    found = []
    for link in case.local_links():
        subject = "netdev %s" % link.netdev
        usable = [a for a in link.all_addresses() if a not in ("127.0.0.1", "::1")]
        if not link.up:
            found.append(problem(subject, "it is down", "ip link set %s up" % link.netdev))
        elif not usable:
            found.append(problem(subject, "it has no address that rdma_cm can use",
                                 "ip addr add ADDRESS/LEN dev %s" % link.netdev))
        else:
            found.append(ok(subject, "up, " + ", ".join(usable)))
    return found


def check_neighbours(case):
    """Look for other RDMA devices on the network devices of the links."""
    found = []
    host = case.host
    ours = {link.netdev: link.name for link in case.links if link.netdev}
    for name in host.list(kw.CLASS):
        netdev = kw.netdev_of(host, name)
        if netdev in ours and not kw.is_ours(host, name):
            found.append(warning(
                "neighbour", "%s, an RDMA device of another driver, is on %s like %s: only one of "
                "the two can listen on a port" % (name, netdev, ours[netdev]),
                "delete one of the two, or let programs listen on an address"))
    return found or [ok("neighbour", "no other RDMA device is on the network devices of the "
                        "links")]
