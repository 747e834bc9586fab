/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * MPA, octet by octet: startup frames (RFC 5044 section 7.1, RFC 6581), and FPDUs with CRC and
 * markers (RFC 5044 section 4). A caller can give every field a wrong value, and no received octet
 * is trusted.
 */
#ifndef RAWPEER_MPA_H
#define RAWPEER_MPA_H

#include "wire/socket.h"

/* ------------------------------------------------------------------- CRC32c */

/*
 * Continue a CRC32c: @crc is the result for the octets before, 0 at first. The CRC is sent with the
 * least significant octet first.
 */
uint32_t kwraw_crc(uint32_t crc, const void *data, size_t len);

/* ------------------------------------------------------------------ startup */

#define KWRAW_MPA_HDR	20
#define KWRAW_MPA_MAX	(KWRAW_MPA_HDR + 512)

#define KWRAW_MPA_M	0x80
#define KWRAW_MPA_C	0x40
#define KWRAW_MPA_R	0x20
#define KWRAW_MPA_S	0x10

extern const char kwraw_req_key[16], kwraw_rep_key[16];

/**
 * struct kwraw_mpa - a Request or Reply
 * @key: the first 16 octets of the frame, right or wrong
 * @flags: KWRAW_MPA_*
 * @rev: revision
 * @pd_len: PD_Length that the frame announces
 * @pd: private data, of which @pd_len octets are sent, but at most 512
 */
struct kwraw_mpa {
	char key[16];
	uint8_t flags, rev;
	uint16_t pd_len;
	uint8_t pd[512];
};

void kwraw_mpa_init(struct kwraw_mpa *m, const char *key, uint8_t flags, uint8_t rev);
/* Encode a frame into @buf, which has room for KWRAW_MPA_MAX octets. Return the frame's length. */
size_t kwraw_mpa_encode(const struct kwraw_mpa *m, uint8_t *buf);
/* Receive a frame. True if the frame is complete and has this key. */
bool kwraw_mpa_recv(struct kwraw *c, const char *key, struct kwraw_mpa *m, int timeout_ms);
/*
 * Begin full operation after both frames: CRCs are in use if one of the ends asks for them, and an
 * end receives markers if it asks for them.
 */
void kwraw_full_operation(struct kwraw *c, const struct kwraw_mpa *ours,
			  const struct kwraw_mpa *theirs);

/* --------------------------------------------------------------------- FPDUs */

#define KWRAW_ULPDU_MAX	65535
#define KWRAW_FPDU_MAX	(2 + KWRAW_ULPDU_MAX + 3 + 4 + 4 * 132)

/* Flags that make an FPDU differ from a correct one. */
#define KWRAW_BAD_CRC		(1 << 0)
#define KWRAW_BAD_PAD		(1 << 1)	/* the pad is not zero */
#define KWRAW_BAD_MARKER	(1 << 2)	/* pointers of markers are wrong */
#define KWRAW_BAD_LENGTH	(1 << 3)	/* ULPDU_Length is 4 too large */
#define KWRAW_ODD_MARKER	(1 << 4)	/* no error: bits that a receiver ignores are set */

/*
 * Encode an FPDU into @buf, which has room for KWRAW_FPDU_MAX octets, and advance c->tx. @bad:
 * flags KWRAW_BAD_* and KWRAW_ODD_MARKER. Return the FPDU's length.
 */
size_t kwraw_fpdu_encode(struct kwraw *c, const void *ulpdu, uint16_t len, unsigned int bad,
			 uint8_t *buf);
int kwraw_send_fpdu(struct kwraw *c, const void *ulpdu, uint16_t len, unsigned int bad);

/* Result of kwraw_recv_fpdu(). */
enum kwraw_got {
	KWRAW_GOT_FPDU,
	KWRAW_GOT_NOTHING,	/* no FPDU before the end of the time or of the connection */
	KWRAW_GOT_PART,		/* the time or the connection ended within an FPDU */
	KWRAW_GOT_BAD_CRC,
	KWRAW_GOT_BAD_MARKER,
	KWRAW_GOT_BAD_PAD,
};

/*
 * Receive the next FPDU, check it, and store its ULPDU in @buf, which has room for KWRAW_ULPDU_MAX
 * octets.
 */
enum kwraw_got kwraw_recv_fpdu(struct kwraw *c, uint8_t *buf, size_t *len, int timeout_ms);
const char *kwraw_got_name(enum kwraw_got got);

#endif /* RAWPEER_MPA_H */
