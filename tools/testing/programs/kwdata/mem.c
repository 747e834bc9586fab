// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: memory with a guard pattern wherever no message is. See struct kd_region.
 */
#define _GNU_SOURCE
#include "mem.h"
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE		4096U
#define HUGE		((size_t)2 << 20)
#define ZONE		512U	/* octets of a guard zone, and of a check beside a message */
#define LEAD		(2 * PAGE)	/* most room before the first piece */
#define GAP		96U	/* largest gap between two pieces */
#define FULL_EVERY	64U	/* one of this many checks covers the whole region */

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t kd_scatter_room(size_t len)
{
	return LEAD + len + KD_MAX_SGE * (GAP + KD_SPARE_ALIGN) + ZONE;
}

enum kd_memory kd_memory;

static int make_memfd(size_t len, unsigned int flags)
{
	int fd = memfd_create("kwdata", MFD_ALLOW_SEALING | flags);

	if (fd < 0 || ftruncate(fd, len) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		kw_die(KW_SETUP, "no memory of %zu octets for a dma-buf: %s", len, strerror(errno));
	return fd;
}

/* Make a dma-buf of the second small page of each of many huge pages. Return: its file. */
static int make_parts(int dev, size_t len)
{
	size_t i, pages = len / PAGE;
	struct udmabuf_create_list *list = kw_zalloc(sizeof(*list) + pages * sizeof(list->list[0]));
	int memfd = make_memfd(pages * HUGE, MFD_HUGETLB | MFD_HUGE_2MB), fd;

	list->count = pages;
	for (i = 0; i < pages; i++) {
		list->list[i].memfd = memfd;
		list->list[i].offset = i * HUGE + PAGE;
		list->list[i].size = PAGE;
	}
	fd = ioctl(dev, UDMABUF_CREATE_LIST, list);
	close(memfd);
	free(list);
	return fd;
}

static int make_whole(int dev, size_t len, int *memfd)
{
	struct udmabuf_create create = { .size = len };
	size_t whole = (len + HUGE - 1) / HUGE * HUGE;

	*memfd = kd_memory == KD_HUGE ? make_memfd(whole, MFD_HUGETLB | MFD_HUGE_2MB) :
		make_memfd(len, 0);
	create.memfd = *memfd;
	return ioctl(dev, UDMABUF_CREATE, &create);
}

/*
 * Make a dma-buf and map it at @base. Return: its file. Huge pages are mapped through the dma-buf,
 * because a mapping of the memfd would have to consist of whole huge pages.
 */
static int make_dmabuf(size_t len, uint8_t **base)
{
	int dev = open("/dev/udmabuf", O_RDWR), memfd = -1, fd;

	if (dev < 0)
		kw_die(KW_SETUP, "no /dev/udmabuf: %s", strerror(errno));
	fd = kd_memory == KD_HUGE_PARTS ? make_parts(dev, len) : make_whole(dev, len, &memfd);
	*base = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
		     kd_memory == KD_DMABUF ? memfd : fd, 0);
	if (fd < 0 || *base == MAP_FAILED)
		kw_die(KW_SETUP, "no dma-buf of %zu octets: %s", len, strerror(errno));
	if (memfd >= 0)
		close(memfd);
	close(dev);
	return fd;
}

static uint8_t *make_memory(struct kd_region *r, size_t len)
{
	uint8_t *base = NULL;

	r->fd = -1;
	r->all = len;
	if (kd_memory != KD_PLAIN)
		r->fd = make_dmabuf(len, &base);
	else
		base = aligned_alloc(PAGE, len);
	if (!base)
		kw_die(KW_SETUP, "no memory for %zu octets", len);
	return base;
}

static void free_memory(struct kd_region *r)
{
	if (r->fd < 0) {
		free(r->mem - ZONE);
		return;
	}
	munmap(r->mem - ZONE, r->all);
	close(r->fd);
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, const struct kd_region *r, int access)
{
	struct ibv_mr *mr = r->fd < 0 ? ibv_reg_mr(pd, r->mem, r->len, access) :
		ibv_reg_dmabuf_mr(pd, ZONE, r->len, (uintptr_t)r->mem, r->fd, access);

	if (!mr)
		kw_die(KW_SETUP, "cannot register %zu octets: %s", r->len, strerror(errno));
	return mr;
}

void kd_region_init(struct kd_region *r, struct ibv_pd *pd, size_t len, int access, int mrs)
{
	static uint64_t serial;
	size_t all = (len + 2 * ZONE + PAGE - 1) / PAGE * PAGE;
	uint8_t *base = make_memory(r, all);

	r->mem = base + ZONE;
	r->len = len;
	r->align = 1;
	r->key = kw_mix(0x6ad, __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED));
	kw_fill(base, len + 2 * ZONE, r->key, 0);
	for (r->mrs = 0; r->mrs < mrs; r->mrs++)
		r->mr[r->mrs] = reg_mr(pd, r, access);
}

void kd_region_fini(struct kd_region *r)
{
	int i;

	for (i = 0; i < r->mrs; i++)
		if (ibv_dereg_mr(r->mr[i]))
			kw_die(KW_SETUP, "cannot deregister memory: %s", strerror(errno));
	free_memory(r);
	r->mem = NULL;
}

