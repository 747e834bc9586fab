# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# Coalescing (program kwcoalesce): the device may hold requests that a program posts one by one, and
# send them together. It sends them when the program polls and finds no completion, or asks for a
# completion event. If the program does neither, a timer sends them after coalesce_us microseconds
# (a knob, that is, a setting of a link), and the device counts that. On links of type kwarp-siw and
# on real-time kernels no request is held, so the cases expect the same as with coalesce_us 0
# (kwcoalesce -o).

coalesce_links() {
	skip_on siw "has no knobs, and does not count"
	own_links
}

coalesce_run() {
	new_port
	client kwcoalesce -a "${IP[0]}" -p "$PORT" "$@"
	cat "$CASE_DIR/client.log"
}

holds_nothing() {
	[ "$KWARP_LINK" = kwarp-siw ] || [[ $(uname -v) = *PREEMPT_RT* ]]
}

# coalesce_case CASE [MICROSECONDS]: run this case of kwcoalesce, with the knob coalesce_us set to
# MICROSECONDS if it is given.
coalesce_case() {
	coalesce_links
	[ $# = 1 ] || knob coalesce_us "$2"
	if holds_nothing; then
		coalesce_run -o "$1"
	else
		coalesce_run "$1"
	fi
}

# Print the files of settings by which the kernel reserves processor time for ordinary programs: the
# time limit of real-time programs, and since 6.12 the deadline server ("fair_server").
rt_limits() {
	# This setting comes first and is restored last, because the kernel checks the other
	# values against it.
	echo /proc/sys/kernel/sched_rt_runtime_us
	ls /sys/kernel/debug/sched/fair_server/cpu*/runtime 2>/dev/null || :
}

rt_limits_off() {
	local file
	for file in $(rt_limits); do
		echo "$(<"$file") $file"
		case $file in
		/proc/*) echo -1 >"$file" ;;
		*) echo 0 >"$file" ;;
		esac
	done
}

rt_limits_back() {
	local file value
	while read -r value file; do
		echo "$value" >"$file"
	done
}

# The program spins with real-time priority and never gives up its processor. On a kernel with the
# option threadirqs (KWARP_APPEND=threadirqs tools/testing/selftests/e2e.sh coalesce) the timer
# would run in a thread of ordinary priority, which gets no processor time. So the driver must not
# hold requests of such a program. The case detects a driver that does: when the driver's
# poster_is_realtime() was changed to return false, on 6.12, the second Write did not arrive.
coalesce_realtime() {
	local rc=0
	kernel_since 6.5 || skip "once woken, ksoftirqd alone receives here, which such a program does not let run"
	coalesce_links
	has_debugfs || :
	rt_limits_off >"$CASE_DIR/limits"
	(coalesce_case realtime) || rc=$?
	rt_limits_back < <(tac "$CASE_DIR/limits")
	[ "$rc" = 0 ] || exit "$rc"
}

# With coalesce_us 0 no request is held, so the timer never has to send, whatever the program does.
coalesce_off() {
	local what
	coalesce_links
	knob coalesce_us 0
	for what in poll arm sleep leave server spin; do
		coalesce_run -o "$what"
	done
}

# The timer sends a Write that no poll follows. How long the Write waits depends on the load of the
# machine, unless the clock of the guest counts instructions.
coalesce_delay() {
	if [ "${KWARP_ACCEL:-}" = icount ] && ! holds_nothing; then
		coalesce_links
		coalesce_run -u 500 delay
	else
		coalesce_case delay 1000
	fi
}

# In these cases coalesce_us is higher than the default. On a busy machine the program may have
# to wait longer than the default before it runs again, and the timer would send.
for what in poll arm leave; do
	testcase "coalesce-$what" 60 coalesce_case "$what" 1000
done
testcase coalesce-delay 60 coalesce_delay
for what in sleep server spin; do
	testcase "coalesce-$what" 60 coalesce_case "$what"
done
testcase coalesce-realtime 60 coalesce_realtime
testcase coalesce-off 60 coalesce_off
