# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl top: a live view of connections in a terminal."""
import contextlib
import json
import os
import select
import shutil
import sys
import termios
import time
import tty

from . import connections as cm
from . import links as kw
from . import rates
from .host import Trouble
from .text import duration, end, marked, octets, printable, process, table

MIB = 1024 * 1024
# Sequences for terminals: another screen without a cursor, and back; home; clear to the end of the
# line, and of the screen.
ENTER, LEAVE = "\033[?1049h\033[?25l", "\033[?25h\033[?1049l"
HOME, LINE_END, CLEAR = "\033[H", "\033[K", "\033[J"
# Keys that choose the order, with its name and the value of a connection by which to sort, the
# largest first.
ORDERS = {"r": ("rate", lambda c: c["tx_mib"] + c["rx_mib"]),
          "t": ("round-trip time", lambda c: c["rtt_us"] or 0),
          "f": ("requests in flight", lambda c: c["in_flight"] or 0),
          "w": ("waiting time", lambda c: c["quiet_ms"] if c["waits_for"] != "-" else -1)}
WAITS = "the peer"
KEYS = "q ends, order: r rate, t round-trip time, f in flight, w waiting"


# ---------------------------------------------------------------------- samples

def waits_for(entry, detail):
    """What keeps a connection from going on, in words."""
    if entry["startup"] not in (None, "STREAM"):
        return "an answer" if entry["startup"].startswith("WAIT_REP") else "its startup"
    if cm.stalled(entry):
        return "%s, for %s" % (WAITS, duration(entry["quiet_ms"]))
    if detail.get("drv_reads_out"):
        return "answers to Reads"
    if entry["waits"] and detail.get("drv_sq_used"):
        return "acknowledgements"
    if detail.get("drv_sq_held"):
        return "more requests"
    return "-"


def sample(host, only):
    """The time, and all connections of the link ONLY (None: all links), by a key."""
    names, told = rates.names_of(host, only), {}
    try:
        found, _ = cm.find_connections(host, names, told)
    except Trouble:
        # Links may be deleted while the programs that list them run.
        if rates.names_of(host, only) == names:
            raise
        found = []
    for entry in found:
        detail = told.get((entry["link"], entry["qp"]), {})
        entry["in_flight"] = detail.get("drv_sq_used")
        entry["rtt_us"] = detail.get("drv_tcp_rtt_us")
        entry["waits_for"] = waits_for(entry, detail)
    return time.monotonic(), {rates.key_of(entry): entry for entry in found}, names


def with_rates(before, after, seconds):
    """The connections of the second sample, with MiB per second of TCP's octets.  A connection that
    is new has no rates yet."""
    found = []
    for key, entry in after.items():
        earlier = before.get(key, entry)
        for name, count in (("tx_mib", "sent"), ("rx_mib", "received")):
            growth = (entry[count] or 0) - (earlier[count] or 0)
            entry[name] = round(max(0, growth) / seconds / MIB, 3)
        found.append(entry)
    return found


# --------------------------------------------------------------------- the page

def state(entry):
    shown = entry["state"] if entry["state"] != "-" else entry["cm_state"] or "-"
    return entry["startup"] if entry["startup"] not in (None, "STREAM") else shown


def rows(found):
    lines = [("LINK", "QP", "STATE", "out MiB/s", "in MiB/s", "FLIGHT", "RTT us", "RETRANS",
              "WAITS FOR", "REMOTE", "PROGRAM (PID)")]
    for c in found:
        lines.append((c["link"], dash(c["qp"]), state(c), rates.number(c["tx_mib"]),
                      rates.number(c["rx_mib"]), dash(c["in_flight"]), dash(c["rtt_us"]),
                      dash(c["retransmitted"]), c["waits_for"], end(c["remote"], c["remote_port"]),
                      process(c)))
    return lines


def dash(value):
    return "-" if value is None else str(value)


