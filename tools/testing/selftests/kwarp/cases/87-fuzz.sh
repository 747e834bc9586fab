# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# uverbs commands that do not come from libibverbs: random commands while other traffic runs, and
# commands in the form of an older or newer provider. After each case, case_end looks for remaining
# objects, and run.sh looks for bug reports in the kernel log.

# fuzz_case SEED: several processes issue random commands while other traffic verifies its data.
fuzz_case() {
	skip_on siw "the commands are those of another driver"
	skip_on kwarp-siw "the commands are siw's"
	own_links
	traffic bystander
	start fuzz 0 kwfuzz -d "${LINK[0]}" -n "$fuzz_calls" -j 4 -t 3 -S "$1"
	ended "$fuzz_limit" fuzz
	tail -n 8 "$CASE_DIR/fuzz.log"
	[ "$STATUS" = 0 ] || fail "kwfuzz ended with status $STATUS"
	expect_in fuzz '^kwfuzz: [1-9][0-9]* calls, [1-9][0-9]* of them successful'
	expect_in fuzz '^kwfuzz: ring +[1-9][0-9]* calls +[1-9][0-9]* successes'
	traffic_stop_good bystander
}

# kwuabi issues commands whose driver data is shorter or longer than the driver's structures, as
# older or newer providers would.
uabi_case() {
	skip_on siw "the commands are those of another driver"
	skip_on kwarp-siw "the commands are siw's"
	own_links
	client kwuabi -d "${LINK[0]}"
	cat "$CASE_DIR/client.log"
	expect_in client '^kwuabi: [1-9][0-9]* ok, 0 failed$'
}

testcase uabi 60 uabi_case

# For a long run set KWARP_FUZZ_CALLS=1000000 KWARP_FUZZ_SEED=7.
fuzz_calls=${KWARP_FUZZ_CALLS:-$(by_profile 30000 6000)}
fuzz_limit=$((60 + fuzz_calls / 400))
testcase fuzz-uverbs $((fuzz_limit + 60)) fuzz_case "${KWARP_FUZZ_SEED:-1}"
