#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Run commands on the other machine of a pair that tools/testing/guest/two.sh has started.

peer join N SECONDS   make the interfaces of machine N ready, and wait for machine 2
peer serve N          the same on machine 2, then serve; ends after "peer end"
peer run COMMAND...   run the command on machine 2, with the environment of this process
peer answers          succeed if machine 2 answers
peer killall          kill all commands on machine 2
peer end              end "peer serve"

Input, output, signals and exit status of "peer run" are those of the command. If "peer run" is
killed, or its machine ends, the command is killed. If machine 2 ends, the status is 255.

The interface for the tests gets the name "wire". The other one, for this program, is in a network
namespace of its own, so that the tests do not see its packets.
"""
import errno
import json
import os
import pathlib
import select
import signal
import socket
import struct
import subprocess
import sys
import time

PORT = 7170
ADDRESS = "10.98.0.{}"
NETNS = "kwarp-control"
# Beginnings of the hardware addresses; two.sh gives the last octet the number of the machine.
WIRE_MAC = "52:54:00:6b:77:0{}"
CONTROL_MAC = "52:54:00:6b:63:0{}"
CGROUP = pathlib.Path("/sys/fs/cgroup")
COMMANDS = CGROUP / "commands"
FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
LOST = 255
# A frame is a letter, a length, and that many octets: I input, O output, E errors, S signal,
# X exit status. Input of length 0 is its end.
HEAD = struct.Struct("!cI")
NUMBER = struct.Struct("!i")


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def interface_of(mac):
    for file in pathlib.Path("/sys/class/net").glob("*/address"):
        if file.read_text(encoding="ascii").strip() == mac:
            return file.parent.name
    sys.exit(f"peer: no interface has the address {mac}")


def set_up(number):
    for module in "virtio_pci", "virtio_net":
        subprocess.run(["modprobe", "-q", module], check=False)
    ip("link", "set", interface_of(WIRE_MAC.format(number)), "name", "wire")
    control = interface_of(CONTROL_MAC.format(number))
    ip("netns", "add", NETNS)
    ip("link", "set", control, "netns", NETNS)
    ip("-n", NETNS, "addr", "add", ADDRESS.format(number) + "/24", "dev", control)
    ip("-n", NETNS, "link", "set", control, "up")


def control_socket():
    """Return a socket in the namespace of the interface for this program."""
    with open("/proc/self/ns/net", "rb") as own, open(f"/run/netns/{NETNS}", "rb") as other:
        os.setns(other.fileno(), os.CLONE_NEWNET)
        try:
            return socket.socket()
        finally:
            os.setns(own.fileno(), os.CLONE_NEWNET)


def watch(sock):
    """Let TCP notice within 20 s that the other machine has ended."""
    for option, value in ((socket.TCP_KEEPIDLE, 2), (socket.TCP_KEEPINTVL, 2),
                          (socket.TCP_KEEPCNT, 9), (socket.TCP_USER_TIMEOUT, 20000),
                          (socket.TCP_NODELAY, 1)):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def connect(seconds):
    sock = control_socket()
    sock.settimeout(seconds)
    sock.connect((ADDRESS.format(2), PORT))
    sock.settimeout(None)
    watch(sock)
    return sock


def send(sock, kind, data=b""):
    sock.sendall(HEAD.pack(kind, len(data)) + data)


def receive_exactly(sock, count):
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            raise ConnectionError("the other end has closed")
        data += part
    return data


def receive(sock):
    kind, length = HEAD.unpack(receive_exactly(sock, HEAD.size))
    return kind, receive_exactly(sock, length)


# ------------------------------------------------------------------- machine 1

def run(argv):
    """Run a command on machine 2, and return its exit status."""
    wake, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    for number in FORWARDED:
        signal.signal(number, lambda *_: None)
    try:
        sock = connect(20)
        request = {"run": argv, "env": dict(os.environ), "cwd": os.getcwd()}
        send(sock, b"R", json.dumps(request).encode())
        return forward(sock, wake)
    except OSError as error:
        print(f"peer: the other machine does not answer: {error}", file=sys.stderr)
        return LOST


def forward(sock, wake):
    sources = {sock, wake, 0}
    while True:
        for source in select.select(sources, [], [])[0]:
            if source == wake:
                for number in os.read(wake, 64):
                    send(sock, b"S", NUMBER.pack(number))
            elif source == 0:
                data = os.read(0, 65536)
                send(sock, b"I", data)
                if not data:
                    sources.remove(0)
            else:
                kind, data = receive(sock)
                if kind == b"X":
                    return NUMBER.unpack(data)[0]
                os.write(1 if kind == b"O" else 2, data)


def ask(what, seconds=20):
    """Send a request that has no output; the answer is one frame."""
    with connect(seconds) as sock:
        sock.settimeout(seconds)
        send(sock, b"R", json.dumps({what: True}).encode())
        return receive(sock)


def answers(seconds):
    try:
        ask("answer", seconds)
        return True
    except OSError:
        return False


def join(number, seconds):
    set_up(number)
    end = time.monotonic() + float(seconds)
    while not answers(5):
        if time.monotonic() > end:
            sys.exit("peer: the other machine does not answer")
        time.sleep(0.2)


# ------------------------------------------------------------------- machine 2

def commands_cgroup():
    """Commands get into a cgroup, in which they can all be killed."""
    if not os.path.ismount(CGROUP):
        subprocess.run(["mount", "-t", "cgroup2", "none", CGROUP], check=True)
    COMMANDS.mkdir(exist_ok=True)


def serve(number):
    set_up(number)
    commands_cgroup()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = control_socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((ADDRESS.format(number), PORT))
    listener.listen(64)
    while True:
        sock, _ = listener.accept()
        watch(sock)
        sock.settimeout(10)
        try:
            request = json.loads(receive(sock)[1])
            if "run" in request:
                start(listener, sock, request)
            if "killall" in request:
                (COMMANDS / "cgroup.kill").write_text("1", encoding="ascii")
            if "run" not in request:
                send(sock, b"A")
            if "end" in request:
                return
        except (OSError, ValueError) as error:
            print(f"peer: a request failed: {error}", flush=True)
        finally:
            sock.close()


def start(listener, sock, request):
    """Let a child handle the request."""
    if os.fork() != 0:
        return
    status = 1
    try:
        listener.close()
        sock.settimeout(None)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        (COMMANDS / "cgroup.procs").write_text("0", encoding="ascii")
        handle(sock, request)
        status = 0
    finally:
        os._exit(status)


def handle(sock, request):
    argv, cwd = request["run"], request["cwd"]
    try:
        child = subprocess.Popen(argv, env=request["env"], cwd=cwd if os.path.isdir(cwd) else "/",
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True, bufsize=0)
    except OSError as error:
        send(sock, b"E", f"{argv[0]}: {error.strerror}\n".encode())
        send(sock, b"X", NUMBER.pack(127 if error.errno == errno.ENOENT else 126))
        return
    try:
        status = attend(sock, child)
        send(sock, b"X", NUMBER.pack(status if status >= 0 else 128 - status))
    except OSError:
        kill_group(child, signal.SIGKILL)


def kill_group(child, number):
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass


def attend(sock, child):
    """Carry data until the command has ended, and return its status.

    Programs that the command has left in the background may still have its output open. So after
    its end only what is in the pipes already is sent.
    """
    outputs = {child.stdout: b"O", child.stderr: b"E"}
    ended = os.pidfd_open(child.pid)
    while True:
        ready = select.select([sock, ended, *outputs], [], [])[0]
        for source in [s for s in ready if s in outputs]:
            data = os.read(source.fileno(), 65536)
            if data:
                send(sock, outputs[source], data)
            else:
                del outputs[source]
        if sock in ready:
            take(sock, child)
        if ready == [ended]:
            return child.wait()


def take(sock, child):
    kind, data = receive(sock)
    if kind == b"S":
        os.kill(child.pid, NUMBER.unpack(data)[0])
    elif not data:
        child.stdin.close()
    elif not child.stdin.closed:
        try:
            child.stdin.write(data)
        except BrokenPipeError:
            child.stdin.close()


def main():
    match sys.argv[1:]:
        case ["run", *argv] if argv:
            return run(argv)
        case ["answers"]:
            return 0 if answers(5) else 1
        case ["killall" | "end" as what]:
            try:
                ask(what)
            except OSError as error:
                sys.exit(f"peer: the other machine does not answer: {error}")
        case ["join", number, seconds]:
            join(number, seconds)
        case ["serve", number]:
            serve(number)
        case _:
            print(__doc__, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
