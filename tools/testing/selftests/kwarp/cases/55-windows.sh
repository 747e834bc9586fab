# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Memory windows (programs/kwmw/): data through a window; access is refused to others; each way in
# which a window can end.

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

# A process ends with bound windows, and the kernel destroys its objects. A region that still has
# a bound window is busy, and the kernel tries again later.
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
