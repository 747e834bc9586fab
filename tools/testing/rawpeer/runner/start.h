/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwrawpeer: how a connection begins and ends.
 */
#ifndef RAWPEER_START_H
#define RAWPEER_START_H

#include "runner/run.h"

/* A connection event has to be this one. */
void rp_cm(struct rp *r, const char *name);
/* "begin" with what the case wants. */
void rp_begin(struct rp *r);
/* TCP is up; as responder the consumer's Request has not been read. */
bool rp_tcp(struct rp *r);
/* Everything up to full operation. */
bool rp_open(struct rp *r);
/* The connection has to end. */
void rp_ended(struct rp *r, unsigned int how);
/* The end of each run: our side is closed, and the consumer in order. */
void rp_finish(struct rp *r);

/* Flags in the IRD half word, and in the ORD half word (RFC 6581 section 9). */
#define RP_A		0x8000
#define RP_B		0x4000
#define RP_C		0x8000
#define RP_D		0x4000
#define RP_DEPTH	0x3fff

/* The flags that this run asks for. */
uint8_t rp_flags(void);
/* Make it enhanced, with these half words. */
void rp_depths(struct kwraw_mpa *m, uint16_t ird, uint16_t ord);
bool rp_send_frame(struct rp *r, const struct kwraw_mpa *m);
/* rp_open() with markers from the device, whatever the other cases ask for. */
bool rp_open_with_markers(struct rp *r);
/* End this connection and prepare another; if it has failed, say where it was. */
void rp_again(struct rp *r, const char *what, int n);

#endif /* RAWPEER_START_H */
