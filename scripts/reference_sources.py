# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What scripts/reference.py reads of the driver's sources: comments, constants, knobs."""
import re
from typing import NamedTuple

# A kernel-doc text of a number begins with its unit, if it has one.
UNITS = ("microseconds", "milliseconds", "seconds", "minutes", "octets", "KiB", "MiB", "segments",
         "connections", "packets")


class Mistake(Exception):
    """A source that does not say what the reference needs."""


# ------------------------------------------------------------------- comments

class Text(NamedTuple):
    """What a comment says of one or more names."""
    names: tuple
    values: str
    paragraphs: list


ENTRY = re.compile(r"((?:@\w+(?:, )?)+)(?: \(([^)]*)\))?: *(.*)")


def lines_of(comment):
    """Lines of a comment in C without its stars."""
    body = comment.strip().removeprefix("/*").removesuffix("*/")
    return [re.sub(r"^[ \t]*\*? ?", "", line).rstrip() for line in body.splitlines()]


def entries_of(comment):
    """The Texts of a comment with lines "@name: text", and what stands before the first."""
    head, found = [], []
    for line in lines_of(comment):
        match = ENTRY.fullmatch(line)
        if match:
            names = tuple(re.findall(r"@(\w+)", match[1]))
            found.append(Text(names, match[2] or "", [match[3]]))
        elif not found:
            head.append(line)
        elif not line.strip():
            found[-1].paragraphs.append("")
        else:
            found[-1].paragraphs[-1] = (found[-1].paragraphs[-1] + " " + line.strip()).strip()
    found = [text._replace(paragraphs=[p for p in text.paragraphs if p]) for text in found]
    return " ".join(" ".join(head).split()), found


def comments(text, kernel_doc=False):
    """All comments of a file: kernel-doc, or all others."""
    for match in re.finditer(r"/\*.*?\*/", text, re.DOTALL):
        if match[0].startswith("/**") == kernel_doc:
            yield match[0]


def texts_of(text, where):
    """Name to Text, of all plain comments of a file with such entries."""
    found = {}
    for comment in comments(text):
        for entry in entries_of(comment)[1]:
            for name in entry.names:
                if name in found:
                    raise Mistake(f"{where}: two texts for {name}")
                found[name] = entry
    return found


def check_names(texts, names, where, what):
    """A text for each name, and a name for each text."""
    for name in names:
        if name not in texts or not texts[name].paragraphs:
            raise Mistake(f"{where}: no text for the {what} {name}: write '@{name}: ...' there")
    for name in texts:
        if name not in names:
            raise Mistake(f"{where}: a text for {name}, and no {what} of that name")


# ------------------------------------------------------------------ constants

class Constants:
    """Numbers of #define, as the driver's headers have them."""
    KNOWN = {"U8_MAX": 2**8 - 1, "U16_MAX": 2**16 - 1, "U32_MAX": 2**32 - 1, "INT_MAX": 2**31 - 1,
             "S32_MAX": 2**31 - 1}
    SCALE = {"K": 2**10, "M": 2**20, "G": 2**30}

    def __init__(self, texts):
        self.defines = {}
        for text in texts:
            for name, value in re.findall(r"^#define[ \t]+(\w+)[ \t]+([^\n]+)", text, re.MULTILINE):
                self.defines[name] = re.sub(r"/\*.*", "", value).strip()

    def value(self, words, depth=0):
        """The number that an expression stands for; None if it is none."""
        if depth > 8:
            return None

        def number(match):
            name = match[0]
            size = re.fullmatch(r"SZ_(\d+)([KMG])", name)
            if size:
                return str(int(size[1]) * self.SCALE[size[2]])
            if name in self.KNOWN:
                return str(self.KNOWN[name])
            return f"({self.value(self.defines.get(name, '?'), depth + 1)})"

        words = re.sub(r"\b(0x[0-9a-fA-F]+|\d+)(?:U|L|UL|ULL)\b", r"\1", words)
        words = re.sub(r"\bBIT\(", "(1<<", words)
        words = re.sub(r"\b[A-Za-z_]\w*", number, words)
        if not re.fullmatch(r"[0-9a-fx()+*/|<\- ]+", words):
            return None
        try:
            # pylint: disable=eval-used
            return int(eval(words.replace("/", "//"), {"__builtins__": {}}))
        except (SyntaxError, TypeError, NameError, ZeroDivisionError):
            return None


# ---------------------------------------------------------------------- knobs

class Knob(NamedTuple):
    """One knob, as the reference tells of it."""
    name: str
    values: str
    default: str
    short: str
    text: Text


def knob_rows(text):
    """Name, kind, default and modinfo's words of each row of the tables of knobs.h."""
    rows = []
    for table in re.findall(r"#define \w*KNOBS\(X\)(.*?[^\\])\n", text, re.DOTALL):
        table = table.replace("\\\n", " ")
        for row in re.findall(r'\bX\((\w+),\s*(\w+),\s*(.*?),\s*((?:"[^"]*"\s*)+)\)', table):
            rows.append((row[0], row[1], " ".join(row[2].split()),
                         "".join(re.findall(r'"([^"]*)"', row[3]))))
    if not rows:
        raise Mistake("knobs.h: no table KNOBS(X)")
    return rows