def heading(found, names, order):
    busy = sum(c["tx_mib"] + c["rx_mib"] > 0 for c in found)
    total = [sum(c[name] for c in found) for name in ("tx_mib", "rx_mib")]
    return "%s  %d link%s, %d connection%s, %d busy; out %s/s, in %s/s; by %s" % (
        time.strftime("%H:%M:%S"), len(names), "" if len(names) == 1 else "s", len(found),
        "" if len(found) == 1 else "s", busy, octets(total[0] * MIB), octets(total[1] * MIB),
        ORDERS[order][0])


def page(found, names, order, size):
    """The lines that fit into a terminal of this size (columns, lines)."""
    width, height = size
    found = sorted(found, key=ORDERS[order][1], reverse=True)
    lines = [heading(found, names, order), KEYS, ""]
    if not names:
        lines.append("no links: rdma link add kw0 type kwarp netdev NETDEV adds one")
    elif not found:
        lines.append("no connections")
    else:
        room = max(1, height - len(lines) - 2)
        lines += table(rows(found[:room]))
        if len(found) > room:
            lines.append("and %d more" % (len(found) - room))
    return [marked(printable(line)[:width], WAITS) for line in lines[:height]]


# ----------------------------------------------------------------- the terminal

@contextlib.contextmanager
def screen(keyboard):
    """Context manager: another screen, and single keys from the keyboard.  At the end, whatever
    that is, the terminal is as it was."""
    saved = termios.tcgetattr(keyboard)
    try:
        tty.setcbreak(keyboard)
        # Ctrl-Z would leave the terminal as it is now to the shell.
        now = termios.tcgetattr(keyboard)
        now[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(keyboard, termios.TCSADRAIN, now)
        sys.stdout.write(ENTER)
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, saved)
        sys.stdout.write(LEAVE)
        sys.stdout.flush()


def draw(lines):
    sys.stdout.write(HOME + "".join(line + LINE_END + "\r\n" for line in lines[:-1])
                     + lines[-1] + LINE_END + CLEAR)
    sys.stdout.flush()


def pressed(keyboard, seconds):
    """A key that is pressed within these seconds; None if there is none.  A terminal that is gone
    counts as the key q."""
    late = time.monotonic() + seconds
    try:
        # A signal that comes just before select() does not end it, so it does not wait for long.
        while not select.select([keyboard], [], [], min(1, max(0, late - time.monotonic())))[0]:
            if time.monotonic() >= late:
                return None
        return os.read(keyboard, 1).decode(errors="replace") or "q"
    except OSError:
        return "q"


def watch(host, args, keyboard):
    order, done = "r", 0
    then, before, names = sample(host, args.link)
    shown = with_rates({}, before, 1)
    while True:
        # The first page has no rates, and is none of those that the user has asked for.
        if done or not args.count:
            draw(page(shown, names, order, shutil.get_terminal_size()))
        if done == args.count:
            return
        due = time.monotonic() + args.interval
        while (left := due - time.monotonic()) > 0:
            key = pressed(keyboard, left)
            if key in ("q", "Q", "\x04"):
                return
            if key in ORDERS:
                order = key
                draw(page(shown, names, order, shutil.get_terminal_size()))
        now, after, names = sample(host, args.link)
        shown = with_rates(before, after, now - then)
        then, before, done = now, after, done + 1


def batch(host, args):
    """Without a terminal: a table or, with --json, an object for each measurement."""
    then, before, _ = sample(host, args.link)
    for _ in range(args.count or 1):
        time.sleep(args.interval)
        now, after, names = sample(host, args.link)
        found = sorted(with_rates(before, after, now - then), key=ORDERS["r"][1], reverse=True)
        if args.json:
            print(json.dumps({"seconds": round(now - then, 3), "links": names,
                              "connections": found}), flush=True)
        else:
            lines = table(rows(found)) if found else ["no connections"]
            print("\n".join([heading(found, names, "r"), *lines]), flush=True)
        then, before = now, after


def command(host, args):
    args.interval = args.interval or 1.0
    if not kw.find_links(host, args.link):
        raise Trouble("no links: rdma link add kw0 type kwarp netdev NETDEV adds one")
    if args.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        batch(host, args)
        return 0
    with screen(sys.stdin.fileno()):
        watch(host, args, sys.stdin.fileno())
    return 0
