/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * MPA, octet by octet: start-up frames (RFC 5044 section 7.1, RFC 6581), and FPDUs with CRC and
 * markers (RFC 5044 section 4). A caller can give every field a wrong value, and no received octet
 * is trusted.
 */
#ifndef RAWPEER_MPA_H
#define RAWPEER_MPA_H

#include "wire/socket.h"

/* ------------------------------------------------------------------- CRC32c */

/* Continue a CRC32c; start with 0. The result goes out least significant octet first. */
uint32_t kwraw_crc(uint32_t crc, const void *data, size_t len);

/* ------------------------------------------------------------------ start-up */

#define KWRAW_MPA_HDR	20
#define KWRAW_MPA_MAX	(KWRAW_MPA_HDR + 512)

#define KWRAW_MPA_M	0x80
#define KWRAW_MPA_C	0x40
#define KWRAW_MPA_R	0x20
#define KWRAW_MPA_S	0x10

extern const char kwraw_req_key[16], kwraw_rep_key[16];

/**
 * struct kwraw_mpa - a Request or Reply
 * @key: 16 octets, of which the wire gets what is here
 * @flags: KWRAW_MPA_*
 * @rev: revision
 * @pd_len: as announced
 * @pd: private data; @pd_len octets of it are sent, at most 512
 */
struct kwraw_mpa {
	char key[16];
	uint8_t flags, rev;
	uint16_t pd_len;
	uint8_t pd[512];
};

void kwraw_mpa_init(struct kwraw_mpa *m, const char *key, uint8_t flags, uint8_t rev);
/* Octets of the frame in buf, which has room for KWRAW_MPA_MAX. */
size_t kwraw_mpa_encode(const struct kwraw_mpa *m, uint8_t *buf);
/* Receive one; true if it is whole and has this key. */
bool kwraw_mpa_recv(struct kwraw *c, const char *key, struct kwraw_mpa *m, int timeout_ms);
/* Called after both frames: both ends' wishes decide about CRC and markers. */
void kwraw_full_operation(struct kwraw *c, const struct kwraw_mpa *ours,
			  const struct kwraw_mpa *theirs);

/* --------------------------------------------------------------------- FPDUs */

#define KWRAW_ULPDU_MAX	65535
#define KWRAW_FPDU_MAX	(2 + KWRAW_ULPDU_MAX + 3 + 4 + 4 * 132)

/* What to do wrong with an FPDU. */
#define KWRAW_BAD_CRC		(1 << 0)
#define KWRAW_BAD_PAD		(1 << 1)	/* non-zero */
#define KWRAW_BAD_MARKER	(1 << 2)	/* pointing elsewhere */
#define KWRAW_BAD_LENGTH	(1 << 3)	/* announced four octets too long */
#define KWRAW_ODD_MARKER	(1 << 4)	/* not wrong: bits that do not count are set */

/* Octets of the FPDU in buf, which has room for KWRAW_FPDU_MAX; c->tx moves on. */
size_t kwraw_fpdu_encode(struct kwraw *c, const void *ulpdu, uint16_t len, unsigned int bad,
			 uint8_t *buf);
int kwraw_send_fpdu(struct kwraw *c, const void *ulpdu, uint16_t len, unsigned int bad);

enum kwraw_got {
	KWRAW_GOT_FPDU,
	KWRAW_GOT_NOTHING,	/* time over, or the end, between two FPDUs */
	KWRAW_GOT_PART,		/* the end inside one */
	KWRAW_GOT_BAD_CRC,
	KWRAW_GOT_BAD_MARKER,
	KWRAW_GOT_BAD_PAD,
};

/* The next FPDU's ULPDU, checked; buf has room for KWRAW_ULPDU_MAX. */
enum kwraw_got kwraw_recv_fpdu(struct kwraw *c, uint8_t *buf, size_t *len, int timeout_ms);
const char *kwraw_got_name(enum kwraw_got got);

#endif /* RAWPEER_MPA_H */
