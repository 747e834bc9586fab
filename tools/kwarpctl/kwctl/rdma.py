# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What rdma, ip and ss print."""
import json

from .host import Trouble


def parse_list(text):
    """A list of objects, as `rdma -j` and `ip -j` print it; without one they print nothing."""
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
    """`rdma -j -d -d WORDS`; without the program the user has to install it."""
    result = host.run("rdma", "-j", "-d", "-d", *words)
    if result.status is None:
        raise Trouble("the program rdma is missing: install the package iproute2")
    return parse_list(result.out)


def parse_system(text):
    """The mode of RDMA namespaces: shared or exclusive.  Old versions of rdma know no JSON here."""
    for entry in parse_list(text):
        if "netns" in entry:
            return entry["netns"]
    words = text.split()
    return words[words.index("netns") + 1] if "netns" in words[:-1] else None


def netns_mode(host):
    return parse_system(host.run("rdma", "-j", "system", "show").out)


def split_address(text):
    """Address and port of what rdma and ss print, such as 192.0.2.1%eth0:7174 or [::1]:22."""
    address, _, port = text.rpartition(":")
    address = address.strip("[]")
    address = address.split("%")[0].strip("[]")
    return address, int(port) if port.isdigit() else 0


def listeners(host):
    """Address and port of each TCP socket that listens, those of kwarp included."""
    found = []
    for line in host.run("ss", "-Hltn").out.splitlines():
        words = line.split()
        if len(words) >= 4:
            found.append(split_address(words[3]))
    return found


def addresses(host):
    """Of each interface: its MTU, flags, and addresses; of its VLANs the addresses, too."""
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
