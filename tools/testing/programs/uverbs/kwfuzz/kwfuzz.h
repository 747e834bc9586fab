/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwfuzz: random uverbs commands.
 */
#ifndef KWFUZZ_H
#define KWFUZZ_H

#include "kwtest.h"
#include "../kwuverbs.h"

#define KWF_THREADS	16
#define KWF_MEMORY	(1 << 20)
#define KWF_HANDLES	32	/* remembered of each kind; older ones are forgotten */
#define KWF_FDS		64
#define KWF_MAPS	32
#define KWF_BELLS	8
#define KWF_NUMBERS	256

struct kwf_opt {
	const char *dev;
	uint64_t calls, seed;
	unsigned int jobs, threads;
};

/* What calls are counted as. */
enum kwf_kind {
	KWF_WRITE,	/* a command by write() */
	KWF_INVOKE,	/* the same by ioctl() */
	KWF_METHOD,	/* a method of an object, by ioctl() */
	KWF_GARBAGE,	/* octets that are no command */
	KWF_MMAP,	/* mapping, scribbling, unmapping */
	KWF_DOORBELL,	/* opening and closing one */
	KWF_RING,	/* ringing it */
	KWF_KINDS,
};

extern const char *const kwf_kinds[KWF_KINDS];

/**
 * struct kwf_count - what all processes share; atomic adds
 * @calls, @successes: in all
 * @kind, @good: of each kind
 * @qp: numbers of queue pairs that were made, below them whose they are; older ones are
 *	forgotten
 * @qps: their number
 */
struct kwf_count {
	uint64_t calls, successes;
	uint64_t kind[KWF_KINDS], good[KWF_KINDS];
	uint64_t qp[KWF_NUMBERS];
	unsigned int qps;
};

enum kwf_object {
	KWF_PD, KWF_CQ, KWF_QP, KWF_SRQ, KWF_MR, KWF_MW, KWF_CHANNEL,
	KWF_QPN,	/* what a doorbell is rung for */
	KWF_OBJECTS
};

/**
 * struct kwf_process - what the threads of a process share, without any lock: what is read
 *	while another one writes is a random value, too
 * @fd: uverbs device
 * @memory: KWF_MEMORY octets
 * @handle: of objects that were made, and may have gone
 * @made: their number by kind
 * @key: offsets for mmap() that were given out, with lengths
 * @n_keys: their number
 * @map: mappings, with lengths
 * @fds: other descriptors that were given out
 * @n_fds: their number
 * @bell: doorbells, or 0
 */
struct kwf_process {
	int fd;
	struct kwf_count *count;
	uint8_t *memory;
	uint32_t handle[KWF_OBJECTS][KWF_HANDLES];
	unsigned int made[KWF_OBJECTS];
	uint64_t key[KWF_MAPS];
	uint32_t key_len[KWF_MAPS];
	unsigned int n_keys;
	uint8_t *volatile map[KWF_MAPS];
	volatile size_t map_len[KWF_MAPS];
	int fds[KWF_FDS];
	unsigned int n_fds;
	int bell[KWF_BELLS];
};

struct kwf_maker {
	struct kwf_process *p;
	struct kw_rng rng;
};

/* choice.c */
uint64_t kwf_below(struct kwf_maker *m, uint64_t n);
bool kwf_one_in(struct kwf_maker *m, unsigned int n);
uint64_t kwf_evil(struct kwf_maker *m);
uint32_t kwf_size(struct kwf_maker *m);
uint32_t kwf_handle(struct kwf_maker *m, enum kwf_object o);
void kwf_remember(struct kwf_maker *m, enum kwf_object o, uint32_t h);
void kwf_remember_fd(struct kwf_maker *m, int fd);
void kwf_remember_key(struct kwf_maker *m, uint64_t key, uint32_t len);
void kwf_remember_number(struct kwf_maker *m, uint32_t qpn);
void kwf_done(struct kwf_maker *m, enum kwf_kind kind, bool good);

/* command.c */
void kwf_call_command(struct kwf_maker *m, enum kwf_kind kind);

/* doorbell.c */
bool kwf_keep_bell(struct kwf_maker *m, int fd);
void kwf_call_doorbell(struct kwf_maker *m);

/* method.c */
void kwf_call_method(struct kwf_maker *m);
void kwf_call_garbage(struct kwf_maker *m);

/* map.c */
void kwf_map_ring(struct kwf_maker *m);
void kwf_scribble(struct kwf_maker *m);

/* call.c */
/* Open the device, get a context and a doorbell. */
void kwf_begin(struct kwf_process *p, const char *dev, uint64_t seed);
/* One random call. */
void kwf_call(struct kwf_maker *m);

#endif /* KWFUZZ_H */
