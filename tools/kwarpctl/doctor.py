# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl doctor: find out why programs cannot connect."""
import json

from . import check_counts, check_link, check_module, check_net, check_port, check_user, rdma
from . import links as kw
from .findings import LEVELS, OK, PROBLEM, WARNING, Case, problem, warning
from .host import Trouble
from .text import colours

CHECKS = (
    check_module.check_module, check_module.check_taint, check_module.check_modules,
    check_link.check_links, check_link.check_netdevs, check_link.check_netns,
    check_user.check_provider, check_user.check_abi, check_user.check_open,
    check_user.check_device_files, check_user.check_memlock,
    check_link.check_neighbours, check_net.check_ports, check_net.check_peer,
    check_port.check_tcp, check_net.check_large, check_net.check_stalls, check_net.check_firewall,
    check_counts.check_knobs,
    check_counts.check_counts, check_counts.check_ended, check_module.check_log,
)


def run_check(check, case):
    """Run a check.  If the check cannot run on this host, its finding says so, and the other checks
    are still run."""
    try:
        return check(case)
    except Trouble as trouble:
        name = check.__name__.removeprefix("check_").replace("_", " ")
        return [warning(name, "not checked: %s" % trouble, "mend that, and run this again")]


# A file that exists if kwarp was installed from packages; make install puts kwarpctl elsewhere.
PACKAGES = "/usr/share/kwarp/kwarpctl"
MAKE = "run make install"


def by_packages(host, finding):
    """Replace "make install" in the advice if kwarp was installed from packages."""
    if not host.exists(PACKAGES):
        return finding
    return finding._replace(action=finding.action.replace(
        MAKE, "reinstall the packages kwarp-dkms and ibverbs-provider-kwarp"))


def examine(host, args):
    """Run all checks, and return their findings.  If the program rdma is missing, links cannot be
    seen, which is a finding, too."""
    findings, links, every, interfaces = [], [], [], {}
    try:
        links = kw.find_links(host, args.link)
        every = kw.find_links(host) if args.link else links
        interfaces = rdma.addresses(host)
    except Trouble as trouble:
        if trouble.status == 2:
            raise
        findings.append(problem("programs", str(trouble), "links cannot be seen without it"))
    case = Case(host=host, links=links, blind=bool(findings), all_links=every, port=args.port, all_counts=args.all,
                peer=host.resolve(args.peer) if args.peer else None, interfaces=interfaces)
    findings += [f for check in CHECKS for f in run_check(check, case)]
    return [by_packages(host, finding) for finding in findings]


def summary(findings):
    problems = sum(f.level == PROBLEM for f in findings)
    warnings = sum(f.level == WARNING for f in findings)
    return "%d problem%s, %d warning%s" % (problems, "" if problems == 1 else "s",
                                           warnings, "" if warnings == 1 else "s")


def command(host, args):
    findings = sorted(examine(host, args), key=lambda f: list(LEVELS).index(f.level))
    shown = [f for f in findings if f.level != OK or not args.quiet]
    if args.json:
        print(json.dumps([f._asdict() for f in shown], indent=2))
    else:
        for finding in shown:
            print(finding.line(colours()))
        print(summary(findings))
    return 1 if any(f.level == PROBLEM for f in findings) else 0
