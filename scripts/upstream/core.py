#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Write the driver's core as it would be in a kernel, for scripts/upstream-series.sh:
#
#   scripts/upstream/core.py FOLDER      make FOLDER/drivers/... and FOLDER/include/...
#
# Left out: what older kernels need, the links for libsiw and the hooks for them, the knobs' files
# and parameters, injected faults, user space's half of proto/, tests and their doors, and the numbers of
# requirements (of "5044-7.1.1-6" the section is left, "RFC 5044 7.1.1").
#
# Each edit names what it expects in the source. An edit that does not find it is an error, and so
# is a word of WORDS that is left: change the edit together with the driver.
"""Write the driver's core as it would be in a kernel."""
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DRIVER = pathlib.Path("drivers/infiniband/sw/kwarp")
UAPI = ("include/uapi/rdma/kwarp-abi.h", "include/uapi/rdma/kwarp-netlink.h")

LEFT_OUT = re.compile(r"(^|/)tests/|^door\.h|^siw/|^compat|^knobs\.|^sysfs\.c|^fault[._]|"
                      r"^queue/foreign\.h|^verbs/personality\.h|\.mod\.c$")

# Columns of a line.
WIDTH = 100

# What must not be left in any file.
WORDS = re.compile(r"KWARP_(SINCE|BEFORE|LACKS|DRIVER_ID|VERSION)|compat(_ops)?\.h\"|foreign|"
                   r"personality|hold_ops|unmoved|paced|[fF]ault[ _](point|inj)|[kK](warp|WARP)_[fF](ault|AULT)|INJECTED|"
                   r"(?<![_>])\bknobs\.[ch]\b|sysfs\.c|libsiw|\bsiw\b|another user library|"
                   r"os_user|kunit|__KERNEL__|scripts/lint|Documentation/(?!infiniband/)|"
                   r"\b\d{4}-[0-9A-Z.]+-\d|[:,] -\d+,|\(-\d+[;)]")

# Edits of any file: (pattern, replacement).
EVERYWHERE = (
    # compat.h's macros, each on a line of its own
    (r'^#include "(?:\.\./)*compat(?:_ops)?\.h"\n', ""),
    (r"^\t+KWARP_BEFORE_ROW\(.*\)\n", ""),
    (r"^(\t+)KWARP_SINCE_ROW\([A-Z_0-9]*, (.*)\)$", r"\1\2,"),
    (r"^(\t+)KWARP_SINCE\([A-Z_0-9]*, (.*)\);$", r"\1\2;"),
    # doors of the tests
    (r'\n\n#include "(?:\.\./)*door\.h"\n\n', "\n\n"),
    (r'^#include "(?:\.\./)*door\.h"\n', ""),
    (r"^\tKWARP_DOOR\(.*\);\n", ""),
    # injected faults
    (r'^#include "(?:\.\./)*fault(?:_netlink)?\.h"\n', ""),
    (r"^\tkwarp_fault_late\([^;]*\);\n", ""),
    (r"^\tkwarp_fault_(?:forget|exit)\([^;]*\);\n", ""),
    (r"^\t+if \(kwarp_faults_on\(\) && [^;]*;\n", ""),
    (r" \?: refused\([^;]*\);", ";"),
    (r"^\tif \(!ret\)\n\t\tret = kwarp_udata_fault\([^;]*;\n", ""),
    (r"^\tret = kwarp_fault\(KWARP_FAULT_POST[^;]*;\n\tif \(ret\)\n\t\treturn -ret;\n", ""),
    # foreign rings and personalities: there is none
    (r'^#include "(?:\.\./verbs/|verbs/|)(?:personality|foreign)\.h"\n', ""),
    (r"^\tconst struct kwarp_personality \*p = [^;]*;\n", ""),
    (r"^\tkwarp_release_foreign\([^;]*;\n", ""),
    (r"^\tif \(\w+->foreign(?: && [^\n]*)?\)\n\t\t[^\n]*;\n", ""),
    (r"^\tif \(p\) \{\n(?:\t\t[^\n]*\n)+\t\}\n", ""),
    (r"\bp \? [^:?;]+ : ", ""),
    (r"\b\w+->foreign \? [^:?;]+ : ", ""),
    (r"\bkzalloc\(sizeof\((\*[\w>-]+)\), ", r"kzalloc_obj(\1, "),
    # requirements: section instead of number, each RFC and each section once
    (r"\b(50(?:40|41|42|44)|6581|7306)-([0-9A-Z.]+)-\d+(?:(?:, | to | and |,\n[ \t]*\* )-(?:\d-)?\d+)*",
     r"RFC \1 \2"),
    (r"(RFC \d{4} [\d.]+)(?:, \1\b(?!\.))+", r"\1"),
    (r"(RFC (\d{4}) [\d.]+), RFC \2 (?=\d)", r"\1, "),
    (r"(RFC (\d{4}) [\d.]+, [\d.]+), RFC \2 (?=\d)", r"\1, "),
    (r"\s\(-\d+\)| \* \(-\d+\)\n|(?<=\()-\d+; |: -\d+, -\d+(?= \*/)", ""),
    (r"(?: \*\n)? \* Numbers such as RFC .*\n", ""),
    (r", see Documentation/conformance", ""),
    (r"\(enum rdma_driver_id\)KWARP_DRIVER_ID", "RDMA_DRIVER_KWARP"),
)

