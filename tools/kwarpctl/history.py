# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The counts of links at earlier runs of doctor, so that it does not warn for ever of what happened
once.

Root's runs keep for each link two samples of its counts in a file that does not survive a boot:
"last", and "base", the one before that.  Counts are compared with "base".  A run moves the samples
on only if "last" is older than RECENT: so runs within a few minutes print the same.
"""
import json

FILE = "/run/kwarp/counts.json"
RECENT = 600


def load(host):
    try:
        found = json.loads(host.read(FILE) or "{}")
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}


def is_sample(entry):
    return isinstance(entry, dict) and isinstance(entry.get("time"), (int, float)) and \
        isinstance(entry.get("counts"), dict) and \
        all(isinstance(value, int) for value in entry["counts"].values())


def moved_on(known, link, counts, now):
    """The two samples of a link after this run, from the file's contents."""
    before = known.get(link.name)
    new = {"time": now, "counts": counts}
    if not isinstance(before, dict) or before.get("index") != link.index \
            or not is_sample(before.get("last")):
        return {"index": link.index, "base": None, "last": new}
    if now - before["last"]["time"] <= RECENT:
        return before
    return {"index": link.index, "base": before["last"], "last": new}


def grown(samples, counts, now):
    """What counts have grown by since "base", and how many seconds ago that was; since the link was
    added, and None, if there is no such sample."""
    base = samples["base"]
    if not is_sample(base):
        return counts, None
    return {name: value - base["counts"].get(name, 0) for name, value in counts.items()}, \
        now - base["time"]


def remember(host, known):
    """Write the file, as root.  Without it, or if /run cannot be written, doctor warns more often
    than it has to."""
    if host.uid:
        return
    try:
        with host.locked(FILE.rpartition("/")[0]):
            host.replace(FILE, json.dumps(known) + "\n")
    except OSError:
        pass
