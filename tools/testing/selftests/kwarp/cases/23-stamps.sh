# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Completions with timestamps (kwstamp): each lies between a look at the clock before the post and
# one after the poll.

# stamps_case [-w]: timestamps of CLOCK_MONOTONIC_RAW; with -w of CLOCK_REALTIME.
stamps_case() {
	skip_on siw "its completions have no timestamps"
	skip_on kwarp-siw "libsiw's completions have no timestamps"
	own_links
	new_port
	serve server "$PORT" kwconn -s -a "${IP[1]}" -p "$PORT"
	client kwstamp -a "${IP[1]}" -p "$PORT" -n "$(by_profile 2000 200)" "$@"
	stop server
	grep ' ok: ' "$CASE_DIR/client.log"
}

testcase stamps-cq-raw 60 stamps_case
testcase stamps-cq-real 60 stamps_case -w
