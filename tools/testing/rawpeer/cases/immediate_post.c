// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Immediate Data (RFC 7306 section 6) that the device sends after the Write of
 * the same request.
 */
#include "runner/start.h"

static void imm_between(struct rp *r);

const struct rp_case rp_cases_imm_post[] = {
	{
		.name = "imm-post", .ids = "7306-4.1-1 7306-4.1-2 7306-4.1-3 7306-4.1-5 7306-4.1-7 7306-4.2-1 7306-6.1-1 7306-6.2-1 7306-6.3-1 7306-6.3-4 7306-6.3-5 7306-D-1 7306-D-3",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC, .len = 40 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 40 },
			{ RP_GET, .op = KWRAW_IMM },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_WRITE },
			{ RP_NO_WC },
		},
	},
	{
		.name = "imm-post-se", .ids = "7306-4.1-2 7306-4.2-1 7306-6.3-5",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC, .len = 40,
			  .flags = IBV_SEND_SOLICITED, .imm_x = 0x80 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 40 },
			{ RP_GET, .op = KWRAW_IMM_SE, .imm_x = 0x80 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_WRITE },
		},
	},
	{
		.name = "imm-post-zero", .ids = "7306-6.1-1 7306-6.3-5",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC },
			{ RP_GET, .op = KWRAW_IMM },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_WRITE },
		},
	},
	{
		.name = "imm-post-order", .ids = "7306-6.3-6 7306-6.3-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 3 },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC, .off = 9,
			  .len = 500, .imm_x = 1 },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 5 },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC, .imm_x = 2 },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 7 },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 3 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .off = 9, .len = 500 },
			{ RP_GET, .op = KWRAW_IMM, .imm_x = 1 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 5 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC },
			{ RP_GET, .op = KWRAW_IMM, .imm_x = 2 },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 7 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
			{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE },
			{ RP_WC, .wr = 102, .wc = IBV_WC_RDMA_WRITE },
			{ RP_WC, .wr = 103, .wc = IBV_WC_RDMA_WRITE },
			{ RP_WC, .wr = 104, .wc = IBV_WC_SEND },
		},
	},
	{
		.name = "imm-post-behind-read", .ids = "7306-7-4",
		.first = rp_reading,
		.steps = {
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC, .len = 40 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 40 },
			{ RP_GET, .op = KWRAW_IMM },
			{ RP_NO_WC },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
			{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE },
		},
	},
	{
		.name = "imm-post-fence", .ids = "7306-6.4-1",
		.first = rp_reading,
		.steps = {
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC, .len = 40,
			  .flags = IBV_SEND_FENCE },
			{ RP_QUIET },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 40 },
			{ RP_GET, .op = KWRAW_IMM },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
			{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE },
		},
	},
	{
		.name = "imm-post-between-responses", .ids = "7306-D-2",
		.role = RP_INIT, .ird = 64, .plain = true, .run = imm_between,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 20000 },
			{ RP_SEND, .len = 16 },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC, .len = 32 },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC, .len = 32 },
		},
	},
	{
		.name = "imm-post-foreign-memory", .ids = "7306-8.1-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_PD, .len = 10 },
			{ RP_TERM, .err = 0x0000 },
			{ RP_WC, .wr = 100, .status = IBV_WC_LOC_PROT_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "imm-post-refused", .ids = "7306-6.1-3",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC, .len = 40 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 40 },
			{ RP_GET, .op = KWRAW_IMM },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_WRITE },
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x1202, .headers = RP_DDP,
			  .about = KWRAW_IMM, .about_msn = 1 },
			{ RP_END, .event = IBV_EVENT_QP_REQ_ERR, .end = RP_BY_FIN },
		},
	},
	{ .name = NULL }
};

/*
 * Receive one segment from the device, and count whole Read Responses and Immediate Data. *@wrote:
 * a Write has come, so its Immediate Data has to come next. False if a wrong segment comes.
 */
static bool take_one(struct rp *r, unsigned int *answers, unsigned int *imms, bool *wrote)
{
	static uint8_t ulpdu[KWRAW_ULPDU_MAX];
	struct kwraw_seg s;
	size_t len;

	if (kwraw_recv_fpdu(&r->c, ulpdu, &len, rp_soon()) != KWRAW_GOT_FPDU ||
	    !kwraw_seg_decode(ulpdu, len, &s))
		return false;
	if (*wrote) {
		*wrote = false;
		return s.opcode == KWRAW_IMM && s.msn == ++*imms;
	}
	*wrote = s.opcode == KWRAW_WRITE;
	*answers += s.opcode == KWRAW_READ_RESP && s.last;
	return s.opcode == KWRAW_WRITE || s.opcode == KWRAW_READ_RESP;
}

/*
 * Let the device send more Responses than TCP takes while the raw peer reads nothing, and Writes
 * with Immediate Data. No Response may come between a Write and its Immediate Data.
 */
static void imm_between(struct rp *r)
{
	unsigned int answers = 0, imms = 0;
	bool wrote = false;

	if (!rp_flood(r))
		return;
	while (!r->failed && (answers < RP_FLOOD || imms < 2 || wrote))
		if (!take_one(r, &answers, &imms, &wrote))
			rp_fail(r, "after %u Responses and %u Immediate Data%s something else came",
				answers, imms, wrote ? " and a Write" : "");
	rp_expect(r, &(struct rp_step){ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_WRITE });
	rp_expect(r, &(struct rp_step){ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE });
}
