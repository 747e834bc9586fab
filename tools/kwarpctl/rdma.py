# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Calls of the programs rdma, ip and ss, and parsing of their output."""
import json
import re

from .host import Trouble


def output(host, *argv, package="iproute2"):
    """What a program prints; Trouble if it is not installed, fails or does not end."""
    result = host.run(*argv)
    if result.status is None:
        raise Trouble("the program %s is missing: install the package %s" % (argv[0], package))
    if not result.ok:
        said = result.err.splitlines() or ["exit status %d" % result.status]
        raise Trouble("'%s' fails: %s" % (" ".join(argv), said[-1]))
    return result.out


def parse_list(text):
    """Parse a list of objects from `rdma -j` or `ip -j`, which print nothing for an empty list, and
    do not escape control characters in the names of processes.  ValueError: it is no such list."""
    text = text.strip()
    if not text:
        return []
    found = json.loads(text, strict=False)
    if isinstance(found, dict):
        found = [found]
    if not isinstance(found, list):
        raise ValueError("no list")
    return [entry for entry in found if isinstance(entry, dict) and entry]


def objects(host, *argv):
    """The objects in the output of a program; Trouble if there is no output that can be parsed."""
    try:
        return parse_list(output(host, *argv))
    except ValueError:
        raise Trouble("the output of '%s' cannot be parsed" % " ".join(argv)) from None


def rdma(host, *words):
    """Objects that `rdma -j -d -d WORDS` prints."""
    return objects(host, "rdma", "-j", "-d", "-d", *words)


def parse_system(text):
    """The mode of RDMA namespaces, shared or exclusive, as JSON or (old versions) as text."""
    found = re.search(r'\bnetns"?[: ]+"?(\w+)', text)
    return found[1] if found else None


def netns_mode(host):
    return parse_system(output(host, "rdma", "-j", "system", "show"))


def split_address(text):
    """Split an address of rdma or ss into address and port: 192.0.2.1%eth0:7174, [::1]:22."""
    address, _, port = text.rpartition(":")
    address = address.strip("[]")
    address = address.split("%")[0].strip("[]")
    return address, int(port) if port.isdigit() else 0


def listeners(host):
    """Address and port of each listening TCP socket, including those of kwarp."""
    found = []
    for line in output(host, "ss", "-Hltn").splitlines():
        words = line.split()
        if len(words) >= 4:
            found.append(split_address(words[3]))
    return found


def addresses(host):
    """For each interface its MTU, flags and addresses, and the addresses of VLANs on it."""
    entries = objects(host, "ip", "-j", "-d", "addr", "show")
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