# In the tables below, and in the file OTHER, a name that ends in / stands for all files in a folder.

# Functions to drop, with the comment above them, and their declarations.
FUNCTIONS = """
    queue/: pull_sends sends_pending kwarp_sq_has_unmoved kwarp_sq_posted_all recvs_pending
        has_unmoved
        raise_late is_late
    engine/: peek_request spoil_crc takes_nothing kwarp_engine_fault kwarp_engine_fault_lasts
        kwarp_engine_hit is_hit is_stalled is_slow hit_message tx_wait_for_fault
    verbs/: fw_ver kwarp_fw_str kwarp_udata_fault refused
    netlink.c: dump_faults
    link.c: kwarp_foreign_links_register kwarp_foreign_links_unregister
    link.h: kwarp_foreign_links_register kwarp_foreign_links_unregister kwarp_link_add
        kwarp_link_add_type
    device.h: kwarp_sysfs_add kwarp_knobs_init
"""

# Members of structs to drop, with their description.
MEMBERS = """
    queue/: foreign creator late
    qp/: rq_map
    engine/: hold creator stalled slow denied
    kwarp.h: personality coalesce_paced
    counts.h: paced
"""

# Lines to drop.
LINES = """
    engine/: e->tx.coalesce.ops = parts->hold;
    verbs/: .hold = NULL,
    queue/: INIT_DELAYED_WORK(&cq->late, raise_late);
    queue/: #define KWARP_CQ_LATE		4	/* call the completion handler: a fault has delayed that */
    engine/: e->creator = parts->creator;
    engine/: tx->stalled = 0;
    link.c: /* Queue pairs wait for what late-work delays. */
    engine/: KWARP_TX_STALLED,	/* a fault lets nothing be sent: likewise */
    engine/: KWARP_E_RESET,		/* the end of the stream is to reset the connection */
    verbs/: .creator = qp->sq.user ? qp->creator : NULL,
    verbs/: cq->creator = udata ? get_pid(task_tgid(current)) : NULL;
    verbs/: put_pid(cq->creator);
    engine/engine.c: #include <net/tcp.h>
    engine/types.h: struct pid;
    engine/tx/batch.c: #include <net/sock.h>
    engine/rx/receive.c: #include "../../wq.h"
    engine/tx/batch.c: #include "../../kwarp.h"
    queue/cq.c: #include "../wq.h"
    queue/cq.h: #include <linux/workqueue.h>
    verbs/cq_verbs.c: #include <linux/pid.h>
    verbs/udata.h: #include <linux/sched/signal.h>
    verbs/: cancel_delayed_work_sync(&cq->late);
    ended.h: KWARP_WHY_INJECTED,	/* none has failed: a fault was asked for, see fault.h */
    ended.c: WHY(INJECTED),
    ended.c: [KWARP_WHY_INJECTED] = "a fault was injected: see kwarpctl fault",
    ended.c: SAME(INJECTED);
    include/uapi/rdma/kwarp-abi.h: KWARP_VENDOR_INJECTED	= 0x10012,	/* no mistake: a test has asked for this error */
    verbs/: /* @p: of the program, or NULL */
    verbs/: const u32 max_inline = KWARP_MAX_INLINE;
    verbs/: const u32 max_sge = KWARP_MAX_SGE;
    verbs/: /* @foreign: another user library sends no request, and its completions have no timestamp. */
    verbs/: attr->fw_ver = fw_ver();
    stats.c: { "coalesce_paced", OTHER, offsetof(struct kwarp_dev, coalesce_paced) },
    main.c: MODULE_VERSION(KWARP_VERSION);
    main.c: kwarp_foreign_links_register();
    main.c: kwarp_foreign_links_unregister();
    device.c: .get_dev_fw_str = kwarp_fw_str,
    device.c: .device_group = &kwarp_attr_group,
    device.c: kdev->personality = personality;
    device.h: extern const struct attribute_group kwarp_attr_group;
    device.h: /* sysfs.c */
    device.h: /* knobs.c */
    kwarp.h: struct kwarp_personality;
    link.h: struct kwarp_personality;
    link.h: struct rdma_link_ops;
    link.h: struct net_device;
    link.h: /* Types of links with a personality; without such a type, these are weak functions of link.c. */
    link.c: * @personality: of the type; NULL: none
"""

