# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl why: why connections ended by an error, or did not start, from the records that the
module keeps."""
import errno
import json
import textwrap

from . import links as kw
from .explain import explain
from .host import Trouble, Usage
from .rdma import split_address
from .text import duration, octets, printable

def records(host):
    """The records, the oldest first, with the time since the end in milliseconds."""
    found = host.ended()
    if found is None:
        raise Trouble("the module kwarp is not loaded, or is too old for this: modprobe kwarp")
    now = host.now()
    for entry in found:
        entry["ago_ms"] = max(0, int(1000 * now - (entry["time"] or 0) / 1e6))
    return sorted(found, key=lambda entry: entry["time"] or 0)


def matches(entry, what):
    """Is this a record of the process, the queue pair or the program WHAT?"""
    if what.isdigit():
        return int(what) in (entry["pid"], entry["qp"])
    return entry["program"] == what


def chosen(host, args):
    names = [name for name in host.list(kw.CLASS) if kw.is_ours(host, name)]
    if args.link is not None and args.link not in names:
        raise Usage("no kwarp link is named '%s': %s" % (args.link, "there is no link"
                    if not names else "there are " + ", ".join(names)))
    found = [e for e in records(host) if args.link in (None, e["link"])
             and (args.what is None or matches(e, args.what))]
    return found[-1:] if args.last else found


def code_of(entry):
    """What explain knows the error by: the private number of vendor_err, or the error's name."""
    number = entry["vendor_err"] or 0
    if number > 0xffff:
        return "0x%x" % number
    if entry["terminate"]:
        return "0x%04x" % entry["terminate"]
    return entry["error"]


def explanations(entry):
    try:
        return explain(code_of(entry))
    except Usage:
        return []


# What to do if TCP has lost the connection.  The errno says more than MPA_LOST, which is the same
# for all of these.
LOST = {
    errno.ECONNRESET: "Look at the peer: its program or machine has ended, or a firewall has reset "
    "the connection.",
    errno.EHOSTUNREACH: "Look at the way to the peer: ip route get.",
    errno.ETIMEDOUT: "Look at the peer and at the way there. Raise the knobs keepalive and "
    "user_timeout if the network pauses for longer.",
    errno.ECONNABORTED: "Find out who has ended it: ss -K does that.",
}


def lost(entry):
    """What to do about a connection that TCP has lost, or None."""
    if entry["error"] != "MPA_LOST" or entry["why"] is not None or entry["terminate"] is not None:
        return None
    return LOST.get(abs(entry["errno"] or 0))


PROBE = "Run kwarpctl doctor --peer {address} --port {port}: it finds out which."
# What to do about a startup that has failed, by the names in the driver's cm/ep_trouble.c.  Of two,
# the second is for the end that listens.
STARTUPS = {
    "NO_LISTENER": "Start the server first. If it runs, look at its port, and run kwarpctl show there: "
    "it may listen on another address, such as 127.0.0.1, which no peer can reach.",
    "NO_ANSWER": "The host is down, there is no way to it, or a firewall drops the packets. " + PROBE,
    "NO_TCP": PROBE,
    "REJECTED": "Look at the peer's program, which has called rdma_reject(), or has ended.",
    "REJECTED_CRC": "The peer may require CRC (kwarpctl set there shows its knob crc): kwarpctl set "
    "{link} crc=on. If its knob is not \"required\", its program has rejected the connection.",
    "REJECTED_MARKERS": "The peer may be unable to send markers: kwarpctl set {link} markers=off. "
    "Otherwise its program has rejected the connection.",
    "CRC_REQUIRED": "Compare the knobs crc of both ends: set it to on at both.",
    "NOT_MPA": ("Something other than RDMA listens there. " + PROBE,
                "Something other than RDMA connects to the port: find out what (ss -tn)."),
    "REPLY_LESS": "Compare the knobs rtr, and initiator_depth and responder_resources of "
    "rdma_connect() here and rdma_accept() there.",
    "CLOSED": "Look at the peer: its program or machine has ended, or it speaks no revision of MPA "
    "that this end does (knob mpa_rev).",
    "NO_REQUEST": "Something other than RDMA connects to the port, or the peer has stopped.",
    "NO_REPLY": "The peer's program does not accept, or something other than RDMA has the port. "
    + PROBE,
    "NO_ACCEPT": "Let the program that listens call rdma_accept() or rdma_reject() sooner.",
    "NO_MESSAGE": "Look at the peer, and at its knobs peer_to_peer and rtr.",
    "EVICTED": "The program accepts too slowly, or the port is flooded: see the knob half_open_max.",
    "LOCAL": "Look at the memory of this machine, and at the kernel log.",
}


