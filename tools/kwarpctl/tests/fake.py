# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The machine as kwarpctl's tests see it: a folder instead of "/", recorded output of programs."""
import os
import pathlib
import re
import shutil
import socket
import tempfile
import unittest
from unittest import mock

from kwarpctl.host import Host, Result

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[2]

# Output of the programs rdma and ip, recorded in a virtual machine with two links: kwlo is on the
# netdev lo, kws (type kwarp-siw) on v0; the program rping has a connection over kwlo.
QPS = (HERE / "rdma-qp.json").read_text()
CM_IDS = (HERE / "rdma-cm_id.json").read_text()
DEVICES = (HERE / "rdma-dev.json").read_text()
ADDRESSES = (HERE / "ip-addr.json").read_text()
LISTENING = """LISTEN 0      16        10.99.0.1:7174 0.0.0.0:*
LISTEN 0      16     10.98.0.1%v0:7174 0.0.0.0:*
LISTEN 0      128            [::]:22 [::]:*
"""
# Connections as the program ss prints them with -O, each in one line.
SOCKETS = """ESTAB 0 92 10.99.0.1:51409 10.99.0.1:7174 cubic wscale:7,7 rto:204 rtt:0.852/1.091 \
mss:1448 cwnd:95 bytes_sent:13710832 bytes_retrans:1448 bytes_acked:13709293 \
bytes_received:13436152 segs_out:12137 busy:4572ms unacked:1 retrans:0/1 dsack_dups:1 minrtt:0.026
ESTAB 0 0 10.99.0.1%lo:7174 10.99.0.1:51409 cubic bytes_acked:812 lastsnd:4 lastrcv:4 lastack:4
SYN-SENT 0 1 10.98.0.1:40000 10.98.0.9:7174
"""
# The module's knobs and their defaults.
KNOBS = dict(re.findall(r'^\tX\((\w+),[^"]*"[^"]*\(([a-z0-9,]+)\)"',
                        (ROOT / "drivers/infiniband/sw/kwarp/knobs.h").read_text(), re.MULTILINE))
COUNTS = """tx_fpdus tx_octets tx_batches tx_blocked tx_no_memory tx_doorbells tx_writes tx_sends
tx_immediates tx_read_requests tx_read_responses tx_atomic_requests tx_atomic_responses rx_fpdus
rx_octets rx_runs rx_predicted rx_split rx_writes rx_sends rx_immediates rx_read_requests
rx_read_responses rx_atomic_requests rx_atomic_responses term_sent_rdmap term_sent_ddp term_sent_mpa
term_received_rdmap term_received_ddp term_received_mpa term_received_other crc_errors
marker_errors no_receive streams_lost stashes coalesce_paced coalesce_timeouts cm_connects
cm_replies cm_rejected cm_retries cm_inbound cm_requests cm_queued cm_refused cm_accepts cm_rejects
cm_bad cm_lost cm_timeouts cm_evicted cm_orphans cm_local cm_closed cm_failed cm_aborted""".split()


class FakeHost(Host):
    """A host whose files are in a folder, and on which only the programs in self.programs are
    installed; running one returns its recorded output."""

    def __init__(self, root):
        super().__init__(root)
        self.uid = 1000
        self.programs = {}
        self.closed = set()
        self.limit = None
        self.lock_all = False
        self.times = {}
        self.drivers = {0: 0x6b77, 1: 18}
        self.clock = 1000.0
        self.records = []
        self.rules = []
        self.names = {"node1": "10.98.0.9", "self": "127.0.1.1"}

    def put(self, path, data=""):
        full = pathlib.Path(self.path(path))
        full.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, bytes):
            full.write_bytes(data)
        else:
            full.write_text(str(data) + "\n")

    def remove(self, path):
        full = self.path(path)
        if os.path.isdir(full):
            shutil.rmtree(full)
        elif os.path.exists(full):
            os.unlink(full)

    def says(self, command, out="", status=0, err=""):
        self.programs[command] = Result(status, out, err)

    def run(self, *argv, timeout=10, env=None):
        if argv[1:3] == ("-I", "-c"):
            return self.programs.get("probe", Result(1, "", ""))
        missing = Result(None, "", "%s is not installed" % argv[0])
        return self.programs.get(" ".join(argv), missing)

    def which(self, program):
        for command in self.programs:
            if command.split()[0] == program:
                return "/usr/bin/" + program
        return None

    def may_open(self, path):
        return self.exists(path) and path not in self.closed

    def changed(self, path):
        return self.times.get(path, 1000.0) if self.exists(path) else None

    def resolve(self, name):
        def known(asked, *more, **options):
            return getaddrinfo(self.names.get(asked, asked), *more, **options,
                               flags=socket.AI_NUMERICHOST)
        getaddrinfo = socket.getaddrinfo
        with mock.patch("socket.getaddrinfo", known):
            return super().resolve(name)

    def now(self):
        return self.clock

    def release(self):
        return "6.12.0-test"

    def driver_id(self, index):
        return self.drivers.get(index)

    def ended(self):
        if self.records is None:
            return None
        return [dict(record) for record in self.records]

    def faults(self):
        return self.rules

    def memlock(self):
        return self.limit

    def may_lock_all(self):
        return self.lock_all


