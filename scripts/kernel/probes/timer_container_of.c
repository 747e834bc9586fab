// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* 6.16: from_timer() became timer_container_of() */
#include <linux/timer.h>

struct probe {
	struct timer_list timer;
};

struct probe *probe(struct timer_list *t);
struct probe *probe(struct timer_list *t)
{
	struct probe *p = timer_container_of(p, t, timer);

	return p;
}
