# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kwarpctl doctor: each check finds its problem, and none on a healthy machine."""
import argparse
import contextlib
import io
import json
import re
from unittest import mock

from kwarpctl import check_counts, check_link, check_module, check_net, check_port, check_user
from kwarpctl import doctor, rdma
from kwarpctl import links as kw
from kwarpctl.findings import OK, PROBLEM, WARNING, Case as About, Finding
from kwarpctl.host import Trouble

from .fake import ROOT, Case, put_link

KWLO = "/sys/class/infiniband/kwlo"
IBVERBS = "/usr/lib/x86_64-linux-gnu/libibverbs"


class Checks(Case):
    def about(self, **more):
        return About(host=self.host, links=kw.find_links(self.host),
                     interfaces=rdma.addresses(self.host), **more)

    def found(self, check, level, words, **more):
        """Expect a finding of this level with these words and, unless it is ok, with advice."""
        findings = check(self.about(**more))
        for finding in findings:
            if finding.level == level and re.search(words, finding.line()):
                self.assertTrue(level == OK or finding.action, finding)
                self.assertNotIn("\n", finding.line())
                return
        self.fail("no %s with '%s' in %s" % (level, words, findings))


class Healthy(Checks):
    def test_each_check_has_nothing_to_say(self):
        for check in doctor.CHECKS:
            for finding in check(self.about()):
                self.assertEqual(finding.level, OK, finding)

    def test_each_check_is_in_the_list(self):
        modules = (check_counts, check_link, check_module, check_net, check_port, check_user)
        made = {getattr(m, n) for m in modules for n in dir(m) if n.startswith("check_")}
        takes_case = {c for c in made if callable(c) and c.__code__.co_varnames[:1] == ("case",)
                      and c.__code__.co_argcount - len(c.__defaults__ or ()) == 1}
        self.assertEqual(takes_case - set(doctor.CHECKS), set())

    def command(self, **more):
        args = argparse.Namespace(link=None, peer=None, port=None, json=False, quiet=False,
                                  all=False)
        vars(args).update(more)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            return doctor.command(self.host, args), out.getvalue()

    def test_exit_status(self):
        status, out = self.command()
        self.assertEqual((status, out.splitlines()[-1]), (0, "0 problems, 0 warnings"))
        self.host.put(KWLO + "/kwarp/crc", "required")
        self.assertEqual(self.command()[0], 0)
        self.host.put(KWLO + "/ports/1/state", "1: DOWN")
        status, out = self.command()
        self.assertEqual((status, out.splitlines()[-1]), (1, "1 problem, 1 warning"))
        status, out = self.command(json=True)
        self.assertEqual([f["level"] for f in json.loads(out)].count("problem"), 1)

    def test_order(self):
        """The findings that matter come first; --quiet leaves out the others."""
        self.host.put(KWLO + "/kwarp/crc", "required")
        self.host.put(KWLO + "/ports/1/state", "1: DOWN")
        lines = self.command()[1].splitlines()
        self.assertEqual([line.split()[0] for line in lines[:3]], ["problem", "warning", "ok"])
        self.assertEqual(self.command(quiet=True)[1].splitlines(), lines[:2] + lines[-1:])
        found = json.loads(self.command(quiet=True, json=True)[1])
        self.assertEqual([f["level"] for f in found], ["problem", "warning"])

    def test_colours(self):
        with mock.patch("sys.stdout") as stdout:
            for tty, env, want in ((True, {"TERM": "xterm"}, True),
                                   (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
                                   (True, {"TERM": "dumb"}, False), (True, {}, False),
                                   (False, {"TERM": "xterm"}, False)):
                stdout.isatty.return_value = tty
                with mock.patch.dict("os.environ", env, clear=True):
                    self.assertEqual(doctor.colours(), want)
        self.assertEqual(Finding(OK, "a", "b\x1b").line(True), "\033[32mok      \033[0m a: b\\x1b")

    def test_a_program_that_fails(self):
        self.host.says("rdma -j -d -d resource show cm_id", "[{", 0)
        status, out = self.command()
        self.assertEqual(status, 0)
        self.assertRegex(out, "warning  ports: not checked: the output of 'rdma .*' cannot be parsed")
        self.host.says("ip -j -d addr show", "", 1, "error: no memory")
        status, out = self.command()
        self.assertEqual(status, 1)
        self.assertIn("problem  programs: 'ip -j -d addr show' fails: error: no memory", out)
        self.assertNotIn("another network namespace", out)
        self.assertNotIn("there is none", out)

    def test_packages(self):
        """If kwarp was installed from packages, the advice is to reinstall these, and not to
        run make install."""
        self.host.remove(IBVERBS + "/libkwarp-rdmav34.so")
        self.assertIn("run make install", self.command()[1])
        self.host.put(doctor.PACKAGES)
        out = self.command()[1]
        self.assertIn("reinstall the packages kwarp-dkms and ibverbs-provider-kwarp", out)
        self.assertNotIn("make install", out)


class Module(Checks):
    def unload(self):
        self.host.remove("/sys/module/kwarp")
        self.host.remove("/sys/class/infiniband")

    def test_not_installed(self):
        self.unload()
        self.host.says("modinfo -F version kwarp", status=1)
        self.found(check_module.check_module, PROBLEM, "not installed for the kernel 6.12.0-test")
        del self.host.programs["modinfo -F version kwarp"]
        with self.assertRaisesRegex(Trouble, "package kmod"):
            check_module.check_module(self.about())

    def test_not_loaded(self):
        self.unload()
        self.found(check_module.check_module, PROBLEM, "0.1.0 is installed but not loaded; add")

    def test_secure_boot(self):
        self.unload()
        self.host.put(check_module.SECURE_BOOT, b"\6\0\0\0\1")
        self.found(check_module.check_module, PROBLEM, "Secure Boot is on; enrol")
        self.host.put(check_module.SECURE_BOOT, b"\6\0\0\0\0")
        self.found(check_module.check_module, PROBLEM, "not loaded; add a link")

    def test_secure_boot_by_mokutil(self):
        self.unload()
        self.host.says("mokutil --sb-state", "SecureBoot enabled\n")
        self.found(check_module.check_module, PROBLEM, "Secure Boot is on")
        self.host.says("mokutil --test-key " + check_module.KEY, "mok.pub is already enrolled\n")
        self.found(check_module.check_module, PROBLEM, "not loaded; add a link")
        self.host.says("mokutil --test-key " + check_module.KEY, "mok.pub is not enrolled\n", 1)
        self.found(check_module.check_module, PROBLEM, "Secure Boot is on")

    def test_another_build(self):
        self.host.says("modinfo -F srcversion kwarp", "DEF\n")
        self.found(check_module.check_module, WARNING, "another build is installed")

    def test_version(self):
        self.found(check_module.check_module, OK, "kwarp 0.1.0 is loaded")

    def test_forced(self):
        self.host.put("/sys/module/kwarp/taint", "OF")
        self.found(check_module.check_taint, WARNING, "by force")

    def test_modules(self):
        self.host.remove("/sys/class/misc/rdma_cm")
        self.found(check_module.check_modules, PROBLEM, "rdma_ucm: it is not loaded")
        self.found(check_module.check_modules, PROBLEM, "rdma_cm: it is not loaded")
        self.host.remove("/sys/class/infiniband_verbs")
        self.found(check_module.check_modules, PROBLEM, "ib_uverbs: it is not loaded")
        # If the module kwarp is not loaded, check_module() reports that, and these two checks have
        # no findings.
        self.host.remove("/sys/module/kwarp")
        self.assertEqual(check_module.check_modules(self.about()), [])
        self.assertEqual(check_user.check_device_files(self.about()), [])
        # Without links, and without ib_core, the program rdma fails.
        self.host.remove("/sys/class/infiniband")
        self.host.says("rdma -j system show", "", 1, "Failed to open NETLINK_RDMA socket")
        self.assertEqual(check_link.check_netns(self.about()), [])
        self.host.put("/sys/module/kwarp/version", "0.1.0")
        for name, _, _ in check_module.NEEDED:
            self.host.put("/sys/module/%s/refcnt" % name, "1")
        self.found(check_module.check_modules, OK, "are there")

    def test_log(self):
        for words, _, _ in check_module.LOG:
            self.host.says("dmesg", "[ 1.0] something\n[ 2.0] kwlo: %s x\n" % words)
            self.found(check_module.check_log, WARNING, re.escape("[ 2.0]"))
        self.host.says("dmesg", "[ 3.0] RIP: 0010:kwarp_rx+0x1/0x2 [kwarp]\n")
        self.found(check_module.check_log, PROBLEM, "has reported an error")
        self.host.says("dmesg", status=1)
        self.found(check_module.check_log, OK, "only root")
        self.host.uid = 0
        self.host.says("dmesg", status=None, err="dmesg is not installed")
        self.found(check_module.check_log, OK, "not checked: dmesg is not installed")


class Links(Checks):
    def test_no_link(self):
        self.host.remove("/sys/class/infiniband")
        self.found(check_link.check_links, PROBLEM, "there is none in this namespace")

    def test_states(self):
        self.host.put(KWLO + "/ports/1/state", "1: DOWN")
        self.found(check_link.check_links, PROBLEM, "port is DOWN")
        self.host.put(KWLO + "/ports/1/state", "2: INIT")
        self.found(check_link.check_links, PROBLEM, "has no address")

    def change_v0(self, old, new):
        text = self.host.run("ip", "-j", "-d", "addr", "show").out
        self.assertIn(old, text)
        self.host.says("ip -j -d addr show", text.replace(old, new))

    def test_netdev_is_down(self):
        self.change_v0('"BROADCAST","MULTICAST","UP","LOWER_UP"', '"BROADCAST","MULTICAST"')
        self.found(check_link.check_netdevs, PROBLEM, "netdev v0: it is down")

    def test_no_address(self):
        self.change_v0('"local":"10.99.0.1"', '"nothing":"x"')
        self.found(check_link.check_netdevs, PROBLEM, "netdev lo: it has no address")

    def test_an_address_on_a_vlan_will_do(self):
        self.found(check_link.check_netdevs, OK, r"netdev v0: up, .*10\.97\.0\.1")

    def test_namespace(self):
        self.host.put(KWLO + "/ports/1/gid_attrs/ndevs/0", "far0")
        # The programs of this namespace can still use the link kws.
        self.found(check_link.check_netns, OK, "kwlo on far0: in another")
        self.host.put(KWLO + "/ports/1/state", "1: DOWN")
        for finding in check_link.check_links(self.about()):
            self.assertNotIn("kwlo", finding.line())
        self.host.put("/sys/class/infiniband/kws/ports/1/gid_attrs/ndevs/0", "far1")
        self.found(check_link.check_netns, PROBLEM, "kwlo on far0, kws on far1: in another")

    def test_many_namespaces(self):
        for number in range(100):
            put_link(self.host, "c%d" % number, "eth%d" % number, 2 + number)
        findings = check_link.check_netns(self.about())
        self.assertEqual([f.line() for f in findings], [
            "ok       namespace: c0 on eth0, c1 on eth1, c10 on eth10 and 97 more: in another "
            "network namespace, for the programs there"])

    def test_exclusive_namespaces(self):
        self.host.remove("/sys/class/infiniband")
        self.host.says("rdma -j system show", '[{"netns":"exclusive"}]')
        self.found(check_link.check_netns, WARNING, "exclusive, and no link is in this one")

    def test_siw_beside(self):
        self.host.put("/sys/class/infiniband/siw0/ports/1/gid_attrs/ndevs/0", "v0")
        self.found(check_link.check_neighbours, WARNING, "siw0, .* is on v0 like kws")


class User(Checks):
    def test_no_libibverbs(self):
        self.host.remove(IBVERBS + ".so.1")
        self.found(check_user.check_provider, PROBLEM, "libibverbs is not installed")

    def test_no_provider(self):
        self.host.remove(IBVERBS + "/libkwarp-rdmav34.so")
        self.found(check_user.check_provider, PROBLEM, "libkwarp: it is not in .*kwarp-siw")
        self.host.remove(IBVERBS + "/libsiw-rdmav34.so")
        self.found(check_user.check_provider, PROBLEM, "libsiw: .*ibverbs-providers")

    def test_provider_of_another_version(self):
        self.host.put(IBVERBS + ".so.1", b"\0IBVERBS_PRIVATE_65\0lib%s-rdmav65.so\0")
        self.found(check_user.check_provider, PROBLEM, "private version 34, and .* has 65")

    def test_no_driver_file(self):
        self.host.remove("/etc/libibverbs.d/kwarp.driver")
        self.found(check_user.check_provider, PROBLEM, "kwarp.driver is missing")

    def test_libibverbs_is_newer(self):
        self.host.times[IBVERBS + ".so.1"] = 2000.0
        self.found(check_user.check_provider, WARNING, "was installed after it")

    def test_provider_without_a_link(self):
        self.host.remove("/sys/class/infiniband")
        self.assertEqual(check_user.types_of(self.about()), ["kwarp"])

    def test_abi(self):
        self.host.put("/sys/class/infiniband_verbs/uverbs0/abi_version", "7")
        self.found(check_user.check_abi, PROBLEM, "the module has version 7, but the provider needs 1")

    def test_abi_is_that_of_the_header(self):
        text = (ROOT / "include/uapi/rdma/kwarp-abi.h").read_text()
        self.assertEqual(int(re.search(r"KWARP_UVERBS_ABI\s+(\d+)", text)[1]),
                         check_user.UVERBS_ABI)

    def test_open(self):
        self.host.says("probe", '{"kws": 0}')
        self.found(check_user.check_open, PROBLEM, "kwlo: libibverbs finds no provider")
        self.host.says("probe", '{"kws": 0, "kwlo": 13}')
        self.found(check_user.check_open, PROBLEM, "kwlo: .*Permission denied")
        self.host.says("probe", '{"kws": 0, "kwlo": 95}',
                       err="kwarp: the kernel module speaks none of the ABI versions 3 to 3")
        self.found(check_user.check_open, PROBLEM, "no version of the ABI in common")
        self.host.closed.add("/dev/infiniband/uverbs0")
        self.found(check_user.check_open, PROBLEM, "kwlo: its device file cannot be opened")
        self.host.says("probe", "", 139)
        self.found(check_user.check_open, WARNING, "could not be tried")

    def test_the_word_of_the_provider(self):
        text = (ROOT / "rdma-core-provider/kwarp.c").read_text()
        self.assertIn("none of the ABI versions", re.sub(r'"\s*\n\s*"', "", text))

    def test_the_probe_compiles(self):
        compile(check_user.PROBE, "probe", "exec")

    def test_device_files(self):
        self.host.closed.add("/dev/infiniband/rdma_cm")
        self.found(check_user.check_device_files, PROBLEM, "you may not open .*rdma_cm")
        self.host.remove("/dev/infiniband/uverbs1")
        self.found(check_user.check_device_files, PROBLEM, "uverbs1 is missing")

    def test_memlock(self):
        self.host.limit = 8192 * 1024
        self.found(check_user.check_memlock, WARNING, "8192 KiB")
        self.host.limit = 1 << 30
        self.found(check_user.check_memlock, OK, "1048576 KiB")
        self.host.limit, self.host.lock_all = 1, True
        self.found(check_user.check_memlock, OK, "no limit for root")
