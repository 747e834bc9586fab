# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kwarpctl show: links, connections and rates from recorded output."""
import re
from unittest import mock

from kwarpctl import connections, links, netlink, rates, rdma, show
from kwarpctl.host import Trouble
from kwarpctl.text import duration, marked, octets, printable, table

from .fake import CM_IDS, COUNTS, ROOT, SOCKETS, Case


class Parsers(Case):
    def test_lists(self):
        for text in ("", "\n", "[]", "[{}]", "[1]"):
            self.assertEqual(rdma.parse_list(text), [], text)
        self.assertEqual(rdma.parse_list('{"a":1}'), [{"a": 1}])
        for text in ("nonsense", "5", '[{"a":1}'):
            with self.assertRaises(ValueError):
                rdma.parse_list(text)

    def test_system(self):
        self.assertEqual(rdma.parse_system("netns exclusive copy-on-fork on"), "exclusive")
        self.assertEqual(rdma.parse_system('[{"netns":"shared"}]'), "shared")
        self.assertIsNone(rdma.parse_system(""))
        self.assertIsNone(rdma.parse_system("netns"))

    def test_addresses(self):
        for text, want in (("192.0.2.1:7174", ("192.0.2.1", 7174)), ("[::1]:22", ("::1", 22)),
                           ("192.0.2.1%v0:7", ("192.0.2.1", 7)), ("[fe80::1]%v0:7", ("fe80::1", 7)),
                           ("*:80", ("*", 80)), ("", ("", 0))):
            self.assertEqual(rdma.split_address(text), want)

    def test_listeners(self):
        self.assertEqual(rdma.listeners(self.host), [("10.99.0.1", 7174), ("10.98.0.1", 7174),
                                                     ("::", 22)])

    def test_rdma_is_missing(self):
        self.host.programs.clear()
        with self.assertRaisesRegex(Trouble, "iproute2"):
            links.find_links(self.host)

    def test_programs_that_fail(self):
        """A failure is not taken for an empty list."""
        calls = {"rdma -j -d -d resource show cm_id": lambda: connections.find_connections(self.host, ["kwlo"]),
                 "rdma -j -d -d dev show": lambda: links.find_links(self.host),
                 "rdma -j system show": lambda: rdma.netns_mode(self.host),
                 "ip -j -d addr show": lambda: rdma.addresses(self.host),
                 "ss -HtinO": lambda: connections.find_connections(self.host, ["kwlo"]),
                 "ss -Hltn": lambda: rdma.listeners(self.host)}
        for command, call in calls.items():
            good = self.host.programs[command]
            call()
            for status, err in ((1, "error: broken"), (124, "rdma does not end"), (139, "")):
                self.host.says(command, good.out, status, err)
                with self.assertRaisesRegex(Trouble, re.escape("'%s' fails: " % command)):
                    call()
            if " -j -d" in command:
                self.host.says(command, good.out[:-9])
                with self.assertRaisesRegex(Trouble, "cannot be parsed"):
                    call()
            self.host.programs[command] = good

    def test_printable(self):
        self.assertEqual(printable("a\x1b[31m\nb\u202e\udc80\x9b0m"),
                         "a\\x1b[31m\\nb\\u202e\\udc80\\x9b0m")
        self.assertEqual(printable("rping (1) \u00e9"), "rping (1) \u00e9")

    def test_netlink(self):
        body = netlink.attribute(70, b"uverbs0\0") + netlink.attribute(73, b"\x77\x6b" + b"\0" * 6)
        head = netlink.HEADER.pack(netlink.HEADER.size + len(body), netlink.GET_CHARDEV, 0, 1, 0)
        self.assertEqual(netlink.parse_driver_id(head + body), netlink.DRIVER_KWARP)
        for broken in (b"", head, head + b"\xff\xff\0\0", b"\0" * 40):
            self.assertIsNone(netlink.parse_driver_id(broken))
        self.assertEqual(len(netlink.request(0)) % 4, 0)

    def test_numbers_are_those_of_the_abi(self):
        text = (ROOT / "include/uapi/rdma/kwarp-abi.h").read_text()
        self.assertEqual(int(re.search(r"KWARP_DRIVER_ID\s+(\S+)", text)[1], 0),
                         netlink.DRIVER_KWARP)

    def test_counts_are_those_of_the_module(self):
        text = (ROOT / "drivers/infiniband/sw/kwarp/stats.c").read_text()
        self.assertEqual(re.findall(r'^\t{ "(\w+)", ', text, re.MULTILINE), COUNTS)
        used = [p + c for _, c in rates.OPERATIONS for p in ("tx_", "rx_")]
        used += [c for _, c in rates.ONCE] + list(rates.TERMINATES + rates.TERMINATES_IN)
        self.assertEqual([c for c in used if c not in COUNTS], [])


