// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfuzz is a fuzzer: it makes random system calls on a uverbs device.
 * This file: random choices, and the objects, files and numbers that earlier calls have made.
 */
#include "kwfuzz.h"

#include <unistd.h>

uint64_t kwf_below(struct kwf_maker *m, uint64_t n)
{
	return kw_below(&m->rng, n);
}

bool kwf_one_in(struct kwf_maker *m, unsigned int n)
{
	return kw_one_in(&m->rng, n);
}

uint64_t kwf_evil(struct kwf_maker *m)
{
	static const uint64_t values[] = {
		0, 1, 2, 3, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX, 4096, 65535, 32768,
	};

	return kwf_one_in(m, 3) ? kw_rand(&m->rng) : values[kwf_below(m, ARRAY_SIZE(values))];
}

uint32_t kwf_size(struct kwf_maker *m)
{
	if (kwf_one_in(m, 40))
		return kwf_one_in(m, 2) ? kwf_evil(m) : 1ULL << kwf_below(m, 19);
	return kwf_below(m, 33);
}

uint32_t kwf_handle(struct kwf_maker *m, enum kwf_object o)
{
	unsigned int made = m->p->made[o], back;

	if (!made || kwf_one_in(m, 30))
		return kwf_one_in(m, 2) ? kwf_evil(m) : kwf_below(m, 64);
	back = kwf_below(m, kwf_one_in(m, 3) ? KWF_HANDLES : 4);
	return m->p->handle[o][(made - 1 - (back < made ? back : 0)) % KWF_HANDLES];
}

void kwf_remember(struct kwf_maker *m, enum kwf_object o, uint32_t h)
{
	m->p->handle[o][m->p->made[o]++ % KWF_HANDLES] = h;
}

void kwf_remember_fd(struct kwf_maker *m, int fd)
{
	int *slot = &m->p->fds[m->p->n_fds++ % KWF_FDS];

	/* The files are only closed, not read, because reading an event may block. */
	if (*slot > 2)
		close(*slot);
	*slot = fd;
}

void kwf_remember_key(struct kwf_maker *m, uint64_t key, uint32_t len)
{
	unsigned int i = m->p->n_keys++ % KWF_MAPS;

	m->p->key[i] = key;
	m->p->key_len[i] = len;
}

/*
 * Remember the number of a queue pair, for rings of this process and of others. The kernel must
 * refuse a ring for it by another process.
 */
void kwf_remember_number(struct kwf_maker *m, uint32_t qpn)
{
	struct kwf_count *c = m->p->count;
	unsigned int i = __atomic_fetch_add(&c->qps, 1, __ATOMIC_RELAXED) % KWF_NUMBERS;

	kwf_remember(m, KWF_QPN, qpn);
	__atomic_store_n(&c->qp[i], (uint64_t)qpn << 32 | getpid(), __ATOMIC_RELAXED);
}

void kwf_done(struct kwf_maker *m, enum kwf_kind kind, bool good)
{
	struct kwf_count *c = m->p->count;

	__atomic_add_fetch(&c->calls, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&c->kind[kind], 1, __ATOMIC_RELAXED);
	if (good) {
		__atomic_add_fetch(&c->successes, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&c->good[kind], 1, __ATOMIC_RELAXED);
	}
}