# Other edits; the head of the file says how it is written.
OTHER = pathlib.Path(__file__).with_name("core.edits")


def listed(table):
    """(place, names) for each row of a table; a row may be continued on lines without a colon."""
    for row in re.findall(r"^ *(\S+): ((?:.|\n(?! *\S+: ))*)", table, re.M):
        yield row[0], row[1].split()


def drop_function(text, name):
    """Drop a function's definition or declaration, with the comment above it."""
    comment = r"(?:^/\*(?:(?!\*/)[\s\S])*\*/\n)?"
    head = r"^(?:[a-z_]\w* |[a-z_]\w* \*)+%s\([^;{]*\)" % name
    text, n = re.subn(comment + head + r"\n\{\n(?:.*\n)*?\}\n\n?", "", text, flags=re.M)
    if not n:
        text, n = re.subn(head + r";\n", "", text, flags=re.M)
    return text, n


def drop_member(text, name):
    """Drop a member of a struct, and its description."""
    text, docs = re.subn(r"^ \* @%s: .*\n(?: \*\t.*\n)*" % name, "", text, flags=re.M)
    if docs:
        text, docs = re.subn(r"^\t[^\n;(]*\b%s;\n" % name, "", text, flags=re.M)
    return text, docs


def replace(text, old, new):
    """Replace whole lines, or else a part of a line."""
    if "\n" + old not in text:
        old, new = old.rstrip("\n"), new.rstrip("\n")
    return text.replace(old, new), text.count(old)


def wrapped(line):
    """Several lines instead of a comment's line that is too long."""
    if len(line.expandtabs()) <= WIDTH + 1:
        return line
    line = re.sub(r"^(\t+)([^\s/].*?)\s+(/\* .* \*/)\n$", r"\1\3\n\1\2\n", line)
    line = re.sub(r"^(\t*)/\* (.*) \*/\n$", r"\1/*\n\1 * \2\n\1 */\n", line)
    if line.count("\n") > 1:
        return "".join(map(wrapped, line.splitlines(keepends=True)))
    begin = re.match(r"\t* \*[ \t]+", line)
    if not begin:
        return line
    tabs = len(begin[0].expandtabs()) - len(begin[0])
    at = line.rindex(" ", 0, WIDTH + 1 - tabs)
    more = begin[0].rstrip() + "\t" if line[begin.end()] == "@" else begin[0]
    return line[:at] + "\n" + wrapped(more + line[at + 1:])


