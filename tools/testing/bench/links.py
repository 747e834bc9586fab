# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Links between the two ends of run.py: how packets get from one to the other.

veth     a veth pair to a network namespace of this machine.  Packets of 64 KiB pass, and the
         receiver's memory is the sender's.
packets  the same, but each packet has the size of the MTU and comes in memory of its own, as from a
         network card without LRO and GRO
gro      the same, but GRO joins the packets again, as for most network cards
wire     to another machine (tools/testing/guest/two.sh)
"""

import ctypes
import os
import platform
import re
import struct
import subprocess

FAR_NETNS = "far"
# Not in /sys: "ip netns exec" mounts another /sys.
BPF_FS = "/run/bpf"
PASS = f"{BPF_FS}/pass"

# bpf(2): numbers of the system call, commands, and values of <linux/bpf.h>.
BPF_CALL = {"x86_64": 321, "aarch64": 280}
BPF_PROG_LOAD, BPF_OBJ_PIN = 5, 6
BPF_PROG_TYPE_XDP, BPF_F_XDP_HAS_FRAGS = 6, 1 << 5
XDP_PASS = 2
# r0 = XDP_PASS; exit
PROGRAM = struct.pack("<BBhi", 0xb7, 0, 0, XDP_PASS) + struct.pack("<BBhi", 0x95, 0, 0, 0)


def run(*args, check=True, **kwargs):
    return subprocess.run(args, check=check, text=True, capture_output=True, **kwargs)


def bpf(command, attr):
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attr, len(attr))
    number = libc.syscall(BPF_CALL[platform.machine()], command, buffer, len(attr))
    if number < 0:
        raise OSError(ctypes.get_errno(), "bpf(2): " + os.strerror(ctypes.get_errno()))
    return number


def pin_pass():
    """Load an XDP program that passes all packets, and give it the file name PASS.

    With an XDP program a veth device copies each packet to memory of its own.
    """
    code, text = ctypes.create_string_buffer(PROGRAM), ctypes.create_string_buffer(PASS.encode())
    licence = ctypes.create_string_buffer(b"Dual BSD/GPL")
    program = bpf(BPF_PROG_LOAD, struct.pack("<IIQQIIQII", BPF_PROG_TYPE_XDP, len(PROGRAM) // 8, ctypes.addressof(code),
                                             ctypes.addressof(licence), 0, 0, 0, 0, BPF_F_XDP_HAS_FRAGS))
    os.mkdir(BPF_FS)
    run("mount", "-t", "bpf", "bpf", BPF_FS)
    bpf(BPF_OBJ_PIN, struct.pack("<QI", ctypes.addressof(text), program))


def slow_down(where, dev, netem):
    """Make a network of large delay of it, whose capacity TCP's buffers do not limit."""
    run(*where, "tc", "qdisc", "add", "dev", dev, "root", "netem", *netem.split(), "limit", "1000000")
    if "loss" in netem:
        # netem drops a whole buffer, which would be several packets, and fewer ones the larger it is.
        run(*where, "ip", "link", "set", "dev", dev, "gso_max_segs", "1")
    for name in "tcp_rmem", "tcp_wmem":
        run(*where, "sysctl", "-q", f"net.ipv4.{name}=4096 131072 {128 << 20}")


class Veth:
    """Both ends are on this machine, the far one in a network namespace."""

    far = ["ip", "netns", "exec", FAR_NETNS]
    # The ends have processors and RDMA devices in common.
    shared = True

    def __init__(self, kind):
        self.kind = kind
        run("ip", "netns", "add", FAR_NETNS)
        run("ip", "-n", FAR_NETNS, "link", "set", "lo", "up")
        if kind != "veth":
            pin_pass()

    def allow_mtu(self, mtu):
        pass

    def add(self, near, far, ends):
        run("ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", FAR_NETNS)
        if self.kind != "veth":
            for where, dev in ends:
                run(*where, "ip", "link", "set", dev, "xdpdrv", "pinned", PASS)
                run(*where, "ethtool", "-K", dev, "tso", "off", "gro", "on" if self.kind == "gro" else "off")


class Wire:
    """The far end is another machine. Each contender has a device of its own on the link's interface."""

    far = ["peer", "run"]
    shared = False

    def __init__(self):
        self.mtu = 0
        run(*self.far, "modprobe", "rdma_ucm")
        # The interface "wire" must not answer for addresses of the contenders' devices.
        for where in ([], self.far):
            run(*where, "sysctl", "-q", "net.ipv4.conf.all.arp_ignore=1")
        self.both("up")

    def both(self, *setting):
        for where in ([], self.far):
            run(*where, "ip", "link", "set", "wire", *setting)

    def allow_mtu(self, mtu):
        if mtu > self.mtu:
            self.both("mtu", str(mtu))
            self.mtu = mtu

    def add(self, _near, _far, ends):
        for where, dev in ends:
            run(*where, "ip", "link", "add", dev, "link", "wire", "type", "macvlan", "mode", "bridge")


KINDS = ("veth", "packets", "gro", "wire")


def make_link(kind):
    return Wire() if kind == "wire" else Veth(kind)


def machine(link, where):
    """The words before a command that needs RDMA devices in /sys: namespaces do not show them."""
    return [] if link.shared else where


# -------------------------------------------------------------- what an end did

COUNTERS = ("rx_fpdus", "rx_predicted", "rx_split")


def numbers(where, files):
    return map(int, run(*where, "cat", *files).stdout.split())


def processor_time(where):
    """Seconds that the processors of the machine have not been idle since it was booted."""
    text = run(*where, "cat", "/proc/uptime", "/proc/stat").stdout.splitlines()
    processors = sum(re.match(r"cpu\d", line) is not None for line in text)
    idle, iowait = text[1].split()[4:6]
    return float(text[0].split()[0]) * processors - (int(idle) + int(iowait)) / os.sysconf("SC_CLK_TCK")


def sample(link, where, dev, device):
    """What the end at @where has done until now: octets and FPDUs received, and processor time.

    @device is its RDMA device, or None. If the ends have processors in common, the time is left out.
    """
    done = {"received": next(numbers(where, [f"/sys/class/net/{dev}/statistics/rx_bytes"]))}
    if device:
        files = [f"/sys/class/infiniband/{device}/ports/1/hw_counters/{name}" for name in COUNTERS]
        done.update(zip(COUNTERS, numbers(machine(link, where), files)))
    if not link.shared:
        done["cpu"] = processor_time(where)
    return done


def difference(before, after):
    return {name: round(after[name] - value, 2) for name, value in before.items()}
