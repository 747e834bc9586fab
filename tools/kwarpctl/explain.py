# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl explain: the meaning of a code, in words."""
import errno
import json
import os
import re
import textwrap

from .causes import ASYNC, CAUSES, MESSAGES
from .host import Usage
from .statuses import ERRNOS, EVENTS, STATUSES
from .terms import LAYERS, TERMS, TYPES, rows_of

HELP = "give a Terminate (1/2/02, 0x1202, DDP_U_NOBUF), a status (IBV_WC_WR_FLUSH_ERR, its text " \
    "or number), an event (RDMA_CM_EVENT_REJECTED, IBV_EVENT_CQ_ERR), an errno (ECONNREFUSED, its " \
    "text, -111), or a message of a program"


def plain(text):
    """Reduce a text to lower case letters and digits, so that its spelling does not matter."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def answer(title, meaning, rfc="", cause="", action=""):
    return {"code": title, "meaning": meaning, "rfc": rfc, "cause": cause, "action": action}


def term_title(term):
    return "Terminate %s, vendor_err 0x%04x, %s" % (term.triple(), term.short(), term.name)


def of_term(term):
    sent = term.name != "NONE"
    title = term_title(term) if sent else term.name
    return answer(title, term.meaning, term.rfc, term.cause, term.action)


def of_status(number):
    status = STATUSES[number]
    return answer("completion status %d, IBV_WC_%s, \"%s\"" % (number, status.name, status.text),
                  status.meaning, status.rfc, status.cause, status.action)


def of_errno(entry):
    number = getattr(errno, entry.name)
    return answer("errno %d, %s; status %d of an event of rdma_cm" % (number, entry.name, -number),
                  entry.meaning, "", "", entry.action)


def of_event(event):
    number = [e.name for e in EVENTS].index(event.name)
    return answer("event %d of rdma_cm, RDMA_CM_EVENT_%s" % (number, event.name), event.meaning,
                  "", event.cause, event.action)


def of_cause(cause):
    return answer("vendor_err 0x%05x, LOCAL_%s" % (cause.number, cause.name), cause.meaning,
                  "RFC 5040 section 7.1 (0/0/00)", "", cause.action)


def of_async(event):
    return answer("event IBV_EVENT_%s of ibv_get_async_event()" % event.name, event.meaning, "", "",
                  event.action)


def of_message(message):
    return answer("message \"%s\"" % message.title, message.meaning, "", "", message.action)


# -------------------------------------------------------------------- numbers

def exchanged(short):
    """Exchange layer and type in a number: siw sends a Terminate with the two exchanged."""
    return (short >> 8 & 0xf) << 12 | (short >> 12) << 8 | short & 0xff


def of_exchanged(short):
    """Explanations of the number if it comes from siw, which sends layer and type exchanged."""
    found = [t for t in rows_of(exchanged(short)) if t.layer != t.etype]
    return [dict(of_term(t), code=term_title(t) + ", if it is from siw, which exchanges layer "
                 "and type") for t in found]


def of_short(short):
    """Explanations of a number from vendor_err of a completion: layer, type and code of a
    Terminate, as layer << 12 | type << 8 | code."""
    causes = [of_cause(c) for c in CAUSES if c.number == short]
    if causes:
        return causes
    if not 0 <= short <= 0xffff:
        raise Usage("%#x is not a vendor_err: give a number from 0 to 0xffff, or one from %#x on "
                    "that kwarpctl explain --list has" % (short, CAUSES[0].number))
    found = [of_term(t) for t in rows_of(short)]
    if not short:
        found.append(of_term(TERMS[0]))
    found += of_exchanged(short)
    if found:
        return found
    layer, etype, code = short >> 12, short >> 8 & 0xf, short & 0xff
    if layer not in LAYERS:
        raise Usage("0x%04x has layer %d, which no RFC knows: layers are 0, 1 and 2"
                    % (short, layer))
    kind = TYPES.get((layer, etype), "type %d" % etype)
    return [answer("Terminate %d/%d/%02x" % (layer, etype, code),
                   "%s says: %s. kwarp itself never sends this code." % (LAYERS[layer], kind),
                   "RFC 5040 section 4.8 has the list", "The peer is another implementation.",
                   "Look it up in the peer's documents.")]


def errno_entry(number):
    return [of_errno(e) for e in ERRNOS if getattr(errno, e.name) == number]


def of_number(number):
    """Explanations of a decimal number, which may be a status of a completion, an errno, and a
    vendor_err."""
    found = [of_status(number)] if 0 <= number < len(STATUSES) else []
    found += errno_entry(abs(number))
    if number >= len(STATUSES):
        found += [of_term(t) for t in rows_of(number)]
        found += [of_cause(c) for c in CAUSES if c.number == number]
    if not found:
        raise Usage("nothing has the number %d: %s" % (number, HELP))
    return found


# ---------------------------------------------------------------------- names

def named(text):
    """The explanations of a name of any kind, or of the text that the system has for it."""
    word = plain(text)
    for prefix in ("ibvwc", "ibwc", "rdmacmevent", "kwarpperr", "ibvevent", "ibevent"):
        word = word.removeprefix(prefix)
    found = [of_term(t) for t in TERMS if word == plain(t.name)]
    found += [of_status(n) for n, s in enumerate(STATUSES)
              if word in (plain(s.name), plain(s.text))]
    found += [of_event(e) for e in EVENTS if word == plain(e.name)]
    found += [of_errno(e) for e in ERRNOS
              if word in (plain(e.name), plain(os.strerror(getattr(errno, e.name))))]
    found += [of_async(e) for e in ASYNC if word == plain(e.name)]
    found += [of_cause(c) for c in CAUSES if word in ("local" + plain(c.name), "kwarpvendor" +
                                                      plain(c.name))]
    return found if word else []


NAMES = re.compile(r"\b(IBV_WC_\w+|IBV_EVENT_\w+|RDMA_CM_EVENT_\w+|E[A-Z]{3,}"
                   r"|(?:R|O|DDP|MPA|LOCAL)_[A-Z_]+)\b")
# vendor_err as programs print it; perftest calls it "syndrom"
NUMBERS = re.compile(r"(?:vendor_err|vendor err|syndrom)[: ]*0x([0-9a-fA-F]{3,5})\b")


def of_text(text):
    """Explanations of what is named in a whole line of a program's output or of the log."""
    word = plain(text)
    found = [of_message(m) for m in MESSAGES if m.pattern in word]
    found += [of_status(n) for n, s in enumerate(STATUSES) if n and plain(s.text) in word]
    for name in dict.fromkeys(NAMES.findall(text)):
        found += [entry for entry in named(name) if entry not in found]
    for number in dict.fromkeys(NUMBERS.findall(text)):
        found += [of_term(t) for t in rows_of(int(number, 16))]
        found += [of_cause(c) for c in CAUSES if c.number == int(number, 16)]
    found += [of_errno(e) for e in ERRNOS
              if plain(os.strerror(getattr(errno, e.name))) in word
              and of_errno(e) not in found and not any(m.pattern in word for m in MESSAGES)]
    return found


