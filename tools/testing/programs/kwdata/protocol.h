/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: what client and server tell each other: the configuration, the addresses of memory,
 * and control messages. Issuer: the end that posts an operation; checker: the other end. Slot: what
 * an end has for one outstanding operation of a direction.
 */
#ifndef KWDATA_PROTOCOL_H
#define KWDATA_PROTOCOL_H

#include <stdint.h>

#define KD_MAGIC	0x6b776461
#define KD_MAX_WINDOW	64

enum kd_flags {
	KD_DUPLEX	= 1 << 0,	/* the server issues operations, too */
	KD_EVENT	= 1 << 1,	/* sleep until a completion event instead of polling */
	KD_SPARE	= 1 << 2,	/* one end is siw: see @spare in struct kd_plan */
};

/**
 * struct kd_config - parameters of the run, in the private data of the client's connect request
 * (host byte order: both ends have the same)
 */
struct kd_config {
	uint32_t magic;
	uint32_t max_len;
	uint64_t seed;
	uint64_t count;		/* operations per direction; UINT64_MAX: until stopped */
	uint16_t window;	/* operations outstanding per direction: number of slots */
	uint16_t conns;		/* number of connections */
	uint16_t index;		/* number of this connection */
	uint16_t flags;
	uint16_t max_sge;
	uint16_t depth;		/* Reads outstanding on the wire */
	uint32_t types;		/* types of operations: 1 << enum kd_type */
};

/**
 * struct kd_remote - addresses and STags of the checker's memory for one slot: the target of
 *	Writes, and the source of Reads
 */
struct kd_remote {
	uint64_t target, source;
	uint32_t target_key, source_key;
};

enum kd_ctl_kind {
	KD_CTL_WRITTEN = 1,	/* issuer: the data of Write n is placed */
	KD_CTL_READ,		/* issuer: Read n is complete */
	KD_CTL_ACK,		/* checker: operation n had the right effect */
	KD_CTL_BYE,		/* issuer: there are no more operations */
};

/**
 * struct kd_ctl - a control message. No Send among the operations has the same length.
 * @n: number of an operation
 * @fill: octets that kw_fill() makes from @kind and @n, so that damage is found
 */
struct kd_ctl {
	uint32_t magic;
	uint32_t kind;
	uint64_t n;
	uint64_t fill[3];
};

#endif /* KWDATA_PROTOCOL_H */
