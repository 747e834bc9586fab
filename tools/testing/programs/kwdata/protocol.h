/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwdata: what client and server tell each other: the configuration, windows, and control messages.
 */
#ifndef KWDATA_PROTOCOL_H
#define KWDATA_PROTOCOL_H

#include <stdint.h>

#define KD_MAGIC	0x6b776461
#define KD_MAX_WINDOW	64

enum kd_flags {
	KD_DUPLEX	= 1 << 0,	/* the server issues operations, too */
	KD_EVENT	= 1 << 1,	/* sleep until a completion event */
	KD_SPARE	= 1 << 2,	/* see struct kd_plan */
};

/**
 * struct kd_config - what the client tells the server in its private data
 * (host byte order: both ends are of one kind)
 */
struct kd_config {
	uint32_t magic;
	uint32_t max_len;
	uint64_t seed;
	uint64_t count;		/* operations per direction; UINT64_MAX: until stopped */
	uint16_t window;
	uint16_t conns;
	uint16_t index;		/* which of the connections */
	uint16_t flags;
	uint16_t max_sge;
	uint16_t depth;		/* Reads outstanding on the wire */
	uint32_t types;		/* which operations, bits of enum kd_type */
};

/**
 * struct kd_remote - where the windows of one of the peer's slots are
 */
struct kd_remote {
	uint64_t target, source;
	uint32_t target_key, source_key;
};

enum kd_ctl_kind {
	KD_CTL_WRITTEN = 1,	/* operation n, a Write, is placed */
	KD_CTL_READ,		/* operation n, a Read, is complete */
	KD_CTL_ACK,		/* your operation n was found good */
	KD_CTL_BYE,		/* I issue no more */
};

/**
 * struct kd_ctl - a control message: told from all others by its length
 */
struct kd_ctl {
	uint32_t magic;
	uint32_t kind;
	uint64_t n;
	uint64_t fill[3];
};

#endif /* KWDATA_PROTOCOL_H */
