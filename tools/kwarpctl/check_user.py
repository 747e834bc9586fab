# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks of doctor: what programs of the calling user need: kwarp's provider (the library that
libibverbs loads for its links), device files, limits."""
import json
import os
import re
import sys

from .check_module import loaded
from .findings import ok, problem, warning

# KWARP_UVERBS_ABI of kwarp-abi.h.
UVERBS_ABI = 1
DRIVERS = "/etc/libibverbs.d"
SMALL = 64 * 1024 * 1024
LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/local/lib64", "/lib")


def library(host):
    """Path of libibverbs, and its private version, which the file names of providers contain."""
    folders = list(LIBRARIES)
    folders += ["/usr/lib/" + name for name in host.list("/usr/lib") if "-linux-" in name]
    for folder in folders:
        path = folder + "/libibverbs.so.1"
        data = host.read_bytes(path)
        if data:
            found = re.search(rb"-rdmav(\d+)\.so|IBVERBS_PRIVATE_(\d+)", data)
            return path, (found[1] or found[2]).decode() if found else None
    return None, None


def providers(host, path, name):
    """Find the files of a provider in the folder of libibverbs.  Return a path for each private
    version of libibverbs for which there is a file."""
    folder = os.path.dirname(path) + "/libibverbs"
    found = {}
    for file in host.list(folder):
        match = re.fullmatch(r"lib%s-rdmav(\d+)\.so" % name, file)
        if match:
            found[match[1]] = folder + "/" + file
    return found


def types_of(case):
    """The types of link for which a provider is needed: those of the links, or "kwarp" if there is
    no link."""
    return sorted({link.type for link in case.links}) or ["kwarp"]


def check_provider(case):
    """Is libibverbs installed, and for each type of link its provider?"""
    path, version = library(case.host)
    if path is None:
        return [problem("provider", "libibverbs is not installed",
                        "install the package libibverbs1, then run make install")]
    found = []
    for kind in types_of(case):
        name = "kwarp" if kind == "kwarp" else "siw"
        found += check_one_provider(case.host, name, path, version)
    return found


def how_to_get(name):
    return "run make install" if name == "kwarp" else "install the package ibverbs-providers"


def check_one_provider(host, name, path, version):
    subject = "provider lib" + name
    files = providers(host, path, name)
    if not files:
        where = os.path.dirname(path) + "/libibverbs"
        hint = ", or use a link of type kwarp-siw" if name == "kwarp" else ""
        return [problem(subject, "it is not in %s" % where, how_to_get(name) + hint)]
    if version is not None and version not in files:
        return [problem(subject, "it is for libibverbs' private version %s, and %s has %s"
                        % ("/".join(sorted(files)), path, version), how_to_get(name))]
    config = "%s/%s.driver" % (DRIVERS, name)
    if "driver " + name not in (host.read(config) or ""):
        return [problem(subject, "libibverbs does not look for it: %s is missing or has no line "
                        "'driver %s'" % (config, name), how_to_get(name))]
    file = files.get(version) or next(iter(files.values()))
    ours, theirs = host.changed(file), host.changed(path)
    if name == "kwarp" and ours is not None and theirs is not None and ours < theirs:
        return [warning(subject, "libibverbs was installed after it, and may be of another "
                        "release", "run make install")]
    return [ok(subject, file)]


def check_abi(case):
    """Does the ABI version that the module reports match that of kwarp's provider?"""
    found = []
    for link in case.links:
        if link.type == "kwarp" and link.abi is not None and link.abi != UVERBS_ABI:
            found.append(problem("ABI of " + link.name, "the module has version %s, but the "
                                 "provider needs %s" % (link.abi, UVERBS_ABI),
                                 "run make install, rmmod kwarp, and add the link again"))
        elif link.abi is not None:
            found.append(ok("ABI of " + link.name, "%s" % link.abi))
    return found


