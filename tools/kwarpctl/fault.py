# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl fault: faults that are injected, to test programs: the rules in the module."""
import argparse
import errno
import json
import os
import re
import signal
import sys
from typing import NamedTuple

from . import netlink
from .host import Trouble, Usage
from .terms import TERMS, rows_of
from .text import table

ERRNO_MAX = 133
MS_MAX = 600000


class Kind(NamedTuple):
    """What can fail.  ARG: what its argument is; None: it has none."""
    arg: str | None
    meaning: str


# The kinds of the module (enum kwarp_fault of fault.h), in its order.
KINDS = {
    "terminate": Kind("code", "a stream ends with this Terminate"),
    "reset": Kind(None, "a stream ends with a reset of TCP"),
    "close": Kind(None, "a stream is closed gracefully"),
    "stall": Kind("ms", "a stream sends nothing for this time"),
    "slow": Kind("ms", "what arrives is read so much later"),
    "event-late": Kind("ms", "a completion event comes so much later"),
    "event-twice": Kind(None, "a completion event comes twice"),
    "register": Kind("errno", "a region or window cannot be made"),
    "create": Kind("errno", "a queue pair, CQ or SRQ cannot be made"),
    "no-receive": Kind(None, "a message finds no receive"),
    "post": Kind("errno", "a post fails"),
    "short-send": Kind(None, "kwarp: TCP takes half of a batch"),
    "full-send": Kind(None, "kwarp: TCP takes nothing"),
    "lost-kick": Kind(None, "kwarp: a doorbell is ignored"),
    "late-work": Kind("ms", "kwarp: a work item begins so much later"),
    "bad-crc": Kind(None, "kwarp: an FPDU is sent with a wrong CRC"),
}
NUMBERS = ("skip", "times", "probability", "seed")


def number(least, most, what):
    """A type of argument: a whole number within limits."""
    def parse(text):
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError("'%s' is no %s: give a number from %d to %d"
                                             % (text, what, least, most))
        return int(text)
    return parse


def with_arg(name):
    """A kind and the word for its argument, as in the manual page."""
    arg = KINDS[name].arg
    return name + (" " + arg.upper() if arg else "")


def add(commands):
    rows = [("kind", "what fails")] + [(with_arg(name), kind.meaning)
                                       for name, kind in KINDS.items()]
    parser = commands.add_parser("fault", help="inject faults, to test programs",
                                 formatter_class=argparse.RawDescriptionHelpFormatter,
                                 description="List, add or delete rules that make something fail; "
                                 "or run a program\nwith such a rule.",
                                 epilog="\n".join(table(rows)))
    parser.add_argument("action", nargs="?", choices=("list", "add", "del", "run"), default="list",
                        help="list the rules (the default), add one, delete one or all, or run a "
                        "program for which something fails")
    parser.add_argument("words", nargs="*", metavar="KIND [ARG] | NUMBER | all",
                        help="with add and run: what fails, with its argument; with del: which "
                        "rule. run also needs: -- PROGRAM [ARGUMENT...]")
    parser.add_argument("--link", metavar="LINK", help="only on this link")
    most = (1 << 32) - 1
    parser.add_argument("--qp", type=number(1, most, "queue pair"), metavar="QP",
                        help="only of this queue pair")
    parser.add_argument("--pid", type=number(1, (1 << 31) - 1, "process"), metavar="PID",
                        help="only of this process, which is yours unless you are root")
    parser.add_argument("--skip", type=number(0, most, "count"), metavar="N",
                        help="the first N times nothing fails")
    parser.add_argument("--times", type=number(1, most, "count"), metavar="N",
                        help="after N failures nothing fails any more")
    parser.add_argument("--probability", type=number(1, 100, "percentage"), metavar="PERCENT",
                        help="only so often (100)")
    parser.add_argument("--seed", type=number(1, most, "seed"), metavar="SEED",
                        help="repeat the random choices of an earlier rule")
    parser.add_argument("--json", action="store_true", help="print JSON")


