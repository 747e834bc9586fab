// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Linux 6.13 and later have hrtimer_setup(). */
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *timer));
void probe(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *timer))
{
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}
