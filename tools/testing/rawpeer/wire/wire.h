/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * iWARP from an ordinary socket, octet by octet: what kwrawpeer and kwtarget build and parse
 * frames with. Nothing here knows the device under test. Formats are those of RFC 5044 and 6581
 * (MPA), 5041 (DDP), 5040 and 7306 (RDMAP). A caller can give every field a wrong value, and no
 * received octet is trusted.
 *
 *   mpa.c    sockets, startup frames, FPDUs with CRC and markers
 *   ddp.c    DDP and RDMAP headers, Terminate, atomic operations
 */
#ifndef RAWPEER_WIRE_H
#define RAWPEER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------- CRC32c */

/* Continue a CRC32c; start with 0. The result goes out least significant octet first. */
uint32_t kwraw_crc(uint32_t crc, const void *data, size_t len);

/* ------------------------------------------------------------------ streams */

enum kwraw_end {
	KWRAW_OPEN,		/* the time is over and the connection stands */
	KWRAW_FIN,		/* the peer has closed its half */
	KWRAW_RST,		/* the peer has reset it */
};

/**
 * struct kwraw_half - one direction in full operation
 * @markers: every 512 octets
 * @pos: octets since the startup frame
 */
struct kwraw_half {
	bool markers;
	uint32_t pos;
};

/**
 * struct kwraw - a connection
 * @fd: its socket
 * @crc: CRC is in use, both ways
 * @tx: what we send
 * @rx: what we receive
 * @piece: if not 0, every write is cut into pieces of 1 to this many octets
 * @rng: of the cuts
 */
struct kwraw {
	int fd;
	bool crc;
	struct kwraw_half tx, rx;
	unsigned int piece;
	uint64_t rng;
};

/* If not 0: the MSS that is announced by connections to come. */
extern int kwraw_mss;
/* If not 0: the size of their receive buffers. */
extern int kwraw_rcvbuf;

/* -1 and errno on failure. */
int kwraw_connect(struct kwraw *c, const char *addr, const char *port);
int kwraw_listen(const char *addr, const char *port);
int kwraw_accept(int listener, struct kwraw *c, int timeout_ms);
void kwraw_close(struct kwraw *c);
/* Close with a reset, or half-close with a FIN. */
void kwraw_reset(struct kwraw *c);
void kwraw_fin(struct kwraw *c);

/* All of it, or -1. */
int kwraw_send(struct kwraw *c, const void *data, size_t len);
/* Exactly len octets within the time; less if the connection ended: the number. */
size_t kwraw_recv(struct kwraw *c, void *data, size_t len, int timeout_ms);
/* Read and drop until the end comes; *got, if not NULL: octets dropped. */
enum kwraw_end kwraw_wait_end(struct kwraw *c, int timeout_ms, size_t *got);
/* It has ended, and all that came was read. */
bool kwraw_ended(struct kwraw *c);
const char *kwraw_end_name(enum kwraw_end end);

/* ------------------------------------------------------------------- startup */

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

/* ------------------------------------------------------------- DDP and RDMAP */

enum kwraw_op {
	KWRAW_WRITE = 0,
	KWRAW_READ_REQ = 1,
	KWRAW_READ_RESP = 2,
	KWRAW_SEND = 3,
	KWRAW_SEND_INV = 4,
	KWRAW_SEND_SE = 5,
	KWRAW_SEND_SE_INV = 6,
	KWRAW_TERMINATE = 7,
	KWRAW_IMM = 8,
	KWRAW_IMM_SE = 9,
	KWRAW_ATOMIC_REQ = 10,
	KWRAW_ATOMIC_RESP = 11,
};

#define KWRAW_TAGGED_HDR	14
#define KWRAW_UNTAGGED_HDR	18
#define KWRAW_READ_REQ_LEN	46

/* Queues of untagged segments: Sends and Immediate Data, requests, Terminate, Atomic Responses. */
#define KWRAW_QUEUES		4

bool kwraw_is_tagged(enum kwraw_op op);
/* The queue that an untagged message of this opcode belongs on. */
unsigned int kwraw_queue_of(enum kwraw_op op);

/**
 * struct kwraw_seg - a DDP segment's headers, tagged or not, in host order
 */
struct kwraw_seg {
	bool tagged, last;
	uint8_t ddp_version, rdmap_version, opcode, reserved, rdmap_reserved;
	/* tagged */
	uint32_t stag;
	uint64_t to;
	/* untagged */
	uint32_t inv_stag, qn, msn, mo;
};

/* Make a correct header for this opcode. The caller may then make fields wrong. */
void kwraw_seg_init(struct kwraw_seg *s, enum kwraw_op op);
/* Octets of header in buf. */
size_t kwraw_seg_encode(const struct kwraw_seg *s, uint8_t *buf);
/* Octets of header, or 0 if there are too few. */
size_t kwraw_seg_decode(const uint8_t *buf, size_t len, struct kwraw_seg *s);

/**
 * struct kwraw_read - the RDMAP part of a Read Request
 */
struct kwraw_read {
	uint32_t sink_stag, size, src_stag;
	uint64_t sink_to, src_to;
};

void kwraw_read_encode(const struct kwraw_read *r, uint8_t *buf);

/* Octets after the DDP header, RFC 7306. */
#define KWRAW_IMM_LEN		8
#define KWRAW_ATOMIC_REQ_LEN	52
#define KWRAW_ATOMIC_RESP_LEN	12

#define KWRAW_FETCH_ADD		0
#define KWRAW_CMP_SWAP		2

/**
 * struct kwraw_atomic - the RDMAP part of an Atomic Request
 * @op: operation code, in the lowest 4 bits, and the reserved bits above it
 * @id: Request Identifier
 * @data, @mask: what is added or stored
 */
struct kwraw_atomic {
	uint32_t op, id, stag;
	uint64_t to, data, mask, compare, compare_mask;
};

void kwraw_atomic_encode(const struct kwraw_atomic *a, uint8_t *buf);
void kwraw_atomic_decode(const uint8_t *buf, struct kwraw_atomic *a);
/* An Atomic Response; Immediate Data, of which verbs know the first half. */
void kwraw_value_encode(uint32_t id, uint64_t value, uint8_t *buf);
void kwraw_imm_encode(uint32_t imm, uint32_t rest, uint8_t *buf);

/**
 * struct kwraw_term - a received Terminate
 * @layer: 0 RDMA, 1 DDP, 2 LLP
 * @has_len: M bit; @has_ddp: D bit; @has_rdma: R bit
 * @seg_len: DDP Segment Length, with D
 * @ddp: the terminated header, @ddp_len octets (14 or 18), with D
 * @rdma: the terminated Read Request header, 28 octets, with R
 */
struct kwraw_term {
	unsigned int layer, etype, code;
	bool has_len, has_ddp, has_rdma;
	unsigned int seg_len;
	uint8_t ddp[18];
	size_t ddp_len;
	uint8_t rdma[28];
};

/* True if the ULPDU is a well-formed Terminate. */
bool kwraw_term_decode(const uint8_t *ulpdu, size_t len, struct kwraw_term *t);

#endif /* RAWPEER_WIRE_H */
