#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Check comments, documents and messages for words that make a text hard to read, and for names of
# files that do not exist.
#
#   scripts/lint/words.py [--root DIR]     print findings, FILE:LINE: WHAT
#
# 1. Sentences that begin with Nor, Not so, Whoever or Who: the subject is missing, or the order is
#    inverted. A question may begin with Who, and so may the heading line of a table.
# 2. "Behind" for "after". In its usual sense (behind a firewall, left behind) it is allowed.
# 3. Names of files that look like the project's and do not exist, because a reader would search for
#    them. In the Makefile this is checked for the scripts that targets run, too.
#
# In C, Python and shell, comments and strings are checked; in documents, everything. In the literal
# blocks of documents, which are commands and output, only names of files are checked.
"""Check the words of comments, documents and messages."""
import argparse
import fnmatch
import io
import pathlib
import re
import subprocess
import sys
import tokenize

sys.dont_write_bytecode = True

DRIVER = "drivers/infiniband/sw/kwarp"

# These files are not checked, because scripts made them or people outside of the project wrote
# them, so their text would have to be changed elsewhere.
GENERATED = ["Documentation/reference/*", "Documentation/performance/report.md",
             "Documentation/performance/*.json", "Documentation/performance/*.svg",
             "Documentation/kernels.tsv", "Documentation/conformance/*", "LICENSES/*",
             "Documentation/upstream/*.patch", "tools/testing/fuzz/corpus/*"]
# These files are not checked either: this script and its test contain the bad words, and the test
# of structure.py has names of files in its examples.
ABOUT_WORDS = ["scripts/lint/words.py", "scripts/tests/test_words.py",
               "scripts/tests/test_structure.py"]

C_FILE = re.compile(r".*\.[chS]$")
DOCUMENT = re.compile(r".*\.(rst|md|7|8|3)$|.*/README$|.*\.known$")
HASH_FILE = re.compile(r".*\.(sh|bash|bt|awk|config|conf|in|service|txt|spec)$|"
                       r"(.*/)?(Makefile|Kbuild|Kconfig|CMakeLists\.txt|init|kwarpctl|rules|run|"
                       r"[a-z-]+\.(postinst|postrm|preinst|prerm))$")

BAD_START = re.compile(r"(?:^|(?<=[.?!:;] )|(?<=[.?!:;]  )|(?<=\n))[(\"'*]*"
                       r"(Nor|Not so|Whoever|Who)\b(?!')([^.?!\n]*[.?!]?)")
# The word between hyphens is part of a test case's name, and is allowed.
BEHIND = re.compile(r"(?<![\w-])behind(?![\w-])", re.IGNORECASE)
# "behind" in its usual sense: a place, or being late.
OWN_SENSE = re.compile(r"\bbehind (?:a |the |an |one |its |their )?(?:NATs?|firewalls?|routers?|"
                       r"prox(?:y|ies)|gateways?|bridges?|switch(?:es)?|load balancers?|"
                       r"\w+'s back)\b|"
                       r"\b(?:leav(?:e|es|ing)|left|stays?|stayed|remains?|lags?|falls?)"
                       r"(?: \w+){0,5} behind\b", re.IGNORECASE)

FILE_NAME = re.compile(r"(?<![\w./~$}*%<>@+\\-])((?:[\w{}*,.-]+/)*[\w{*-][\w.{}*,-]*"
                       r"\.(?:c|h|S|sh|py|rst|md|csv|tsv|awk|known|bt|spec))(?![\w*/(=-]|\.\w)")
# Files of others: kernel, rdma-core, tools. A name without a folder needs an entry in
# FOREIGN_NAMES, which says to whom the file belongs.
FOREIGN_PATHS = re.compile(
    r"^(?:\.\./)*(?:drivers/(?!infiniband/sw/kwarp/)|net/|include/|linux/|rdma/(?!kwarp-abi)|"
    r"fs/|lib/|mm/|kernel/|arch/|block/|crypto/|init/|samples/|scripts/(?:kernel-doc|checkpatch|kunit)|"
    r"tools/testing/(?:kunit|selftests/(?!kwarp))|trace/|uapi/|asm/|asm-generic/|kunit/|sys/|"
    r"infiniband/|libibverbs/|librdmacm/|providers/|kernel-abi/|kernel-headers/|util/|ccan/|"
    r"generated/|valgrind/|sanitizer/|build/|Documentation/(?:infiniband|kbuild|dev-tools)/)")
