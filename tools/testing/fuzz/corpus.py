#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Convert a corpus, the inputs of one fuzz target, between its text and a folder.

    corpus.py unpack FILE.hex DIR    make a file of each line
    corpus.py pack FILE.hex DIR      make a line of each file

libFuzzer reads and writes a folder with a file per input. The text has a line of hexadecimal digits
per input, sorted, so that a commit shows which inputs it adds.
"""
import pathlib
import shutil
import sys


def unpack(text, folder):
    """Write the inputs in the text to a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, line in enumerate(text.read_text(encoding="ascii").splitlines()):
        (folder / f"{number:03}").write_bytes(bytes.fromhex(line))


def pack(text, folder):
    """Write the inputs in the folder to the text."""
    lines = sorted({path.read_bytes().hex() for path in folder.iterdir()})
    text.write_text("".join(line + "\n" for line in lines), encoding="ascii")


if __name__ == "__main__":
    {"unpack": unpack, "pack": pack}[sys.argv[1]](*map(pathlib.Path, sys.argv[2:]))
