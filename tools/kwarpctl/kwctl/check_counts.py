# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks of doctor: values of knobs (settings of a link) that hinder some peers, and counts of a
link that point to the cause of a problem."""
from . import history, rates
from .findings import ok, warning
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
    ("strict", "on", "a Read into a region without IBV_ACCESS_REMOTE_WRITE fails",
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
    ("streams_lost", None, 0, "connections were lost: the peer neither closed nor sent a Terminate",
     "look at the peer, and at keepalive and user_timeout (explain MPA_LOST)"),
    ("cm_bad", None, 0, "startups broke the protocol: something other than RDMA connects to the "
     "port, or crc=required met a peer without CRCs", "find out what connects (ss -tn, tcpdump)"),
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


def check_counts(case):
    """Warn of each count of a link that points to a cause, and has grown since an earlier run or,
    if the user wants that, since the link was added."""
    host = case.host
    known, now = history.load(host), host.now()
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
            if points(growth, name, base, share):
                found.append(warning("count %s of %s" % (name, link.name), "%d %s: %s"
                                     % (growth[name], since, meaning), action))
            elif points(counts, name, base, share):
                old.append("%s of %s %d" % (name, link.name, counts[name]))
    history.remember(host, known)
    if case.links and not found:
        found.append(ok("counts", "none that points to a cause" + (
            " has grown lately; before (--all): " + ", ".join(old) if old else "")))
    return found
