# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl show --rates: the counts of links as rates per second."""
import json
import sys
import time

from . import connections
from . import links as kw
from .host import Trouble
from .text import end, process, table

# Operations: name in the printed table, and name of the count without its prefix tx_ or rx_.
OPERATIONS = (("write", "writes"), ("send", "sends"), ("imm", "immediates"),
              ("read", "read_requests"), ("answer", "read_responses"),
              ("atomic", "atomic_requests"), ("atomic-answer", "atomic_responses"))
# Counts that exist for one direction only: name in the printed table, name of the count.
ONCE = (("doorbells", "tx_doorbells"), ("blocked", "tx_blocked"))
TERMINATES = ("term_sent_rdmap", "term_sent_ddp", "term_sent_mpa")
TERMINATES_IN = ("term_received_rdmap", "term_received_ddp", "term_received_mpa",
                 "term_received_other")
MIB = 1024 * 1024
# Columns that are shown even if all their values are 0, what is told about a connection, and the
# number of connections that are shown.
ALWAYS = ("MiB/s", "FPDU/s")
SHOWN = ("link", "qp", "local", "local_port", "remote", "remote_port", "program", "pid")
MOST = 20


def counts_of(host, name):
    """All counts of a link; {} if the module has no counts."""
    base = "%s/%s/ports/1/hw_counters" % (kw.CLASS, name)
    found = {}
    for count in host.list(base):
        value = host.read("%s/%s" % (base, count)) or ""
        if count != "lifespan" and value.isdigit():
            found[count] = int(value)
    return found or counts_told(host, name)


def counts_told(host, name):
    """Counts from the program rdma: sysfs has counts in the initial network namespace only."""
    for entry in kw.rdma_of_link(host, name, "statistic", "show", "link", name + "/1"):
        if entry.get("ifname") == name:
            return {count: value for count, value in entry.items()
                    if isinstance(value, int) and count not in ("ifindex", "port")}
    return {}


def sample(host, names):
    counts = {name: counts_of(host, name) for name in names}
    found, _ = connections.find_connections(host, names)
    return time.monotonic(), counts, {key_of(c): c for c in found if c["sent"] is not None}


def key_of(entry):
    return tuple(entry[part] for part in ("link", "qp", "local", "local_port", "remote",
                                          "remote_port"))


def connection_rates(before, after, seconds):
    """MiB per second of TCP's octets for each connection that is in both samples, the busiest
    first."""
    found = []
    for key, entry in after.items():
        if key in before:
            rate = {name: round((entry[count] - before[key][count]) / seconds / MIB, 3)
                    for name, count in (("tx_mib", "sent"), ("rx_mib", "received"))}
            found.append(dict({part: entry[part] for part in SHOWN}, **rate))
    return sorted(found, key=lambda c: -c["tx_mib"] - c["rx_mib"])


def direction(growth, prefix, seconds):
    rates = {name: growth.get(prefix + count, 0) / seconds for name, count in OPERATIONS}
    rates["mib"] = growth.get(prefix + "octets", 0) / seconds / MIB
    rates["fpdus"] = growth.get(prefix + "fpdus", 0) / seconds
    return {name: round(rate, 3) for name, rate in rates.items()}


def rates_between(before, after, seconds):
    """Rates of a link from two samples of its counts.  If a count has become smaller, the link was
    deleted and added again, and the rate of that count is 0."""
    growth = {name: max(0, value - before.get(name, 0)) for name, value in after.items()}
    found = {"tx": direction(growth, "tx_", seconds), "rx": direction(growth, "rx_", seconds)}
    for name, count in ONCE:
        found[name] = round(growth.get(count, 0) / seconds, 3)
    found["terminates_sent"] = sum(growth.get(name, 0) for name in TERMINATES)
    found["terminates_received"] = sum(growth.get(name, 0) for name in TERMINATES_IN)
    return found


def number(value):
    if value == "":
        return ""
    return "%.0f" % value if value >= 10 or value == int(value) else "%.1f" % value


