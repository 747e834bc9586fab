/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* kwrawpeer: functions that begin and end a connection. */
#ifndef RAWPEER_START_H
#define RAWPEER_START_H

#include "runner/run.h"

/* Check that the consumer's next connection event has this name. */
void rp_cm(struct rp *r, const char *name);
/* Prepare the consumer for a connection: receives, IRD, ORD and rights as the case wants them. */
void rp_begin(struct rp *r);
/* Make the TCP connection. A raw peer that is the Responder does not read the Request here. */
bool rp_tcp(struct rp *r);
/* Make a connection in full operation, with rp_begin(), rp_tcp() and the startup frames. */
bool rp_open(struct rp *r);
/*
 * Check that the connection ends as @how says (RP_ANY_END, RP_BY_FIN, RP_BY_RST), and that no octet
 * comes before its end.
 */
void rp_ended(struct rp *r, unsigned int how);
/*
 * End a run: close the connection, and check that each request of the consumer has completed and
 * that its memory is as expected.
 */
void rp_finish(struct rp *r);

/*
 * Half words for IRD and ORD (RFC 6581 section 9): flags A and B are the upper two bits of the IRD
 * half word, flags C and D those of the ORD half word; so A and C have the same value. This flag C
 * (the RTR may be a Write) is not flag C of a startup frame (use CRCs).
 */
#define RP_A		0x8000
#define RP_B		0x4000
#define RP_C		0x8000
#define RP_D		0x4000
#define RP_DEPTH	0x3fff	/* the other bits: the IRD or ORD itself */

/* Return flags C (use CRCs) and M (markers) for startup frames, as the command line says. */
uint8_t rp_flags(void);
/* Make the frame an enhanced one (RFC 6581), with these half words for IRD and ORD. */
void rp_depths(struct kwraw_mpa *m, uint16_t ird, uint16_t ord);
/* Send a startup frame; false on failure. */
bool rp_send_frame(struct rp *r, const struct kwraw_mpa *m);
/* Like rp_open(), but the raw peer asks for markers even if the command line does not. */
bool rp_open_with_markers(struct rp *r);
/* Like rp_open(), but the raw peer's socket has a receive buffer of @rcvbuf octets. */
bool rp_open_narrow(struct rp *r, int rcvbuf);
/*
 * End this connection and prepare for another one of the same run. @what and @n name the connection
 * that ends, for a message if the run has failed.
 */
void rp_again(struct rp *r, const char *what, int n);
/* Prepare for another connection of the same run. */
void rp_renew(struct rp *r);

#endif /* RAWPEER_START_H */
