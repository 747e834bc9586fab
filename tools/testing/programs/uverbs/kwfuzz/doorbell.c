// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfuzz is a fuzzer: it makes random system calls on a uverbs device. This file: opening, ringing
 * and closing doorbells. A doorbell is a file; an ioctl() on it ("ring") tells the driver that
 * requests were posted.
 */
#include "kwfuzz.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/kwarp-abi.h>

bool kwf_keep_bell(struct kwf_maker *m, int fd)
{
	int old = __atomic_exchange_n(&m->p->bell[kwf_below(m, KWF_BELLS)], fd, __ATOMIC_RELAXED);

	return old > 2 && !close(old);
}

static void open_bell(struct kwf_maker *m)
{
	int fd = kwu_doorbell(m->p->fd);

	kwf_done(m, KWF_DOORBELL, fd >= 0);
	if (fd >= 0)
		kwf_keep_bell(m, fd);
}

/* Choose a doorbell. Its file may be closed already, and its number may be another file's now. */
static int a_bell(struct kwf_maker *m)
{
	return __atomic_load_n(&m->p->bell[kwf_below(m, KWF_BELLS)], __ATOMIC_RELAXED) ?: -1;
}

static unsigned long ring_command(struct kwf_maker *m)
{
	if (kwf_one_in(m, 10))
		return kwf_one_in(m, 2) ? (uint32_t)kwf_evil(m) : _IO('k', kwf_below(m, 256));
	return kwf_one_in(m, 3) ? KWARP_IOC_POSTED_RECV : KWARP_IOC_POSTED_SEND;
}

static void ring(struct kwf_maker *m)
{
	uint64_t number = kwf_one_in(m, 10) ? kwf_evil(m) : kwf_handle(m, KWF_QPN);

	if (kwf_one_in(m, 20))
		number |= kwf_evil(m) << 32;
	kwf_done(m, KWF_RING, !ioctl(a_bell(m), ring_command(m), number));
}

static void ring_list(struct kwf_maker *m)
{
	struct kwarp_doorbells bells = { .n = kwf_one_in(m, 10) ? kwf_evil(m) : kwf_below(m, 18) };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bells.qpn); i++)
		bells.qpn[i] = kwf_one_in(m, 10) ? kwf_evil(m) : kwf_handle(m, KWF_QPN);
	kwf_done(m, KWF_RING, !ioctl(a_bell(m), KWARP_IOC_POSTED_SENDS,
				     kwf_one_in(m, 10) ? (void *)(uintptr_t)kwf_evil(m) : &bells));
}

/* Ring for a queue pair of another process. The kernel has to refuse that. */
static void ring_stranger(struct kwf_maker *m)
{
	uint64_t *place = &m->p->count->qp[kwf_below(m, KWF_NUMBERS)];
	uint64_t qp = __atomic_load_n(place, __ATOMIC_RELAXED);
	bool rang;

	if (!qp || (uint32_t)qp == (uint32_t)getpid()) {
		ring(m);
		return;
	}
	rang = !ioctl(a_bell(m), kwf_one_in(m, 2) ? KWARP_IOC_POSTED_RECV : KWARP_IOC_POSTED_SEND,
		      qp >> 32);
	kwf_done(m, KWF_RING, rang);
	if (rang)
		kw_die(KW_MISMATCH, "FAILED: rang for queue pair %u of process %u",
		       (uint32_t)(qp >> 32), (uint32_t)qp);
}

void kwf_call_doorbell(struct kwf_maker *m)
{
	switch (kwf_below(m, 12)) {
	case 0:
		open_bell(m);
		break;
	case 1:
		kwf_done(m, KWF_DOORBELL, kwf_keep_bell(m, 0));
		break;
	case 2:
		ring_stranger(m);
		break;
	case 3:
	case 4:
		ring_list(m);
		break;
	default:
		ring(m);
	}
}
