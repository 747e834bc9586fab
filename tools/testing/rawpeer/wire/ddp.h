/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DDP and RDMAP, octet by octet: headers (RFC 5041, RFC 5040), Terminate, and the messages of
 * RFC 7306. A caller can give every field a wrong value, and no received octet is trusted.
 */
#ifndef RAWPEER_DDP_H
#define RAWPEER_DDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 * Queues of untagged segments: 0 for Sends and Immediate Data, 1 for Read Requests and Atomic
 * Requests, 2 for Terminates, 3 for Atomic Responses.
 */
#define KWRAW_QUEUES		4

bool kwraw_is_tagged(enum kwraw_op op);
/* The queue that an untagged message of this opcode belongs on. */
unsigned int kwraw_queue_of(enum kwraw_op op);

/**
 * struct kwraw_seg - headers of a DDP segment, tagged or untagged, in host order
 * @reserved, @rdmap_reserved: reserved bits of the DDP and of the RDMAP control octet
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
/* Encode the headers into @buf. Return their length. */
size_t kwraw_seg_encode(const struct kwraw_seg *s, uint8_t *buf);
/* Decode the headers at the start of @buf. Return their length, or 0 if @len octets are too few. */
size_t kwraw_seg_decode(const uint8_t *buf, size_t len, struct kwraw_seg *s);

/**
 * struct kwraw_read - the RDMAP part of a Read Request
 */
struct kwraw_read {
	uint32_t sink_stag, size, src_stag;
	uint64_t sink_to, src_to;
};

void kwraw_read_encode(const struct kwraw_read *r, uint8_t *buf);

/* Lengths of what follows the DDP header in the messages of RFC 7306. */
#define KWRAW_IMM_LEN		8
#define KWRAW_ATOMIC_REQ_LEN	52
#define KWRAW_ATOMIC_RESP_LEN	12

#define KWRAW_FETCH_ADD		0
#define KWRAW_CMP_SWAP		2

/**
 * struct kwraw_atomic - the RDMAP part of an Atomic Request
 * @op: operation code, in the lowest 4 bits, and the reserved bits above it
 * @id: Request Identifier
 * @data: Add or Swap Data
 * @mask: Add or Swap Mask
 * @compare: Compare Data
 * @compare_mask: Compare Mask
 */
struct kwraw_atomic {
	uint32_t op, id, stag;
	uint64_t to, data, mask, compare, compare_mask;
};

void kwraw_atomic_encode(const struct kwraw_atomic *a, uint8_t *buf);
void kwraw_atomic_decode(const uint8_t *buf, struct kwraw_atomic *a);
/* Encode the RDMAP part of an Atomic Response. */
void kwraw_value_encode(uint32_t id, uint64_t value, uint8_t *buf);
/* Encode eight octets of Immediate Data. Verbs use only the first half, @imm. */
void kwraw_imm_encode(uint32_t imm, uint32_t rest, uint8_t *buf);

/**
 * struct kwraw_term - a received Terminate
 * @layer: 0 RDMA, 1 DDP, 2 LLP
 * @has_len: M bit; @has_ddp: D bit; @has_rdma: R bit
 * @seg_len: DDP Segment Length, present if the D bit is set
 * @ddp: DDP header of the segment that the Terminate is about, present if the D bit is set
 * @ddp_len: length of @ddp, 14 or 18 octets
 * @rdma: RDMAP header of that segment, a Read Request, present if the R bit is set
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

#endif /* RAWPEER_DDP_H */