def split(argv):
    """The arguments before and after "--" of `fault run ... -- PROGRAM`."""
    if argv[:1] != ["fault"] or "--" not in argv:
        return argv, []
    at = argv.index("--")
    return argv[:at], argv[at + 1:]


# ------------------------------------------------------------------ arguments

def term_code(text):
    """The number of a Terminate, given as 1/2/02, 0x1202 or DDP_U_NOBUF."""
    for term in TERMS:
        if text.upper() == term.name:
            return term.short()
    found = re.fullmatch(r"([0-9])/([0-9])/([0-9a-fA-F]{1,2})", text)
    if found:
        layer, etype, code = (int(part, 16) for part in found.groups())
        return layer << 12 | etype << 8 | code
    if re.fullmatch(r"0x[0-9a-fA-F]{1,4}", text):
        return int(text, 16)
    raise Usage("'%s' is no Terminate: give its name (DDP_U_NOBUF), 1/2/02 or 0x1202; see kwarpctl "
                "explain --list" % text)


def errno_of(text):
    if text.upper() in errno.errorcode.values():
        return getattr(errno, text.upper())
    if text.isascii() and text.isdigit() and 1 <= int(text) <= ERRNO_MAX:
        return int(text)
    raise Usage("'%s' is no errno: give a name (ENOMEM), or a number from 1 to %d"
                % (text, ERRNO_MAX))


def milliseconds(text):
    if text.isascii() and text.isdigit() and 1 <= int(text) <= MS_MAX:
        return int(text)
    raise Usage("'%s' is no time: give milliseconds, 1 to %d" % (text, MS_MAX))


PARSERS = {"code": term_code, "errno": errno_of, "ms": milliseconds}


def check_kind(args):
    """Set args.kind and args.arg from the words of add and run."""
    if not args.words:
        raise Usage("no kind of fault: give one of " + ", ".join(KINDS))
    args.kind, *rest = args.words
    if args.kind not in KINDS:
        raise Usage("there is no fault '%s': give one of %s" % (args.kind, ", ".join(KINDS)))
    arg = KINDS[args.kind].arg
    if len(rest) != bool(arg):
        raise Usage("%s takes %s: kwarpctl fault %s %s%s"
                    % (args.kind, "one argument" if arg else "no argument", args.action,
                       with_arg(args.kind),
                       " -- PROGRAM [ARGUMENT...]" if args.action == "run" else ""))
    args.arg = PARSERS[arg](rest[0]) if arg else None


def options(args):
    """The options of a rule that are given."""
    return [name for name in ("link", "qp", "pid") + NUMBERS if getattr(args, name) is not None]


def check_args(args):
    if args.program and args.action != "run":
        raise Usage("only run takes a program")
    if args.json and args.action != "list":
        raise Usage("--json is for the list")
    if args.action in ("add", "run"):
        check_kind(args)
    elif options(args):
        raise Usage("%s takes no --%s" % (args.action, options(args)[0]))
    if args.action == "list" and args.words:
        raise Usage("list takes no argument")
    if args.action == "del":
        if len(args.words) != 1 or not re.fullmatch(r"all|[1-9][0-9]{0,8}", args.words[0]):
            raise Usage("give the number of a rule, or all")
    if args.action == "run":
        if not args.program:
            raise Usage("no program: kwarpctl fault run %s -- PROGRAM [ARGUMENT...]"
                        % " ".join(args.words))
        if args.pid is not None or args.qp is not None:
            raise Usage("run is about the program that it starts: give no --%s"
                        % ("pid" if args.pid is not None else "qp"))
        if args.kind == "post" and args.link is not None:
            raise Usage("posts of a program fail on all links: give no --link")


# -------------------------------------------------------------------- commands

