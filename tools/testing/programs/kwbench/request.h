/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes. This
 * header: what the wr_id of a request says.
 */
#ifndef KWBENCH_REQUEST_H
#define KWBENCH_REQUEST_H

#include <stdint.h>

/* The kind of a request, see KB_WR_ID(). */
enum kb_what {
	KB_DATA,	/* an operation that is measured */
	KB_DRAIN,	/* the Read that ends a phase */
	KB_CREDIT,	/* a Send that returns credits */
	KB_RECV,	/* a receive */
	KB_NOTE,	/* a Send of a note */
};

/*
 * A wr_id consists of the index of the connection, the number of requests that complete together
 * with this one, and an enum kb_what.
 */
#define KB_WR_ID(index, count, what)	((uint64_t)(index) << 32 | (count) << 8 | (what))
#define KB_WR_INDEX(id)			((uint32_t)((id) >> 32))
#define KB_WR_COUNT(id)			(((uint32_t)(id)) >> 8)
#define KB_WR_WHAT(id)			((enum kb_what)((id) & 0xff))

#endif /* KWBENCH_REQUEST_H */
