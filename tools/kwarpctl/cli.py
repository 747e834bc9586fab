# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Arguments of kwarpctl, and its main function, which prints each error as one line."""
import argparse
import importlib
import io
import json
import os
import signal
import sys

from . import VERSION, fault, lab
from .host import Host, Trouble, Usage
from .text import printable


class Parser(argparse.ArgumentParser):
    """A parser that reports an error as one line, which names --help."""

    def error(self, message):
        raise Usage("%s; see %s --help" % (message, self.prog))


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
    parser.add_argument("link", nargs="?", metavar="LINK", help="only this link")
    parser.add_argument("--rates", action="store_true",
                        help="show rates instead of links and connections")
    parser.add_argument("-i", "--interval", type=seconds, metavar="SECONDS",
                        help="with --rates: time over which rates are measured (1)")
    parser.add_argument("-n", "--count", type=count, metavar="COUNT",
                        help="with --rates: number of measurements (on a terminal until "
                        "interrupted, else one)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_why(commands):
    parser = commands.add_parser("why", help="why connections ended by an error, or did not start",
                                 description="Tell why connections ended by an error, or did not "
                                 "start: the last ones of your programs, or as root of all. The "
                                 "oldest is first.")
    parser.add_argument("what", nargs="?", metavar="PID|QP|PROGRAM",
                        help="only of this process, queue pair or program")
    parser.add_argument("--link", metavar="LINK", help="only on this link")
    parser.add_argument("--last", action="store_true", help="only the last one")
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_top(commands):
    parser = commands.add_parser("top", help="a live view of connections",
                                 description="Show the busiest connections, until q is pressed. "
                                 "The keys r, t, f and w sort by rate, round-trip time, requests "
                                 "in flight, and time of waiting.")
    parser.add_argument("link", nargs="?", metavar="LINK", help="only this link")
    parser.add_argument("-i", "--interval", type=seconds, metavar="SECONDS",
                        help="time between two views (1)")
    parser.add_argument("-n", "--count", type=count, metavar="COUNT",
                        help="number of views (on a terminal until q is pressed, else one)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_doctor(commands):
    parser = commands.add_parser("doctor", help="find out why programs cannot connect",
                                 description="Look for what keeps programs from connecting. "
                                 "Exit status: 0 no problem, 1 problems, 2 a wrong argument.")
    parser.add_argument("link", nargs="?", metavar="LINK", help="only this link")
    parser.add_argument("--peer", metavar="HOST",
                        help="check the way to this host, too: a name or an address")
    parser.add_argument("--port", type=port, metavar="PORT", help="port of the program: with "
                        "--peer try TCP to that port, else check that it is free on this host")
    parser.add_argument("--all", action="store_true", help="judge counts since the link was added, "
                        "and not since an earlier run")
    parser.add_argument("-q", "--quiet", action="store_true",
                        help="print problems and warnings only")
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_set(commands):
    parser = commands.add_parser("set", help="set or show knobs of a link",
                                 description="Set knobs of a link: all that are given or, if one "
                                 "is refused, none. Without KNOB=VALUE: show the knobs.")
    parser.add_argument("link", metavar="LINK")
    parser.add_argument("knobs", nargs="*", metavar="KNOB=VALUE", default=[], help="knobs to set")
    parser.add_argument("--keep", action="store_true",
                        help="write them to /etc/kwarp/LINK.conf, too, for the unit kwarp@")
    parser.add_argument("--kept", action="store_true", help="set the knobs in that file")
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_explain(commands):
    parser = commands.add_parser("explain", help="a code in words", description="Explain a "
                                 "Terminate (1/2/02, 0x1202, DDP_U_NOBUF), a status of a "
                                 "completion (IBV_WC_WR_FLUSH_ERR, its text, its number), an "
                                 "event of rdma_cm or of verbs, an errno (ECONNREFUSED, -111), or "
                                 "a message of a program.")
    parser.add_argument("code", nargs="*", metavar="CODE", help="code to explain")
    parser.add_argument("--list", action="store_true", help="list the names of all codes")
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_bench(commands):
    parser = commands.add_parser("bench", help="measure bandwidth and latency with perftest",
                                 description="Measure bandwidth, message rate and latency with "
                                 "perftest, against `kwarpctl bench --server` at HOST.")
    parser.add_argument("address", nargs="?", metavar="HOST",
                        help="name or address of the server")
    parser.add_argument("--server", action="store_true", help="be the server, until interrupted")
    parser.add_argument("--link", metavar="LINK", help="device for perftest (its option -d)")
    parser.add_argument("--port", type=port, metavar="PORT", default=18514,
                        help="the first of two ports (18514)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def make_parser():
    parser = Parser(prog="kwarpctl", description="Show, check and configure kwarp, a software "
                    "iWARP device.", epilog="See the manual page kwarpctl(8) for details.")
    parser.add_argument("--version", action="store_true",
                        help="print the versions of kwarpctl and of the module")
    parser.add_argument("--json", action="store_true", dest="version_json",
                        help="with --version: print JSON")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    add_show(commands)
    add_why(commands)
    add_top(commands)
    add_doctor(commands)
    add_set(commands)
    add_explain(commands)
    add_bench(commands)
    lab.add(commands)
    fault.add(commands)
    return parser


def check_args(args):
    """Check combinations of arguments that argparse cannot check."""
    if args.version and args.command:
        raise Usage("--version takes no command: give one of the two")
    if args.version_json and not args.version:
        raise Usage("--json comes after the command: kwarpctl COMMAND --json")
    if args.command == "show":
        if not args.rates and (args.interval is not None or args.count is not None):
            raise Usage("-i and -n need --rates: give that, too")
        args.interval = args.interval or 1.0
    if args.command == "set":
        if args.kept and (args.knobs or args.keep):
            raise Usage("--kept sets the knobs in the file: give no KNOB=VALUE and no --keep with "
                        "it")
        if args.keep and not args.knobs:
            raise Usage("--keep keeps the knobs that are set: give KNOB=VALUE, too")
    if args.command == "explain" and bool(args.code) == args.list:
        raise Usage("give a CODE, or --list for the names of all codes")
    if args.command == "bench":
        if args.server and args.address:
            raise Usage("--server takes no HOST: give one of the two")
        if not args.server and not args.address:
            raise Usage("no HOST: give the server, or --server to be the server")
        if args.port > 65534:
            raise Usage("two ports are needed: give a port up to 65534")
        if args.server and args.json:
            raise Usage("--server prints no figures: give --json to the client")
    if args.command == "lab":
        lab.check_args(args)
    if args.command == "fault":
        fault.check_args(args)


def negative_numbers(argv):
    """Protect numbers such as -111 of `explain -111`, which argparse would take for an option."""
    found = [a for a in argv if a[:1] == "-" and a[1:].isdigit()]
    if argv[:1] == ["explain"] and "--" not in argv and found:
        rest = argv[1:]
        options = [a for a in rest if a.startswith("-") and not a[1:].isdigit()]
        return ["explain", *options, "--", *[a for a in rest if a not in options]]
    return argv


def command(name):
    """The module of a command.  Those of the others are not loaded, which takes longest."""
    return importlib.import_module("." + name, __package__)


def version(host, as_json):
    check_module = command("check_module")
    try:
        installed = check_module.modinfo(host, "version") or "none"
    except Trouble:
        installed = "unknown"
    loaded = check_module.loaded(host) or "none"
    if as_json:
        print(json.dumps({"kwarpctl": VERSION, "loaded": loaded, "installed": installed}))
        return 0
    print("kwarpctl %s" % VERSION)
    print("module: %s is loaded, %s installed" % (loaded, installed))
    return 0


def options_first(argv):
    """Move options of `set` before KNOB=VALUE: argparse of Python before 3.12.7 takes none after an
    option."""
    if argv[:1] != ["set"] or "--" in argv:
        return argv
    return argv[:1] + sorted(argv[1:], key=lambda word: not word.startswith("-"))


def run(argv, host):
    argv = argv if set(argv) - {"--json"} else ["show"] + argv
    argv, program = fault.split(argv)
    args = make_parser().parse_args(options_first(negative_numbers(argv)))
    args.program = program
    check_args(args)
    if args.version:
        return version(host, args.version_json)
    if args.command == "explain":
        return command("explain").command(args)
    return command({"set": "knobs"}.get(args.command, args.command)).command(host, args)


def interrupt(_number, _frame):
    raise KeyboardInterrupt


def quiet_stdout():
    """After a broken pipe: redirect stdout to /dev/null.  At its exit the interpreter writes what
    is left in stdout's buffer, which would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(argv, host=None):
    """Run a command.  Errors are one line on stderr, never a traceback.  Return the exit status."""
    signal.signal(signal.SIGTERM, interrupt)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = run(argv, host or Host())
        sys.stdout.flush()
        return status
    except Trouble as trouble:
        print("kwarpctl: %s" % printable(str(trouble)), file=sys.stderr)
        return trouble.status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        quiet_stdout()
        return 141
    except Exception as error:  # pylint: disable=broad-except
        print("kwarpctl: this is a fault of kwarpctl itself, please report it: %s: %s"
              % (type(error).__name__, printable(str(error))), file=sys.stderr)
        return 1
