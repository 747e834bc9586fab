/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The raw peer (kwrawpeer) speaks iWARP over a plain socket, to test how a device treats wrong
 * input. This file: a random stream of correct segments, with changes of one kind.
 */
#ifndef RAWPEER_STREAM_H
#define RAWPEER_STREAM_H

#include "runner/run.h"

/* What is changed on one connection. */
enum rp_change {
	RP_CHANGE_REQUEST,	/* octets of the startup frame */
	RP_CHANGE_HEADER,	/* fields of a segment, whose CRC is then computed from them */
	RP_CHANGE_STREAM,	/* any octets of the stream */
	RP_CHANGE_SHUFFLE,	/* parts of the stream left out, or overwritten with others */
	RP_CHANGE_CUT,		/* the stream ends early */
	RP_CHANGES,
};

#define RP_STREAM_MAX	(64 * 1024)

/**
 * struct rp_stream - what is sent on one connection
 * @rng: random numbers that decide which segments there are, and what is changed
 * @windowed: a window is bound to this connection
 * @octets, @len: the stream
 */
struct rp_stream {
	struct kw_rng *rng;
	bool windowed;
	uint8_t octets[RP_STREAM_MAX];
	size_t len;
};

/* Fill the stream with correct segments, and change something in it. */
void rp_stream_make(struct rp_stream *st, struct rp *r, enum rp_change how);
/* Change one to four of @len octets at random. */
void rp_scribble(struct kw_rng *rng, uint8_t *p, size_t len);

#endif /* RAWPEER_STREAM_H */