# A program that opens links with libibverbs.  It runs in a separate process, because a provider of
# another release may crash, and with -I, because Python would else look for modules in the current
# folder, which may belong to another user.
PROBE = """
import ctypes, json, sys
lib = ctypes.CDLL("libibverbs.so.1", use_errno=True)
lib.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
lib.ibv_get_device_name.restype = ctypes.c_char_p
lib.ibv_get_device_name.argtypes = [ctypes.c_void_p]
lib.ibv_open_device.restype = ctypes.c_void_p
lib.ibv_open_device.argtypes = [ctypes.c_void_p]
number = ctypes.c_int(0)
devices = lib.ibv_get_device_list(ctypes.byref(number))
found = {}
for i in range(number.value if devices else 0):
    name = lib.ibv_get_device_name(devices[i]).decode()
    if name in sys.argv[1:]:
        ctypes.set_errno(0)
        found[name] = 0 if lib.ibv_open_device(devices[i]) else ctypes.get_errno() or 5
print(json.dumps(found))
"""


def probe(host, names):
    """Open links with libibverbs.  Return two things: for each link that libibverbs lists an errno,
    0 for success (None if the program crashed), and the messages of libibverbs."""
    result = host.run(sys.executable or "/usr/bin/python3", "-I", "-c", PROBE, *names,
                      env={"VERBS_LOG_LEVEL": "1", "IBV_SHOW_WARNINGS": "1"})
    try:
        return json.loads(result.out.strip().splitlines()[-1]), result.err
    except (ValueError, IndexError):
        return None, result.err


def check_open(case):
    """Can libibverbs find and open each link?  Each RDMA program does that first."""
    if not case.links:
        return []
    opened, words = probe(case.host, [link.name for link in case.links])
    if opened is None:
        return [warning("open", "libibverbs could not be tried", "run VERBS_LOG_LEVEL=1 "
                        "ibv_devinfo (package ibverbs-utils)")]
    return [check_opened(case.host, link, opened.get(link.name), words) for link in case.links]


def check_opened(host, link, error, words):
    subject = "open " + link.name
    if error == 0:
        return ok(subject, "libibverbs opens it")
    if error is None:
        return problem(subject, "libibverbs finds no provider for it", "see the provider")
    if link.uverbs and not host.may_open("/dev/infiniband/" + link.uverbs):
        return problem(subject, "its device file cannot be opened", "see the device files")
    if "none of the ABI versions" in words:
        return problem(subject, "module and provider have no version of the ABI in common",
                       "run make install, rmmod kwarp, and add the link again")
    return problem(subject, "libibverbs cannot open it: %s" % os.strerror(error),
                   "run VERBS_LOG_LEVEL=1 ibv_devinfo (package ibverbs-utils)")


def check_device_files(case):
    """May the user open the device files of the links and of rdma_cm?"""
    if loaded(case.host) is None:
        return []
    files = ["rdma_cm"] + [link.uverbs for link in case.links if link.uverbs]
    found = []
    for name in files:
        path = "/dev/infiniband/" + name
        if not case.host.exists(path):
            found.append(problem("device file", "%s is missing" % path, "see the modules; "
                                 "a container gets it with --device " + path))
        elif not case.host.may_open(path):
            found.append(problem("device file", "you may not open %s" % path, "join its group, "
                                 "or write a udev rule: KERNEL==\"%s\", MODE=\"0666\"" % name))
    return found or [ok("device files", "you may open " + ", ".join(files))]


def check_memlock(case):
    """How much memory may be locked?  Registered memory counts as locked."""
    host = case.host
    limit = host.memlock()
    if limit is None or host.may_lock_all():
        return [ok("locked memory", "no limit" if limit is None else "no limit for root")]
    words = "ulimit -l is %d KiB" % (limit // 1024)
    if limit < SMALL:
        return [warning("locked memory", words + ": ibv_reg_mr() fails with ENOMEM beyond it",
                        "raise it: memlock in /etc/security/limits.conf, or LimitMEMLOCK= of the "
                        "unit")]
    return [ok("locked memory", words)]
