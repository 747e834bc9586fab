# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of kwarpctl set: if the kernel refuses one of several knobs (settings of a link), none is
set.

With --keep the knobs are also written to the link's file, /etc/kwarp/LINK.conf, whose other lines
stay as they are; --kept sets the knobs in that file.
"""
import argparse
import contextlib
import errno
import io
import json
import os
import re

from kwarpctl import knobs
from kwarpctl.host import Trouble

from .fake import KNOBS, ROOT, Case

KWLO = "/sys/class/infiniband/kwlo/kwarp/"
CONF = "/etc/kwarp/kwlo.conf"


class Knobs(Case):
    def setUp(self):
        super().setUp()
        self.refuse = {}
        write = self.host.write

        def picky(path, text):
            number = self.refuse.get((path.rpartition("/")[2], text.rstrip("\n")))
            if number:
                raise OSError(number, "the kernel's words")
            write(path, text)
        self.host.write = picky

    def set(self, *words, **more):
        args = argparse.Namespace(link="kwlo", knobs=list(words), keep=False, kept=False,
                                  json=False)
        vars(args).update(more)
        out, self.err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(self.err):
            self.assertEqual(knobs.command(self.host, args), 0)
        return out.getvalue()

    def fails(self, pattern, status, *words, **more):
        with self.assertRaisesRegex(Trouble, pattern) as caught:
            self.set(*words, **more)
        self.assertEqual(caught.exception.status, status)
        self.assertNotIn("\n", str(caught.exception))

    def value(self, knob):
        return self.host.read(KWLO + knob)

    def test_all_are_described(self):
        self.assertEqual(set(knobs.VALUES), set(KNOBS))

    def test_numbers_are_those_of_the_module(self):
        """The ranges that kwarpctl prints (VALUES) are those of the module (limits.h, knobs.c)."""
        module = ROOT / "drivers/infiniband/sw/kwarp"
        text = (module / "limits.h").read_text()
        limits = dict(re.findall(r"#define (KWARP_\w+)\s+(\S+)$", text, re.M))
        code = (module / "knobs.c").read_text()
        for knob, names in (("coalesce_us", ("COALESCE_MIN_US", "COALESCE_MAX_US")),
                            ("half_open_max", ("HALF_OPEN_MIN", "HALF_OPEN_MAX")),
                            ("linger_timeout", ("MAX_TIMEOUT",)), ("rcvbuf", ("BUFFER_MIN",))):
            for name in names:
                self.assertRegex(knobs.VALUES[knob], r"\b%s\b" % limits["KWARP_" + name])
                self.assertIn("KWARP_" + name, code)
        self.assertIn("kind_seconds = NUMBER(0, 32767)", code)
        self.assertIn("kind_rev = NUMBER(1, 2)", code)
        self.assertRegex(text, r"#define KWARP_BUFFER_MAX\s+\(INT_MAX / 2\)\n")
        self.assertRegex(knobs.VALUES["rcvbuf"], r"\b%d\b" % ((2 ** 31 - 1) // 2))

    def test_set(self):
        self.assertEqual(self.set("crc=off", " keepalive = 30 "), "")
        self.assertEqual((self.value("crc"), self.value("keepalive")), ("off", "30"))
        self.assertFalse(self.host.exists(CONF))

    def test_all_or_none(self):
        self.refuse["tos", "3"] = errno.EINVAL
        self.fails("kwlo does not take tos=3 .*words.: give 0 to 252", 2, "crc=off", "tos=3",
                   "sndbuf=65536", keep=True)
        self.assertEqual((self.value("crc"), self.value("sndbuf")), ("on", "0"))
        self.assertFalse(self.host.exists(CONF))

    def test_no_such_knob(self):
        self.fails("kwlo has no knob 'stashes': it has align, ", 2, "crc=off", "stashes=1")
        self.assertEqual(self.value("crc"), "on")

    def test_no_right(self):
        self.refuse["crc", "off"] = errno.EPERM
        self.fails("crc=off: .*; run it as root", 1, "crc=off")

    def test_elsewhere(self):
        self.host.remove(KWLO)
        self.fails("network namespace", 1, "crc=off")

    def test_keep(self):
        self.set("crc=off", "tos=40", keep=True)
        self.assertIn("kwarp@lo does not read that file, because its link is named kw-lo", self.err.getvalue())
        lines = self.host.read(CONF).splitlines()
        self.assertEqual((lines[0][0], lines[1:]), ("#", ["crc=off", "tos=40"]))
        self.host.put(CONF, "# mine\n\ncrc = off # for the old peer\n  tos=8\nalign=on\ntos=40")
        self.set("tos=64", "strict=on", keep=True)
        self.assertEqual(self.host.read(CONF), "# mine\n\ncrc = off # for the old peer\nalign=on\n"
                                               "tos=64\nstrict=on")

    def test_kept(self):
        self.set(kept=True)
        self.host.put(CONF, "# mine\ncrc = required # for good\n\n  keepalive=5\n")
        self.set(kept=True)
        self.assertEqual((self.value("crc"), self.value("keepalive")), ("required", "5"))

    def test_kept_is_gone(self):
        """A knob of an earlier version in the link's file is named, and the others are set."""
        self.host.put(CONF, "congestion=bbr\n")
        self.set(kept=True)
        self.host.put(CONF, "crc=off\ncongestion = bbr # for the WAN\nkeepalive=5\n")
        self.set(kept=True)
        self.assertEqual((self.value("crc"), self.value("keepalive")), ("off", "5"))
        said = self.err.getvalue()
        self.assertIn("kwlo.conf:2: the knob congestion is gone", said)
        self.assertIn("congctl", said)
        self.assertEqual(said.count("\n"), 1)
        self.fails("has no knob 'congestion'", 2, "congestion=bbr")

    def test_kept_is_wrong(self):
        for text, words in (("crc", "conf:2: 'crc' is no KNOB=VALUE"), ("=on", "conf:2: '=on'"),
                            ("crc=", "conf:2: 'crc='"), ("foo=1", "conf:2: .* no knob 'foo'"),
                            ("crc=maybe", "conf:2: kwlo does not take crc=maybe .*: give on, off")):
            self.refuse["crc", "maybe"] = errno.EINVAL
            self.host.put(CONF, "align=on\n%s\n" % text)
            self.fails(words, 2, kept=True)
            self.assertEqual(self.value("align"), "off", text)

    def test_cannot_keep(self):
        self.host.put("/etc/kwarp", "no folder")
        self.fails("set, but not kept: /etc/kwarp/kwlo.conf: ", 1, "crc=off", keep=True)
        self.assertEqual(self.value("crc"), "off")

    def test_cannot_read(self):
        """A link's file that cannot be read is an error; it is not treated as an empty file."""
        self.host.put(CONF + "/folder")
        self.fails("kwlo.conf cannot be read: ", 1, kept=True)
        self.fails("kwlo.conf cannot be read: ", 1, "crc=off", keep=True)

    def test_what_the_file_has_stays(self):
        """--keep leaves in the link's file octets that are not UTF-8, and does not change the mode
        of the file, or a symbolic link to it."""
        self.host.put("/srv/kwlo", b"# \xff\nalign=on\n")
        os.chmod(self.host.path("/srv/kwlo"), 0o640)
        os.makedirs(self.host.path("/etc/kwarp"))
        os.symlink("../../srv/kwlo", self.host.path(CONF))
        self.set("crc=off", keep=True)
        self.assertTrue(os.path.islink(self.host.path(CONF)))
        self.assertEqual(self.host.read_bytes("/srv/kwlo"), b"# \xff\nalign=on\ncrc=off\n")
        self.assertEqual(os.stat(self.host.path("/srv/kwlo")).st_mode & 0o777, 0o640)
        self.assertEqual(self.host.list("/srv"), ["kwlo"])

    def test_new_file_can_be_read(self):
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        self.set("crc=off", keep=True)
        self.assertEqual(os.stat(self.host.path(CONF)).st_mode & 0o777, 0o644)

    def test_cannot_put_back(self):
        self.refuse["tos", "3"] = errno.EINVAL
        self.refuse["crc", "on"] = errno.EIO
        self.fails("tos=3 .*; these stay set: crc$", 1, "crc=off", "align=on", "tos=3")
        self.assertEqual(self.value("align"), "off")

    def test_link_has_gone(self):
        self.refuse["crc", "off"] = errno.ENOENT
        self.fails("kwlo has been deleted meanwhile", 1, "crc=off")
        self.refuse["crc", "foo"] = errno.EINVAL
        self.fails("does not take crc=foo", 2, "crc=foo")

    def test_show(self):
        self.host.put(CONF, "crc=required\n")
        self.host.put(KWLO + "tos", "40")
        lines = {line.split()[0]: line.split()[1:4] for line in self.set().splitlines()[1:]}
        self.assertEqual(set(lines), set(KNOBS))
        self.assertEqual(lines["crc"], ["on", "on", "required"])
        self.assertEqual(lines["tos"], ["40", "0", "-"])
        found = json.loads(self.set(json=True))
        self.assertEqual(found["link"], "kwlo")
        self.assertIn({"knob": "tos", "value": "40", "default": "0", "kept": None,
                       "values": knobs.VALUES["tos"]}, found["knobs"])