def put_link(host, name, netdev, number):
    base = "/sys/class/infiniband/" + name
    for path, value in (("node_desc", "kwarp 0.1.0"), ("fw_ver", "0.1.0"),
                        ("ports/1/state", "4: ACTIVE"), ("ports/1/phys_state", "5: LinkUp"),
                        ("ports/1/rate", "40 Gb/sec (4X QDR)"),
                        ("ports/1/gid_attrs/ndevs/0", netdev),
                        ("ports/1/hw_counters/lifespan", "10")):
        host.put("%s/%s" % (base, path), value)
    for knob, value in KNOBS.items():
        host.put("%s/kwarp/%s" % (base, knob), value)
    for count in COUNTS:
        host.put("%s/ports/1/hw_counters/%s" % (base, count), "0")
    uverbs = "/sys/class/infiniband_verbs/uverbs%d" % number
    host.put(uverbs + "/ibdev", name)
    host.put(uverbs + "/abi_version", "1")
    host.put("/dev/infiniband/uverbs%d" % number)


def put_programs(host):
    for words, out in (("dev show", DEVICES), ("resource show qp", QPS),
                       ("resource show cm_id", CM_IDS),
                       ("statistic show link kwlo/1", "[{}]"),
                       ("statistic show link kws/1", "[{}]")):
        host.says("rdma -j -d -d " + words, out)
    host.says("rdma -j system show", "netns shared privileged-qkey off monitor on copy-on-fork on")
    host.says("ip -j -d addr show", ADDRESSES)
    host.says("ss -Hltn", LISTENING)
    host.says("ss -HtinO", SOCKETS)
    host.says("modinfo -F version kwarp", "0.1.0\n")
    host.says("modinfo -F srcversion kwarp", "ABC\n")
    host.says("dmesg", "[    1.5] kwarp: loading out-of-tree module taints kernel.\n")
    host.says("nft list ruleset", "")
    host.says("probe", '{"kwlo": 0, "kws": 0}\n')


def healthy(root):
    """A machine with two links, without any problem."""
    host = FakeHost(root)
    put_link(host, "kwlo", "lo", 0)
    put_link(host, "kws", "v0", 1)
    for path, value in (("version", "0.1.0"), ("srcversion", "ABC"), ("taint", "OE")):
        host.put("/sys/module/kwarp/" + path, value)
    for knob, value in KNOBS.items():
        host.put("/sys/module/kwarp/parameters/" + knob, value)
    host.put("/sys/class/misc/rdma_cm/dev", "10:256")
    host.put("/dev/infiniband/rdma_cm")
    folder = "/usr/lib/x86_64-linux-gnu/"
    host.put(folder + "libibverbs.so.1", b"\0lib%s-rdmav34.so\0")
    for name in ("kwarp", "siw"):
        host.put(folder + "libibverbs/lib%s-rdmav34.so" % name)
        host.put("/etc/libibverbs.d/%s.driver" % name, "driver " + name)
    put_programs(host)
    return host


class Case(unittest.TestCase):
    """Base class: each test gets a machine without any problem, on which it can break something."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.host = healthy(folder.name)