class Kinds:
    """Kinds of knobs, as knobs.c has them: what they take, and how they print a value."""

    def __init__(self, text, constants):
        self.text, self.constants = text, constants
        # Arrays of strings: (index, string); arrays of name and value: (value, string).
        self.arrays, self.forms = {}, {}
        for name, body in re.findall(r"\b(\w+)\[\] = \{(.*?)\};", text, re.DOTALL):
            pairs = re.findall(r'\{ "(\w+)", (\w+) \}', body)
            if pairs:
                self.forms[name] = [(value, word) for word, value in pairs]
            else:
                found = re.findall(r'(?:\[(\w+)\]\s*=\s*)?"([^"]*)"', body)
                self.arrays[name] = [(index or str(i), word)
                                     for i, (index, word) in enumerate(found)]

    def field(self, kind, name):
        """A member of a kind, NUMBER(least, most) included; None if it is not set."""
        match = re.search(r"\bkind_%s = (.*?);" % kind, self.text, re.DOTALL)
        if not match:
            raise Mistake(f"knobs.c: no kind_{kind}")
        number = re.match(r"NUMBER\((.*?),\s*(.*?)\)$", match[1])
        if number:
            return {"least": number[1], "most": number[2], "parse": "parse_number",
                    "format": "format_number"}.get(name)
        member = re.search(r"\.%s = ([^,}]+)" % name, match[1])
        return member[1].strip() if member else None

    def body(self, function):
        """Of a function."""
        match = re.search(r"^[^\n]*\b%s\([^)]*\)\n\{\n(.*?)^\}" % function, self.text,
                          re.DOTALL | re.MULTILINE)
        return match[1] if match else ""

    def words(self, kind):
        """Words and what they stand for, and whether several may be given."""
        body = self.body(self.field(kind, "format") or "")
        match = re.search(r'\? "(\w+)" : "(\w+)"', body)
        if match and not self.used(self.forms, body):
            return [("1", match[1]), ("0", match[2])], False
        for table, many in ((self.forms, True), (self.arrays, False)):
            name = self.used(table, body)
            if name:
                return table[name], many
        return [], False

    @staticmethod
    def used(table, body):
        """The array that a function mentions."""
        return next((name for name in table if re.search(r"\b%s\b" % name, body)), None)

    def synonyms(self, kind):
        """Words to the other words that mean the same, as the parser has them."""
        body = self.body(self.field(kind, "parse") or "")
        mine = {word for _, word in self.words(kind)[0]}
        found = {}
        for name, array in self.arrays.items():
            words = [word for _, word in array]
            if re.search(r"\b%s\b" % name, body) and len(mine & set(words)) == 1:
                found[words[0]] = words[1:]
        return found

    def values(self, kind, unit):
        """What a knob of this kind takes; "" if that cannot be read here."""
        words, many = self.words(kind)
        if words:
            return (", ".join(f"``{word}``" for _, word in words) if not many else
                    "one or more of " + ", ".join(f"``{w}``" for _, w in words) + ", with commas")
        least, most = self.field(kind, "least"), self.field(kind, "most")
        if most is None:
            return ""
        least, most = self.constants.value(least or "0"), self.constants.value(most)
        if least is None or most is None:
            return ""
        span = (f"``{least}``, ``{most}``" if most == least + 1 else f"``{least}`` to ``{most}``")
        zero = "``0``, " if self.field(kind, "or_zero") == "true" and least else ""
        return zero + span + (" " + unit if unit else "")

    def printed(self, kind, default):
        """How a knob of this kind prints a default; None if that cannot be told here."""
        words, many = self.words(kind)
        parts = [part.strip() for part in default.split("|")]
        found = [word for value, word in words if value in parts]
        if words:
            return ",".join(found) if len(found) == len(parts) or many and found else None
        if self.field(kind, "format") != "format_number":
            return None
        number = self.constants.value(default)
        return None if number is None else str(number)


def units(text):
    """Member to unit, where the kernel-doc of struct kwarp_knobs begins with one."""
    doc = next((c for c in comments(text, kernel_doc=True) if "struct kwarp_knobs -" in c), "")
    found = {}
    for entry in entries_of(doc)[1]:
        first = re.split(r"\W", " ".join(entry.paragraphs))[0]
        found[entry.names[0]] = first if first in UNITS else ""
    return found


def read_knobs(header, code, main_header, constants):
    """All knobs, the files that can only be read, and words that may be written otherwise."""
    texts, kinds, unit = texts_of(header, "knobs.h"), Kinds(code, constants), units(main_header)
    rows, knobs, synonyms = knob_rows(header), [], {}
    counts = re.findall(r"DEVICE_ATTR_RO\((\w+)\)", code)
    check_names({n: t for n, t in texts.items() if n not in counts}, [row[0] for row in rows],
                "knobs.h", "knob")
    for name, kind, default, words in rows:
        match = re.fullmatch(r"(.*) \(([^()]*)\)", words)
        if not match:
            raise Mistake(f"knobs.h: the words of {name} do not end with '(DEFAULT)'")
        printed = kinds.printed(kind, default)
        if printed is not None and printed != match[2]:
            raise Mistake(f"knobs.h: {name} is {printed} by default, its words say {match[2]}")
        values = texts[name].values or kinds.values(kind, unit.get(name, ""))
        if not values:
            raise Mistake(f"knobs.h: the values of {name} cannot be read from kind_{kind}: say "
                          f"them, '@{name} (VALUES): ...'")
        synonyms.update(kinds.synonyms(kind))
        knobs.append(Knob(name, values, match[2], match[1], texts[name]))
    return knobs, counts, synonyms
