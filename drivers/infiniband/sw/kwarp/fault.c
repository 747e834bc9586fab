// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fault injection: /sys/kernel/debug/kwarp/POINT has the usual attributes (the kernel's
 * Documentation/fault-injection): probability, times, interval.  They apply to all devices;
 * without debugfs they stay off.
 */
#include "fault.h"

#if defined(CONFIG_FAULT_INJECTION_DEBUG_FS) && defined(MODULE)
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fault-inject.h>

#define LATE_MS		20
/* With .verbose > 0 each fault logs a call trace, which test scripts would take for a bug. */
#define OFF_AND_SILENT	{ .interval = 1, .times = ATOMIC_INIT(1), .require_end = ULONG_MAX,	\
			  .stacktrace_depth = 32, .verbose = 0,				\
			  .ratelimit_state = RATELIMIT_STATE_INIT_DISABLED }

static struct fault_attr attrs[KWARP_FAULTS] = {
	[KWARP_FAULT_SHORT_SEND] = OFF_AND_SILENT,
	[KWARP_FAULT_FULL_SEND] = OFF_AND_SILENT,
	[KWARP_FAULT_LOST_KICK] = OFF_AND_SILENT,
	[KWARP_FAULT_LATE_WORK] = OFF_AND_SILENT,
	[KWARP_FAULT_BAD_CRC] = OFF_AND_SILENT,
};

static const char *const names[KWARP_FAULTS] = {
	[KWARP_FAULT_SHORT_SEND] = "short_send",
	[KWARP_FAULT_FULL_SEND] = "full_send",
	[KWARP_FAULT_LOST_KICK] = "lost_kick",
	[KWARP_FAULT_LATE_WORK] = "late_work",
	[KWARP_FAULT_BAD_CRC] = "bad_crc",
};

/**
 * kwarp_fault - shall a fault be injected now?
 * @point: the point that the caller has reached
 *
 * Context: any.
 * Return: true: the caller has to behave as enum kwarp_fault says.
 */
bool kwarp_fault(enum kwarp_fault point)
{
	struct fault_attr *attr = &attrs[point];

	/*
	 * should_fail() counts its calls for a task's fail-nth (/proc/PID/fail-nth), so do not call
	 * it for a point that is off.
	 */
	return READ_ONCE(attr->probability) && should_fail(attr, 1);
}

/* Delay a work item, to be called at its beginning.  Context: process, may sleep. */
void kwarp_fault_late(void)
{
	if (kwarp_fault(KWARP_FAULT_LATE_WORK))
		msleep(LATE_MS);
}

/*
 * Make the files of all points in @dir, the module's debugfs folder.  They are removed together
 * with the folder.  Context: process.
 */
void kwarp_fault_init(struct dentry *dir)
{
	unsigned int i;

	for (i = 0; i < KWARP_FAULTS && !IS_ERR(dir); i++)
		fault_create_debugfs_attr(names[i], dir, &attrs[i]);
}
#endif
