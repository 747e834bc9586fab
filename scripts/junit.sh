#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Convert results of tests to JUnit's XML, for systems of continuous integration. The converter is
# TAP::Formatter::JUnit (package libtap-formatter-junit-perl).
#
#   scripts/junit.sh LOG... >FILE.xml     a test suite for each log
#
# A log holds result lines ("ok 1 name", "not ok 2 name", "ok 3 name # SKIP why") among others. Lines
# that begin with # or two spaces belong to the failure above them. A log without a result line is
# one result, which has failed if the log has a line "=== NAME failed", as those of make check have.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
case ${1:-} in -h | --help) head_comment; exit ;; esac
[ $# -gt 0 ] || die "no logs (see $0 --help)"
for log in "$@"; do
	[ -r "$log" ] || die "$log cannot be read"
done

# clean NAME: print the results in the log on stdin as TAP with a plan. Names of cases may have no
# "#", with which a directive begins.
clean() {
	tr -d '\r' | awk -v name="$1" '
		function put(word, text) { said[++lines] = word " " (++n) " - " text }
		/^(not )?ok( |$)/ {
			word = $1 == "not" ? "not ok" : "ok"
			text = $0; sub(/^(not )?ok */, "", text); sub(/^[0-9]+ */, "", text); sub(/^- */, "", text)
			# Release 0.11 of the converter counts a skipped case as passed, and leaves
			# its reason out.
			if (match(text, / *# *SKIP */))
				text = substr(text, 1, RSTART - 1) " (skipped: " substr(text, RSTART + RLENGTH) ")" substr(text, RSTART)
			put(word, text); bad = word == "not ok"; next
		}
		bad && /^(#|  )/ { sub(/^(# ?|  )/, ""); said[++lines] = "# " $0; next }
		{ bad = 0 }
		/^=== .* failed/ { failed = 1 }
		END {
			if (!n) put(failed ? "not ok" : "ok", name)
			print "1.." n
			for (i = 1; i <= lines; i++) print said[i]
		}'
}

need_tools prove:perl
perl -MTAP::Formatter::JUnit -e 1 2>/dev/null || die "not installed: TAP::Formatter::JUnit (on Debian: apt-get install libtap-formatter-junit-perl)"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
names=()
for log in "$@"; do
	name=$(basename "$log" .log)
	clean "$name" <"$log" >"$folder/$name"
	names+=("$name")
done
cd "$folder"
# The status of prove is that of the tests.
prove --exec cat --formatter TAP::Formatter::JUnit "${names[@]}" || [ $? -eq 1 ]
