/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The list of protocol errors. term.c says which Terminate, if any, the peer gets for an error. */
#ifndef KWARP_PROTO_PERR_H
#define KWARP_PROTO_PERR_H

/*
 * The comments have layer/type/code of the Terminate, in hexadecimal; "not sent": the peer gets no
 * Terminate. Values of this enum are never mixed with errno or the status of a completion.
 */
enum kwarp_perr {
	KWARP_PERR_NONE,

	/* RDMAP, local catastrophic error: 0/0/0 */
	KWARP_PERR_LOCAL,
	/*
	 * RDMAP, remote protection error: 0/1/x, caused by a Read Request, an Atomic Request or a
	 * Send with Invalidate
	 */
	KWARP_PERR_R_STAG,		/* 0/1/00 invalid STag */
	KWARP_PERR_R_BOUNDS,		/* 0/1/01 access out of bounds */
	KWARP_PERR_R_ACCESS,		/* 0/1/02 access right missing */
	KWARP_PERR_R_STREAM,		/* 0/1/03 STag not associated with the stream */
	KWARP_PERR_R_WRAP,		/* 0/1/04 address wraps */
	KWARP_PERR_R_CANNOT_INV,	/* 0/1/09 STag cannot be invalidated */
	/* RDMAP, remote operation error: 0/2/x */
	KWARP_PERR_O_VERSION,		/* 0/2/05 wrong RDMAP version */
	KWARP_PERR_O_OPCODE,		/* 0/2/06 unexpected opcode */
	KWARP_PERR_O_STREAM,		/* 0/2/07 catastrophic for this stream */
	KWARP_PERR_O_GLOBAL,		/* 0/2/08 catastrophic for all streams */
	KWARP_PERR_O_CANNOT_INV,	/* 0/2/09 STag cannot be invalidated */
	KWARP_PERR_O_UNSPEC,		/* 0/2/ff unspecified */

	/* DDP */
	KWARP_PERR_DDP_LOCAL,		/* 1/0/00 ULPDU shorter than its DDP header */
	KWARP_PERR_DDP_T_STAG,		/* 1/1/00 tagged: invalid STag */
	KWARP_PERR_DDP_T_BOUNDS,	/* 1/1/01 tagged: out of bounds */
	KWARP_PERR_DDP_T_STREAM,	/* 1/1/02 tagged: STag of another stream */
	KWARP_PERR_DDP_T_WRAP,		/* 1/1/03 tagged: tagged offset wraps */
	KWARP_PERR_DDP_T_VERSION,	/* 1/1/04 tagged: wrong DDP version */
	KWARP_PERR_DDP_U_QN,		/* 1/2/01 untagged: no such queue number */
	KWARP_PERR_DDP_U_NOBUF,		/* 1/2/02 untagged: no buffer posted */
	KWARP_PERR_DDP_U_MSN,		/* 1/2/03 untagged: wrong sequence number */
	KWARP_PERR_DDP_U_MO,		/* 1/2/04 untagged: wrong message offset */
	KWARP_PERR_DDP_U_LONG,		/* 1/2/05 untagged: longer than the buffer */
	KWARP_PERR_DDP_U_VERSION,	/* 1/2/06 untagged: wrong DDP version */

	/* LLP (MPA) */
	KWARP_PERR_MPA_LOST,		/* 2/0/01 TCP closed or lost; not sent */
	KWARP_PERR_MPA_CRC,		/* 2/0/02 wrong CRC */
	KWARP_PERR_MPA_MARKER,		/* 2/0/03 marker and ULPDU_Length disagree */
	KWARP_PERR_MPA_FRAME,		/* 2/0/04 bad startup frame; not sent */
	KWARP_PERR_MPA_LOCAL,		/* 2/0/05 local error in startup */
	KWARP_PERR_MPA_IRD,		/* 2/0/06 IRD too small */
	KWARP_PERR_MPA_RTR,		/* 2/0/07 no common form of the RTR */

	KWARP_PERR_COUNT
};

#endif /* KWARP_PROTO_PERR_H */
