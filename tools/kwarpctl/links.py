# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The links and connections of kwarp, from sysfs and the programs rdma and ip."""
from dataclasses import asdict, dataclass, field

from . import netlink, rdma
from .host import Trouble

CLASS = "/sys/class/infiniband"
PARAMETERS = "/sys/module/kwarp/parameters"


@dataclass
class Link:
    """A link of kwarp: an RDMA device on a network device (netdev).  A member that the calling user
    may not see is None or empty."""
    name: str
    type: str
    netdev: str | None
    state: str
    physical: str
    speed: str
    version: str
    uverbs: str | None
    abi: int | None
    index: int | None = None
    mtu: int | None = None
    up: bool | None = None
    here: bool = True
    addresses: list = field(default_factory=list)
    vlans: dict = field(default_factory=dict)
    knobs: dict = field(default_factory=dict)
    changed: dict = field(default_factory=dict)

    def all_addresses(self):
        return self.addresses + [a for vlan in self.vlans.values() for a in vlan]

    def as_dict(self):
        return asdict(self)


def word_after(text):
    """The word after the number in a file of sysfs: ACTIVE for "4: ACTIVE"."""
    return (text or "?").rpartition(": ")[2]


def rdma_of_link(host, name, *words):
    """What `rdma WORDS` prints about a link; nothing if the link has been deleted meanwhile."""
    try:
        return rdma.rdma(host, *words)
    except Trouble:
        if host.exists("%s/%s" % (CLASS, name)):
            raise
        return []


def netdev_of(host, name):
    """The name of a link's netdev.  For iWARP devices Linux 6.1 does not show it in sysfs; the
    program rdma shows it only in the network namespace of the netdev."""
    found = host.read("%s/%s/ports/1/gid_attrs/ndevs/0" % (CLASS, name))
    if found:
        return found
    ports = rdma_of_link(host, name, "link", "show", name + "/1")
    return ports[0].get("netdev") if ports else None


def defaults(host):
    """The knobs (settings of a link), which are the module's parameters, and their values for a new
    link."""
    return {name: host.read("%s/%s" % (PARAMETERS, name)) for name in host.list(PARAMETERS)}


def uverbs_of(host, name):
    """The uverbs device of a link, and its ABI version."""
    base = "/sys/class/infiniband_verbs"
    for node in host.list(base):
        if host.read("%s/%s/ibdev" % (base, node)) == name:
            version = host.read("%s/%s/abi_version" % (base, node)) or ""
            return node, int(version) if version.isdigit() else None
    return None, None


def link_type(host, device):
    """Type of a link, by its driver id or, if that is not known, by its capabilities."""
    number = host.driver_id(device["ifindex"]) if "ifindex" in device else None
    if number is None:
        windows = "MEM_WINDOW" in device.get("caps", ["MEM_WINDOW"])
        return "kwarp" if windows else "kwarp-siw"
    return "kwarp-siw" if number == netlink.DRIVER_SIW else "kwarp"


def is_ours(host, name):
    """Is this RDMA device a link of kwarp?  Its description (node_desc) can be read in every
    network namespace, but an administrator may have changed it; its folder of knobs exists only in
    the namespace of the link.  So look at both."""
    base = "%s/%s" % (CLASS, name)
    described = (host.read(base + "/node_desc") or "").startswith("kwarp")
    return described or host.exists(base + "/kwarp/crc")


def read_knobs(host, name, names):
    found = {}
    for knob in names:
        value = host.read("%s/%s/kwarp/%s" % (CLASS, name, knob))
        if value is not None:
            found[knob] = value
    return found


def one_link(host, name, device):
    base = "%s/%s" % (CLASS, name)
    uverbs, abi = uverbs_of(host, name)
    usual = defaults(host)
    knobs = read_knobs(host, name, usual)
    return Link(
        name=name, type=link_type(host, device), netdev=netdev_of(host, name),
        state=word_after(host.read(base + "/ports/1/state")),
        physical=word_after(host.read(base + "/ports/1/phys_state")),
        speed=(host.read(base + "/ports/1/rate") or "?").partition(" (")[0],
        version=host.read(base + "/fw_ver") or "?", uverbs=uverbs, abi=abi, knobs=knobs,
        index=device.get("ifindex"),
        changed={k: v for k, v in knobs.items() if v != usual[k]})


def add_netdev(link, interfaces):
    """Add MTU, addresses and state of the network device, if it is in the caller's namespace."""
    entry = interfaces.get(link.netdev)
    link.here = entry is not None
    if entry:
        link.mtu, link.addresses, link.vlans = entry["mtu"], entry["addresses"], entry["vlans"]
        link.up = "UP" in entry["flags"]


def find_links(host, only=None):
    """All links of kwarp or, if ONLY is given, the link with that name."""
    names = [n for n in host.list(CLASS) if is_ours(host, n)]
    if only is not None and only not in names:
        known = "there is no link" if not names else "there are " + ", ".join(names)
        raise Trouble("no kwarp link is named '%s': %s" % (only, known), 2)
    if not names:
        return []
    devices = {d.get("ifname"): d for d in rdma.rdma(host, "dev", "show")}
    interfaces = rdma.addresses(host)
    links = []
    for name in names:
        if only in (None, name):
            links.append(one_link(host, name, devices.get(name, {})))
            add_netdev(links[-1], interfaces)
    return links