class Core:
    """The files of the driver, {path: text}."""

    def __init__(self):
        folder = ROOT / DRIVER
        self.texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8")
                      for path in sorted(folder.rglob("*.[ch]"))
                      if not LEFT_OUT.search(str(path.relative_to(folder)))}
        self.missing = []		# what edits have not found
        self.texts.update((path, (ROOT / path).read_text(encoding="utf-8")) for path in UAPI)

    def edit(self, place, change, what):
        """Change the files of a place; CHANGE returns the new text and how often it has changed
        something. If that is nowhere the driver is not what the edit expects."""
        found = 0
        for path, text in self.texts.items():
            if path == place or place.endswith("/") and path.startswith(place):
                self.texts[path], n = change(text)
                found += n
        if not found:
            self.missing.append(f"{place}: {what}")

    def everywhere(self):
        """EVERYWHERE; each edit has to find something in some file."""
        for pattern, new in EVERYWHERE:
            found = 0
            for path, text in self.texts.items():
                self.texts[path], n = re.subn(pattern, new, text, flags=re.M)
                found += n
            if not found:
                self.missing.append(f"EVERYWHERE: {pattern}")

    def tables(self):
        """FUNCTIONS, MEMBERS and LINES."""
        for table, drop in ((FUNCTIONS, drop_function), (MEMBERS, drop_member)):
            for place, names in listed(table):
                for name in names:
                    self.edit(place, functools.partial(drop, name=name), name)
        for row in LINES.strip().splitlines():
            place, _, line = row.strip().partition(": ")
            line = re.compile(r"^[ \t]*%s\n" % re.escape(line), re.M)
            self.edit(place, functools.partial(line.subn, ""), line.pattern)

    def others(self):
        """The edits of the file OTHER."""
        for place, old, new in re.findall(r"^=== (\S+)\n((?:.*\n)*?)---\n((?:.*\n)*?)(?====|\Z)",
                                          OTHER.read_text(encoding="utf-8"), re.M):
            self.edit(place, functools.partial(replace, old=old, new=new), old)

    def knobs(self):
        """The defaults of the knobs become the values of all devices."""
        rows = re.findall(r"X\((\w+), \w+, ([^,]+),", (ROOT / DRIVER / "knobs.h").read_text(
            encoding="utf-8"))
        table = "".join(f"\t.{name} = {value},\n" for name, value in rows)
        self.texts["device.c"] = self.texts["device.c"].replace("@KNOBS@\n", table)

    def tidy(self):
        """Make one empty line out of several, none before or after a brace, and wrap comments."""
        for path, text in self.texts.items():
            text = re.sub(r"\n{3,}", "\n\n", text)
            text = re.sub(r"\{\n\n", "{\n", text)
            text = re.sub(r"\n\n(\t*\})", r"\n\1", text)
            self.texts[path] = "".join(map(wrapped, text.splitlines(keepends=True)))

    def check(self):
        """Exit with a message if an edit has found nothing, or a word is left that must not be."""
        if self.missing:
            sys.exit("\n".join(self.missing) + "\nthe driver has none of these any more: change "
                     "scripts/upstream")
        left = [f"{path}:{number}: {line.strip()}" for path, text in self.texts.items()
                for number, line in enumerate(text.splitlines(), 1) if WORDS.search(line)]
        if left:
            sys.exit("\n".join(left) + "\nscripts/upstream leaves words that must not be left")

    def write(self, out):
        """Write the files below a folder."""
        for path, text in self.texts.items():
            path = out / path if path in UAPI else out / DRIVER / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def main():
    """Write the files."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: scripts/upstream/core.py FOLDER")
    core = Core()
    core.everywhere()
    core.tables()
    core.others()
    core.knobs()
    core.tidy()
    core.check()
    core.write(pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
