# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""kwarpctl bench: runs of perftest between two machines, with one table of results.

For each test the client of kwarpctl sends a line over a TCP connection.  The server of kwarpctl
starts perftest's server on the next port, and answers with a line.  Then the client runs perftest's
client.  perftest's server closes its first listener and opens a second one on the same port: a
client that connects in between is refused, or waits for ever.  So the client may ask for the same
test again, and the server then starts a new perftest.
"""
import ipaddress
import json
import re
import socket
import subprocess
import time
from typing import NamedTuple

from . import rdma
from .host import Trouble, Usage
from .text import table

TRIES = 5
# Seconds: for a test; and how long the server waits for the first request of a client, while other
# clients wait for their turn.
LIMIT = 60
FIRST = 5
HELLO = "kwarpctl bench 1"


class Test(NamedTuple):
    """A test: its name in the table of results, the program of perftest, message size, options."""
    title: str
    program: str
    size: int
    options: tuple


# Run for 5 seconds; perftest leaves out the first and the last second, so it measures 3 seconds.
SECONDS = ("-D", "5", "-f", "1")
COUNTED = 3
MIB = 1024 * 1024
TESTS = (
    Test("Write", "ib_write_bw", 65536, SECONDS),
    Test("Read", "ib_read_bw", 65536, SECONDS),
    Test("Write", "ib_write_bw", 64, SECONDS),
    Test("Write latency", "ib_write_lat", 64, ("-n", "1000")),
    Test("Send latency", "ib_send_lat", 64, ("-n", "1000")),
)


def need_perftest(host):
    missing = sorted({t.program for t in TESTS if host.which(t.program) is None})
    if missing:
        raise Trouble("%s is missing: install the package perftest" % ", ".join(missing))


def argv_of(host, test, port, link, ipv6):
    """Command line of perftest.  For IPv6 its client and its server need the option --ipv6-addr."""
    device = ("-d", link) if link else ()
    family = ("--ipv6-addr",) if ipv6 else ()
    return [host.which(test.program), "-R", "-F", "-p", str(port), "-s", str(test.size),
            *test.options, *device, *family]


# -------------------------------------------------------------------- figures

def figure(text):
    """A number, or None for inf and nan, which perftest prints on some emulated processors."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


def parse(output, test):
    """Parse the line of results in the client's output: #bytes, #iterations, results."""
    heads = [line for line in output.splitlines() if "#bytes" in line]
    for line in output.splitlines():
        words = line.split()
        if not heads or len(words) < 5 or words[0] != str(test.size):
            continue
        if "BW" in heads[-1]:
            return bandwidth(words, test)
        return {"median_us": figure(words[4]),
                "p99_us": figure(words[7]) if len(words) > 7 else None}
    return None


def bandwidth(words, test):
    """Bandwidth and message rate: those that perftest prints or, if it prints none, those
    calculated from its number of messages in COUNTED seconds."""
    mib, rate = figure(words[3]), figure(words[4])
    if mib and rate:
        return {"mib": mib, "rate": rate * 1e6}
    rate = int(words[1]) / COUNTED if words[1].isdigit() else None
    return {"mib": rate * test.size / MIB if rate else None, "rate": rate or None}


def why(output):
    """The line that says most about the cause, in the output of a run that failed."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|fail|refused|reject|unable|couldn't",
                                                   line, re.IGNORECASE)]
    return (telling or lines or ["it said nothing"])[-1]


def cell(value, digits):
    return "-" if value is None else "%.*f" % (digits, value)


def rows(results):
    found = [("TEST", "OCTETS", "MiB/s", "MESSAGES/s", "MEDIAN us", "99% us")]
    for test, result in results:
        result = result or {}
        found.append((test.title, str(test.size), cell(result.get("mib"), 1),
                      cell(result.get("rate"), 0), cell(result.get("median_us"), 2),
                      cell(result.get("p99_us"), 2)))
    return found


# --------------------------------------------------------------------- client

class Line:
    """A TCP connection over which lines of text are exchanged."""

    def __init__(self, sock, peer):
        self.sock = sock
        # A dual-stack socket reports an IPv4 peer as ::ffff:ADDRESS.
        self.ipv6 = ":" in peer and not peer.startswith("::ffff:")
        self.file = sock.makefile("rw", encoding="utf-8", errors="replace", newline="\n")

    def say(self, text):
        self.file.write(text + "\n")
        self.file.flush()

    def wait_up_to(self, seconds):
        """Let hear() and say() fail after this time."""
        self.sock.settimeout(seconds)

    def hear(self):
        """Read a line; "" if the peer has closed the connection.  The line's length is limited,
        because the peer may be any program."""
        return self.file.readline(200).rstrip("\n")


def call(address, port):
    """Connect to `kwarpctl bench --server`, and return the connection after its greeting."""
    try:
        sock = socket.create_connection((address, port), timeout=10)
        sock.settimeout(30)
        line = Line(sock, address)
        if line.hear() == HELLO:
            return line
    except OSError as error:
        raise Trouble("no `kwarpctl bench --server` at %s port %d: %s; start it, and let TCP "
                      "ports %d and %d through" % (address, port, error.strerror or error, port,
                                                   port + 1)) from None
    raise Trouble("at %s port %d is no `kwarpctl bench --server` of this release: give its --port"
                  % (address, port))


def ask(line, words):
    """Send a request to the server; raise Trouble if its answer is not "ready"."""
    try:
        line.say(words)
        heard = line.hear()
    except OSError:
        heard = ""
    if heard != "ready":
        raise Trouble("the server says: %s" % heard if heard else "the server has ended")


def measure(host, line, number, argv):
    """Run a test, up to TRIES times: perftest's client may be refused because it is too early."""
    result = None
    for _ in range(TRIES):
        ask(line, "start %d" % number)
        result = host.run(*argv, timeout=LIMIT)
        found = parse(result.out, TESTS[number])
        if found is not None:
            return found
    raise Trouble("%s: %s; run kwarpctl doctor --peer HOST"
                  % (TESTS[number].program, why(result.out + "\n" + result.err)))