void kd_one_piece(size_t off, uint32_t len, struct kd_pieces *p)
{
	p->n = 1;
	p->at[0].off = off;
	p->at[0].len = len;
}

void kd_scatter(const struct kd_region *r, uint32_t len, int max, struct kw_rng *rng,
		struct kd_pieces *p)
{
	size_t off = kw_below(rng, kw_one_in(rng, 3) ? 8 : LEAD);
	int i, n = 1 + kw_below(rng, max);
	uint32_t part;

	if ((uint32_t)n > len)
		n = len ? len : kw_below(rng, 2);
	p->n = n;
	for (i = 0; i < n; i++) {
		off = (off + r->align - 1) / r->align * r->align;
		part = i == n - 1 ? len : 1 + kw_below(rng, len - (n - 1 - i));
		p->at[i].off = off;
		p->at[i].len = part;
		off += part + kw_below(rng, GAP);
		len -= part;
	}
	if (off > r->len)
		kw_die(KW_SETUP, "scattered beyond the region");
}

int kd_sges(const struct kd_region *r, const struct kd_pieces *p, struct ibv_sge *sge)
{
	int i;

	for (i = 0; i < p->n; i++) {
		sge[i].addr = (uintptr_t)(r->mem + p->at[i].off);
		sge[i].length = p->at[i].len;
		sge[i].lkey = r->mr[i % r->mrs]->lkey;
	}
	return p->n;
}

void kd_fill_pieces(struct kd_region *r, const struct kd_pieces *p, uint64_t key, uint64_t pos)
{
	int i;

	for (i = 0; i < p->n; i++) {
		kw_fill(r->mem + p->at[i].off, p->at[i].len, key, pos);
		pos += p->at[i].len;
	}
}

/*
 * Write the guard pattern to @len octets at @off. Octet 0 of the pattern is the first of the guard
 * zone before the region, so octet 0 of the region has octet ZONE of the pattern.
 */
static void fill_guard(struct kd_region *r, size_t off, size_t len)
{
	kw_fill(r->mem + off, len, r->key, ZONE + off);
}

/*
 * Check the guard pattern from offset @from up to @to. Both may lie up to ZONE octets outside the
 * region, on both sides.
 */
static void check_guard_range(struct kd_region *r, ssize_t from, ssize_t to, const char *what)
{
	ssize_t bad = from + kw_check(r->mem + from, to - from, r->key, ZONE + from);

	if (bad < to)
		kw_die(KW_MISMATCH,
		       "%s: mismatch: guard octet %zd of %zu was overwritten with 0x%02x",
		       what, bad, r->len, r->mem[bad]);
}

void kd_check_guard(struct kd_region *r, const char *what)
{
	check_guard_range(r, -(ssize_t)ZONE, r->len + ZONE, what);
}

void kd_restore(struct kd_region *r, const struct kd_pieces *p, uint32_t len, const char *what)
{
	size_t take;
	int i;

	for (i = 0; i < p->n && len; i++, len -= take) {
		take = min_size(len, p->at[i].len);
		fill_guard(r, p->at[i].off, take);
	}
	if (++r->checks % FULL_EVERY == 0)
		kd_check_guard(r, what);
}

static void check_data(struct kd_region *r, size_t off, size_t len, uint64_t key, uint64_t pos,
		       const char *what)
{
	size_t i, wrong = 0, bad = kw_check(r->mem + off, len, key, pos), few;
	bool guard;
	uint8_t must;

	if (bad == len)
		return;
	for (i = bad; i < len; i++)
		wrong += kw_check(r->mem + off + i, 1, key, pos + i) == 0;
	kw_fill(&must, 1, key, pos + bad);
	few = min_size(8, len - bad);
	guard = kw_check(r->mem + off + bad, few, r->key, ZONE + off + bad) >= few;
	kw_die(KW_MISMATCH,
	       "%s: mismatch: octet %llu is 0x%02x, must be 0x%02x; %zu of the next %zu differ; %s",
	       what, (unsigned long long)(pos + bad), r->mem[off + bad], must, wrong, len - bad,
	       guard ? "nothing was placed there" : "other data is there");
}

void kd_check_pieces(struct kd_region *r, const struct kd_pieces *p, uint32_t len, uint64_t key,
		     uint64_t pos, const char *what)
{
	ssize_t end, take, before = 0, from;
	int i;

	for (i = 0; i < p->n; i++) {
		from = p->at[i].off;
		check_guard_range(r, i ? before : from - (ssize_t)ZONE, from, what);
		take = min_size(len, p->at[i].len);
		check_data(r, from, take, key, pos, what);
		pos += take;
		len -= take;
		end = from + p->at[i].len;
		check_guard_range(r, from + take, min_size(from + take + ZONE, end), what);
		before = end;
	}
	check_guard_range(r, before, before + ZONE, what);
	if (len)
		kw_die(KW_MISMATCH, "%s: mismatch: %u octets more than there is room for", what,
		       len);
}
