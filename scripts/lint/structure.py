#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Check the structure of the driver, the provider and the test programs, from the text of their
# sources, and the sizes of these and of the scripts:
#
#   scripts/lint/structure.py             print "FILE: what is wrong", one finding per line
#   scripts/lint/structure.py --graph     print "FILE calls|includes FILE: NAMES" instead
#
# - Circles: files must not include or call each other in a circle. A .c file and the header of the
#   same name count as one file. Calls in an inline function are calls of its header. The only
#   check of the test programs, but for sizes.
# - Functions: each function that is in a header or not static must have a caller that is no test.
#   If only the .c file that defines it calls it, a test must call it, too, or it must be static.
# - Compat: scripts/kernel/probes.txt has the probes: KWARP_LACKS_NAME is defined if the probe NAME
#   does not compile for a kernel. Only compat.h and compat_ops.h may test KWARP_LACKS_*. They, or
#   KWARP_SINCE(NAME, ...) in any file, must test each of them. No file may test a version number.
# - Sizes: no source or script may have more lines than LIMITS. In C, lines of code count, except
#   tables, and unit tests have no limit.
#
# check-layers.sh checks the layers, and the calls between the objects of a built module.
"""Check circles, functions without callers, compat, and sizes."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DRIVER = pathlib.PurePath("drivers/infiniband/sw/kwarp")
PROVIDER = pathlib.PurePath("rdma-core-provider")
UAPI = pathlib.PurePath("include")
TESTING = pathlib.PurePath("tools/testing")
SCRIPTS = tuple(map(pathlib.PurePath, ("scripts", "tools", "debian", "packaging", ".ci")))
SUFFIXES = (".sh", ".py", ".awk", ".bt")
PROBES = pathlib.PurePath("scripts/kernel/probes.txt")
# Folders that the compiler searches for headers, see the makefiles.
INCLUDE_PATH = (DRIVER, TESTING / "common", TESTING / "rawpeer")

# Largest number of lines of a file. A table (an initializer at the outermost level) does not count.
LIMITS = {"header": 300, "source": 800, "script": 450}

COMMENT_OR_STRING = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
                               re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.MULTILINE)
MACRO = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)(\([^)]*\))?(.*)", re.DOTALL)
# The name of a function in its definition or declaration: the word before the first arguments,
# unless they are an attribute's.
NAME = re.compile(r"\b(?!__attribute__|__printf|__aligned|__must_hold|__acquires|__releases)"
                  r"(\w+)\s*\(")
TABLE = re.compile(r"^[^\s#}].*=\s*\{\s*\n(?:(?!\};).*\n)*\};", re.MULTILINE)
# A name that may be that of a function: not of a member of a struct, and not of a type.
WORD = re.compile(r"(?<![.\w])(?<!->)(?:\b(?:enum|struct|union)\s+\w+|([A-Za-z_]\w+))\b")


def words(text):
    """Names in a piece of code that may be names of functions."""
    return set(WORD.findall(text)) - {""}


def without_comments(text):
    """The text without comments and contents of strings. Line numbers stay the same."""
    def blank(match):
        found = match[0]
        if found[0] in "\"'":
            return found[0] * 2
        return " " + "\n" * found.count("\n")
    return COMMENT_OR_STRING.sub(blank, text)


def top_level(text):
    """Pieces of a file at the outermost level: (head, body). The body is the text in braces."""
    head, body, depth = [], [], 0
    for part in re.split(r"([{};])", text):
        if part == "{":
            depth += 1
        elif part == "}":
            depth -= 1
        elif part == ";" and depth == 0:
            yield "".join(head).strip(), " ".join(body)
            head, body = [], []
            continue
        elif depth:
            body.append(part)
        else:
            head.append(part)
            continue
        if part == "}" and depth == 0 and is_function("".join(head)):
            yield "".join(head).strip(), " ".join(body)
            head, body = [], []
    yield "".join(head).strip(), " ".join(body)


def is_function(head):
    """Does the text before a brace or a semicolon declare a function?"""
    head = head.strip()
    return bool(re.search(r"\)\s*(\w+(\(\w*\))?\s*)*$", head)) and "=" not in head and \
        not head.startswith("typedef") and bool(NAME.search(head))


Function = collections.namedtuple("Function", ["name", "static"])


class File:
    """The contents of one file: its functions, includes, and the names that it uses."""

    def __init__(self, path, text):
        self.path = pathlib.PurePath(path)
        self.lines = text.splitlines()
        self.code = without_comments(text)
        self.includes = INCLUDE.findall(text)
        self.functions = []		# defined in the file
        self.words = set()		# names in the code, except definitions and prototypes
        self.shorthand = set()		# names in macros without arguments; a use is a call
        plain = DIRECTIVE.sub("", self.code)
        for directive in DIRECTIVE.findall(self.code):
            self.add_directive(directive)
        for head, body in top_level(plain):
            self.add_piece(head, body)

    def add_directive(self, text):
        """Add a preprocessor directive. A macro with arguments is treated as a function."""
        macro = MACRO.match(text)
        if not macro:
            return
        if macro[2] and self.is_header:
            self.functions.append(Function(macro[1], False))
        names = self.words if macro[2] else self.shorthand
        names.update(words(macro[3]))

    def add_piece(self, head, body):
        """Add a definition or declaration at the outermost level."""
        self.words.update(words(body))
        if not is_function(head):
            self.words.update(words(head))
            return
        name = NAME.search(head)[1]
        # The arguments of a macro at the outermost level may be functions.
        self.words.update(words(head) - {name})
        if body or head.endswith(")") and re.match(r"static\b", head):
            self.functions.append(Function(name, "static" in head.split()))
        elif not re.match(r"[\w\s*]+\b" + name, head) or head.startswith(name):
            self.words.add(name)

    @property
    def room(self):
        """The path without its suffix, which a .c file and its header have in common ("room")."""
        return self.path.with_suffix("")

    @property
    def is_header(self):
        """Is the file a header?"""
        return self.path.suffix == ".h"

    @property
    def is_test(self):
        """Is the file part of the unit tests?"""
        return "tests" in self.path.parts

    def exported(self):
        """Names of functions that other files may call."""
        return {f.name for f in self.functions if self.is_header or not f.static}

    @property
    def kind(self):
        """Which entry of LIMITS applies to the file."""
        return "header" if self.is_header else "source"

    def length(self):
        """Number of lines of code outside of tables; 0 for unit tests."""
        if self.is_test:
            return 0
        code = TABLE.sub("", "\n".join(self.code.splitlines()))
        return sum(bool(line.strip()) for line in code.splitlines())


class Tree:
    """Files of a folder, and which file includes and calls which."""

    def __init__(self, texts):
        self.files = [File(path, text) for path, text in sorted(texts.items())]
        self.paths = {f.path for f in self.files}

    def included(self, file):
        """Files of the tree that a file includes, by a path relative to it or in INCLUDE_PATH."""
        for name in file.includes:
            for base in (file.path.parent, *INCLUDE_PATH):
                parts = []
                for part in (base / name).parts:
                    if part == "..":
                        parts.pop()
                    else:
                        parts.append(part)
                path = pathlib.PurePath(*parts)
                if path in self.paths:
                    yield path
                    break

    def include_edges(self, files):
        """{room: {room that it includes: names of the headers}}; room: a path without suffix."""
        edges = collections.defaultdict(lambda: collections.defaultdict(set))
        for file in files:
            for path in self.included(file):
                if path.with_suffix("") != file.room:
                    edges[file.room][path.with_suffix("")].add(path.name)
        return edges

    def call_edges(self, files):
        """{room: {room that it calls: names of the functions}}; room: a path without suffix."""
        homes = collections.defaultdict(set)
        for file in files:
            for name in file.exported():
                homes[name].add(file.room)
        edges = collections.defaultdict(lambda: collections.defaultdict(set))
        for file in files:
            own = {f.name for f in file.functions}
            for name in (file.words - own) & homes.keys():
                if file.room not in homes[name] and len(homes[name]) == 1:
                    edges[file.room][next(iter(homes[name]))].add(name)
        return edges


def circles(edges):
    """Lists of rooms (files) in which each one reaches all others (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(room):
        index[room] = low[room] = len(index)
        stack.append(room)
        for other in sorted(edges.get(room, ())):
            if other not in index:
                visit(other)
                low[room] = min(low[room], low[other])
            elif other in stack:
                low[room] = min(low[room], index[other])
        if low[room] == index[room]:
            at = stack.index(room)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for room in sorted(edges):
        if room not in index:
            visit(room)
    return found


def graphs(tree):
    """("include" or "call", edges between files).

    Calls of tests are left out, because tests replace some functions by their own.
    """
    yield "include", tree.include_edges(tree.files)
    yield "call", tree.call_edges([f for f in tree.files if not f.is_test])


def check_circles(tree):
    """Findings about circles."""
    for kind, edges in graphs(tree):
        for circle in circles(edges):
            yield f"{circle[0]}: {len(circle)} files {kind} each other in a circle"
            for room in circle:
                for other in circle:
                    names = edges.get(room, {}).get(other)
                    if names:
                        yield f"  {room} {kind}s {other}: {' '.join(sorted(names))}"


def check_functions(tree):
    """Findings about functions without callers."""
    users = collections.defaultdict(set)
    for file in tree.files:
        for name in file.words | file.shorthand:
            users[name].add(file)
    for file in tree.files:
        if file.is_test:
            continue
        for name in sorted(file.exported() | ({f.name for f in file.functions}
                                              if file.is_header else set())):
            own = {f for f in users[name] if f.room == file.room}
            tests = {f for f in users[name] if f.is_test}
            if users[name] - own - tests:
                continue
            if not own:
                yield f"{file.path}: {name}() has no caller" + (" but tests" if tests else "")
            elif not tests and not file.is_header and own == {file}:
                yield f"{file.path}: {name}() has no caller in another file: make it static"


VERSION = re.compile(r"\b(LINUX_VERSION_CODE|KERNEL_VERSION|LINUX_VERSION_MAJOR|"
                     r"LINUX_VERSION_PATCHLEVEL|UTS_RELEASE|RHEL_RELEASE_\w+)\b")
COMPAT = (DRIVER / "compat.h", DRIVER / "compat_ops.h")
LACKS = re.compile(r"\bKWARP_LACKS_(\w+)")
SINCE = re.compile(r"\bKWARP_(?:SINCE|SINCE_ROW|BEFORE_ROW)\(([A-Z]\w*)")


def check_compat(tree, probes):
    """Findings about differences between kernels."""
    read = set()
    for file in tree.files:
        for found in sorted(set(VERSION.findall(file.code))):
            yield f"{file.path}: {found}: use a probe instead of a version"
        names = set(LACKS.findall(file.code))
        if names and file.path not in COMPAT:
            yield f"{file.path}: KWARP_LACKS_*: only compat.h may test it"
            names = set()
        names |= set(SINCE.findall(file.code))
        for name in sorted(names):
            if name.lower() not in probes:
                yield f"{file.path}: {name}: there is no probe {name.lower()}"
        read |= {name.lower() for name in names}
    for name in sorted(probes - read):
        yield f"{PROBES}: {name}: the driver does not use the result"


def check_sizes(tree):
    """Findings about files that are too long."""
    for file in tree.files:
        if file.length() > LIMITS[file.kind]:
            yield (f"{file.path}: {file.length()} lines of code outside of tables, "
                   f"{LIMITS[file.kind]} are allowed")


def check_scripts(scripts):
    """Findings about those of the scripts, {path: text}, that are too long."""
    for path, text in sorted(scripts.items()):
        lines = len(text.splitlines())
        if lines > LIMITS["script"]:
            yield f"{path}: {lines} lines, {LIMITS['script']} are allowed"


def read_tree(root, top):
    """All sources below a folder, without files that a build has made."""
    return Tree({str(path.relative_to(root)): path.read_text(encoding="utf-8")
                 for path in (root / top).rglob("*.[ch]")
                 if path.is_file() and not path.name.endswith(".mod.c")})


def read_scripts(root):
    """The scripts, known by their suffix or by their first line, as {path: text}."""
    paths = (path for top in SCRIPTS for path in (root / top).rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths
            if path.suffix in SUFFIXES or path.read_bytes().startswith(b"#!")}


def read_probes(root):
    """The text of the probes; none if there is no such file."""
    path = root / PROBES
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def findings(root):
    """All findings."""
    probes = set(re.findall(r"^=== (\w+)$", read_probes(root), re.M))
    trees = [read_tree(root, top) for top in (DRIVER, UAPI, PROVIDER)]
    for tree in trees:
        yield from check_circles(tree)
        yield from check_functions(tree)
        yield from check_sizes(tree)
    testing = read_tree(root, TESTING)
    yield from check_circles(testing)
    yield from check_sizes(testing)
    yield from check_scripts(read_scripts(root))
    yield from check_compat(trees[0], probes)


def arrows(root):
    """The lines of --graph: all includes and calls, one per line."""
    for top in (DRIVER, PROVIDER, TESTING):
        for kind, edges in graphs(read_tree(root, top)):
            for room in sorted(edges):
                for other, names in sorted(edges[room].items()):
                    yield f"{room} {kind}s {other}: {' '.join(sorted(names))}"


def main():
    """Print the findings or the graph, and return the exit status: 1 if there is a finding."""
    if sys.argv[1:] == ["--graph"]:
        print("\n".join(arrows(ROOT)))
        return 0
    found = list(findings(ROOT))
    print("".join(line + "\n" for line in found), end="")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
