# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""For scripts/reference.py: read comments, constants and knobs (settings of a link) from the
driver's sources."""
import re
from typing import NamedTuple

# Units. If a number has a unit, its kernel-doc text begins with one of these words.
UNITS = ("microseconds", "milliseconds", "seconds", "minutes", "octets", "KiB", "MiB", "segments",
         "connections", "packets")


class Mistake(Exception):
    """A source lacks something that the reference needs."""


# ------------------------------------------------------------------- comments

class Text(NamedTuple):
    """A text in a comment, "@name (values): paragraphs", about one or more names."""
    names: tuple
    values: str
    paragraphs: list


ENTRY = re.compile(r"((?:@\w+(?:, )?)+)(?: \(([^)]*)\))?: *(.*)")


def lines_of(comment):
    """Lines of a C comment without its stars."""
    body = comment.strip().removeprefix("/*").removesuffix("*/")
    return [re.sub(r"^[ \t]*\*? ?", "", line).rstrip() for line in body.splitlines()]


def entries_of(comment):
    """(text before the first "@name:" line of a comment, list of its Texts)."""
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
    """All kernel-doc comments of a file, or all other comments."""
    for match in re.finditer(r"/\*.*?\*/", text, re.DOTALL):
        if match[0].startswith("/**") == kernel_doc:
            yield match[0]


def texts_of(text, where):
    """{name: Text} from all comments of a file that are not kernel-doc."""
    found = {}
    for comment in comments(text):
        for entry in entries_of(comment)[1]:
            for name in entry.names:
                if name in found:
                    raise Mistake(f"{where}: two texts for {name}")
                found[name] = entry
    return found


def check_names(texts, names, where, what):
    """Check that each name has a text, and that each text has a name."""
    for name in names:
        if name not in texts or not texts[name].paragraphs:
            raise Mistake(f"{where}: no text for the {what} {name}: write '@{name}: ...' there")
    for name in texts:
        if name not in names:
            raise Mistake(f"{where}: a text for {name}, and no {what} of that name")


# ------------------------------------------------------------------ constants

class Constants:
    """Values of the #defines of the driver's headers."""
    KNOWN = {"U8_MAX": 2**8 - 1, "U16_MAX": 2**16 - 1, "U32_MAX": 2**32 - 1, "INT_MAX": 2**31 - 1,
             "S32_MAX": 2**31 - 1}
    SCALE = {"K": 2**10, "M": 2**20, "G": 2**30}

    def __init__(self, texts):
        self.defines = {}
        for text in texts:
            for name, value in re.findall(r"^#define[ \t]+(\w+)[ \t]+([^\n]+)", text, re.MULTILINE):
                self.defines[name] = re.sub(r"/\*.*", "", value).strip()

    def value(self, words, depth=0):
        """The value of a C expression; None if it is not constant."""
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
    """A knob as the reference describes it."""
    name: str
    values: str
    default: str
    short: str
    text: Text


def knob_rows(text):
    """(name, kind, default, text for modinfo) of each row of the tables in knobs.h."""
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
    """Kinds of knobs, read from knobs.c: which values they accept, and how they print a value."""

    def __init__(self, text, constants):
        self.text, self.constants = text, constants
        # arrays: arrays of strings, as pairs (index, string). forms: arrays of a name and a value,
        # as pairs (value, string).
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
        """The initializer of a member of kind_KIND or of its NUMBER(least, most); None if not set."""
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
        """The body of a function of knobs.c."""
        match = re.search(r"^[^\n]*\b%s\([^)]*\)\n\{\n(.*?)^\}" % function, self.text,
                          re.DOTALL | re.MULTILINE)
        return match[1] if match else ""

    def words(self, kind):
        """(pairs (value, word) that a kind accepts, whether several words may be given)."""
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
        """Name of the array of TABLE that a function's body uses."""
        return next((name for name in table if re.search(r"\b%s\b" % name, body)), None)

    def synonyms(self, kind):
        """{word: other words that the kind's parser accepts with the same meaning}."""
        body = self.body(self.field(kind, "parse") or "")
        mine = {word for _, word in self.words(kind)[0]}
        found = {}
        for name, array in self.arrays.items():
            words = [word for _, word in array]
            if re.search(r"\b%s\b" % name, body) and len(mine & set(words)) == 1:
                found[words[0]] = words[1:]
        return found

    def values(self, kind, unit):
        """Text of the values that a kind accepts; "" if this cannot be read from the source."""
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
        """How a knob of this kind prints its default; None if the source does not show that."""
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
    """{member of struct kwarp_knobs: unit}, from the first words of its kernel-doc."""
    doc = next((c for c in comments(text, kernel_doc=True) if "struct kwarp_knobs -" in c), "")
    found = {}
    for entry in entries_of(doc)[1]:
        first = re.split(r"\W", " ".join(entry.paragraphs))[0]
        found[entry.names[0]] = first if first in UNITS else ""
    return found


def read_knobs(header, code, main_header, constants):
    """(all knobs, names of the read-only files, synonyms of words)."""
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
