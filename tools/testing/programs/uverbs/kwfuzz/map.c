// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfuzz is a fuzzer: it makes random system calls on a uverbs device. This file: mapping rings
 * (queues that a program shares with the kernel), and writing nonsense into them.
 */
#include "kwfuzz.h"

#include <sys/mman.h>

#include <rdma/kwarp-abi.h>

void kwf_scribble(struct kwf_maker *m)
{
	unsigned int i = kwf_below(m, KWF_MAPS), n;
	volatile uint32_t *map = (volatile uint32_t *)m->p->map[i];
	size_t len = m->p->map_len[i];

	if (!map || len < KWARP_RING_ENTRIES_OFFSET)
		return;
	for (n = kwf_below(m, 64); n; n--)
		map[kwf_one_in(m, 3) ? kwf_below(m, 32) : kwf_below(m, len / 4)] = kwf_evil(m);
}

/* Map a ring. The mapping stays until the process ends, so that any thread may write into it. */
void kwf_map_ring(struct kwf_maker *m)
{
	unsigned int made = m->p->n_keys, k, i = kwf_below(m, KWF_MAPS);
	size_t len;
	void *map;

	if (!made) {
		kwf_done(m, KWF_MMAP, false);
		return;
	}
	k = kwf_below(m, made < KWF_MAPS ? made : KWF_MAPS);
	len = kwf_one_in(m, 10) ? kwf_evil(m) & 0xfffff : m->p->key_len[k];
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, m->p->fd,
		   kwf_one_in(m, 20) ? (off_t)(kwf_evil(m) & ~4095ULL) : (off_t)m->p->key[k]);
	kwf_done(m, KWF_MMAP, map != MAP_FAILED);
	if (map == MAP_FAILED || m->p->map[i])
		return;
	m->p->map_len[i] = len;
	m->p->map[i] = map;
}
