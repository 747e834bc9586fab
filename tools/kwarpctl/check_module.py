# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks of doctor: is the module kwarp installed and loaded, are the modules that programs need
loaded, and what does the kernel log say?"""
from .findings import ok, problem, warning
from .host import Trouble

SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
KEY = "/var/lib/dkms/mok.pub"


def loaded(host):
    """The version of the loaded module kwarp; None if kwarp is not loaded."""
    return host.read("/sys/module/kwarp/version")


def modinfo(host, field):
    """A field of modinfo for the module that modprobe would load; None if there is none."""
    result = host.run("modinfo", "-F", field, "kwarp")
    if result.status is None:
        raise Trouble("the program modinfo is missing: install the package kmod")
    return result.out.strip() if result.ok else None


def secure_boot(host):
    """Is Secure Boot on?  The EFI variable has four octets of attributes before its value."""
    data = host.read_bytes(SECURE_BOOT)
    if data is not None and len(data) >= 5:
        return data[4] == 1
    return "SecureBoot enabled" in host.run("mokutil", "--sb-state").out


def key_is_enrolled(host):
    """Is the key with which DKMS signs modules enrolled?  None if mokutil does not tell."""
    result = host.run("mokutil", "--test-key", KEY)
    if "already enrolled" in result.out or "already in the enrollment" in result.out:
        return True
    return False if "is not enrolled" in result.out else None


def check_not_loaded(host):
    version = modinfo(host, "version")
    if version is None:
        return [problem("module", "it is not installed for the kernel %s" % host.release(),
                        "run make install; after a kernel update install the kernel's headers, "
                        "then run dkms autoinstall")]
    if secure_boot(host) and not key_is_enrolled(host):
        return [problem("module", "kwarp %s is installed but not loaded, and Secure Boot is on"
                        % version, "enrol DKMS's key: mokutil --import %s, reboot, and confirm "
                        "on the screen" % KEY)]
    return [problem("module", "kwarp %s is installed but not loaded" % version,
                    "add a link, which loads it; if that fails, run modprobe kwarp, and see what "
                    "dmesg says")]


def check_module(case):
    """Is the module loaded, and is it the build that is installed?"""
    host = case.host
    version = loaded(host)
    if version is None:
        return check_not_loaded(host)
    running = host.read("/sys/module/kwarp/srcversion")
    installed = modinfo(host, "srcversion")
    if running and installed and running != installed:
        return [warning("module", "kwarp %s is loaded, but another build is installed" % version,
                        "stop the programs, delete the links, run rmmod kwarp, and add the links "
                        "again")]
    return [ok("module", "kwarp %s is loaded" % version)]


def check_taint(case):
    """Look at the letters in the module's taint file, which say how the module was loaded."""
    taint = case.host.read("/sys/module/kwarp/taint")
    if not taint:
        return []
    if "F" in taint:
        return [warning("taint", "the module was loaded by force (F)",
                        "build it for this kernel: run make install")]
    return [ok("taint", "%s (O: out of tree, E: not signed), which is usual" % taint)]


# Each row: module; a path that exists if the module is loaded or built into the kernel; what fails
# without the module.
NEEDED = (
    ("ib_uverbs", "/sys/class/infiniband_verbs", "programs cannot open any RDMA device"),
    ("rdma_ucm", "/sys/class/misc/rdma_cm", "programs cannot connect"),
    ("rdma_cm", "/sys/class/misc/rdma_cm", "nobody can connect"),
    ("iw_cm", "/sys/module/kwarp", "no iWARP device can connect"),
)


def check_modules(case):
    """Are the modules loaded that programs need?  Loading kwarp normally loads them."""
    host = case.host
    found = []
    if loaded(host) is None:
        return found
    for name, sign, effect in NEEDED:
        if not host.exists("/sys/module/" + name) and not host.exists(sign):
            found.append(problem("module " + name, "it is not loaded: " + effect,
                                 "run modprobe " + name))
    return found or [ok("modules", "ib_uverbs, rdma_ucm, rdma_cm and iw_cm are there")]


# Each row: text in the kernel log, what it means, what to do.
LOG = (
    ("Key was rejected by service", "the kernel refuses the module's signature",
     "enrol DKMS's key: mokutil --import " + KEY),
    ("Loading of module with unavailable key is rejected", "the kernel refuses a module's signature",
     "enrol DKMS's key: mokutil --import " + KEY),
    ("Loading of unsigned module is rejected", "the kernel takes no module without a signature",
     "enrol DKMS's key: mokutil --import " + KEY),
    ("kwarp: disagrees about version of symbol", "the module is for another kernel",
     "run make install"),
    ("kwarp: Unknown symbol", "the module is for another kernel, or a module that it needs is "
     "missing", "run depmod -a; if that does not help, run make install"),
    ("kwarp: version magic", "the module is for another kernel", "run make install"),
    ("kwarp: `", "the module was not loaded because a parameter has a wrong value",
     "correct the value: grep -r kwarp /etc/modprobe.d"),
    ("kwarp: unknown parameter '", "a parameter that the module does not have was ignored",
     "see modinfo -p kwarp, and correct the name: grep -r kwarp /etc/modprobe.d"),
    ("cannot listen on", "a program that listens on all addresses gets no connections from a link: "
     "the port is taken by an ordinary socket, or by siw",
     "let it listen on an address, or see ss -ltnp"),
    ("siw: crc error", "siw has reported a wrong CRC, perhaps because TCP delivered the CRC in two "
     "parts", "set the knob align to on at the kwarp end"),
)


def check_log(case):
    """Look for known texts in the kernel log, if the user may read it."""
    result = case.host.run("dmesg")
    if not result.ok:
        return [ok("kernel log", "not checked: %s" % (
            "only root may read it here" if case.host.uid else result.err or "dmesg fails"))]
    lines = result.out.splitlines()
    found = []
    for words, meaning, action in LOG:
        hits = [line for line in lines if words in line]
        if hits:
            found.append(warning("kernel log", "%s (%dx, last: %s)"
                                 % (meaning, len(hits), hits[-1].strip()), action))
    reports = [line for line in lines if "[kwarp]" in line and "RIP" in line]
    if reports:
        found.append(problem("kernel log", "the kernel has reported an error within kwarp",
                             "save the output of dmesg and report it"))
    return found or [ok("kernel log", "no known trouble with kwarp")]
