// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* 6.5: MSG_SPLICE_PAGES works; it is defined and ignored before that */
#include <linux/skbuff.h>

void *probe(void);
void *probe(void)
{
	return skb_splice_from_iter;
}
