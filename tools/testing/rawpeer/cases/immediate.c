// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Immediate Data (RFC 7306 section 6) that the device receives. The length in a
 * completion of Immediate Data is that of the RDMA Write message before it.
 */
#include "runner/start.h"

static void wrong_lengths(struct rp *r);

const struct rp_case rp_cases_imm[] = {
	{
		.name = "imm", .ids = "7306-6-1 7306-6.1-2 7306-6.2-1 7306-6.3-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
			{ RP_SEND, .len = 5, .wr = 1 },
		},
	},
	{
		.name = "imm-se", .ids = "7306-6-1 7306-6.1-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_IMM_SE },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
		},
	},
	{
		.name = "imm-wakes-if-solicited", .ids = "7306-6.1-2",
		.steps = {
			{ RP_ARM },
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
			{ RP_ASLEEP },
			{ RP_SEG, .op = KWRAW_IMM_SE },
			{ RP_AWAKE },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
		},
	},
	{
		.name = "imm-values", .ids = "7306-6.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_IMM, .imm_x = RP_IMM },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .imm_x = RP_IMM },
			{ RP_SEG, .op = KWRAW_IMM, .imm_x = ~RP_IMM },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .imm_x = ~RP_IMM },
			{ RP_SEG, .op = KWRAW_IMM, .imm_x = 1 },
			{ RP_WC, .wr = 2, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .imm_x = 1 },
		},
	},
	{
		.name = "imm-rest-ignored", .ids = "7306-D-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_IMM, .rest = 0xffffffff },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
		},
	},
	{
		.name = "imm-junk-stag", .ids = "7306-4.1-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_IMM, .inv = KWT_RW },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .hit = true },
			{ RP_SEG, .op = KWRAW_IMM_SE, .inv_x = 0xffffffff },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .len = 16 },
		},
	},
	{
		.name = "imm-reserved-bits", .ids = "7306-4.1-7",
		.steps = {
			{ RP_SEG, .op = KWRAW_IMM, .rsvd = 0xf, .rdmap_rsvd = 3 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
		},
	},
	{
		/*
		 * Immediate Data places nothing in the receive, so the size of the receive does
		 * not matter.
		 */
		.name = "imm-small-receive", .ids = "7306-6.3-2 7306-6-1",
		.recvs = { 1, 7 },
		.steps = {
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
		},
	},
	{
		.name = "imm-after-write", .ids = "7306-7-1 7306-6.4-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 300, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .len = 300 },
		},
	},
	{
		.name = "imm-after-write-in-segments", .ids = "7306-7-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 300, .hit = true,
			  .more = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .off = 300, .len = 1,
			  .hit = true, .more = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .off = 301, .len = 700,
			  .hit = true },
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .len = 1001 },
		},
	},
	{
		.name = "imm-after-writes", .ids = "7306-7-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 300, .hit = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WO, .len = 20, .hit = true },
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .len = 20 },
		},
	},
	{
		.name = "imm-after-write-zero", .ids = "7306-6-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 300, .hit = true },
			{ RP_SEG, .op = KWRAW_WRITE, .stag_x = 0xffffffff },
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
		},
	},
	{
		.name = "imm-after-write-and-send", .ids = "7306-7-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 300, .hit = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 9, .hit = true },
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 9 },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
		},
	},
	{
		.name = "imm-after-write-and-read", .ids = "7306-7-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 300, .hit = true },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 50, .hold = true },
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .len = 50 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
		},
	},
	{
		.name = "imm-order", .ids = "7306-6.3-3 7306-6.3-2 7306-6.4-1 7306-7-2",
		.recvs = { 64, 64, 64, 64, 64, 64 },
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 10, .hit = true, .hold = true },
			{ RP_SEG, .op = KWRAW_IMM, .imm_x = 1, .hold = true },
			{ RP_SEG, .op = KWRAW_IMM_SE, .imm_x = 2, .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 40, .hit = true,
			  .hold = true },
			{ RP_SEG, .op = KWRAW_IMM, .imm_x = 3, .hold = true },
			{ RP_SEG, .op = KWRAW_IMM, .imm_x = 4, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 20, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 10 },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .imm_x = 1 },
			{ RP_WC, .wr = 2, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .imm_x = 2 },
			{ RP_WC, .wr = 3, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .imm_x = 3, .len = 40 },
			{ RP_WC, .wr = 4, .wc = IBV_WC_RECV_RDMA_WITH_IMM, .imm_x = 4 },
			{ RP_WC, .wr = 5, .wc = IBV_WC_RECV, .len = 20 },
		},
	},
	{
		/*
		 * The connection ends after a Write and before its Immediate Data: the Write is
		 * placed, and no receive is used.
		 */
		.name = "imm-lost-behind-write", .ids = "7306-6.4-1",
		.recvs = { 64, 64 },
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 300, .hit = true },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RO, .size = 50 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RO, .len = 50 },
			{ RP_RST },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_WC, .wr = 0, .status = IBV_WC_WR_FLUSH_ERR },
			{ RP_WC, .wr = 1, .status = IBV_WC_WR_FLUSH_ERR },
			{ RP_NO_WC },
		},
	},
	{
		.name = "imm-lost-halfway", .ids = "7306-6.4-1",
		.recvs = { 64 },
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 300, .hit = true },
			{ RP_SEG, .op = KWRAW_IMM, .part = 12 },
			{ RP_FIN },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_WC, .wr = 0, .status = IBV_WC_WR_FLUSH_ERR },
			{ RP_NO_WC },
			{ RP_END },
		},
	},
	{
		.name = "imm-then-read", .ids = "7306-7-3",
		.steps = {
			{ RP_SEG, .op = KWRAW_IMM, .hold = true },
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 50 },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW, .len = 50 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
		},
	},
	{
		.name = "imm-no-buffer", .ids = "7306-6.1-3 7306-8.1-2 7306-6.3-2",
		.no_recvs = true,
		RP_ONE_REFUSED(0x1202, RP_DDP, .op = KWRAW_IMM),
	},
	{
		.name = "imm-se-no-buffer", .ids = "7306-6.1-3 7306-8.1-2",
		.no_recvs = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .hit = true },
			{ RP_SEG, .op = KWRAW_IMM_SE },
			{ RP_REFUSED, .err = 0x1202, .headers = RP_DDP },
		},
	},
	{
		.name = "imm-buffers-used-up", .ids = "7306-6.3-2",
		.recvs = { 64 },
		.steps = {
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_TERM, .err = 0x1202, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV_RDMA_WITH_IMM },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "imm-lengths", .ids = "7306-6.3-7 7306-4.1-6 7306-8.1-2",
		.run = wrong_lengths,
	},
	{
		.name = "imm-not-last", .ids = "7306-4.1-6",
		RP_ONE_REFUSED(0x0207, RP_DDP, .op = KWRAW_IMM, .more = true),
	},
	{
		.name = "imm-msn-skipped", .ids = "7306-8.2-1",
		RP_ONE_REFUSED(0x1203, RP_DDP, .op = KWRAW_IMM, .msn_d = 1),
	},
	{
		.name = "imm-msn-of-send", .ids = "7306-8.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .hit = true },
			{ RP_SEG, .op = KWRAW_IMM, .msn_d = -1 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16 },
			{ RP_REFUSED, .err = 0x1203, .headers = RP_DDP },
		},
	},
	{
		.name = "imm-mo", .ids = "7306-8.2-1",
		RP_ONE_REFUSED(0x1204, RP_DDP, .op = KWRAW_IMM, .mo_d = 8),
	},
	{
		.name = "imm-in-send", .ids = "7306-8.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_SEG, .op = KWRAW_IMM },
			{ RP_REFUSED, .err = 0x0206, .headers = RP_DDP },
		},
	},
	{
		.name = "imm-in-send-from-start", .ids = "7306-8.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_SEG, .op = KWRAW_IMM, .mo_d = -16 },
			{ RP_REFUSED, .err = 0x1204, .headers = RP_DDP },
		},
	},
	{
		.name = "imm-in-send-as-next", .ids = "7306-8.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_SEG, .op = KWRAW_IMM, .msn_d = 1, .mo_d = -16 },
			{ RP_REFUSED, .err = 0x1203, .headers = RP_DDP },
		},
	},
	{
		.name = "imm-tagged", .ids = "7306-4.1-5",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_IMM, .t_x = true, .at = KWT_RW),
	},
	{
		.name = "imm-se-tagged", .ids = "7306-4.1-5",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_IMM_SE, .t_x = true, .at = KWT_RW),
	},
	{
		.name = "imm-on-queue-1", .ids = "7306-4.1-5",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_IMM, .qn_x = 1),
	},
	{
		.name = "imm-on-queue-3", .ids = "7306-4.1-5",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_IMM, .qn_x = 3),
	},
	{
		.name = "imm-on-queue-4", .ids = "7306-8.2-1",
		RP_ONE_REFUSED(0x1201, RP_DDP, .op = KWRAW_IMM_SE, .qn_x = 4),
	},
	{
		.name = "imm-ddp-version", .ids = "7306-8.2-1 7306-4.1-7",
		RP_ONE_REFUSED(0x1206, RP_DDP, .op = KWRAW_IMM, .dv_x = 1),
	},
	{
		.name = "imm-rdmap-version", .ids = "7306-8.2-3",
		RP_ONE_REFUSED(0x0205, RP_DDP, .op = KWRAW_IMM, .rv_x = 1),
	},
	{
		.name = "imm-crc", .ids = "7306-8.2-1",
		.crc = true,
		RP_ONE_REFUSED(0x2002, RP_BARE, .op = KWRAW_IMM, .bad = KWRAW_BAD_CRC),
	},
	{ .name = NULL }
};

/* Send Immediate Data that does not have 8 octets, with and without Solicited Event. */
static void wrong_lengths(struct rp *r)
{
	static const int cuts[] = { 8, 7, 4, 1, -1, -2, -4, -8, -500 };
	struct rp_step ask = { .what = RP_SEG };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		ask.op = i & 1 ? KWRAW_IMM_SE : KWRAW_IMM;
		ask.cut = cuts[i];
		rp_refused(r, &ask, 0x0207, "octets left away", cuts[i]);
	}
}