class Colours(Case):
    def test_trouble(self):
        with mock.patch("kwarpctl.text.colours", return_value=True):
            for line, yellow in (("kw0  2  RTS (stalled: no ACK for 5.0 s)", True),
                                 ("kw0  2  ERR  3 min", True), ("kw0: port DOWN Disabled", False),
                                 ("kw0: type kwarp, netdev v0, port DOWN Disabled", True),
                                 ("kw0: type kwarp, netdev v0, port ACTIVE LinkUp", False),
                                 ("kw0  2  RTS  3 min", False)):
                self.assertEqual(marked(line, show.TROUBLE) != line, yellow, line)
        self.assertEqual(marked("ERR", show.TROUBLE), "ERR")


class Counts(Case):
    def test_another_namespace(self):
        """In another network namespace sysfs has no counts: they come from the program rdma."""
        self.host.remove("/sys/class/infiniband/kwlo/ports/1/hw_counters")
        self.host.says("rdma -j -d -d statistic show link kwlo/1",
                       '[{"ifindex":3,"ifname":"kwlo","port":1,"tx_octets":5,"rx_octets":6}]')
        self.assertEqual(rates.counts_of(self.host, "kwlo"), {"tx_octets": 5, "rx_octets": 6})
        self.host.says("rdma -j -d -d statistic show link kwlo/1", "[{}]")
        self.assertEqual(rates.counts_of(self.host, "kwlo"), {})
        self.host.says("rdma -j -d -d statistic show link kwlo/1", "", 1, "error: No such device")
        with self.assertRaisesRegex(Trouble, "No such device"):
            rates.counts_of(self.host, "kwlo")
        # The link has been deleted meanwhile.
        self.host.remove("/sys/class/infiniband/kwlo")
        self.assertEqual(rates.counts_of(self.host, "kwlo"), {})


