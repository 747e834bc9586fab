# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Arguments of kwarpctl, and what becomes of an error: one line."""
import argparse
import ipaddress
import os
import signal
import sys

from . import bench, check_module, doctor, explain, knobs, show
from .host import Host, Trouble, Usage


class Parser(argparse.ArgumentParser):
    """An error is one line, and says where help is."""

    def error(self, message):
        raise Usage("%s; see %s --help" % (message, self.prog))


def address(text):
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise argparse.ArgumentTypeError("'%s' is no IP address: give one such as 192.0.2.1 or "
                                         "2001:db8::1" % text) from None


def port(text):
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError("'%s' is no port: give a number from 1 to 65535" % text)
    return int(text)


def seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0.05 <= value <= 86400:
        raise argparse.ArgumentTypeError("'%s' is no interval: give seconds, 0.05 to 86400" % text)
    return value


def count(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("'%s' is no count: give a number from 1 on" % text)
    return int(text)


def add_show(commands):
    parser = commands.add_parser("show", help="links and connections, or rates",
                                 description="Show links and connections, or what is sent and "
                                 "received per second.")
    parser.add_argument("link", nargs="?", metavar="LINK", help="only this one")
    parser.add_argument("--rates", action="store_true", help="rates instead")
    parser.add_argument("-i", "--interval", type=seconds, metavar="SECONDS",
                        help="of rates: time between two looks (1)")
    parser.add_argument("-n", "--count", type=count, metavar="COUNT",
                        help="of rates: how often (on a terminal until interrupted, else once)")
    parser.add_argument("--json", action="store_true", help="for machines")


def add_doctor(commands):
    parser = commands.add_parser("doctor", help="why does it not connect?",
                                 description="Look for what keeps programs from connecting. "
                                 "Exit status: 0 no problem, 1 problems, 2 a wrong argument.")
    parser.add_argument("link", nargs="?", metavar="LINK", help="only this one")
    parser.add_argument("--peer", type=address, metavar="ADDRESS", help="the way to this one, too")
    parser.add_argument("--port", type=port, metavar="PORT", help="the program's port: with --peer "
                        "TCP is tried there, else it has to be free here")
    parser.add_argument("--json", action="store_true", help="for machines")


def add_set(commands):
    parser = commands.add_parser("set", help="knobs of a link",
                                 description="Set knobs of a link, all of them or, if one is "
                                 "refused, none. Without KNOB=VALUE: show them.")
    parser.add_argument("link", metavar="LINK")
    parser.add_argument("knobs", nargs="*", metavar="KNOB=VALUE", help="what to set")
    parser.add_argument("--keep", action="store_true",
                        help="write them to /etc/kwarp/LINK.conf, too, for the unit kwarp@")
    parser.add_argument("--kept", action="store_true", help="set what that file has")
    parser.add_argument("--json", action="store_true", help="for machines")


def add_explain(commands):
    parser = commands.add_parser("explain", help="a code in words", description="Explain a "
                                 "Terminate (1/2/02, 0x1202, DDP_U_NOBUF), a status of a "
                                 "completion (IBV_WC_WR_FLUSH_ERR, its text, its number), an "
                                 "event of rdma_cm or an errno (ECONNREFUSED, -111).")
    parser.add_argument("code", nargs="+", metavar="CODE", help="what to explain")
    parser.add_argument("--json", action="store_true", help="for machines")


def add_bench(commands):
    parser = commands.add_parser("bench", help="bandwidth and latency, by perftest",
                                 description="Measure bandwidth, message rate and latency with "
                                 "perftest, against `kwarpctl bench --server` at ADDRESS.")
    parser.add_argument("address", nargs="?", type=address, metavar="ADDRESS", help="the server's")
    parser.add_argument("--server", action="store_true", help="serve until interrupted")
    parser.add_argument("--link", metavar="LINK", help="perftest's device (-d)")
    parser.add_argument("--port", type=port, metavar="PORT", default=18514,
                        help="the first of two ports (18514)")
    parser.add_argument("--json", action="store_true", help="for machines")


def make_parser():
    parser = Parser(prog="kwarpctl", description="Look after kwarp, a software iWARP device.",
                    epilog="The manual page kwarpctl(8) has the whole of it.")
    parser.add_argument("--version", action="store_true", help="of the module: loaded, installed")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    add_show(commands)
    add_doctor(commands)
    add_set(commands)
    add_explain(commands)
    add_bench(commands)
    return parser


def check_args(args):
    """What argparse cannot say."""
    if args.version and args.command:
        raise Usage("--version takes no command: give one of the two")
    if args.command is None and not args.version:
        raise Usage("no command: give show, doctor, set, explain or bench; see kwarpctl --help")
    if args.command == "show":
        if not args.rates and (args.interval is not None or args.count is not None):
            raise Usage("-i and -n are of --rates: give that, too")
        args.interval = args.interval or 1.0
    if args.command == "set":
        if args.kept and (args.knobs or args.keep):
            raise Usage("--kept sets what the file has: give no KNOB=VALUE and no --keep with it")
        if args.keep and not args.knobs:
            raise Usage("--keep keeps what is set: give KNOB=VALUE, too")
        if args.json and (args.knobs or args.kept):
            raise Usage("--json is for showing: give no KNOB=VALUE and no --kept with it")
    if args.command == "bench":
        if args.server and args.address:
            raise Usage("--server takes no ADDRESS: give one of the two")
        if not args.server and not args.address:
            raise Usage("no ADDRESS: give the server's, or --server to be the server")
        if args.address and ipaddress.ip_address(args.address).is_loopback:
            raise Usage("rdma_cm finds no device for %s: give another address of the host"
                        % args.address)
        if args.port > 65534:
            raise Usage("two ports are needed: give a port up to 65534")


def negative_numbers(argv):
    """`explain -111`: to argparse that looks like an option."""
    found = [a for a in argv if a[:1] == "-" and a[1:].isdigit()]
    if argv[:1] == ["explain"] and "--" not in argv and found:
        rest = argv[1:]
        options = [a for a in rest if a.startswith("-") and not a[1:].isdigit()]
        return ["explain", *options, "--", *[a for a in rest if a not in options]]
    return argv


def run(argv, host):
    args = make_parser().parse_args(negative_numbers(argv))
    check_args(args)
    if args.version:
        print("kwarp: module %s is loaded, %s installed"
              % (check_module.loaded(host) or "none", check_module.modinfo(host, "version") or "none"))
        return 0
    if args.command == "show":
        return show.command(host, args)
    if args.command == "doctor":
        return doctor.command(host, args)
    if args.command == "set":
        return knobs.command(host, args)
    if args.command == "bench":
        return bench.command(host, args)
    return explain.command(args)


def interrupt(_number, _frame):
    raise KeyboardInterrupt


def quiet_stdout():
    """Nobody reads any more: the interpreter need not try to write what is left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv, host=None):
    """Each way out but success is one line on stderr, and never a traceback."""
    signal.signal(signal.SIGTERM, interrupt)
    try:
        status = run(argv, host or Host())
        sys.stdout.flush()
        return status
    except Trouble as trouble:
        print("kwarpctl: %s" % trouble, file=sys.stderr)
        return trouble.status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        quiet_stdout()
        return 141
    except Exception as error:  # pylint: disable=broad-except
        print("kwarpctl: this is a fault of kwarpctl itself, please report it: %s: %s"
              % (type(error).__name__, error), file=sys.stderr)
        return 1