def remedy(entry):
    """What to do about a startup that has failed; "" for a reason that a later module has."""
    found = STARTUPS.get(entry["why"], "")
    if isinstance(found, tuple):
        found = found[entry["startup"].startswith("WAIT_REQ")]
    address, port = split_address(str(entry["remote"]))
    return found.format(link=entry["link"], address=address, port=port)


def text_of(entry):
    """What happened, in words."""
    number = entry["errno"]
    if entry["why"] in ("NO_TCP", "LOCAL") and entry["startup"] and number in errno.errorcode:
        return "%s (%s)" % (entry["text"], errno.errorcode[number])
    return str(entry["text"])


def advice(entry):
    """Where to look: at the end that found the error, or at the other one."""
    if entry["terminate"] is not None:
        return "The peer has found the error. kwarpctl why at the peer tells what its region or " \
            "queue allows."
    if entry["why"] in ("STAG", "RIGHT", "BOUNDS", "WRAP", "PD", "QP_RIGHT") \
            and (entry["vendor_err"] or 0) <= 0xffff:
        return "The peer's program has asked for that: compare the key, address and length that " \
            "it was given, and the rights of ibv_reg_mr() here."
    return ""


def process(entry):
    if entry["program"] is None:
        return "a listener"
    return "%s (pid %s)" % (entry["program"], entry["pid"]) if entry["pid"] else \
        str(entry["program"])


def wrapped(label, text):
    return textwrap.wrap(text, 90, initial_indent="  %-8s" % label, subsequent_indent=" " * 10,
                         break_on_hyphens=False)


def startup(entry):
    """Lines about a connection that did not start."""
    pair = ", " if entry["qp"] is None else ", QP %s of " % entry["qp"]
    lines = ["%s%s%s: did not connect, %s ago (%s)" % (
        entry["link"], pair, process(entry), duration(entry["ago_ms"]), entry["startup"]),
        "  %s -> %s" % (entry["local"], entry["remote"])]
    return lines + wrapped("why", text_of(entry)) + wrapped("do", remedy(entry))


def stream(entry):
    """Lines about a connection that has ended."""
    lines = ["%s, QP %s of %s: ended %s ago, after %s"
             % (entry["link"], entry["qp"], process(entry), duration(entry["ago_ms"]),
                duration(entry["age_ms"])),
             "  %s -> %s, %s sent, %s received, %s sent again"
             % (entry["local"], entry["remote"], octets(entry["sent"]), octets(entry["received"]),
                entry["retrans"])]
    lines += wrapped("why", str(entry["text"]))
    # The Terminate of a peer may have a second meaning: a siw exchanges layer and type.
    for code in explanations(entry)[:None if entry["terminate"] else 1]:
        lines += wrapped("code", "%s: %s" % (code["code"], code["meaning"]))
        if code["cause"] and entry["why"] is None and not lost(entry):
            lines += wrapped("likely", code["cause"])
        lines += wrapped("do", lost(entry) or code["action"])
    if advice(entry):
        lines += wrapped("", advice(entry))
    return lines


def described(entry):
    """Lines about one record."""
    return [printable(line) for line in (startup if entry["startup"] else stream)(entry)]


def elsewhere(host, args):
    """Lines about the links whose records are told in another network namespace only."""
    try:
        names = [link.name for link in kw.find_links(host, args.link) if not link.here]
    except Trouble:
        return []
    return ["not asked: %s, in another network namespace; run this there: ip netns exec NAMESPACE "
            "kwarpctl why" % ", ".join(names)] if names else []


def command(host, args):
    found = chosen(host, args)
    if args.json:
        print(json.dumps(found, indent=2))
    elif not found:
        print("no connection %shas ended by an error, or failed to start%s" % (
            "of %s " % args.what if args.what else "",
            "" if host.uid == 0 else " (only root is told of other users' programs)"))
        for line in elsewhere(host, args):
            print(printable(line))
    else:
        print("\n\n".join("\n".join(described(entry)) for entry in found))
    return 0