FOREIGN_NAMES = {
    "iwcm.c": "kernel, RDMA core", "iwpm_msg.c": "kernel, RDMA core",
    "uverbs_cmd.c": "kernel, RDMA core", "cma.c": "kernel and librdmacm",
    "ib_verbs.h": "kernel, RDMA core", "siw-abi.h": "kernel", "siw_main.c": "kernel, siw",
    "siw_cm.c": "kernel, siw", "siw.c": "rdma-core", "rw.c": "kernel, RDMA core",
    "kunit.py": "kernel", "checkpatch.pl": "kernel", "cm.c": "cxgb4, irdma and ours",
    "provider.c": "kernel, cxgb4", "i40iw_hw.h": "kernel, irdma", "icrdma_hw.h": "kernel, irdma",
    "nes_cm.c": "kernel, once", "driver.h": "rdma-core", "config.h": "rdma-core's build",
    "kwarp_config.h": "made by scripts/kernel/probe.sh", "x.c": "an example",
    "system_heap.c": "kernel, dma-buf", "define_trace.h": "kernel", "run_tests.py": "rdma-core",
}
# Placeholders and ends of names: NAME.c, *.mod.c, _kunit.c.
PLACEHOLDER = re.compile(r"(?:^|/)[A-Z_]+\.\w+$|(?:^|/)\*\.[\w.]+$|^_\w+\.\w+$")


class Piece:
    """A part of a file: the number of its first line, its text, and whether it is prose."""

    def __init__(self, line, text, prose=True):
        self.line, self.text, self.prose = line, text, prose

    def at(self, offset):
        """Line number of an offset into the text."""
        return self.line + self.text.count("\n", 0, offset)


# ----------------------------------------------------------------- extraction

C_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.DOTALL)


def bare(comment):
    """A C comment without its stars, with the same number of lines."""
    text = re.sub(r"^/\*+ ?|\*+/$|^// ?", "", comment)
    return "\n".join(re.sub(r"^\s*\* ?", "", line) for line in text.split("\n"))


def c_pieces(text):
    """Comments and strings of C, except names in #include."""
    text = re.sub(r"(?m)^(\s*#\s*include\s+)[\"<].*$", r"\1", text)
    lines = None
    for found in C_TOKEN.finditer(text):
        token, line = found[0], text.count("\n", 0, found.start()) + 1
        if token.startswith("//") and lines and lines.line + lines.text.count("\n") + 1 == line:
            lines.text += "\n" + bare(token)
            continue
        if lines:
            yield lines
            lines = None
        if token.startswith("//"):
            lines = Piece(line, bare(token))
        elif token.startswith("/*"):
            yield Piece(line, bare(token))
        elif token[0] == '"':
            yield Piece(line, token[1:-1].replace("\\n", " ").replace('\\"', '"'))
    if lines:
        yield lines


def python_pieces(text):
    """Comments and strings of Python. Comments on consecutive lines are one piece."""
    lines = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, words = token.start[0], token.string.lstrip("#").strip()
            if lines and lines.line + lines.text.count("\n") + 1 == line:
                lines.text += "\n" + words
            else:
                if lines:
                    yield lines
                lines = Piece(line, words)
        elif token.type == tokenize.STRING:
            body = re.sub(r"^\w*('''|\"\"\"|'|\")|('''|\"\"\"|'|\")$", "", token.string)
            yield Piece(token.start[0], body)
    if lines:
        yield lines


def hash_pieces(text):
    """Comments that begin with #, and quoted strings on other lines."""
    lines = None
    for number, line in enumerate(text.split("\n"), 1):
        found = re.search(r"(?:^|\s)#+ ?(.*)$", line)
        only = found and not line[:found.start()].strip()
        if only and lines and lines.line + lines.text.count("\n") + 1 == number:
            lines.text += "\n" + found[1]
            continue
        if lines:
            yield lines
            lines = None
        if only:
            lines = Piece(number, found[1])
            continue
        for quoted in re.findall(r"\"([^\"]*)\"|'([^']*)'", line):
            yield Piece(number, quoted[0] or quoted[1])
        if found and "'" not in found[1] and '"' not in found[1]:
            yield Piece(number, found[1])
    if lines:
        yield lines


def document_pieces(text):
    """Paragraphs of a document, and its literal blocks as separate pieces."""
    literal, block, start = None, [], 1
    for number, line in enumerate(text.split("\n") + [""], 1):
        indent = len(line) - len(line.lstrip())
        if literal is not None and line.strip() and indent > literal:
            yield Piece(number, line, prose=False)
            continue
        if literal is not None and line.strip():
            literal = None
        if line.strip():
            if not block:
                start = number
            block.append(line.strip())
            continue
        if block:
            yield Piece(start, "\n".join(block))
            if block[-1].endswith("::"):
                literal = len(text.split("\n")[start - 1]) - \
                    len(text.split("\n")[start - 1].lstrip())
            block = []


def pieces_of(name, text):
    """The pieces of a file that people read."""
    if C_FILE.match(name):
        return c_pieces(text)
    if name.endswith(".py"):
        return python_pieces(text)
    if DOCUMENT.match(name):
        return document_pieces(text)
    if re.match("#!.*python3", text):
        return python_pieces(text)
    if HASH_FILE.match(name):
        return hash_pieces(text)
    return ()


