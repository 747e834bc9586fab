# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests of reference.py, which makes the pages of Documentation/reference (knobs, counters,
tracepoints) from the driver's sources: what it reads, what it writes, and that it reports a knob,
a counter or a field without a text, and a text without one of these."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

# pylint: disable=wrong-import-position
import reference as ref
import reference_sources as src

MAIN = """
/**
 * struct kwarp_knobs - tunables
 * @crc: enum
 * @wait: seconds until
 *	something ends
 * @room: octets of a buffer
 */
"""
LIMITS = """
#define KWARP_LEAST	(4 * 1024)	/* with a comment */
#define KWARP_MOST	SZ_1M
#define KWARP_A		BIT(0)
"""
CODE = """
static const char * const crc_names[] = {
	[KWARP_CRC_OFF]		= "off",
	[KWARP_CRC_ON]		= "on",
};

static int format_crc(char *buf, u32 value)
{
	return sysfs_emit(buf, "%s", crc_names[value]);
}

static const struct knob_kind kind_crc = { .parse = parse_crc, .format = format_crc };

static const char * const on_words[] = { "on", "1", "yes" };
static const char * const off_words[] = { "off", "0" };

static int parse_switch(const struct knob_kind *kind, const char *buf, u32 *value)
{
	if (is_one_of(buf, on_words, ARRAY_SIZE(on_words)))
		*value = 1;
	else if (is_one_of(buf, off_words, ARRAY_SIZE(off_words)))
		*value = 0;
}

static int format_switch(char *buf, u32 value)
{
	return sysfs_emit(buf, "%s", value ? "on" : "off");
}

static const struct knob_kind kind_switch = { .parse = parse_switch, .format = format_switch };

static const struct knob_kind kind_seconds = NUMBER(0, 600);
static const struct knob_kind kind_octets = {
	.parse = parse_number, .format = format_number,
	.least = KWARP_LEAST, .most = KWARP_MOST, .or_zero = true,
};

static const struct {
	const char *name;
	u32 bit;
} forms[] = {
	{ "send", KWARP_A },
	{ "read", KWARP_B },
};

static int format_form(char *buf, u32 value)
{
	for (i = 0; i < ARRAY_SIZE(forms); i++)
		n += sysfs_emit_at(buf, n, "%s", forms[i].name);
}

static const struct knob_kind kind_form = { .parse = parse_form, .format = format_form };
static const struct knob_kind kind_name = { .parse = parse_name, .format = format_name };
static DEVICE_ATTR_RO(count);
"""
HEADER = """
/*
 * What each knob is for.
 *
 * @crc: A check.
 *	More of it.
 *
 *	Details.
 * @wait: How long.
 * @room: How much.
 */
#define KNOBS(X)	\\
	X(crc, crc, KWARP_CRC_ON, "CRC (on)")	\\
	X(wait, seconds, 60,	\\
	  "how long (60)")	\\
	X(room, octets, 0, "how much, of "	\\
	  "a buffer (0)")

#define KNOB(_name)
"""


def read(header=HEADER, code=CODE, main=MAIN):
    return src.read_knobs(header, code, main, src.Constants([LIMITS]))


def with_row(row, text=""):
    """HEADER with one more row, and a comment for it."""
    header = HEADER.replace("\tX(crc", "\t%s\t\\\n\tX(crc" % row)
    return header.replace(" * @wait", text + " * @wait")


