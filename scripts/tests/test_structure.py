# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of structure.py: what it must find, and what it must let pass."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lint"))

# pylint: disable=wrong-import-position
import structure

TOP = str(structure.DRIVER)


def tree(**files):
    """A tree of files. The argument a__b_c is the text of the file a/b.c."""
    return structure.Tree({f"{TOP}/{name[:-2].replace('__', '/')}.{name[-1]}": text
                           for name, text in files.items()})


def circles(**files):
    """Findings about circles, without the folder."""
    return [f.replace(TOP + "/", "") for f in structure.check_circles(tree(**files))]


def functions(**files):
    """Findings about functions, without the folder."""
    return [f.replace(TOP + "/", "") for f in structure.check_functions(tree(**files))]


def compat(probes, **files):
    """Findings about differences between kernels, without the folder."""
    return [f.replace(TOP + "/", "") for f in structure.check_compat(tree(**files), set(probes))]


class Includes(unittest.TestCase):
    """Circles of includes."""

    def test_circle(self):
        """A circle of three: b includes c in its .c file, and c.h is in the driver's own folder."""
        found = circles(m__a_h='#include "b.h"\n', m__b_c='#include "b.h"\n#include "../c.h"\n',
                        m__b_h="", c_h='#include "m/a.h"\n')
        self.assertEqual(found, ["c: 3 files include each other in a circle",
                                 "  c includes m/a: a.h", "  m/a includes m/b: b.h",
                                 "  m/b includes c: c.h"])

    def test_tests(self):
        """Files of tests are checked as well."""
        self.assertTrue(circles(m__tests__a_h='#include "b.h"\n',
                                m__tests__b_h='#include "a.h"\n'))

    def test_none(self):
        """A .c file and its header count as one; two files that include a third make no circle."""
        self.assertEqual(circles(a_c='#include "a.h"\n#include "b.h"\n', a_h='#include "c.h"\n',
                                 b_h='#include "c.h"\n#include <c.h>\n', c_h=""), [])


class Testing(unittest.TestCase):
    """Circles in tools/testing."""

    def found(self, folder, files):
        """All findings of the lint about a project that has these files in the folder."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = pathlib.Path(root, structure.TESTING, folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return [f.replace(f"{structure.TESTING}/{folder}/", "")
                    for f in structure.findings(pathlib.Path(root))]

    def test_calls(self):
        """A test program whose parts call its main file, which calls the parts."""
        self.assertEqual(self.found("programs/kwx", {
            "kwx.h": "void fail(void);\nvoid run(void);\n",
            "kwx.c": '#include "kwx.h"\nvoid fail(void)\n{\n}\nint main(void)\n{\n\trun();\n}\n',
            "run.c": '#include "kwx.h"\nvoid run(void)\n{\n\tfail();\n}\n'}), [
                "kwx: 2 files call each other in a circle", "  kwx calls run: run",
                "  run calls kwx: fail"])

    def test_includes(self):
        """The raw peer's headers are named from its folder on."""
        self.assertEqual(self.found("rawpeer", {
            "wire/a.h": '#include "runner/b.h"\n', "runner/b.h": '#include "wire/a.h"\n'}), [
                "runner/b: 2 files include each other in a circle",
                "  runner/b includes wire/a: a.h", "  wire/a includes runner/b: b.h"])


class Calls(unittest.TestCase):
    """Circles of calls."""

    def test_circle(self):
        """A call counts, and so does a function in a table."""
        found = circles(a_c="int fa(void)\n{\n\treturn fb();\n}\n",
                        b_c="static const struct ops t = { .x = fa, };\nint fb(void)\n{\n}\n")
        self.assertEqual(found, ["a: 2 files call each other in a circle", "  a calls b: fb",
                                 "  b calls a: fa"])

    def test_headers(self):
        """Calls in inline functions and macros count as calls of their header."""
        self.assertTrue(circles(a_h="static inline int fa(void)\n{\n\treturn fb();\n}\n",
                                b_c="int fb(void)\n{\n\treturn fa();\n}\n"))
        self.assertTrue(circles(a_h="#define FA(x) \\\n\tfb(x)\n",
                                b_c="int fb(void)\n{\n\treturn FA(1);\n}\n"))

    def test_none(self):
        """Names in prototypes, comments and strings, members and types are not calls."""
        self.assertEqual(circles(
            a_c="int fa(void)\n{\n\treturn fb();\n}\n",
            b_h="int fb(void);\nint fa(int x,\n\tint y);\n",
            b_c='/* fa() */\nint fb(struct fa *x)\n{\n\tx->fa = "fa()"; // fa()\n'
                '\treturn x.fa;\n}\n'), [])

    def test_own(self):
        """A static function hides the function of another file with the same name."""
        self.assertEqual(circles(
            a_c="int fa(void)\n{\n\treturn fb();\n}\n",
            b_c="static int fa(void)\n{\n}\nint fb(void)\n{\n\treturn fa();\n}\n"), [])