class Links(Case):
    def test_links(self):
        one, two = links.find_links(self.host)
        self.assertEqual((one.name, one.type, one.netdev, one.state, one.speed, one.mtu),
                         ("kwlo", "kwarp", "lo", "ACTIVE", "40 Gb/sec", 65536))
        self.assertEqual((two.name, two.type, two.netdev, two.uverbs, two.abi),
                         ("kws", "kwarp-siw", "v0", "uverbs1", 1))
        self.assertEqual(one.addresses, ["127.0.0.1", "10.99.0.1", "::1"])
        self.assertEqual(two.vlans, {"v0.7": ["10.97.0.1"]})
        self.assertTrue(one.up and one.here)

    def test_type_without_netlink(self):
        self.host.drivers.clear()
        self.assertEqual([link.type for link in links.find_links(self.host)],
                         ["kwarp", "kwarp-siw"])

    def test_others_are_not_ours(self):
        self.host.put("/sys/class/infiniband/mlx5_0/node_desc", "mlx5")
        self.assertEqual(len(links.find_links(self.host)), 2)

    def test_a_description_may_be_changed(self):
        self.host.put("/sys/class/infiniband/kwlo/node_desc", "web server 7")
        self.assertEqual(len(links.find_links(self.host)), 2)

    def test_only_one(self):
        self.assertEqual([link.name for link in links.find_links(self.host, "kws")], ["kws"])
        with self.assertRaisesRegex(Trouble, "there are kwlo, kws"):
            links.find_links(self.host, "kw9")

    def test_knobs_against_the_module(self):
        self.host.put("/sys/class/infiniband/kwlo/kwarp/crc", "off")
        self.host.put("/sys/module/kwarp/parameters/rtr", "read")
        one, two = links.find_links(self.host)
        self.assertEqual(one.changed, {"crc": "off", "rtr": "write,read"})
        self.assertEqual(two.changed, {"rtr": "write,read"})

    def test_netdev_on_6_1(self):
        """Linux 6.1 does not show the netdev of an iWARP device in sysfs."""
        self.host.remove("/sys/class/infiniband/kws/ports/1/gid_attrs")
        self.host.says("rdma -j -d -d link show kws/1", '[{"ifname":"kws","port":1,"netdev":"v0"}]')
        self.assertEqual(links.find_links(self.host, "kws")[0].netdev, "v0")
        self.host.says("rdma -j -d -d link show kws/1", '[{"ifname":"kws","port":1}]')
        self.assertIsNone(links.find_links(self.host, "kws")[0].netdev)

    def test_another_namespace(self):
        self.host.put("/sys/class/infiniband/kws/ports/1/gid_attrs/ndevs/0", "far0")
        self.host.remove("/sys/class/infiniband/kws/kwarp")
        link = links.find_links(self.host, "kws")[0]
        self.assertFalse(link.here)
        words = show.text([link], [], [])
        self.assertIn("another network namespace", words)
        self.assertIn("only shown in", words)
        self.assertIn("no connections in this network namespace", words)


