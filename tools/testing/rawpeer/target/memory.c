// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwtarget is an RDMA program on the device under test; the raw peer (kwrawpeer) attacks it. This
 * file: its memory (the arena), the memory regions in it, and what the arena has to contain (see
 * target/places.h).
 */
#include "target/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IOVA_BASE	0x5a0000000000ULL
#define RW_ATOMIC	(KWT_RW_REMOTE | IBV_ACCESS_REMOTE_ATOMIC)

static const int access_of[KWT_REGIONS] = {
	[KWT_RW] = RW_ATOMIC,
	[KWT_RO] = IBV_ACCESS_REMOTE_READ,
	[KWT_WO] = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
	[KWT_LO] = IBV_ACCESS_LOCAL_WRITE,
	[KWT_PD] = KWT_RW_REMOTE,
	[KWT_DEAD] = RW_ATOMIC,
	[KWT_IOVA] = RW_ATOMIC,
	[KWT_ONE] = RW_ATOMIC,
	[KWT_SINK] = KWT_RW_REMOTE,
	[KWT_RECV] = IBV_ACCESS_LOCAL_WRITE,
	[KWT_BELOW] = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
};

static void register_region(struct kwt *t, enum kwt_region r)
{
	const struct kwt_place *p = &kwt_places[r];
	uint8_t *at = t->arena + p->off;

	if (r == KWT_IOVA)
		t->mr[r] = ibv_reg_mr_iova(t->pd, at, p->len,
					   IOVA_BASE + ((uintptr_t)at & 4095), access_of[r]);
	else
		t->mr[r] = ibv_reg_mr(r == KWT_PD ? t->pd2 : t->pd, at, p->len, access_of[r]);
	if (!t->mr[r])
		kw_die(KW_SETUP, "cannot register region %s: %s", p->name, strerror(errno));
}

/* Is the region registered during a case? KWT_BELOW needs a device that has windows. */
static bool has_region(const struct kwt *t, enum kwt_region r)
{
	return r != KWT_DEAD && r != KWT_WIN && (r != KWT_BELOW || t->mw);
}

static void deregister_region(struct kwt *t, enum kwt_region r)
{
	if (t->mr[r] && ibv_dereg_mr(t->mr[r]))
		kw_die(KW_SETUP, "cannot deregister region %s: %s", kwt_places[r].name,
		       strerror(errno));
	t->mr[r] = NULL;
}

void kwt_memory_renew(struct kwt *t)
{
	int r;

	for (r = KWT_NONE + 1; r < KWT_REGIONS; r++)
		if (!t->mr[r] && has_region(t, r))
			register_region(t, r);
	kw_fill(t->arena, KWT_ARENA_LEN, KWT_ARENA_KEY, 0);
	memcpy(t->shadow, t->arena, KWT_ARENA_LEN);
	memset(t->care, 1, KWT_ARENA_LEN);
}

void kwt_memory_open(struct kwt *t)
{
	if (posix_memalign((void **)&t->arena, sysconf(_SC_PAGESIZE), KWT_ARENA_LEN))
		kw_die(KW_SETUP, "cannot allocate the arena");
	t->shadow = kw_zalloc(KWT_ARENA_LEN);
	t->care = kw_zalloc(KWT_ARENA_LEN);
	memset(t->arena, 0, KWT_ARENA_LEN);
	register_region(t, KWT_DEAD);
	t->dead_stag = t->mr[KWT_DEAD]->rkey;
	deregister_region(t, KWT_DEAD);
	kwt_memory_renew(t);
}

void kwt_memory_close(struct kwt *t)
{
	int r;

	for (r = KWT_NONE + 1; r < KWT_REGIONS; r++)
		deregister_region(t, r);
	free(t->arena);
	free(t->shadow);
	free(t->care);
}

static enum kwt_region find_region(const char *name)
{
	int r;

	for (r = 0; r < KWT_REGIONS; r++)
		if (!strcmp(kwt_places[r].name, name))
			return r;
	kw_die(KW_SETUP, "there is no region '%s'", name);
}

void kwt_region(struct kwt *t, char *args, char *answer)
{
	enum kwt_region r = find_region(args);
	uint64_t to = (uintptr_t)t->arena + kwt_places[r].off;
	uint32_t stag = t->mr[r] ? t->mr[r]->rkey : t->dead_stag;

	if (r == KWT_IOVA)
		to = IOVA_BASE + (to & 4095);
	if (r == KWT_WIN && t->mw)
		stag = t->mw->rkey;
	sprintf(answer, "ok %u %llu %u", stag, (unsigned long long)to, kwt_places[r].len);
}

void kwt_dereg(struct kwt *t, char *args, char *answer)
{
	enum kwt_region r = find_region(args);
	int rv = t->mr[r] ? ibv_dereg_mr(t->mr[r]) : 0;

	if (rv) {
		sprintf(answer, "no %d", rv);
		return;
	}
	t->mr[r] = NULL;
	kwt_say(answer, "ok");
}

/* Parse offset and length of a part of the arena. Return what follows them in @args. */
static const char *range(const char *args, uint32_t *off, uint32_t *len)
{
	int n;

	if (sscanf(args, "%u %u %n", off, len, &n) != 2 || *off > KWT_ARENA_LEN ||
	    *len > KWT_ARENA_LEN - *off)
		kw_die(KW_SETUP, "'%s' is no part of the arena", args);
	return args + n;
}

void kwt_expect(struct kwt *t, char *args, char *answer)
{
	unsigned long long key, pos;
	const char *stream;
	uint32_t off, len;

	stream = range(args, &off, &len);
	if (sscanf(stream, "%llu %llu", &key, &pos) != 2)
		kw_die(KW_SETUP, "'%s' names no stream", args);
	kw_fill(t->shadow + off, len, key, pos);
	kwt_say(answer, "ok");
}

void kwt_ignore(struct kwt *t, char *args, char *answer)
{
	const char *rest = args;
	uint32_t off, len;

	do {
		rest = range(rest, &off, &len);
		memset(t->care + off, 0, len);
	} while (*rest);
	kwt_say(answer, "ok");
}

/*
 * Store a number in eight octets of the shadow (what the arena has to contain), and of the arena if
 * @store is set.
 */
static void word(struct kwt *t, const char *args, bool store)
{
	unsigned long long value;
	uint64_t v;
	uint32_t off;

	if (sscanf(args, "%u %llu", &off, &value) != 2 || off > KWT_ARENA_LEN - sizeof(v))
		kw_die(KW_SETUP, "'%s' names no eight octets of the arena", args);
	v = value;
	memcpy(t->shadow + off, &v, sizeof(v));
	if (store)
		memcpy(t->arena + off, &v, sizeof(v));
}

void kwt_word(struct kwt *t, char *args, char *answer)
{
	word(t, args, false);
	kwt_say(answer, "ok");
}

void kwt_put(struct kwt *t, char *args, char *answer)
{
	word(t, args, true);
	kwt_say(answer, "ok");
}

void kwt_verify(struct kwt *t, char *args, char *answer)
{
	uint32_t i;

	for (i = 0; i < KWT_ARENA_LEN; i++)
		if (t->care[i] && t->arena[i] != t->shadow[i])
			break;
	if (i < KWT_ARENA_LEN)
		sprintf(answer, "no %u", i);
	else
		kwt_say(answer, "ok");
}
