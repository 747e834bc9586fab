# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Access to the machine that kwarpctl runs on: its files, programs and limits.

The other modules of kwarpctl get all information about the machine from class Host.  So the tests
can use a folder of their own instead of "/", and recorded output instead of programs.
"""
import contextlib
import errno
import fcntl
import os
import resource
import shutil
import socket
import stat
import subprocess
import tempfile
import time
from typing import NamedTuple

from . import netlink


class Trouble(Exception):
    """An error.  Its text is one line for the user: what is wrong, and what to do."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


class Usage(Trouble):
    """A wrong argument (exit status 2)."""

    def __init__(self, text):
        super().__init__(text, 2)


class Result(NamedTuple):
    """Exit status and output of a program; the status is None if it is not installed."""
    status: int | None
    out: str
    err: str

    @property
    def ok(self):
        return self.status == 0


# The PATH of an ordinary user may lack the folders of administrators' programs.
SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


class Host:
    """This machine.  All paths are below the folder root, which is "/" except in tests."""

    def __init__(self, root="/"):
        self.root = root
        self.uid = os.geteuid()

    def path(self, path):
        return os.path.join(self.root, path.lstrip("/"))

    def read(self, path):
        """The file's text without the last newline; None if it cannot be read."""
        data = self.read_bytes(path)
        return None if data is None else data.decode(errors="replace").rstrip("\n")

    def read_bytes(self, path):
        try:
            with open(self.path(path), "rb") as file:
                return file.read()
        except OSError:
            return None

    def write(self, path, text):
        """Write a file with one call of write(): a file in sysfs takes each call as a new value."""
        file = os.open(self.path(path), os.O_WRONLY)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)

    def text(self, path):
        """The file's text; None if there is no such file.  Any other error raises Trouble."""
        try:
            with open(self.path(path), encoding="utf-8", errors="surrogateescape") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Trouble("%s cannot be read: %s" % (path, error.strerror)) from None

    @contextlib.contextmanager
    def locked(self, path):
        """Context manager: lock a folder, which is created if it does not exist."""
        os.makedirs(self.path(path), exist_ok=True)
        folder = os.open(self.path(path), os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def replace(self, path, text):
        """Replace the text of a file atomically: after a crash it has the old or the new text."""
        full = os.path.realpath(self.path(path))
        mode = stat.S_IMODE(os.stat(full).st_mode) if os.path.exists(full) else 0o644
        number, new = tempfile.mkstemp(dir=os.path.dirname(full))
        try:
            with open(number, "w", encoding="utf-8", errors="surrogateescape") as file:
                os.fchmod(number, mode)
                file.write(text)
                file.flush()
                os.fsync(number)
            os.replace(new, full)
        except OSError:
            os.unlink(new)
            raise

    def list(self, path):
        """Sorted names in a folder; none if there is no such folder."""
        try:
            return sorted(os.listdir(self.path(path)))
        except OSError:
            return []

    def exists(self, path):
        return os.path.exists(self.path(path))

    def may_open(self, path):
        return os.access(self.path(path), os.R_OK | os.W_OK)

    def changed(self, path):
        """Time of the file's last change (ctime), in seconds; None if there is no such file."""
        try:
            return os.stat(self.path(path)).st_ctime
        except OSError:
            return None

    def resolve(self, name):
        """The address of a host name, or the address itself: of several addresses the one that
        programs would try first."""
        try:
            found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise Usage("'%s' is neither an IP address nor the name of a host: %s"
                        % (name, getattr(error, "strerror", None) or error)) from None
        address, scope = found[0][4][0], (found[0][4][3:] or (0,))[0]
        return "%s%%%s" % (address, socket.if_indextoname(scope)) if scope else address

    def now(self):
        """Seconds since boot."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def release(self):
        return os.uname().release

    def driver_id(self, index):
        return netlink.driver_id(index)

    def ended(self):
        """The last streams that ended by an error, see netlink.ended()."""
        try:
            return netlink.ended()
        except OSError as error:
            raise Trouble("the module cannot be asked: %s" % error.strerror) from None

    def faults(self):
        """The rules for injected faults, see netlink.faults()."""
        try:
            return netlink.faults()
        except OSError as error:
            raise Trouble("the module cannot be asked: %s" % error.strerror) from None

    def change_fault(self, command, values):
        """See netlink.change()."""
        try:
            return netlink.change(command, values)
        except OSError as error:
            raise (Usage if error.errno == errno.EINVAL else Trouble)(
                "%s" % error.strerror) from None

    def memlock(self):
        """Octets that a process may lock; None if there is no limit."""
        soft = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
        return None if soft == resource.RLIM_INFINITY else soft

    def may_lock_all(self):
        """Does this process have CAP_IPC_LOCK, so that it may lock any amount of memory?"""
        for line in (self.read("/proc/self/status") or "").splitlines():
            if line.startswith("CapEff:"):
                return bool(int(line.split()[1], 16) & (1 << 14))
        return False

    def search_path(self):
        """PATH without the current folder, which may belong to another user."""
        folders = os.environ.get("PATH", "/usr/bin:/bin").split(":") + SBIN.split(":")
        return ":".join(folder for folder in folders if folder.startswith("/"))

    def which(self, program):
        return shutil.which(program, path=self.search_path())

    def run(self, *argv, timeout=30, env=None):
        """Run a program and return its status and output."""
        full = dict(os.environ, LC_ALL="C", PATH=self.search_path(), **(env or {}))
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace", timeout=timeout, env=full, check=False, cwd="/")
        except FileNotFoundError:
            return Result(None, "", "%s is not installed" % argv[0])
        except subprocess.TimeoutExpired:
            return Result(124, "", "%s does not end" % argv[0])
        except OSError as error:
            return Result(126, "", "%s: %s" % (argv[0], error.strerror))
        return Result(done.returncode, done.stdout, done.stderr.strip())