class Functions(unittest.TestCase):
    """Functions without callers."""

    def test_none(self):
        """A prototype is not a call, and a call by a test alone is not enough."""
        files = {"a_h": "int fa(void);\nstatic inline int fh(void)\n{\n}\n",
                 "a_c": "int fa(void)\n{\n}\n"}
        self.assertEqual(functions(**files), ["a.c: fa() has no caller", "a.h: fh() has no caller"])
        files["tests__a_c"] = "static void t(void)\n{\n\tfa();\n\tfh();\n}\n"
        self.assertEqual(functions(**files), ["a.c: fa() has no caller but tests",
                                              "a.h: fh() has no caller but tests"])

    def test_own_file_only(self):
        """A function that only its own file calls must be static, unless a test calls it."""
        files = {"a_c": "int fa(void)\n{\n}\nstatic void x(void)\n{\n\tfa();\n}\n"}
        self.assertEqual(functions(**files),
                         ["a.c: fa() has no caller in another file: make it static"])
        self.assertEqual(functions(**files, tests__a_c="static int t = fa();\n"), [])

    def test_called(self):
        """A call by another file is enough, and so is a use in a macro that makes table entries."""
        self.assertEqual(functions(a_c="int fa(void)\n{\n}\nint fb(void)\n{\n}\n",
                                   b_h="#define OPS .x = fa,\n",
                                   b_c="static int x = fb();\n"), [])


class Compat(unittest.TestCase):
    """Differences between kernels."""

    def test_places(self):
        """Each probe must be used: tested in compat.h only, or by KWARP_SINCE() anywhere."""
        found = compat(["one", "two", "three"],
                       compat_h="#ifdef KWARP_LACKS_ONE\n#ifdef KWARP_LACKS_NEW\n",
                       a_c="#ifdef KWARP_LACKS_TWO\n",
                       b_c="KWARP_SINCE(THREE, f());\nKWARP_BEFORE_ROW(FOUR, .g = 1)\n")
        self.assertEqual(found, [
            "a.c: KWARP_LACKS_*: only compat.h may test it",
            "b.c: FOUR: there is no probe four",
            "compat.h: NEW: there is no probe new",
            "scripts/kernel/probes.txt: two: the driver does not use the result"])

    def test_versions(self):
        """Version numbers are found in code, not in comments."""
        code = "#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)\n"
        self.assertEqual(len(compat([], compat_h=code)), 2)
        self.assertEqual(compat([], a_c=f"/* {code} */"), [])


class Sizes(unittest.TestCase):
    """Long files."""

    def test_limits(self):
        """One line too many is found in a source and in a header. Unit tests have no limit."""
        files = {"a_c": 801, "b_c": 800, "a_h": 301, "b_h": 300, "tests__a_c": 801}
        found = structure.check_sizes(tree(**{n: "int a;\n" * i for n, i in files.items()}))
        self.assertEqual([f.split(":")[0].replace(TOP + "/", "") for f in found], ["a.c", "a.h"])

    def test_comments(self):
        """Comments and empty lines do not count."""
        text = "int a; /* one\n   two */\n\n// three\n"
        short, long = (tree(a_h=text * n) for n in (300, 301))
        self.assertEqual(list(structure.check_sizes(short)), [])
        self.assertEqual(len(list(structure.check_sizes(long))), 1)

    def test_tables(self):
        """Lines of a table do not count, whether it has braces inside or not."""
        table = "static const struct a t[] = {\n" + "\t{ 1, { 2 } },\n" * 400 + "};\n"
        short, long = (tree(a_c=table + "int a;\n" * n) for n in (800, 801))
        self.assertEqual(list(structure.check_sizes(short)), [])
        self.assertEqual(len(list(structure.check_sizes(long))), 1)

    def test_scripts(self):
        """One line too many is found in a script."""
        found = structure.check_scripts({"a.sh": ":\n" * 451, "b.py": "pass\n" * 450})
        self.assertEqual([f.split(":")[0] for f in found], ["a.sh"])


if __name__ == "__main__":
    unittest.main()