def client(host, args, address):
    line = call(address, args.port)
    results = []
    for number, test in enumerate(TESTS):
        argv = argv_of(host, test, args.port + 1, args.link, line.ipv6) + [address]
        results.append((test, measure(host, line, number, argv)))
    if args.json:
        print(json.dumps([dict(test=t.program, octets=t.size, **r) for t, r in results], indent=2))
    else:
        print("\n".join(table(rows(results))))
    return 0


# --------------------------------------------------------------------- server

def start(argv):
    return subprocess.Popen(argv, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


class Server:
    """The server of kwarpctl, which runs perftest's server for one client at a time."""

    def __init__(self, host, port, link, launch=start):
        self.host, self.port, self.link, self.launch = host, port, link, launch
        self.child = None

    def stop(self):
        if self.child is not None:
            if self.child.poll() is None:
                self.child.kill()
            self.child.wait()
        self.child = None

    def start(self, number, ipv6):
        """Start perftest's server for a test.  Return "ready" when it listens, else an error."""
        self.stop()
        test = TESTS[number]
        argv = argv_of(self.host, test, self.port, self.link, ipv6)
        self.child = self.launch(argv)
        for _ in range(100):
            if self.child.poll() is not None:
                return "%s ends at once; run there: %s" % (test.program, " ".join(argv))
            try:
                if any(port == self.port for _, port in rdma.listeners(self.host)):
                    return "ready"
            except Trouble as trouble:
                return str(trouble)
            time.sleep(0.1)
        return "%s does not listen; run kwarpctl doctor there" % test.program

    def serve(self, line):
        """Serve a client until it closes the connection, sends nonsense or is silent for longer
        than a test takes."""
        try:
            line.wait_up_to(FIRST)
            line.say(HELLO)
            while True:
                words = re.fullmatch(r"start (\d)", line.hear())
                if not words or int(words[1]) >= len(TESTS):
                    return
                line.say(self.start(int(words[1]), line.ipv6))
                line.wait_up_to(LIMIT + FIRST)
        except OSError:
            pass
        finally:
            self.stop()


def listen(port):
    try:
        return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    except (OSError, ValueError):
        pass
    try:
        return socket.create_server(("", port))
    except OSError as error:
        raise Trouble("cannot listen on port %d: %s; give another --port"
                      % (port, error.strerror)) from None


def serve(host, args):
    server = Server(host, args.port + 1, args.link)
    with listen(args.port) as listener:
        print("serving any host that connects to port %d (perftest: %d), so use a trusted network "
              "only; the client: kwarpctl bench HOST (Ctrl-C ends this)"
              % (args.port, args.port + 1), flush=True)
        try:
            while True:
                # Take the client's address from accept(): getpeername() fails if the client has
                # already closed.
                sock, peer = listener.accept()
                with sock:
                    server.serve(Line(sock, peer[0]))
        finally:
            server.stop()


def command(host, args):
    if args.server:
        need_perftest(host)
        return serve(host, args)
    address = host.resolve(args.address)
    if ipaddress.ip_address(address).is_loopback:
        raise Usage("rdma_cm finds no device for %s: give another address of the host" % address)
    need_perftest(host)
    return client(host, args, address)
