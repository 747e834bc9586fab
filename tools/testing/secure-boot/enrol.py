#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Confirm a key in shim's MokManager, as a person at the guest's console would.

    enrol.py LOG PASSWORD COMMAND...

COMMAND starts the guest; its standard input and output are the guest's serial console. This
program presses keys on the console, writes the console's output to LOG, and ends when COMMAND
ends.
"""
import os
import re
import select
import subprocess
import sys
import time

DOWN = b"\x1b[B"
ENTER = b"\r"

# Pairs: a text on the screen, and the keys that lead to the next screen (None: the password). The
# comments name entries of the screen's menu, from the top; the keys choose the last one named. The
# screen is drawn with escape sequences, which may be between words.
STEPS = [
    ("Press any key to perform MOK management", ENTER),
    ("Perform MOK management", DOWN + ENTER),   # Continue boot; Enroll MOK
    ("\\[Enroll MOK\\]", DOWN + ENTER),         # View key 0; Continue
    ("Enroll the key\\(s\\)\\?", DOWN + ENTER),  # No; Yes
    ("Password:", None),
    ("Perform MOK management", ENTER),          # Reboot
]
LIMIT = 240


def plain(data):
    return re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=()][0-9A-Za-z]?", b" ", data)


def press(line, keys):
    for key in re.findall(rb"\x1b\[.|.", keys, re.S):
        line.write(key)
        line.flush()
        time.sleep(0.3)


def main(log, password, command):
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    steps = list(STEPS)
    seen, drawn = b"", None
    end = time.monotonic() + LIMIT
    with open(log, "wb") as out:
        while time.monotonic() < end:
            if select.select([child.stdout], [], [], 0.1)[0]:
                data = os.read(child.stdout.fileno(), 65536)
                if not data:
                    break
                out.write(data)
                out.flush()
                seen += data
            if not steps:
                continue
            # Wait a second for the rest of the screen before pressing keys. That is not too late:
            # MokManager waits ten seconds for a key.
            if drawn is None and re.search(steps[0][0].replace(" ", " +").encode(), plain(seen)):
                drawn = time.monotonic()
            if drawn is not None and time.monotonic() > drawn + 1:
                seen, drawn = b"", None
                press(child.stdin, steps.pop(0)[1] or password.encode() + ENTER)
        child.kill()
    child.wait()
    if steps:
        sys.exit("error: MokManager did not come to '%s', see %s" % (steps[0][0], log))


main(sys.argv[1], sys.argv[2], sys.argv[3:])