class Knobs(unittest.TestCase):
    def test_rows(self):
        knobs, counts, _ = read()
        self.assertEqual([k.name for k in knobs], ["crc", "wait", "room"])
        self.assertEqual([k.default for k in knobs], ["on", "60", "0"])
        self.assertEqual(knobs[2].short, "how much, of a buffer")
        self.assertEqual(knobs[0].text.paragraphs, ["A check. More of it.", "Details."])
        self.assertEqual(counts, ["count"])

    def test_values_and_units(self):
        self.assertEqual([k.values for k in read()[0]], [
            "``off``, ``on``", "``0`` to ``600`` seconds",
            "``0``, ``4096`` to ``1048576`` octets"])

    def test_words(self):
        header = with_row('X(both, form, KWARP_A | KWARP_B, "forms (send,read)")',
                          " * @both: Forms.\n")
        knob = next(k for k in read(header)[0] if k.name == "both")
        self.assertEqual(knob.values, "one or more of ``send``, ``read``, with commas")

    def test_synonyms(self):
        header = with_row('X(flag, switch, 1, "a flag (on)")', " * @flag: A flag.\n")
        self.assertEqual(read(header)[2], {"on": ["1", "yes"], "off": ["0"]})

    def test_values_said_in_the_text(self):
        row = 'X(algo, name, 0, "an algorithm (system\'s)")'
        with self.assertRaisesRegex(src.Mistake, "values of algo"):
            read(with_row(row, " * @algo: Which one.\n"))
        knobs, _, _ = read(with_row(row, " * @algo (a name): Which one.\n"))
        self.assertEqual(knobs[0].values, "a name")
        self.assertEqual(knobs[0].default, "system's")


class Numbers(unittest.TestCase):
    def test_constants(self):
        constants = src.Constants([LIMITS])
        for words, number in (("KWARP_LEAST", 4096), ("KWARP_MOST", 2**20), ("KWARP_A", 1),
                              ("INT_MAX / 2", 2**30 - 1), ("0x10U << 2", 64), ("NOWHERE", None),
                              ("f(1)", None)):
            self.assertEqual(constants.value(words), number, words)


class Mistakes(unittest.TestCase):
    def test_knob_without_a_text(self):
        with self.assertRaisesRegex(src.Mistake, "no text for the knob extra"):
            read(with_row('X(extra, seconds, 1, "more (1)")'))

    def test_text_without_a_knob(self):
        with self.assertRaisesRegex(src.Mistake, "a text for gone"):
            read(HEADER.replace("@wait", "@gone: Was here.\n * @wait"))

    def test_default_that_is_not_said_or_wrong(self):
        with self.assertRaisesRegex(src.Mistake, "words of wait"):
            read(HEADER.replace("how long (60)", "how long"))
        with self.assertRaisesRegex(src.Mistake, "wait is 60 by default"):
            read(HEADER.replace("how long (60)", "how long (61)"))

    def test_kind_that_does_not_exist(self):
        with self.assertRaisesRegex(src.Mistake, "no kind_minutes"):
            read(HEADER.replace("seconds, 60", "minutes, 60"))

    def test_counter_without_a_text(self):
        text = ' /*\n * @a: What a is.\n */\nstruct row rows[] = {\n\t{ "a", STREAM, 0 },\n' \
            '\t{ "b", EVENT, 0 },\n};\n'
        with self.assertRaisesRegex(src.Mistake, "no text for the counter b"):
            ref.counters_page(text)

    def test_field_without_a_text(self):
        text = '/* @qpn: number */\n/* When. */\nTRACE_EVENT(e,\n\t__field(u32, qpn)\n' \
            '\t__field(u32, odd)\n\tTP_printk("x")\n);\n'
        with self.assertRaisesRegex(src.Mistake, "field odd of e"):
            ref.traces_page(text, "", "")


class Output(unittest.TestCase):
    def test_a_literal_is_not_broken(self):
        lines = ref.fill("word " * 18 + "``a literal of many words`` end", width=96)
        self.assertEqual(sum("``a literal of many words``" in line for line in lines), 1)

    def test_troff(self):
        self.assertEqual(ref.troff("``a-b`` and :doc:`/interop`"),
                         ["\\fIa\\-b\\fR and Documentation/interop.rst"])

    def test_man_part_needs_its_markers(self):
        text = "x\n%s\nold\n%s\ny\n" % (ref.MAN_BEGIN, ref.MAN_END)
        self.assertEqual(ref.with_man_part(text, ["new"]),
                         "x\n%s\nnew\n%s\ny\n" % (ref.MAN_BEGIN, ref.MAN_END))
        with self.assertRaises(src.Mistake):
            ref.with_man_part("x\n", ["new"])

    def test_the_sources_of_this_tree(self):
        wanted = ref.everything()
        self.assertEqual(len(wanted), 5)
        self.assertIn("``crc``", wanted[ref.PAGES + "knobs.rst"])


if __name__ == "__main__":
    unittest.main()
