# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Calls of the programs rdma, ip and ss, and parsing of their output."""
import json

from .host import Trouble


def parse_list(text):
    """Parse a list of objects from `rdma -j` or `ip -j`, which print nothing for an empty list."""
    text = text.strip()
    if not text:
        return []
    try:
        found = json.loads(text)
    except ValueError:
        return []
    if isinstance(found, dict):
        found = [found]
    return [entry for entry in found if isinstance(entry, dict) and entry]


def rdma(host, *words):
    """Objects that `rdma -j -d -d WORDS` prints; Trouble if the program is not installed."""
    result = host.run("rdma", "-j", "-d", "-d", *words)
    if result.status is None:
        raise Trouble("the program rdma is missing: install the package iproute2")
    return parse_list(result.out)


def parse_system(text):
    """The mode of RDMA namespaces, shared or exclusive, as JSON or (old versions) as text."""
    for entry in parse_list(text):
        if "netns" in entry:
            return entry["netns"]
    words = text.split()
    return words[words.index("netns") + 1] if "netns" in words[:-1] else None


def netns_mode(host):
    return parse_system(host.run("rdma", "-j", "system", "show").out)


def split_address(text):
    """Split an address of rdma or ss into address and port: 192.0.2.1%eth0:7174, [::1]:22."""
    address, _, port = text.rpartition(":")
    address = address.strip("[]")
    address = address.split("%")[0].strip("[]")
    return address, int(port) if port.isdigit() else 0


def listeners(host):
    """Address and port of each listening TCP socket, including those of kwarp."""
    found = []
    for line in host.run("ss", "-Hltn").out.splitlines():
        words = line.split()
        if len(words) >= 4:
            found.append(split_address(words[3]))
    return found


def addresses(host):
    """For each interface its MTU, flags and addresses, and the addresses of VLANs on it."""
    entries = parse_list(host.run("ip", "-j", "-d", "addr", "show").out)
    found = {}
    for entry in entries:
        own = [a.get("local") for a in entry.get("addr_info", []) if a.get("local")]
        found[entry.get("ifname")] = {"flags": entry.get("flags", []), "mtu": entry.get("mtu"),
                                      "addresses": own, "vlans": {}}
    for entry in entries:
        below = entry.get("link")
        if below in found and entry.get("linkinfo", {}).get("info_kind") == "vlan":
            name = entry["ifname"]
            found[below]["vlans"][name] = found[name]["addresses"]
    return found
