# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# A completion queue is resized while another thread posts and polls (program kwresize).

resize_case() {
	skip_on siw "ibv_resize_cq() is not offered"
	skip_on kwarp-siw "libsiw has none"
	own_links
	start resize 0 kwresize -d "${LINK[0]}" -n "$(by_profile 200 20)"
	ended 60 resize
	cat "$CASE_DIR/resize.log"
	[ "$STATUS" = 0 ] || fail "kwresize ended with status $STATUS"
}

testcase resize-cq 60 resize_case
