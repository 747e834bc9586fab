// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* by 6.12: a workqueue says that it is bound to processors, and has to from 6.18 on */
#include <linux/workqueue.h>

int probe(void);
int probe(void)
{
	return WQ_PERCPU;
}