class Connections(Case):
    def test_connections(self):
        found, listening = connections.find_connections(self.host, ["kwlo", "kws"])
        self.assertEqual([(c["qp"], c["state"], c["local"], c["local_port"], c["remote_port"],
                           c["pid"], c["program"]) for c in found],
                         [(2, "RTS", "10.99.0.1", 51409, 7174, 69, "rping"),
                          (3, "RTS", "10.99.0.1", 7174, 51409, 66, "rping")])
        self.assertEqual([(c["link"], c["local_port"]) for c in listening],
                         [("kwlo", 7174), ("kws", 7174)])

    def test_pending_and_without_address(self):
        self.host.says("rdma -j -d -d resource show cm_id", '[{"ifname":"kwlo","cm-idn":9,'
                       '"state":"CONNECT","comm":"[nvme_rdma]","dst-addr":"192.0.2.9:4420"}]')
        found, _ = connections.find_connections(self.host, ["kwlo"])
        self.assertEqual([(c["qp"], c["local"], c["remote"], c["program"]) for c in found],
                         [(2, "", "", "rping"), (3, "", "", "rping"),
                          (None, "", "192.0.2.9", "[nvme_rdma]")])
        self.assertIn("[nvme_rdma]", show.text(links.find_links(self.host), found, []))

    def test_units(self):
        for value, want in ((None, "-"), (0, "0.0 s"), (9949, "9.9 s"), (27000, "27 s"),
                            (121000, "2 min"), (7200000, "2 h"), (10 ** 9, "11 d")):
            self.assertEqual(duration(value), want)
        for value, want in ((None, "-"), (0, "0"), (999, "999"), (1000, "0.98K"), (10240, "10.0K"),
                            (1 << 20, "1.00M"), (305 << 30, "305G"), (5000 << 40, "5000T")):
            self.assertEqual(octets(value), want)

    def test_a_connection_that_starts_up(self):
        """While TCP connects, the state of the queue pair is INIT."""
        for command in ("qp", "cm_id"):
            command = "rdma -j -d -d resource show " + command
            text = self.host.programs[command].out.replace('"RTS"', '"INIT"')
            self.host.says(command, text.replace(
                '"drv_state":"STREAM","drv_state_ms":9792',
                '"drv_state":"CONNECT","drv_state_ms":3130,"drv_ends_ms":26870'))
        found, _ = connections.find_connections(self.host, ["kwlo"])
        words = show.connection_rows(found)
        self.assertEqual(words[1][2:4], ("CONNECT (26 s left)", "3.1 s"))
        self.assertEqual(words[2][2:4], ("INIT", "-"))

    def test_a_stalled_connection(self):
        """Data waits for an ACK, and TCP has run into its timeout several times."""
        def state(more):
            self.host.says("ss -HtinO", SOCKETS.replace("unacked:1", more))
            found, _ = connections.find_connections(self.host, ["kwlo"])
            return show.connection_rows(found)[1][2]
        self.assertEqual(state("unacked:1 lastack:12300 backoff:5"),
                         "RTS (stalled: no ACK for 12 s)")
        # A rule of this host's firewall drops the segments, which thus do not count as sent.
        self.assertEqual(state("backoff:3 lastack:2936 notsent:604"),
                         "RTS (stalled: no ACK for 2.9 s)")
        for more in ("lastack:12300", "unacked:1 lastack:900 backoff:2", "unacked:1 lastack:60000",
                     "unacked:1 lastack:60000 backoff:1"):
            self.assertEqual(state(more), "RTS", more)

    def test_without_a_socket(self):
        """The connection of another namespace."""
        self.host.says("ss -HtinO", "")
        found, _ = connections.find_connections(self.host, ["kwlo"])
        self.assertEqual(show.connection_rows(found)[1][4:7], ("-", "-", "-"))

    def test_other_devices(self):
        self.assertEqual(connections.find_connections(self.host, ["kw9"]), ([], []))

    def test_name_of_a_process(self):
        self.host.put("/proc/69/comm", "client")
        found, _ = connections.find_connections(self.host, ["kwlo"])
        self.assertEqual(found[0]["program"], "client")

    def test_a_name_with_an_escape(self):
        """Any user can name his process so; rdma does not escape the name."""
        for name in ("\x1b[31mevil", "a\nb", "\x07"):
            command = "rdma -j -d -d resource show cm_id"
            self.host.says(command, self.host.programs[command].out.replace("rping", name))
            found, listening = connections.find_connections(self.host, ["kwlo", "kws"])
            self.assertEqual((len(found), len(listening)), (2, 2))
            self.host.put("/proc/69/comm", name)
            words = show.text(links.find_links(self.host), *connections.find_connections(
                self.host, ["kwlo", "kws"]))
            self.assertIn(printable(name), words)
            self.assertTrue(all(line.isprintable() for line in words.split("\n")), words)

    def test_text(self):
        words = show.text(links.find_links(self.host),
                          *connections.find_connections(self.host, ["kwlo", "kws"]))
        for part in ("kwlo: type kwarp, netdev lo, port ACTIVE LinkUp, 40 Gb/sec, MTU 65536",
                     "10.97.0.1 (v0.7)", "kwlo  2   RTS    9.8 s  13.1M  12.8M     1        10.99.0.1:51409  10.99.0.1:7174   "
                     "rping (69)", "kwlo  3   RTS    -      812    0         0 ",
                     "kws   10.98.0.1:7174"):
            self.assertIn(part, words)
        self.assertIn("no links", show.text([], [], []))

    def test_a_listener_that_nobody_reaches(self):
        self.host.says("rdma -j -d -d resource show cm_id", CM_IDS.replace(
            '"10.99.0.1:7174","dst-addr":"0.0.0.0:0"', '"127.0.0.1:7174","dst-addr":"0.0.0.0:0"'))
        words = show.text(links.find_links(self.host),
                          *connections.find_connections(self.host, ["kwlo", "kws"]))
        self.assertIn("127.0.0.1:7174 (no peer can reach that)  rping (66)", words)
        self.assertIn("10.98.0.1:7174                           rping (70)", words)