# --------------------------------------------------------------------- checks

def is_head_of_table(text, offset):
    """Is this line between two lines of equals signs, or the first of a Markdown table?"""
    lines = text.split("\n")
    number = text.count("\n", 0, offset)
    around = lines[max(0, number - 1):number] + lines[number + 1:number + 2]
    return "|" in lines[number] or any(re.match(r"={3,}( +={3,})*$", line) for line in around)


def check_sentences(piece):
    """Sentences that begin with a word that hides the subject."""
    # Join lines, because sentences continue over lines. A new line begins a sentence only after an
    # empty line, or with a bullet.
    text = re.sub(r"(?<!\n)\n(?!\n|[-*] |\d+\. |@|[A-Z]\w+:)", " ", piece.text)
    text = re.sub(r"(?m)^(?:[-*]|\d+\.|@[\w, @]+:) +", "", text)
    lost = 0
    for found in BAD_START.finditer(text):
        word, rest = found[1], found[2]
        if word == "Who" and (rest.endswith("?") or is_head_of_table(piece.text, 0)):
            continue
        shown = " ".join((word + rest).split())[:50]
        offset = piece.text.find(word, lost)
        lost = offset + 1 if offset >= 0 else lost
        yield piece.at(max(offset, 0)), f'a sentence begins with "{word}": {shown}'


def check_behind(piece):
    """Uses of "behind" for time or order instead of a place."""
    text = piece.text.replace("\n", " ")
    own = [found.span() for found in OWN_SENSE.finditer(text)]
    for found in BEHIND.finditer(text):
        if not any(a <= found.start() < b for a, b in own):
            shown = text[max(0, found.start() - 25):found.end() + 20].strip()
            yield piece.at(found.start()), f'"behind" for "after": {shown}'


def expanded(name):
    """The names that NAME stands for: {a,b} in it stands for a and for b."""
    found = re.search(r"\{([^{},]*,[^{}]*)\}", name)
    if not found:
        return [name]
    return [one for part in found[1].split(",")
            for one in expanded(name[:found.start()] + part + name[found.end():])]


class Tree:
    """Files of the project. A name may be a whole path or the end of a path."""

    def __init__(self, root):
        self.root = root
        out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, text=True,
                             stdout=subprocess.PIPE, check=True)
        self.files = [f for f in sorted(set(out.stdout.split("\n")) - {""})
                      if (root / f).is_file()]
        self.ends = set()
        for name in self.files:
            parts = name.split("/")
            self.ends.update("/".join(parts[i:]) for i in range(len(parts)))

    def has(self, name):
        """Does some path end with NAME? A star in it stands for any part of a name."""
        name = re.sub(r"^(\.+/)+", "", name)
        # {WORD}, as in Python's format strings, stands for any part of a name, too.
        name = re.sub(r"\{\w*\}", "*", name)
        if "*" in name:
            return any(fnmatch.fnmatchcase(end, name) for end in self.ends)
        return name in self.ends

    def knows(self, name):
        """Is NAME a file of the project, or known as a file of others?"""
        if FOREIGN_PATHS.match(name) and not self.has(name):
            return True
        if name.split("/")[-1] in FOREIGN_NAMES or PLACEHOLDER.search(name):
            return True
        return all(self.has(one) for one in expanded(name))


def check_files(piece, tree):
    """Names of files that do not exist."""
    for found in FILE_NAME.finditer(piece.text):
        if not tree.knows(found[1]):
            yield piece.at(found.start()), f"there is no {found[1]}"


def check_targets(text, tree):
    """Scripts that targets of the Makefile run and that do not exist."""
    for found in re.finditer(r"\$\(scripts\)(/[\w./-]+)", text):
        if not tree.has("scripts" + found[1]):
            yield text.count("\n", 0, found.start()) + 1, f"there is no scripts{found[1]}"


def findings_of(name, text, tree):
    """All findings in a file: (line number, what)."""
    for piece in pieces_of(name, text):
        if piece.prose:
            yield from check_sentences(piece)
            yield from check_behind(piece)
        yield from check_files(piece, tree)
    if name.split("/")[-1] == "Makefile":
        yield from check_targets(text, tree)


def matches(name, patterns):
    """Does NAME match one of the patterns?"""
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)


def main():
    """Print all findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parents[2])
    tree = Tree(parser.parse_args().root)
    for name in tree.files:
        if matches(name, GENERATED) or matches(name, ABOUT_WORDS):
            continue
        try:
            text = (tree.root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for line, what in sorted(findings_of(name, text, tree)):
            print(f"{name}:{line}: {what}")


if __name__ == "__main__":
    main()