def shown_arg(rule):
    """The argument of a rule, as a user gives it."""
    arg, kind = rule["arg"], KINDS.get(rule["kind"], Kind("", "")).arg
    if arg is None:
        return "-"
    if kind == "errno":
        return errno.errorcode.get(arg, str(arg))
    if kind == "code":
        rows = rows_of(arg)
        return rows[0].name if rows else "0x%04x" % arg
    return "%d ms" % arg if kind == "ms" else str(arg)


def listed(rules):
    rows = [("rule", "kind", "argument", "link", "qp", "pid", "skip", "times", "percent", "seed",
             "matched", "injected")]
    for rule in rules:
        rows.append((str(rule["fault"]), str(rule["kind"]), shown_arg(rule), rule["link"] or "all",
                     *("all" if rule[n] is None else str(rule[n]) for n in ("qp", "pid")),
                     str(rule["skip"]), str(rule["times"] or "-"), str(rule["probability"]),
                     str(rule["seed"]), str(rule["matched"]), str(rule["hits"])))
    return table(rows, 4)


def module_missing():
    return Trouble("the module kwarp is not loaded, or is too old for this: modprobe kwarp")


def change(host, command, values):
    found = host.change_fault(command, values)
    if found is None:
        raise module_missing()
    return found


def list_rules(host, args):
    rules = host.faults()
    if rules is None:
        raise module_missing()
    if args.json:
        print(json.dumps(rules, indent=2))
    elif not rules:
        print("nothing is made to fail%s"
              % ("" if host.uid == 0 else " by you (only root is told of other users' rules)"))
    else:
        print("\n".join(listed(rules)))
    return 0


def values_of(args, pid=None):
    return {"kind": args.kind, "arg": args.arg, "pid": pid or args.pid} | {
        name: getattr(args, name) for name in ("link", "qp") + NUMBERS}


def environment(args):
    """KWARP_FAULT for kwarp's provider, which makes the posts of programs fail."""
    words = ["post=%d" % args.arg]
    words += ["%s=%d" % (n, getattr(args, n)) for n in NUMBERS if getattr(args, n) is not None]
    return ",".join(words)


def execute(program):
    """Become the program.  Python ignores two signals; the program shall not."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(program[0], program)
    except OSError as error:
        print("kwarpctl: cannot run %s: %s" % (program[0], error.strerror), file=sys.stderr)
        return 127 if error.errno == errno.ENOENT else 126


def child(host, args, pipe):
    """The new process: add a rule about itself, tell its number, and become the program."""
    status = 1
    try:
        rule = 0
        if args.kind == "post":
            os.environ["KWARP_FAULT"] = environment(args)
        else:
            rule = change(host, netlink.CMD_FAULT_ADD, values_of(args, os.getpid()))
        os.write(pipe, b"%d" % rule)
        os.close(pipe)
        status = execute(args.program)
    except Trouble as trouble:
        print("kwarpctl: %s" % trouble, file=sys.stderr)
        status = trouble.status
    finally:
        sys.stderr.flush()
        os._exit(status)


def leave_signals(pid):
    """From here on the program decides: pass SIGTERM on; the terminal sends SIGINT to both."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: os.kill(pid, number))


def run_program(host, args):
    sys.stdout.flush()
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        child(host, args, writer)
    leave_signals(pid)
    os.close(writer)
    with os.fdopen(reader, "rb") as told:
        rule = int(told.read() or 0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # there is no process of this number any more
    if rule:
        try:
            change(host, netlink.CMD_FAULT_DEL, {"fault": rule})
        except Trouble:
            pass  # the module has removed it already: it was about a process that has ended
    return status if status >= 0 else 128 - status


def command(host, args):
    if args.action == "list":
        return list_rules(host, args)
    if args.action == "run":
        return run_program(host, args)
    if args.action == "add":
        print("rule %d" % change(host, netlink.CMD_FAULT_ADD, values_of(args)))
        return 0
    which = None if args.words[0] == "all" else int(args.words[0])
    change(host, netlink.CMD_FAULT_DEL, {"fault": which})
    return 0
