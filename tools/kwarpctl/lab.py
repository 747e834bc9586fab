# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl lab: two network namespaces on this machine with a link each, to try programs."""
import json
import os
from typing import NamedTuple

from .host import Trouble, Usage
from .text import printable, table

CLASS = "/sys/class/infiniband"
NAMESPACES = "/run/netns"


class End(NamedTuple):
    """An end of the lab.  Its namespace, network device and link have the same name."""
    name: str
    ipv4: str
    ipv6: str

    def run_there(self, *argv):
        return ("ip", "netns", "exec", self.name) + argv


A = End("kwlab-a", "10.77.0.1", "fd77::1")
B = End("kwlab-b", "10.77.0.2", "fd77::2")
ENDS = (A, B)
# IPv6 needs 1280 octets.
LEAST_MTU = 1280
TYPES = ("kwarp", "kwarp-siw")
# Locked while a lab is made or removed.
LOCK = "/run/kwarp/lab"


def need_root(host):
    if host.uid:
        raise Trouble("only root may make or remove a lab: run this with sudo")


def do(host, *argv):
    """Run a command that must succeed."""
    result = host.run(*argv)
    if result.status is None:
        raise Trouble("the program %s is missing: install the package iproute2" % argv[0])
    if not result.ok:
        said = (result.err or result.out).strip().splitlines() or ["exit status %s" % result.status]
        raise Trouble("'%s' fails: %s" % (" ".join(argv), said[-1]))
    return result.out


def has_namespace(host, end):
    return host.exists("%s/%s" % (NAMESPACES, end.name))


def has_link(host, end):
    return host.exists("%s/%s" % (CLASS, end.name))


def parts(host):
    """What there is of a lab: names of namespaces and links."""
    return ["namespace " + e.name for e in ENDS if has_namespace(host, e)] + \
        ["link " + e.name for e in ENDS if has_link(host, e)]


# -------------------------------------------------------------------------- up

def netem(args):
    """The words of netem for loss and delay; () without them."""
    words = ()
    if args.delay:
        words += ("delay", "%gms" % args.delay)
    if args.loss:
        words += ("loss", "%g%%" % args.loss)
    return words


def make_net(host, args):
    for end in ENDS:
        do(host, "ip", "netns", "add", end.name)
    do(host, "ip", "link", "add", A.name, "netns", A.name, "type", "veth", "peer", "name", B.name,
       "netns", B.name)
    for end in ENDS:
        inside = ("ip", "-n", end.name)
        do(host, *inside, "link", "set", "lo", "up")
        do(host, *inside, "addr", "add", end.ipv4 + "/24", "dev", end.name)
        do(host, *inside, "addr", "add", end.ipv6 + "/64", "dev", end.name, "nodad")
        do(host, *inside, "link", "set", end.name, "mtu", str(args.mtu), "up")


def bad_net(host, args):
    """Lose and delay packets in both directions.  If the kernel lacks netem, say so."""
    words = netem(args)
    for end in ENDS if words else ():
        try:
            do(host, "tc", "-n", end.name, "qdisc", "add", "dev", end.name, "root", "netem", *words)
        except Trouble as trouble:
            raise Trouble("--loss and --delay need the kernel's netem (module sch_netem): %s"
                          % trouble) from None


def make_links(host, args):
    host.run("modprobe", "-a", "kwarp", "rdma_ucm")
    for end in ENDS:
        do(host, *end.run_there("rdma", "link", "add", end.name, "type", args.type, "netdev",
                                end.name))


def up(host, args):
    need_root(host)
    with host.locked(LOCK):
        there = parts(host)
        if there:
            raise Trouble("there is a lab already (%s): kwarpctl lab down removes it"
                          % ", ".join(there))
        try:
            make_net(host, args)
            bad_net(host, args)
            make_links(host, args)
        except BaseException:
            take_down(host)
            raise
    return show(host, args)


# ------------------------------------------------------------------------ down

