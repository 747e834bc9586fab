/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwfuzz is a fuzzer: it makes random system calls on a uverbs device, in several processes and
 * threads. A doorbell is a file; an ioctl() on it ("ring") tells the driver that requests were
 * posted.
 */
#ifndef KWFUZZ_H
#define KWFUZZ_H

#include "kwtest.h"
#include "../kwuverbs.h"

#define KWF_THREADS	16
#define KWF_MEMORY	(1 << 20)
/* How many handles of each kind, files, mappings, doorbells and queue pairs are remembered. */
#define KWF_HANDLES	32
#define KWF_FDS		64
#define KWF_MAPS	32
#define KWF_BELLS	8
#define KWF_NUMBERS	256

/**
 * struct kwf_opt - the command line
 * @calls: number of calls in all
 * @jobs: processes at the same time
 * @threads: threads of each process
 */
struct kwf_opt {
	const char *dev;
	uint64_t calls, seed;
	unsigned int jobs, threads;
};

/* Kinds of calls, which are counted separately. */
enum kwf_kind {
	KWF_WRITE,	/* a command by write() */
	KWF_INVOKE,	/* a command by ioctl() */
	KWF_METHOD,	/* a method of an object, by ioctl() */
	KWF_GARBAGE,	/* octets that are no command */
	KWF_MMAP,	/* mapping a ring */
	KWF_DOORBELL,	/* opening or closing a doorbell */
	KWF_RING,	/* ringing a doorbell */
	KWF_KINDS,
};

extern const char *const kwf_kinds[KWF_KINDS];

/**
 * struct kwf_count - memory that all processes share; they access it with atomic operations
 * @calls, @successes: number of all calls, and of successful ones
 * @kind, @good: the same for each kind of call
 * @qp: the last queue pairs that were created: number in the upper 32 bits, id of the process that
 *	owns it in the lower 32 bits
 * @qps: how many queue pairs were created
 */
struct kwf_count {
	uint64_t calls, successes;
	uint64_t kind[KWF_KINDS], good[KWF_KINDS];
	uint64_t qp[KWF_NUMBERS];
	unsigned int qps;
};

enum kwf_object {
	KWF_PD, KWF_CQ, KWF_QP, KWF_SRQ, KWF_MR, KWF_MW, KWF_CHANNEL,
	KWF_QPN,	/* number of a queue pair, for a doorbell */
	KWF_OBJECTS
};

/**
 * struct kwf_process - what the threads of a process share, without any lock: a value that is read
 *	while another thread writes it is as good as any random value
 * @fd: uverbs device
 * @memory: KWF_MEMORY octets, for registrations
 * @handle: handles of the last objects of each kind that were created, and may be destroyed
 * @made: how many objects of each kind were created
 * @key, @key_len: offsets and lengths for mmap() in the answers of the driver
 * @n_keys: how many offsets there were
 * @map, @map_len: mappings and their lengths
 * @fds: files in the answers of the core
 * @n_fds: how many files there were
 * @bell: files of doorbells; 0: none
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

/* A thread that makes calls. */
struct kwf_maker {
	struct kwf_process *p;
	struct kw_rng rng;
};

/* Functions of choice.c */

/* A random number below @n. */
uint64_t kwf_below(struct kwf_maker *m, uint64_t n);
/* True in one of @n calls on average. */
bool kwf_one_in(struct kwf_maker *m, unsigned int n);
/* Any random number, or one at a limit, such as 0, a power of two, or the largest number. */
uint64_t kwf_evil(struct kwf_maker *m);
/* A number of entries: mostly a small one, rarely as large as allowed or larger. */
uint32_t kwf_size(struct kwf_maker *m);
/* A handle of that kind, more often of an object created lately; rarely any number. */
uint32_t kwf_handle(struct kwf_maker *m, enum kwf_object o);
/* Remember what a call has created, for later calls. */
void kwf_remember(struct kwf_maker *m, enum kwf_object o, uint32_t h);
void kwf_remember_fd(struct kwf_maker *m, int fd);
void kwf_remember_key(struct kwf_maker *m, uint64_t key, uint32_t len);
void kwf_remember_number(struct kwf_maker *m, uint32_t qpn);
/* Count a call. */
void kwf_done(struct kwf_maker *m, enum kwf_kind kind, bool good);

/* Functions of command.c */
void kwf_call_command(struct kwf_maker *m, enum kwf_kind kind);

/* Functions of doorbell.c */
/*
 * Store the doorbell @fd, or 0, in place of another one, which is closed, perhaps while other
 * threads ring it. Return: was there another one?
 */
bool kwf_keep_bell(struct kwf_maker *m, int fd);
void kwf_call_doorbell(struct kwf_maker *m);

/* Functions of method.c */
void kwf_call_method(struct kwf_maker *m);
void kwf_call_garbage(struct kwf_maker *m);

/* Functions of map.c */
void kwf_map_ring(struct kwf_maker *m);
void kwf_scribble(struct kwf_maker *m);

/* Functions of call.c */
/* Open the device, make a context, and open a doorbell. */
void kwf_begin(struct kwf_process *p, const char *dev, uint64_t seed);
/* Make one random call. */
void kwf_call(struct kwf_maker *m);

#endif /* KWFUZZ_H */