def of_name(text):
    found = named(text) or (of_text(text) if plain(text) else [])
    if not found:
        raise Usage("nothing is named '%s': %s" % (text, HELP))
    return found


def explain(text):
    """All explanations of a code."""
    text = text.strip()
    triple = re.fullmatch(r"(\d)/(\d{1,2})/(?:0x)?([0-9a-fA-F]{1,2})", text)
    if triple:
        layer, etype, code = int(triple[1]), int(triple[2]), int(triple[3], 16)
        if etype > 15:
            raise Usage("'%s' has type %d: types are 0 to 15" % (text, etype))
        return of_short(layer << 12 | etype << 8 | code)
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
        return of_short(int(text, 16))
    if re.fullmatch(r"-?[0-9]+", text):
        return of_number(int(text))
    return of_name(text)


def names():
    """All names that can be explained."""
    return [t.name for t in TERMS] + ["IBV_WC_" + s.name for s in STATUSES] + \
        ["RDMA_CM_EVENT_" + e.name for e in EVENTS] + [e.name for e in ERRNOS] + \
        ["IBV_EVENT_" + e.name for e in ASYNC] + ["LOCAL_" + c.name for c in CAUSES]


def show(found):
    labels = (("meaning", ""), ("rfc", "see"), ("cause", "likely"), ("action", "do"))
    lines = []
    for entry in found:
        lines.append(entry["code"])
        for key, label in labels:
            if entry[key] not in ("", "-"):
                lines += textwrap.wrap(entry[key], 90, initial_indent="  %-8s" % label,
                                       subsequent_indent=" " * 10)
        lines.append("")
    return "\n".join(lines[:-1])


def command(args):
    if args.list:
        print(json.dumps(names(), indent=2) if args.json else "\n".join(names()))
        return 0
    found = explain(" ".join(args.code))
    print(json.dumps(found, indent=2) if args.json else show(found))
    return 0
