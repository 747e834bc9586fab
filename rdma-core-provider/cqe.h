/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: translation of completion queue entries, for poll.c.
 */
#ifndef KWARP_CQE_H
#define KWARP_CQE_H

#include <util/compiler.h>

#include "objects.h"

static const uint8_t wc_status[] = {
	[KWARP_WC_SUCCESS] = IBV_WC_SUCCESS,
	[KWARP_WC_LOC_LEN_ERR] = IBV_WC_LOC_LEN_ERR,
	[KWARP_WC_LOC_PROT_ERR] = IBV_WC_LOC_PROT_ERR,
	[KWARP_WC_LOC_QP_OP_ERR] = IBV_WC_LOC_QP_OP_ERR,
	[KWARP_WC_FLUSH_ERR] = IBV_WC_WR_FLUSH_ERR,
	[KWARP_WC_REM_INV_REQ_ERR] = IBV_WC_REM_INV_REQ_ERR,
	[KWARP_WC_REM_ACCESS_ERR] = IBV_WC_REM_ACCESS_ERR,
	[KWARP_WC_REM_OP_ERR] = IBV_WC_REM_OP_ERR,
	[KWARP_WC_MW_BIND_ERR] = IBV_WC_MW_BIND_ERR,
	[KWARP_WC_FATAL_ERR] = IBV_WC_FATAL_ERR,
	[KWARP_WC_GENERAL_ERR] = IBV_WC_GENERAL_ERR,
	[KWARP_WC_RETRY_EXC_ERR] = IBV_WC_RETRY_EXC_ERR,
};

static_assert(sizeof(wc_status) == KWARP_WC_MAX, "a status has no translation");

static inline enum ibv_wc_status cqe_status(const struct kwarp_cqe *cqe)
{
	return cqe->status < KWARP_WC_MAX ? wc_status[cqe->status] :
					    IBV_WC_GENERAL_ERR;
}

static inline enum ibv_wc_opcode cqe_opcode(const struct kwarp_cqe *cqe)
{
	switch (cqe->opcode) {
	case KWARP_WR_WRITE:
	case KWARP_WR_WRITE_IMM:
		return IBV_WC_RDMA_WRITE;
	case KWARP_WR_READ:
		return IBV_WC_RDMA_READ;
	case KWARP_WR_FETCH_ADD:
		return IBV_WC_FETCH_ADD;
	case KWARP_WR_CMP_SWAP:
		return IBV_WC_COMP_SWAP;
	case KWARP_WR_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	case KWARP_WR_BIND_MW:
		return IBV_WC_BIND_MW;
	case KWARP_WC_RECV:
	case KWARP_WC_RECV_INV:
	case KWARP_WC_RECV_SEND_IMM:
		return IBV_WC_RECV;
	case KWARP_WC_RECV_IMM:
		return IBV_WC_RECV_RDMA_WITH_IMM;
	default:
		return IBV_WC_SEND;
	}
}

static inline unsigned int cqe_flags(const struct kwarp_cqe *cqe)
{
	switch (cqe->opcode) {
	case KWARP_WC_RECV_INV:
		return IBV_WC_WITH_INV;
	case KWARP_WC_RECV_IMM:
	case KWARP_WC_RECV_SEND_IMM:
		return IBV_WC_WITH_IMM;
	default:
		return 0;
	}
}

/* Immediate data is kept as the peer's four octets, without conversion of byte order. */
static inline __be32 cqe_imm(const struct kwarp_cqe *cqe)
{
	return (__force __be32)cqe->imm;
}

static inline uint32_t cqe_vendor_err(const struct kwarp_cqe *cqe)
{
	return cqe->status == KWARP_WC_SUCCESS ? 0 : cqe->vendor_err;
}

static inline void fill_wc(struct ibv_wc *wc, const struct kwarp_cqe *cqe)
{
	*wc = (struct ibv_wc){
		.wr_id = cqe->id,
		.status = cqe_status(cqe),
		.opcode = cqe_opcode(cqe),
		.vendor_err = cqe_vendor_err(cqe),
		.byte_len = cqe->byte_len,
		.qp_num = cqe->qpn,
		.wc_flags = cqe_flags(cqe),
	};
	if (wc->wc_flags & IBV_WC_WITH_INV)
		wc->invalidated_rkey = cqe->inv_stag;
	else if (wc->wc_flags & IBV_WC_WITH_IMM)
		wc->imm_data = cqe_imm(cqe);
}

#endif /* KWARP_CQE_H */
