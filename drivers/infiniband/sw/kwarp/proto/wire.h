/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Octets on the wire: MPA (RFC 5044, RFC 6581), DDP (RFC 5041), RDMAP (RFC 5040, RFC 7306).
 *
 * No other file declares structs with big-endian members. All structs are unaligned images of
 * octets in the stream. Only the encode and decode functions in proto/ access them; all other code
 * uses structs in host order.
 */
#ifndef KWARP_PROTO_WIRE_H
#define KWARP_PROTO_WIRE_H

#include "os.h"

/* ------------------------------------------------------------------- MPA */

#define KWARP_MPA_KEY_LEN	16
#define KWARP_MPA_KEY_REQ	"MPA ID Req Frame"
#define KWARP_MPA_KEY_REP	"MPA ID Rep Frame"

/* Startup frame, RFC 5044 section 7.1.1; S bit from RFC 6581 section 6. */
struct kwarp_mpa_wire_frame {
	u8 key[KWARP_MPA_KEY_LEN];
	u8 flags;
	u8 rev;
	__be16 pdata_len;
} __packed;
static_assert(sizeof(struct kwarp_mpa_wire_frame) == 20);

#define KWARP_MPA_FLAG_M	0x80	/* sender of this frame wants to receive markers */
#define KWARP_MPA_FLAG_C	0x40	/* CRC wanted */
#define KWARP_MPA_FLAG_R	0x20	/* Reply: rejected */
#define KWARP_MPA_FLAG_S	0x10	/* private data starts with enhanced data */

#define KWARP_MPA_FRAME_LEN	20	/* startup frame without private data */
#define KWARP_MPA_MAX_PDATA	512	/* most private data, enhanced data included */

/* Enhanced connection data, RFC 6581 section 9. */
struct kwarp_mpa_wire_enh {
	__be16 ird;
	__be16 ord;
} __packed;
static_assert(sizeof(struct kwarp_mpa_wire_enh) == 4);

#define KWARP_MPA_ENH_LEN	4
#define KWARP_MPA_ENH_A		0x8000	/* in ird: peer-to-peer model */
#define KWARP_MPA_ENH_B		0x4000	/* in ird: RTR as zero-length Send */
#define KWARP_MPA_ENH_C		0x8000	/* in ord: RTR as zero-length Write */
#define KWARP_MPA_ENH_D		0x4000	/* in ord: RTR as zero-length Read */
#define KWARP_MPA_ENH_DEPTH	0x3fff	/* mask of the number; all ones: not negotiated */

/* FPDU, RFC 5044 section 4. */
#define KWARP_MPA_LEN_FIELD	2	/* ULPDU_Length */
#define KWARP_MPA_CRC_LEN	4
#define KWARP_MPA_MAX_PAD	3
#define KWARP_MPA_OVERHEAD	6	/* length field and CRC */
#define KWARP_MPA_MARKER_LEN	4
#define KWARP_MPA_MARKER_EVERY	512

#define KWARP_MPA_MIN_MULPDU	128
#define KWARP_MPA_MAX_ULPDU	64768

/* -------------------------------------------- kwarp's own private data */

#define KWARP_PAIR_MAGIC	0x6b774951
#define KWARP_PAIR_VERSION	1
#define KWARP_PAIR_SENDS	0x01	/* sq_psn and rnr_retry are valid */

/* Private data of startup frames between wired queue pairs, see pairing.h. */
struct kwarp_wire_pair {
	__be32 magic;
	u8 version;
	u8 flags;
	u8 rnr_retry;
	u8 rsvd;
	__be32 features;
	__be32 qpn;
	__be32 peer_qpn;
	__be32 sq_psn;
	__be32 rq_psn;
} __packed;
static_assert(sizeof(struct kwarp_wire_pair) == 28);

#define KWARP_PAIR_LEN		28

/* ------------------------------------------------------------ DDP, RDMAP */

/* First octet of the DDP header, RFC 5041 section 4.1. */
#define KWARP_DDP_T		0x80
#define KWARP_DDP_L		0x40
#define KWARP_DDP_DV		0x03
#define KWARP_DDP_VERSION	1

/* Second octet: RDMAP control, RFC 5040 section 4.1. */
#define KWARP_RDMAP_RV		0xc0
#define KWARP_RDMAP_OPCODE	0x0f
#define KWARP_RDMAP_VERSION	1

struct kwarp_wire_tagged {
	u8 ddp_ctrl;
	u8 rdmap_ctrl;
	__be32 stag;
	__be64 to;
} __packed;
static_assert(sizeof(struct kwarp_wire_tagged) == 14);

struct kwarp_wire_untagged {
	u8 ddp_ctrl;
	u8 rdmap_ctrl;
	__be32 inv_stag;
	__be32 qn;
	__be32 msn;
	__be32 mo;
} __packed;
static_assert(sizeof(struct kwarp_wire_untagged) == 18);

#define KWARP_DDP_TAGGED_LEN	14
#define KWARP_DDP_UNTAGGED_LEN	18
#define KWARP_DDP_MAX_HDR	18

/* Read Request header, RFC 5040 section 4.4. */
struct kwarp_wire_rreq {
	__be32 sink_stag;
	__be64 sink_to;
	__be32 size;
	__be32 src_stag;
	__be64 src_to;
} __packed;
static_assert(sizeof(struct kwarp_wire_rreq) == 28);

#define KWARP_RDMAP_RREQ_LEN	28

/* Immediate Data, RFC 7306 section 6.2: eight octets, of which the verbs use the first four. */
#define KWARP_RDMAP_IMM_LEN	8

/* Atomic Request header, RFC 7306 section 5.2.1. */
struct kwarp_wire_atomic_req {
	__be32 op;
	__be32 id;
	__be32 stag;
	__be64 to;
	__be64 data;
	__be64 mask;
	__be64 compare;
	__be64 compare_mask;
} __packed;
static_assert(sizeof(struct kwarp_wire_atomic_req) == 52);

#define KWARP_ATOMIC_OP		0x0000000f	/* mask of the operation code in op, host order */
#define KWARP_ATOMIC_FETCH_ADD	0x0
#define KWARP_ATOMIC_CMP_SWAP	0x2

#define KWARP_ATOMIC_REQ_LEN	52

/* Atomic Response header, RFC 7306 section 5.2.2. */
struct kwarp_wire_atomic_resp {
	__be32 id;
	__be64 value;
} __packed;
static_assert(sizeof(struct kwarp_wire_atomic_resp) == 12);

#define KWARP_ATOMIC_RESP_LEN	12

/* Terminate control word, RFC 5040 section 4.8, as a host-order value. */
#define KWARP_TERM_LAYER	0xf0000000
#define KWARP_TERM_ETYPE	0x0f000000
#define KWARP_TERM_CODE		0x00ff0000
#define KWARP_TERM_M		0x00008000
#define KWARP_TERM_D		0x00004000
#define KWARP_TERM_R		0x00002000

#define KWARP_TERM_CTRL_LEN	4
#define KWARP_TERM_SEGLEN_LEN	2
/* the longest Terminate: control word, segment length, untagged DDP header, Read Request header */
#define KWARP_TERM_MAX_LEN	(4 + 2 + 18 + 28)

#endif /* KWARP_PROTO_WIRE_H */
