# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Cases that use rsockets, a library that makes a byte stream out of Writes and Sends, with flow
# control of its own.

# rstream's option "-T v" verifies the data that it receives.
rstream_case() {
	own_links
	new_port
	pair "$PORT" rstream -b "${IP[1]}" -p "$PORT" -T v "$@" -- \
		rstream -s "${IP[1]}" -p "$PORT" -T v "$@"
}

rcopy_case() {
	local file=$CASE_DIR/file size
	size=$(by_profile 20000003 300003)
	skip_on siw "two links cannot listen on the wildcard address of one port"
	own_links
	new_port
	head -c "$size" /dev/urandom >"$file"
	rm -f "$file.copy"
	serve server "$PORT" rcopy -p "$PORT"
	# rcopy is a client if its first argument is not an option, so -p comes last.
	client rcopy "$file" "${IP[1]}:$file.copy" -p "$PORT"
	wait_until 5 "the server has closed the file" cmp -s "$file" "$file.copy"
	! gone "${PIDS[server]}" || fail "the server has ended"
	stop server KILL
	rm -f "$file" "$file.copy"
}

testcase rsock-rstream-64k 60 rstream_case -S 65536 -I 1 -C "$(by_profile 200 10)"
testcase rsock-rstream-nonblocking 60 rstream_case -T n -S 5000 -I 10 -C "$(by_profile 50 5)"
testcase rsock-rstream-fork 60 rstream_case -T f -S 100000 -I 10 -C "$(by_profile 10 2)"
testcase rsock-rcopy 60 rcopy_case
