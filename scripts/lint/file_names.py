#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Find names of files that do not exist, in comments, documents and scripts.

   scripts/lint/file_names.py     print findings, FILE:LINE: WHAT

A name may be a whole path or the end of one; a star or braces stand for any part of a name."""
import fnmatch
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PART = r"(?:[\w.*-]|\{[\w,]*\})"
NAME = re.compile(r"(?<![\w./~$}*%<>@+\\-])(" + f"(?:{PART}+/)*(?!\\.){PART}+" +
                  r"\.(?:c|h|sh|py|rst|md|csv|tsv|awk|bt|spec))(?![\w*/(=-]|\.\w)")
# Not read: made by scripts, or written by others; tests that make files of these names.
SKIP = re.compile(r"Documentation/(?:performance|conformance|upstream/.*\.patch)|LICENSES"
                  r"|tools/testing/fuzz/corpus|scripts/(?:selftest\.sh|tests/test_structure\.py)")
# Folders of the kernel, of rdma-core and of a build; placeholders and ends of names (NAME.c,
# *.mod.c, _kunit.c).
FOREIGN = re.compile(
    r"(?:drivers/(?!infiniband/sw/kwarp/)|net/|include/|linux/|rdma/(?!kwarp-abi)|fs/|lib/|mm/"
    r"|kernel/|arch/|block/|crypto/|init/|samples/|scripts/(?:kernel-doc|checkpatch|kunit)"
    r"|tools/testing/(?:kunit|selftests/(?!kwarp))|trace/|uapi/|asm|kunit/|sys/|infiniband/"
    r"|libibverbs/|librdmacm/|providers/|kernel-abi/|kernel-headers/|util/|ccan/|generated/"
    r"|valgrind/|sanitizer/|build/|Documentation/(?:infiniband|kbuild|dev-tools|userspace-api)/)"
    r"|(?:.*/)?(?:[A-Z_]+\.\w+|\*\.[\w.]+)$|_\w+\.\w+$")
# Files of the kernel, of rdma-core and of a build that are named without their folder.
FOREIGN_NAMES = set("""
    checkpatch.pl cm.c cma.c config.h define_trace.h driver.h i40iw_hw.h icrdma_hw.h iwcm.c
    iwpm_msg.c ib_verbs.h kunit.py kwarp_config.h nes_cm.c provider.c run_tests.py rw.c siw-abi.h
    siw.c siw_cm.c siw_main.c system_heap.c uverbs_cmd.c x.c""".split())


def main():
    """Print all findings."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, check=True).stdout.split("\n")
    files = [name for name in sorted(set(listed)) if (ROOT / name).is_file()]
    ends = {"/".join(name.split("/")[i:]) for name in files for i in range(name.count("/") + 1)}
    for name in files:
        lines = [] if SKIP.match(name) else (ROOT / name).read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            text = line.decode(errors="replace").replace("$(scripts)", "scripts")
            for found in NAME.findall(text):
                end = re.sub(r"^(?:\.+/)+", "", re.sub(r"\{[\w,]*\}", "*", found))
                if not (end in ends or FOREIGN.match(end) or end.split("/")[-1] in FOREIGN_NAMES
                        or "*" in end and fnmatch.filter(ends, end)
                        or text.lstrip().startswith("#include")):
                    print(f"{name}:{number}: there is no {found}")


if __name__ == "__main__":
    main()
