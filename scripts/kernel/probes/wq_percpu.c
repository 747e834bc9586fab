// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Linux 6.12 has WQ_PERCPU. From 6.18 on a workqueue bound to processors needs this flag. */
#include <linux/workqueue.h>

int probe(void);
int probe(void)
{
	return WQ_PERCPU;
}
