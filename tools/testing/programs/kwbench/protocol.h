/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes.
 * This file: what client and server tell each other about a run, which is what one client process
 * does, on one or more connections.
 */
#ifndef KWBENCH_PROTOCOL_H
#define KWBENCH_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>

#define KB_MAGIC	0x6b776268
#define KB_MAX_QPS	4096
#define KB_WORD		8	/* octets of an atomic operation */

enum kb_op {
	KB_WRITE,
	KB_READ,
	KB_SEND,
	KB_WRITE_IMM,
	KB_FETCH_ADD,
	KB_CMP_SWAP,
	KB_IDLE,	/* connect, and nothing more */
	KB_STREAM,	/* plain TCP */
};

enum kb_flags {
	KB_LATENCY	= 1 << 0,	/* one message at a time, to and fro */
	KB_EVENTS	= 1 << 1,	/* sleep until a completion event instead of polling */
};

/**
 * struct kb_config - parameters of a run, which the client sends in its connect request
 * (host byte order: both ends are of one kind)
 */
struct kb_config {
	uint32_t magic;
	uint32_t size;
	uint16_t op, flags;
	uint16_t qps;
	uint16_t depth;		/* requests outstanding per queue pair */
	uint64_t addr;		/* the client's sink: target of the server's answers to Writes */
	uint32_t rkey;
};

/**
 * struct kb_window - address and STag of the server's memory, which its accept sends to the client
 */
struct kb_window {
	uint64_t addr;
	uint32_t rkey;
};

/**
 * struct kb_note - a Send with a count: from the client after its last operation, and the server's
 * answer
 * @count: operations on this connection: the number posted (client) or received in order (server)
 */
struct kb_note {
	uint64_t count;
};

static inline bool kb_is_atomic(const struct kb_config *cfg)
{
	return cfg->op == KB_FETCH_ADD || cfg->op == KB_CMP_SWAP;
}

/* Do both ends compare their counts in the end? */
static inline bool kb_is_counted(const struct kb_config *cfg)
{
	return cfg->op == KB_WRITE_IMM || kb_is_atomic(cfg);
}

/* Does each operation use up a receive of the peer? */
static inline bool kb_takes_receives(const struct kb_config *cfg)
{
	return cfg->op == KB_SEND || cfg->op == KB_WRITE_IMM;
}

#endif /* KWBENCH_PROTOCOL_H */
