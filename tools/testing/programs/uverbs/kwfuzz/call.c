// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfuzz, which makes random system calls on a uverbs device: the choice of the next kind of call,
 * and the start of a process (it opens the device, a context and a doorbell; some processes leave
 * out the context).
 */
#include "kwfuzz.h"

#include <errno.h>
#include <string.h>

#include <rdma/kwarp-abi.h>

const char *const kwf_kinds[KWF_KINDS] = {
	"write", "ioctl: command", "ioctl: method", "garbage", "mmap", "doorbell", "ring",
};

void kwf_call(struct kwf_maker *m)
{
	switch (kwf_below(m, 24)) {
	case 0:
	case 1:
		kwf_call_method(m);
		break;
	case 2:
		kwf_call_garbage(m);
		break;
	case 3:
	case 4:
		kwf_map_ring(m);
		break;
	case 5 ... 11:
		kwf_call_command(m, KWF_WRITE);
		break;
	case 12 ... 15:
		kwf_call_doorbell(m);
		break;
	default:
		kwf_call_command(m, KWF_INVOKE);
	}
	kwf_scribble(m);
}

void kwf_begin(struct kwf_process *p, const char *dev, uint64_t seed)
{
	struct kwf_maker m = { .p = p, .rng.state = seed };
	uint64_t req[8] = { (uint64_t)KWARP_ABI_MAX << 32 | KWARP_ABI_MIN }, resp[8];
	int rv;

	p->fd = kwu_open(dev);
	/* Some processes make their calls without a context. */
	if (!(seed % 50))
		return;
	/* Some processes first make a request for a context with a random error and length. */
	if (seed % 4 == 1) {
		req[kwf_below(&m, 8)] = kwf_evil(&m);
		kwu_get_context(p->fd, (struct kwu_buf){ req, kwf_below(&m, 65) },
				(struct kwu_buf){ resp, kwf_below(&m, 65) });
	}
	rv = kwu_begin(p->fd);
	if (rv && rv != EINVAL)
		kw_die(KW_SETUP, "no context: %s", strerror(rv));
	p->bell[0] = kwu_doorbell(p->fd);
	if (p->bell[0] < 0)
		kw_die(KW_SETUP, "no doorbell: %s", strerror(errno));
}
