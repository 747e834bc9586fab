# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl set: set knobs (settings) of a link now, and keep them for each boot.

Keeping knobs is writing them to /etc/kwarp/LINK.conf, one line KNOB=VALUE for each; a # begins a
comment.  The systemd unit kwarp@ sets these kept knobs after it has added the link.
"""
import json
import re
import sys

from . import links as kw
from .host import Trouble, Usage

FOLDER = "/etc/kwarp"

# Values that each knob takes, in words, for messages.  kwarpctl itself does not check values: the
# kernel module does, when a value is written (knobs.c).
ON_OFF = "on or off"
SECONDS = "seconds, 0 (never) to 32767"
TIMEOUT = "seconds, 1 to 3600"
BUFFER = "octets, 65536 to 1073741823, or 0 (TCP chooses)"
VALUES = {
    "align": ON_OFF,
    "coalesce_us": "microseconds, 10 to 1000, or 0 (each request goes at once)",
    "connect_timeout": TIMEOUT, "crc": "on, off or required", "half_open_max": "16 to 65536",
    "keepalive": SECONDS, "linger_timeout": TIMEOUT, "log_errors": ON_OFF,
    "long_frames": ON_OFF, "markers": ON_OFF, "mpa_rev": "1 or 2",
    "peer_to_peer": ON_OFF, "rcvbuf": BUFFER,
    "receive_wait": "milliseconds, 0 (none) to 60000", "rfc7306": ON_OFF,
    "rtr": "a list of send, write and read, with commas", "sndbuf": BUFFER,
    "startup_timeout": TIMEOUT, "strict": ON_OFF, "tos": "0 to 252, a multiple of 4",
    "user_timeout": SECONDS, "wire_port": "a TCP port, or 0 (no queue pair is wired)",
}

# Knobs of earlier versions, and what does their work now. A file of kept knobs may still have them.
GONE = {
    "congestion": "'ip route change ... congctl NAME' and the sysctl "
                  "net.ipv4.tcp_congestion_control choose TCP's congestion control",
}


def place(link, knob):
    return "%s/%s/kwarp/%s" % (kw.CLASS, link, knob)


def kept_in(link):
    return "%s/%s.conf" % (FOLDER, link)


def split(text, where):
    """Split KNOB=VALUE; blanks around KNOB and VALUE are allowed.  An error message begins with
    the text WHERE, which names the place of KNOB=VALUE, for example file and line."""
    knob, sign, value = (part.strip() for part in text.partition("="))
    if not sign or not knob or not value:
        name = knob if knob in VALUES else "KNOB"
        raise Usage("%s'%s' is no KNOB=VALUE: write %s=VALUE, with %s"
                    % (where, text, name, VALUES.get(knob, "a knob that kwarpctl set LINK shows")))
    return knob, value


def kept(host, link):
    """Kept knobs of a link: for each the number of its line in the file, and its value."""
    found = {}
    for number, line in enumerate((host.text(kept_in(link)) or "").splitlines(), 1):
        text = line.partition("#")[0].strip()
        if text:
            knob, value = split(text, "%s:%d: " % (kept_in(link), number))
            found[knob] = (number, value)
    return found


# ------------------------------------------------------------------- setting

def check_names(host, link, knobs, where):
    there = [name for name in kw.defaults(host) if host.exists(place(link, name))]
    if not there:
        raise Trouble("the knobs of %s cannot be seen here: run this in the network namespace of "
                      "its network device" % link)
    for knob in knobs:
        if knob not in there:
            raise Usage("%s%s has no knob '%s': it has %s"
                        % (where(knob), link, knob, ", ".join(there)))


def refused(link, knob, value, error, where):
    if isinstance(error, PermissionError):
        return Trouble("%s=%s: %s; run it as root, with CAP_NET_ADMIN"
                       % (knob, value, error.strerror))
    if isinstance(error, FileNotFoundError):
        return Trouble("%s has been deleted meanwhile" % link)
    return Usage("%s%s does not take %s=%s (%s): give %s"
                 % (where(knob), link, knob, value, error.strerror,
                    VALUES.get(knob, "another value")))


def put_back(host, link, before):
    """After a knob was refused, set the knobs in the dictionary BEFORE back to the values there.
    Return the knobs whose value cannot be restored."""
    left = []
    for knob, value in before.items():
        try:
            host.write(place(link, knob), (value or "") + "\n")
        except OSError:
            left.append(knob)
    return left


def set_all(host, link, wanted, where=lambda knob: ""):
    """Set all knobs or, if the kernel refuses one, none.  Error messages begin with where(knob),
    the place from which the knob comes, such as a line of a file."""
    check_names(host, link, wanted, where)
    before = {}
    for knob, value in wanted.items():
        before[knob] = host.read(place(link, knob))
        try:
            host.write(place(link, knob), value + "\n")
        except OSError as error:
            del before[knob]
            trouble = refused(link, knob, value, error, where)
            left = put_back(host, link, before)
            if left:
                trouble = Trouble("%s; these stay set: %s" % (trouble, ", ".join(left)))
            raise trouble from None


def set_kept(host, link):
    """Set the kept knobs of a link, as the unit kwarp@ does.  Without a file nothing is set.  A
    knob of an earlier version is no error: after an upgrade the others are still to be set."""
    lines = kept(host, link)
    for knob in GONE.keys() & lines.keys():
        print("kwarpctl: %s:%d: the knob %s is gone, and the line has no effect: %s; remove the line"
              % (kept_in(link), lines.pop(knob)[0], knob, GONE[knob]), file=sys.stderr)
    if lines:
        set_all(host, link, {knob: value for knob, (_, value) in lines.items()},
                lambda knob: "%s:%d: " % (kept_in(link), lines[knob][0]))


# ------------------------------------------------------------------- keeping

HEAD = "# Knobs of the link %s, set when kwarp@.service adds it: see kwarpctl(8).\n"


def keep(host, link, wanted):
    """Write the lines of these knobs in the link's file, and leave all other lines as they are."""
    text = host.text(kept_in(link))
    lines = (HEAD % link if text is None else text).splitlines()
    for knob, value in wanted.items():
        mine = [n for n, line in enumerate(lines) if re.match(r"\s*%s\s*=" % knob, line)]
        last = mine.pop() if mine else len(lines)
        lines[last:last + 1] = ["%s=%s" % (knob, value)]
        for n in reversed(mine):
            del lines[n]
    host.replace(kept_in(link), "\n".join(lines) + "\n")


