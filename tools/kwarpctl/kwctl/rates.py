# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl show --rates: the counts of links as rates per second."""
import json
import sys
import time

from . import links as kw
from .host import Trouble
from .text import table

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
    return time.monotonic(), counts


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
    return "%.0f" % value if value >= 10 or value == int(value) else "%.1f" % value


def rows(rates):
    """Table of rates: for each link a row for sending and one for receiving."""
    head = ["LINK", "", "MiB/s", "FPDU/s"] + [name + "/s" for name, _ in OPERATIONS]
    head += ["doorbells/s", "blocked/s", "Terminates"]
    found = [head]
    for name, rate in rates.items():
        for label, key, terminates in (("out", "tx", "terminates_sent"),
                                       ("in", "rx", "terminates_received")):
            one = rate[key]
            row = [name if key == "tx" else "", label, number(one["mib"]), number(one["fpdus"])]
            row += [number(one[op]) for op, _ in OPERATIONS]
            out = key == "tx"
            row += [number(rate[n]) if out else "" for n, _ in ONCE] + [str(rate[terminates])]
            found.append(row)
    return found


def check_counts(counts):
    if counts and not any(counts.values()):
        raise Trouble("the module has no counts: it is older than this command; run make install "
                      "and rmmod kwarp, then add the links again")


def names_of(host, only):
    """Names of the links that exist now, or of the link ONLY if it exists.  Links may be added and
    deleted between two samples, so this is called for each sample."""
    names = [n for n in host.list(kw.CLASS) if kw.is_ours(host, n)]
    return names if only is None else [n for n in names if n == only]


def print_rates(args, rates, seconds):
    if args.json:
        print(json.dumps({"seconds": round(seconds, 3), "links": rates}), flush=True)
        return
    if sys.stdout.isatty() and args.count != 1:
        print("\033[H\033[2J", end="")
    print("\n".join(table(rows(rates), numbers_from=2)), flush=True)


def command(host, args):
    """Print rates: args.count times; by default on a terminal until interrupted, else once."""
    kw.find_links(host, args.link)
    watched = sys.stdout.isatty() and not args.json
    count = args.count or (None if watched else 1)
    then, before = sample(host, names_of(host, args.link))
    if not before:
        raise Trouble("no links: rdma link add kw0 type kwarp netdev NETDEV adds one")
    check_counts(before)
    done = 0
    while count is None or done < count:
        time.sleep(args.interval)
        now, after = sample(host, names_of(host, args.link))
        # The rates of a link that was added since the last sample are 0.
        rates = {name: rates_between(before.get(name, counts), counts, now - then)
                 for name, counts in after.items()}
        print_rates(args, rates, now - then)
        then, before, done = now, after, done + 1
    return 0
