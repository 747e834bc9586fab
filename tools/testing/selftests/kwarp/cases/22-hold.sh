# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Requests that are held back for a moment, to go out together: a program of real-time
# priority that polls without end must not wait for its own. With threadirqs on the kernel's
# command line (KWARP_APPEND=threadirqs scripts/e2e.sh hold) the timer that sends them runs in
# a thread of ordinary priority, which such a program does not let run; without, this shows
# only that it works at all.

hold_knob=/sys/class/infiniband/${LINK[0]}/kwarp/hold_us

# hold_bench OPERATION [PREFIX...]: kwbench, small messages; one end on each processor.
hold_bench() {
	local op=$1
	shift
	new_port
	serve server "$PORT" taskset -c 1 kwbench -s -a "${IP[1]}" -p "$PORT"
	client "$@" taskset -c 0 kwbench -c -a "${IP[1]}" -p "$PORT" -o "$op" -m 64 -w 16 -u 100 -t 1000
	stop server
	cat "$CASE_DIR/client.log"
}

# A second is enough for hundreds, on a machine with other work, too; a stream that stands still
# falls short.  That a real-time poster is never held back is shown by kunit sched.test_hold_realtime
# only: with that rule taken out, and that on late timers, this case saw 2614 operations of Writes and
# 2970 of Sends, on 6.12 with threadirqs.
hold_realtime() {
	local ops
	own_links
	hold_bench "$1" chrt -f 50
	ops=$(sed -n 's/.*"ops": *\([0-9]*\).*/\1/p' "$CASE_DIR/client.log")
	[ "${ops:-0}" -ge "$(by_profile 200 64)" ] || fail "${ops:-no} operations in a second"
}

# Off, it works as well; what is no time is refused.
hold_off() {
	local bad
	skip_on siw "has no knobs"
	own_links
	knob hold_us 0
	hold_bench write
	for bad in 251 -1 x ''; do
		! echo "$bad" 2>/dev/null >"$hold_knob" || fail "hold_us takes '$bad'"
	done
	[ "$(<"$hold_knob")" = 0 ] || fail "hold_us has changed"
}

for op in write send; do
	testcase "hold-realtime-$op" 60 hold_realtime "$op"
done
testcase hold-off 60 hold_off