def keep_locked(host, link, wanted):
    try:
        with host.locked(FOLDER):
            keep(host, link, wanted)
    except OSError as error:
        raise Trouble("the knobs are set, but not kept: %s: %s"
                      % (kept_in(link), error.strerror)) from None


def what_is(host, link, knobs):
    """Values of knobs as the module shows them, the form in which they are kept in the file."""
    found = {knob: host.read(place(link, knob)) for knob in knobs}
    if None in found.values():
        raise Trouble("%s has been deleted meanwhile: nothing is kept" % link)
    return found


def warn_of_name(link):
    """Warn if the unit kwarp@ will not read the file of this link: the unit always names a link
    kw-NETDEV, and reads the file of that name."""
    if link.netdev and link.name != "kw-%s" % link.netdev:
        print("kwarpctl: the knobs are kept in %s, but the unit kwarp@%s does not read that file, "
              "because its link is named kw-%s: run kwarpctl set %s --kept when you have added "
              "the link" % (kept_in(link.name), link.netdev, link.netdev, link.name),
              file=sys.stderr)


# ------------------------------------------------------------------- showing

def rows(host, link):
    usual, lines = kw.defaults(host), kept(host, link.name)
    return [{"knob": knob, "value": value, "default": usual[knob],
             "kept": lines[knob][1] if knob in lines else None, "values": VALUES.get(knob, "?")}
            for knob, value in link.knobs.items()]


def show(host, link, as_json):
    found = rows(host, link)
    if as_json:
        print(json.dumps({"link": link.name, "knobs": found}, indent=2))
        return
    line = "%-16s %-12s %-12s %-12s %s"
    print(line % ("knob", "value", "default", "kept", "values"))
    for row in found:
        print(line % (row["knob"], row["value"], row["default"], row["kept"] or "-",
                      row["values"]))


def command(host, args):
    link = kw.find_links(host, args.link)[0]
    wanted = dict(split(text, "") for text in args.knobs)
    if args.kept:
        set_kept(host, link.name)
    elif wanted:
        set_all(host, link.name, wanted)
        if args.keep:
            keep_locked(host, link.name, what_is(host, link.name, wanted))
            warn_of_name(link)
    if args.json or not (args.kept or wanted):
        show(host, kw.find_links(host, args.link)[0] if args.kept or wanted else link, args.json)
    return 0
