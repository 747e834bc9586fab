# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of structure.py: what it must find, and what it must let pass."""
import pathlib
import sys
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
        """compat.h must test each probe, and no other file may."""
        found = compat(["one", "two"], compat_h="#ifdef KWARP_HAVE_ONE\n#ifdef KWARP_HAVE_NEW\n",
                       a_c="#ifdef KWARP_HAVE_ONE\n")
        self.assertEqual(found, [
            "a.c: KWARP_HAVE_*: only compat.h may test it",
            "compat.h: KWARP_HAVE_NEW: there is no probe new.c",
            "scripts/kernel/probes/two.c: compat.h does not test the result"])

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
        found = structure.check_sizes(tree(**{n: "int a;\n" * i for n, i in files.items()}), set())
        self.assertEqual([f.split(":")[0].replace(TOP + "/", "") for f in found], ["a.c", "a.h"])

    def test_comments(self):
        """Comments and empty lines do not count."""
        text = "int a; /* one\n   two */\n\n// three\n"
        short, long = (tree(a_h=text * n) for n in (300, 301))
        self.assertEqual(list(structure.check_sizes(short, set())), [])
        self.assertEqual(len(list(structure.check_sizes(long, set()))), 1)

    def test_tables(self):
        """Lines of a table do not count, whether it has braces inside or not."""
        table = "static const struct a t[] = {\n" + "\t{ 1, { 2 } },\n" * 400 + "};\n"
        short, long = (tree(a_c=table + "int a;\n" * n) for n in (800, 801))
        self.assertEqual(list(structure.check_sizes(short, set())), [])
        self.assertEqual(len(list(structure.check_sizes(long, set()))), 1)

    def test_scripts(self):
        """One line too many is found in a script."""
        scripts = {"a.sh": ":\n" * 451, "b.py": "pass\n" * 450, "c": ":\n" * 451}
        found = structure.check_scripts(scripts, {"c"})
        self.assertEqual([f.split(":")[0] for f in found], ["a.sh"])
        self.assertEqual(list(structure.check_exceptions([], scripts, {"b.py", "c"})),
                         [f"{structure.EXCEPTIONS}: b.py needs no exception"])

    def test_exceptions(self):
        """A long file with an exception is no finding; an exception for a short file is one."""
        exceptions = structure.read_exceptions(f"# none\n{TOP}/a.h\tlong\n{TOP}/b.h\tshort\n")
        files = tree(a_h="int a;\n" * 301, b_h="")
        self.assertEqual(list(structure.check_sizes(files, exceptions)), [])
        self.assertEqual(list(structure.check_exceptions([files], {}, exceptions)),
                         [f"{structure.EXCEPTIONS}: {TOP}/b.h needs no exception"])


if __name__ == "__main__":
    unittest.main()
