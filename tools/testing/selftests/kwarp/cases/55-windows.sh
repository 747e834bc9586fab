# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Memory windows (program kwmw): the peer reads and writes through a window; other access is
# refused; each way in which a window can end is tried.

# windows_case CRC: run kwmw with CRC on or off. Both are tested, because the driver handles payload
# differently with and without CRC.
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

# A process ends with bound windows, and the kernel destroys its objects. A region that still has a
# bound window is busy, so the kernel must try again after the window is gone. case_end checks that
# no object is left.
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
