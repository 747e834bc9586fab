# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Memory windows: data through them, everybody else refused, and every way in which
# they end (see kwmw.c).

# windows_case CRC: with CRCs payload is sent in another way.
windows_case() {
	skip_on siw "memory windows are not offered"
	skip_on kwarp-siw "libsiw has none"
	own_links
	knob crc "$1"
	new_port
	serve server "$PORT" kwmw -s -a "${IP[1]}" -p "$PORT"
	client kwmw -c -a "${IP[1]}" -p "$PORT"
	reap 30 server
	expect_in server 'all ok'
	grep -h ' ok ' "$CASE_DIR/server.log" || :
}

# The kernel cleans up after a process that has windows bound; the region it finds busy
# comes again later.
windows_left_case() {
	skip_on siw "memory windows are not offered"
	skip_on kwarp-siw "libsiw has none"
	own_links
	new_port
	serve server "$PORT" kwmw -s -x -a "${IP[1]}" -p "$PORT"
	start client 0 kwmw -c -a "${IP[1]}" -p "$PORT"
	reap 30 server
	ended 30 client
}

testcase windows 90 windows_case on
testcase windows-no-crc 90 windows_case off
testcase windows-left 60 windows_left_case
