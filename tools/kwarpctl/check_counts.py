# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks of doctor: values of knobs (settings of a link) that hinder some peers, and counts of a
link that point to the cause of a problem."""
from . import history, rates, why
from .findings import ok, warning
from .host import Trouble
from .text import duration

# Each row: knob, a value that hinders some peers, the effect of that value, what to do.
KNOBS = (
    ("crc", "required", "a peer that asks for no CRCs is refused",
     "set it to on, unless that is meant"),
    ("crc", "off", "damage on the way is not found", "set it to on, unless something else "
     "protects the connections"),
    ("markers", "on", "the peer has to send markers: some peers cannot, and all are slower",
     "set it to off"),
    ("mpa_rev", "1", "there is no peer-to-peer mode: programs whose server speaks first wait for "
     "ever", "set it to 2, unless the peer knows revision 1 only"),
    ("peer_to_peer", "off", "programs whose server speaks first wait for ever",
     "set it to on, unless the server is siw"),
    ("rfc7306", "off", "immediate data and atomic operations end the connection",
     "set it to on, unless that is meant"),
    ("rtr", "send", "the first message takes a receive of the peer's program",
     "set it to write,read"),
    ("strict", "on", "calls of programs that hardware would refuse fail (KWARP_STRICT in kwarp(7))",
     "set it to off, unless that is meant"),
)
SHORT = 5


def check_knobs(case):
    """Warn of each knob whose value hinders some peers, and of time limits below SHORT seconds."""
    found = []
    for link in case.links:
        for knob, value, effect, action in KNOBS:
            if link.knobs.get(knob) == value:
                found.append(warning("knob %s of %s" % (knob, link.name),
                                     "%s: %s" % (value, effect), action))
        for knob in ("keepalive", "user_timeout"):
            value = link.knobs.get(knob, "60")
            if value.isdigit() and 0 < int(value) < SHORT:
                found.append(warning("knob %s of %s" % (knob, link.name), "%s s: a short pause of "
                                     "the network ends connections" % value, "set it to 60"))
    return found or [ok("knobs", "none that hinders a peer")]


# A count of COUNTS that is compared with another count is ignored below this value.
FEW = 100
# Each row: count, another count that it is compared with (or None), the share of the other count
# above which there is a finding, what the count means, what to do.
COUNTS = (
    ("no_receive", None, 0, "messages came for which no receive was posted, and ended their "
     "connections", "let the program post receives in time (explain DDP_U_NOBUF)"),
    ("crc_errors", None, 0, "frames had a wrong CRC", "suspect network card or offloads; with siw "
     "as peer set align to on (explain MPA_CRC)"),
    ("marker_errors", None, 0, "markers of a peer were wrong", "set the knob markers to off"),
    ("term_sent_rdmap", None, 0, "connections were ended here by an error of a program: a Read, an "
     "atomic operation or a request was refused", "run kwarpctl why"),
    ("term_sent_ddp", None, 0, "connections were ended here because a message named a wrong region "
     "or no receive was posted", "run kwarpctl why"),
    ("term_received_rdmap", None, 0, "peers have ended connections, because they refused a Read, an "
     "atomic operation or a request", "run kwarpctl why"),
    ("term_received_ddp", None, 0, "peers have ended connections: a Write had a wrong key, address "
     "or right, or no receive was posted", "run kwarpctl why"),
    ("term_received_mpa", None, 0, "peers have ended connections by an error of MPA",
     "run kwarpctl why"),
    ("term_received_other", None, 0, "peers have ended connections by an error of no RFC",
     "run kwarpctl why"),
    ("streams_lost", None, 0, "connections were lost: the peer neither closed nor sent a Terminate",
     "look at the peer, and at keepalive and user_timeout (explain MPA_LOST)"),
    ("cm_bad", None, 0, "startups broke the protocol: something other than RDMA connects to the "
     "port, such as doctor at a peer with an older kwarp, or crc=required met a peer without CRCs",
     "run kwarpctl why"),
    ("cm_refused", None, 0, "connections were refused without asking the program: crc=required "
     "met a peer that has CRC off", "compare the knobs of both ends"),
    ("cm_evicted", None, 0, "startups were ended because half_open_max of them waited",
     "the program accepts too slowly, or the port is flooded with connections"),
    ("cm_timeouts", None, 0, "startups took too long: a peer or a program did not answer",
     "look at firewall and at programs that do not accept"),
    ("cm_rejected", None, 0, "peers have rejected connections of this end",
     "look at the peer: its program, and its knob crc"),
    ("cm_local", None, 0, "startups failed at this end", "look at the memory of this machine"),
    ("tx_no_memory", None, 0, "there was no memory for frames that were to be sent",
     "look at the memory of this machine, and at net.ipv4.tcp_mem"),
    ("stashes", "rx_fpdus", 0.01, "TCP had no room for incomplete frames",
     "raise net.ipv4.tcp_rmem (third number) or net.ipv4.tcp_mem"),
    ("coalesce_timeouts", "tx_fpdus", 0.005, "requests went out late, as programs did not poll "
     "after they had posted", "set the knob coalesce_us to 0, if late requests matter"),
)


def points(counts, name, base, share):
    value = counts.get(name, 0)
    if base is None:
        return value > 0
    return value >= FEW and value > share * counts.get(base, 0)


RECENT_MS = 1000 * history.RECENT


def records(host):
    try:
        return why.records(host)
    except Trouble:
        return []


def check_ended(case):
    """Say when the last connection of each link ended by an error, or did not start, and why; warn of
    it if that was lately."""
    known, found = records(case.host), []
    for link in case.links:
        own = [e for e in known if e["link"] == link.name and e["program"] is not None]
        if own:
            last = own[-1]
            subject, text = "last error of " + link.name, "%s ago, %s: %s" % (
                duration(last["ago_ms"]), why.process(last), why.text_of(last))
            found.append(ok(subject, text) if last["ago_ms"] > RECENT_MS else
                         warning(subject, text, why.remedy(last) if last["startup"] else
                                 "run kwarpctl why"))
    return found


# The count that grows with a startup that has failed, by the reason in the record.
STARTUPS = {"REJECTED": "cm_rejected", "REJECTED_CRC": "cm_rejected",
            "REJECTED_MARKERS": "cm_rejected", "NOT_MPA": "cm_bad", "EVICTED": "cm_evicted",
            "LOCAL": "cm_local", "NO_REPLY": "cm_timeouts", "NO_REQUEST": "cm_timeouts",
            "NO_ACCEPT": "cm_timeouts", "NO_MESSAGE": "cm_timeouts"}
ERRORS = {"MPA_CRC": "crc_errors", "MPA_MARKER": "marker_errors", "MPA_LOST": "streams_lost"}
LAYERS = {0: "rdmap", 1: "ddp", 2: "mpa"}


def counts_grown(entry):
    """The counts that have grown with what this record tells of."""
    if entry["startup"]:
        if entry["why"] == "CRC_REQUIRED":
            return ["cm_bad" if entry["startup"] == "WAIT_REP" else "cm_refused"]
        return [STARTUPS.get(entry["why"])]
    if entry["terminate"] is not None:
        return ["term_received_" + LAYERS.get(entry["terminate"] >> 12, "other")]
    layer = str(entry["error"]).partition("_")[0]
    return [ERRORS.get(entry["error"]), "no_receive" if entry["why"] == "NO_RECEIVE" else None,
            "term_sent_" + {"DDP": "ddp", "MPA": "mpa"}.get(layer, "rdmap")]


def last_times(host):
    """For a link and a count, the milliseconds since it has grown last, as far as the records tell;
    root is told of all of them, so only root gets any."""
    if host.uid:
        return {}
    return {(entry["link"], count): entry["ago_ms"]
            for entry in records(host) for count in counts_grown(entry)}


def check_counts(case):
    """Warn of each count of a link that points to a cause, and has grown since an earlier run or,
    if the user wants that, since the link was added."""
    host = case.host
    known, now, times = history.load(host), host.now(), last_times(host)
    found, old = [], []
    for link in case.links:
        counts = rates.counts_of(host, link.name)
        if not counts:
            found.append(warning("counts of " + link.name, "the module has none",
                                 "run make install, rmmod kwarp, and add the links again"))
            continue
        known[link.name] = history.moved_on(known, link, counts, now)
        growth, age = history.grown(known[link.name], counts, now)
        if case.all_counts:
            growth, age = counts, None
        since = "since the link was added" if age is None else "in the last %s" \
            % duration(1000 * age)
        for name, base, share, meaning, action in COUNTS:
            ago = times.get((link.name, name))
            # Without an earlier run to compare with, the records tell whether it was lately.
            gone = ago is not None and ago > RECENT_MS and age is None and not case.all_counts
            if points(growth, name, base, share) and not gone:
                when = since if ago is None else "%s, the last %s ago" % (since, duration(ago))
                found.append(warning("count %s of %s" % (name, link.name), "%d %s: %s"
                                     % (growth[name], when, meaning),
                                     action if link.here or "kwarpctl why" not in action else
                                     action + " in the network namespace of the link"))
            elif points(counts, name, base, share):
                old.append("%s of %s %d" % (name, link.name, counts[name]))
    history.remember(host, known)
    if case.links and not found:
        found.append(ok("counts", "none that points to a cause" + (
            " has grown lately; before (--all): " + ", ".join(old) if old else "")))
    return found