class Rates(Case):
    def grow(self, **counts):
        for name, value in counts.items():
            self.host.put("/sys/class/infiniband/kwlo/ports/1/hw_counters/" + name, value)

    def test_rates(self):
        _, before, _ = rates.sample(self.host, ["kwlo"])
        self.grow(tx_octets=2 << 20, rx_octets=4 << 20, tx_fpdus=100, rx_fpdus=50, tx_writes=30,
                  rx_sends=8, tx_doorbells=6, tx_blocked=1, term_sent_ddp=1, term_sent_mpa=1,
                  term_received_rdmap=1)
        _, after, _ = rates.sample(self.host, ["kwlo"])
        found = rates.rates_between(before["kwlo"], after["kwlo"], 2.0)
        self.assertEqual((found["tx"]["mib"], found["rx"]["mib"]), (1.0, 2.0))
        self.assertEqual((found["tx"]["fpdus"], found["rx"]["fpdus"]), (50.0, 25.0))
        self.assertEqual((found["tx"]["write"], found["rx"]["send"]), (15.0, 4.0))
        self.assertEqual((found["doorbells"], found["blocked"]), (3.0, 0.5))
        self.assertEqual((found["terminates_sent"], found["terminates_received"]), (2, 1))
        lines = table(rates.rows({"kwlo": found}, set()), numbers_from=2)
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[0].split(), ["LINK", "MiB/s", "FPDU/s", "write/s", "send/s",
                                            "doorbells/s", "blocked/s", "Terminates"])
        self.assertRegex(lines[1], r"^kwlo  out +1 +50 +15 ")
        self.assertRegex(lines[2], r"^ +in +2 +25 ")

    def test_columns(self):
        """A column that had a value stays; a busy link and an idle one have a row of totals."""
        seen = set()
        idle = rates.rates_between({}, {}, 1)
        for growth, more in (({}, []), ({"tx_sends": 3}, ["send/s"]), ({}, ["send/s"])):
            one = rates.rates_between({}, dict(growth, tx_octets=2 << 20), 1)
            found = rates.rows({"kwlo": one, "kws": one, "kwi": idle}, seen)
            self.assertEqual(found[0], ["LINK", "", "MiB/s", "FPDU/s"] + more)
            self.assertEqual([row[:3] for row in found[-2:]],
                             [["total", "out", "4"], ["", "in", "0"]])

    def test_connections(self):
        first = rates.sample(self.host, ["kwlo"])
        self.host.says("ss -HtinO", SOCKETS.replace("bytes_acked:13709293", "bytes_acked:17903597")
                       .replace("bytes_received:13436152", "bytes_received:13960440"))
        after = rates.sample(self.host, ["kwlo"])
        found = rates.connection_rates(first[2], after[2], 2)
        self.assertEqual([(c["qp"], c["tx_mib"], c["rx_mib"]) for c in found],
                         [(2, 2.0, 0.25), (3, 0, 0)])
        words = rates.text("12:00:00", {"kwlo": rates.rates_between({}, {}, 1)}, found, 2, set())
        self.assertEqual(words.splitlines()[0], "12:00:00, over 2.0 s")
        self.assertRegex(words, r"kwlo +2 +10.99.0.1:51409 +10.99.0.1:7174 +rping \(69\) +2 +0.2\n")
        many = rates.text("", {"kwlo": rates.rates_between({}, {}, 1)}, found[:1] * 25, 2, set())
        self.assertEqual((many.count("rping"), many.splitlines()[-1]), (20, "and 5 more connections"))
        self.assertEqual(rates.connection_rates({}, after[2], 2), [])

    def test_each_operation(self):
        for name, count in rates.OPERATIONS:
            found = rates.rates_between({}, {"tx_" + count: 4, "rx_" + count: 2}, 1)
            self.assertEqual((found["tx"][name], found["rx"][name]), (4, 2), name)

    def test_a_link_that_was_added_anew(self):
        found = rates.rates_between({"tx_fpdus": 100}, {"tx_fpdus": 5}, 1)
        self.assertEqual(found["tx"]["fpdus"], 0)

    def test_lifespan_is_no_count(self):
        self.assertNotIn("lifespan", rates.counts_of(self.host, "kwlo"))

    def test_a_module_without_counts(self):
        with self.assertRaisesRegex(Trouble, "no counts"):
            rates.check_counts({"kwlo": {}})
        rates.check_counts({"kwlo": {"tx_fpdus": 0}})