def take_down(host):
    """Remove all parts of a lab that are there.  Return those that are still there."""
    for end in ENDS:
        # With exclusive RDMA namespaces, a link is seen in its own namespace only.
        if has_namespace(host, end):
            host.run(*end.run_there("rdma", "link", "delete", end.name))
        if has_link(host, end):
            host.run("rdma", "link", "delete", end.name)
    for end in ENDS:
        if has_namespace(host, end):
            # Programs may keep the namespace itself, but not the network device.
            host.run("ip", "-n", end.name, "link", "delete", end.name)
            host.run("ip", "netns", "delete", end.name)
    return parts(host)


def programs(host):
    """Programs that run in the lab: name and process id."""
    found = []
    for end in ENDS:
        if has_namespace(host, end):
            pids = host.run("ip", "netns", "pids", end.name).out.split()
            for pid in (p for p in pids if p != str(os.getpid())):
                found.append("%s (%s)" % (host.read("/proc/%s/comm" % pid) or "?", pid))
    return found


def down(host, args):
    need_root(host)
    with host.locked(LOCK):
        there, running = parts(host), programs(host)
        left = take_down(host)
    if left:
        raise Trouble("not removed: %s; end the programs that use them, and try again"
                      % ", ".join(left))
    if args.json:
        print(json.dumps({"removed": there, "programs": running}, indent=2))
        return 0
    print("removed: " + ", ".join(there) if there else "there was no lab")
    if running:
        print(printable("these programs have lost their network, and still run: "
                        + ", ".join(running)))
    return 0


# ------------------------------------------------------------------------ show

def state_of(host, end):
    state = host.read("%s/%s/ports/1/state" % (CLASS, end.name))
    return (state or "gone").rpartition(": ")[2]


def show(host, args):
    if not parts(host):
        raise Trouble("there is no lab: kwarpctl lab up makes one")
    if args.json:
        print(json.dumps({"ends": [dict(namespace=e.name, netdev=e.name, link=e.name, ipv4=e.ipv4,
                                        ipv6=e.ipv6, state=state_of(host, e)) for e in ENDS]},
                         indent=2))
        return 0
    rows = [("NAMESPACE, NETDEV, LINK", "ADDRESSES", "PORT")]
    rows += [(e.name, "%s, %s" % (e.ipv4, e.ipv6), state_of(host, e)) for e in ENDS]
    print("\n".join(table(rows)))
    print("""try: ip netns exec %s rping -s -a %s -C 3 -v &
     ip netns exec %s rping -c -a %s -C 3 -v
a shell at one end: ip netns exec %s bash; the end: kwarpctl lab down"""
          % (B.name, B.ipv4, A.name, B.ipv4, A.name))
    return 0


# ------------------------------------------------------------------- arguments

def number(least, most, what):
    """A type for argparse: a number in this range."""
    def parse(text):
        try:
            value = float(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise Usage("'%s' is no %s: give %g to %g" % (text, what, least, most))
        return value
    return parse


def whole(least, most, what):
    def parse(text):
        if not text.isdigit() or not least <= int(text) <= most:
            raise Usage("'%s' is no %s: give a whole number from %d to %d"
                        % (text, what, least, most))
        return int(text)
    return parse


def add(commands):
    parser = commands.add_parser("lab", help="two links on this machine, to try programs",
                                 description="Make two network namespaces with a link each, "
                                 "joined by a veth pair, show them, or remove them.")
    parser.add_argument("action", nargs="?", choices=("up", "down", "show"), default="show",
                        help="make it, remove it, or show it (the default)")
    parser.add_argument("--loss", type=number(0, 100, "loss"), metavar="PERCENT", default=0,
                        help="with up: packets that are lost, each way")
    parser.add_argument("--delay", type=number(0, 60000, "delay"), metavar="MS", default=0,
                        help="with up: milliseconds by which packets are delayed, each way")
    parser.add_argument("--mtu", type=whole(LEAST_MTU, 65535, "MTU"), metavar="OCTETS",
                        help="with up: MTU of both network devices (1500)")
    parser.add_argument("--type", choices=TYPES, help="with up: type of the links (kwarp)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def check_args(args):
    given = [name for name in ("loss", "delay", "mtu", "type") if getattr(args, name)]
    if args.action != "up" and given:
        raise Usage("--%s is for lab up: give it there" % given[0])
    args.mtu, args.type = args.mtu or 1500, args.type or "kwarp"


def command(host, args):
    return {"up": up, "down": down, "show": show}[args.action](host, args)
