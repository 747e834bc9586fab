// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwhold is a test program: how much kernel memory can the objects of one user hold?
 *
 *	kwhold -d device -k cq|qp|srq|pd|mw|context|left [-m octets] [-w] [-v]
 *
 * It makes objects of one kind, each in one of four contexts, until the device refuses one. The
 * refusal has to be ENOMEM. The program unmaps rings of completion queues and shared receive
 * queues, so that their memory does not count in the size of the process. The rings alone must not
 * hold more than -m says; without -m the first object must be refused. After one object is gone,
 * another can be made. With -w the program keeps all objects until a signal ends it. An object of
 * kind "left" is only the ring of a completion queue, which stays mapped after its queue is gone.
 */
#define _GNU_SOURCE
#include "kwib.h"
#include "kwtest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONTEXTS	4
#define MOST		200000
#define LARGE		(1 << 20)	/* octets; larger than the rings of open_all() */

static struct ibv_device *device;
static struct ibv_context *verbs[CONTEXTS];
static struct ibv_pd *pds[CONTEXTS];
static struct ibv_cq *cqs[CONTEXTS];
static struct ibv_device_attr limits;
static uint64_t most;
static size_t left_len;		/* octets of a ring of kind "left" */

/**
 * struct kind - a kind of object
 * @name: name on the command line
 * @make: makes one in a context; NULL and errno if that fails
 * @end: ends one
 * @unmap: its ring can be unmapped: the library does not use the ring to end the object
 */
struct kind {
	const char *name;
	void *(*make)(int context);
	int (*end)(void *object);
	bool unmap;
};

static void *make_cq(int i)
{
	return ibv_create_cq(verbs[i], limits.max_cqe / 16, NULL, NULL, 0);
}

static int end_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static void *make_qp(int i)
{
	struct ibv_qp_init_attr attr = kw_qp_attr(cqs[i], 1, 1, 1);

	return ibv_create_qp(pds[i], &attr);
}

static int end_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static void *make_srq(int i)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = limits.max_srq_wr / 8, .max_sge = 1 },
	};

	return ibv_create_srq(pds[i], &attr);
}

static int end_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static void *make_pd(int i)
{
	return ibv_alloc_pd(verbs[i]);
}

static int end_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

static void *make_mw(int i)
{
	return ibv_alloc_mw(pds[i], IBV_MW_TYPE_2);
}

static int end_mw(void *object)
{
	return ibv_dealloc_mw(object);
}

static void *make_context(int i)
{
	return ibv_open_device(device);
}

static int end_context(void *object)
{
	return ibv_close_device(object);
}

/* Count the octets of all rings, and with @unmap unmap them. */
static uint64_t count_rings(bool unmap)
{
	struct kw_ring ring;
	uint64_t octets = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	if (!f)
		kw_die(KW_SETUP, "cannot read the mappings: %s", strerror(errno));
	while (kw_next_ring(f, &ring)) {
		octets += ring.len;
		if (unmap)
			munmap(ring.at, ring.len);
	}
	fclose(f);
	return octets;
}

/* Return: the one large ring that the library can use. */
static struct kw_ring large_ring(void)
{
	struct kw_ring ring;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && kw_next_ring(f, &ring))
		if (ring.writable && ring.len > LARGE) {
			fclose(f);
			return ring;
		}
	kw_die(KW_SETUP, "the queue has no ring");
}

static void *reserve(void *at, size_t len)
{
	const int fixed = at ? MAP_FIXED : 0;
	void *p = mmap(at, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);

	if (p == MAP_FAILED)
		kw_die(KW_SETUP, "no room in the address space");
	return p;
}

/* Move the ring to where the library does not find it, so that the library cannot unmap it. */
static void *make_left(int i)
{
	struct ibv_cq *cq = most && count_rings(false) > most ? NULL : make_cq(i);
	struct kw_ring ring;
	void *to;

	if (!cq)
		return NULL;
	ring = large_ring();
	to = reserve(NULL, ring.len);
	if (mremap(ring.at, ring.len, ring.len, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to ||
	    mprotect(to, ring.len, PROT_NONE))
		kw_die(KW_SETUP, "cannot move a ring: %s", strerror(errno));
	reserve(ring.at, ring.len);
	if (ibv_destroy_cq(cq))
		kw_die(KW_SETUP, "cannot destroy a queue: %s", strerror(errno));
	left_len = ring.len;
	return to;
}

static int end_left(void *object)
{
	return munmap(object, left_len);
}

static const struct kind kinds[] = {
	{ "cq", make_cq, end_cq, true },
	{ "qp", make_qp, end_qp, false },
	{ "srq", make_srq, end_srq, true },
	{ "pd", make_pd, end_pd, false },
	{ "mw", make_mw, end_mw, false },
	{ "context", make_context, end_context, false },
	{ "left", make_left, end_left, false },
};

static const struct kind *kind_of(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	kw_die(KW_SETUP, "there is no kind %s", name);
}

/* Open the contexts, each with what the other objects need. Return: false: refused. */
static bool open_all(const char *name)
{
	int i;

	device = kw_device(name);
	for (i = 0; i < CONTEXTS; i++) {
		verbs[i] = ibv_open_device(device);
		pds[i] = verbs[i] ? ibv_alloc_pd(verbs[i]) : NULL;
		cqs[i] = pds[i] ? ibv_create_cq(verbs[i], 1, NULL, NULL, 0) : NULL;
		if (!cqs[i])
			return false;
	}
	if (ibv_query_device(verbs[0], &limits))
		kw_die(KW_SETUP, "cannot ask the device");
	return true;
}

/* Make objects until one is refused. Return: how many were made. */
static int make_all(const struct kind *kind, void **all, uint64_t *octets)
{
	int n;

	for (n = 0; n < MOST; n++) {
		all[n] = kind->make(n % CONTEXTS);
		if (!all[n])
			break;
		if (kind->unmap)
			*octets += count_rings(true);
	}
	if (n == MOST)
		kw_die(KW_MISMATCH, "%d objects of kind %s, and no end", n, kind->name);
	if (errno != ENOMEM)
		kw_die(KW_MISMATCH, "a %s was refused: %s", kind->name, strerror(errno));
	*octets += count_rings(false);
	return n;
}

int main(int argc, char **argv)
{
	const char *name = NULL, *what = NULL;
	uint64_t octets = 0;
	bool waits = false;
	const struct kw_option table[] = {
		KW_NEED('d', name),
		KW_NEED('k', what),
		KW_BIG('m', most, 0, UINT64_MAX),
		KW_FLAG('w', waits),
		{ 0 }
	};
	const struct kind *kind;
	void **all;
	int n = 0;

	kw_options(argc, argv, table,
		   "kwhold -d device -k cq|qp|srq|pd|mw|context|left [-m octets] [-w] [-v]");
	kind = kind_of(what);
	all = kw_zalloc(MOST * sizeof(*all));
	if (open_all(name))
		n = make_all(kind, all, &octets);
	else if (errno != ENOMEM)
		kw_die(KW_MISMATCH, "a context was refused: %s", strerror(errno));
	kw_say("%d of kind %s, rings of %llu octets", n, kind->name, (unsigned long long)octets);
	if (most ? octets > most || !n : n)
		kw_die(KW_MISMATCH, "%llu are allowed", (unsigned long long)most);
	if (waits) {
		kw_say("holding");
		pause();
	}
	if (n && (kind->end(all[0]) || !kind->make(0)))
		kw_die(KW_MISMATCH, "no %s in place of one that is gone: %s", kind->name,
		       strerror(errno));
	return KW_OK;
}