def columns_of(rate, key):
    """The numbers of a row of the table, by their headings."""
    found = {"MiB/s": rate[key]["mib"], "FPDU/s": rate[key]["fpdus"]}
    found.update({name + "/s": rate[key][name] for name, _ in OPERATIONS})
    found.update({name + "/s": rate[name] if key == "tx" else "" for name, _ in ONCE})
    found["Terminates"] = rate["terminates_sent" if key == "tx" else "terminates_received"]
    return found


def total(rates):
    """The sum of the rates of all links."""
    found = {}
    for rate in rates.values():
        for name, value in rate.items():
            if isinstance(value, dict):
                found[name] = {n: v + found.get(name, {}).get(n, 0) for n, v in value.items()}
            else:
                found[name] = value + found.get(name, 0)
    return found


def rows(rates, seen):
    """Table of rates: for each link a row for sending and one for receiving.  A column appears
    when it has a value other than 0, and then stays: SEEN has the headings of such columns."""
    if len(rates) > 1:
        rates = dict(rates, total=total(rates))
    lines = [(name if key == "tx" else "", label, columns_of(rate, key))
             for name, rate in rates.items() for label, key in (("out", "tx"), ("in", "rx"))]
    seen.update(head for _, _, columns in lines for head, value in columns.items() if value)
    heads = [head for head in lines[0][2] if head in seen or head in ALWAYS]
    return [["LINK", ""] + heads] + [
        [name, label] + [number(columns[head]) for head in heads]
        for name, label, columns in lines]


def connection_rows(found):
    rows_found = [["LINK", "QP", "LOCAL", "REMOTE", "PROGRAM (PID)", "out MiB/s", "in MiB/s"]]
    for c in found[:MOST]:
        rows_found.append([c["link"], "-" if c["qp"] is None else str(c["qp"]),
                           end(c["local"], c["local_port"]), end(c["remote"], c["remote_port"]),
                           process(c), number(c["tx_mib"]), number(c["rx_mib"])])
    return rows_found


def check_counts(counts):
    if counts and not any(counts.values()):
        raise Trouble("the module has no counts: it is older than this command; run make install "
                      "and rmmod kwarp, then add the links again")


def names_of(host, only):
    """Names of the links that exist now, or of the link ONLY if it exists.  Links may be added and
    deleted between two samples, so this is called for each sample."""
    names = [n for n in host.list(kw.CLASS) if kw.is_ours(host, n)]
    return names if only is None else [n for n in names if n == only]


def text(now, rates, found, seconds, seen):
    lines = ["%s, over %.1f s" % (now, seconds), *table(rows(rates, seen), numbers_from=2)]
    if found:
        lines += ["", *table(connection_rows(found), numbers_from=5)]
    if len(found) > MOST:
        lines.append("and %d more connections" % (len(found) - MOST))
    return "\n".join(lines)


def print_rates(args, rates, found, seconds, seen):
    if args.json:
        print(json.dumps({"seconds": round(seconds, 3), "links": rates, "connections": found}),
              flush=True)
        return
    page = text(time.strftime("%H:%M:%S"), rates, found, seconds, seen)
    if sys.stdout.isatty() and args.count != 1:
        page = "\033[H\033[2J" + page + "\n\nCtrl-C ends this"
    print(page, flush=True)


def command(host, args):
    """Print rates: args.count times; by default on a terminal until interrupted, else once."""
    kw.find_links(host, args.link)
    watched = sys.stdout.isatty() and not args.json
    count = args.count or (None if watched else 1)
    then, before, connected = sample(host, names_of(host, args.link))
    if not before:
        raise Trouble("no links: rdma link add kw0 type kwarp netdev NETDEV adds one")
    check_counts(before)
    done, seen = 0, set()
    while count is None or done < count:
        time.sleep(args.interval)
        now, after, connected_now = sample(host, names_of(host, args.link))
        # The rates of a link that was added since the last sample are 0.
        rates = {name: rates_between(before.get(name, counts), counts, now - then)
                 for name, counts in after.items()}
        print_rates(args, rates, connection_rates(connected, connected_now, now - then),
                    now - then, seen)
        then, before, connected, done = now, after, connected_now, done + 1
    return 0
