// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. RDMA Reads by the consumer: the device is the sink of the data, which the raw
 * peer sends.
 */
#include "runner/case.h"

const struct rp_case rp_cases_read_sink[] = {
	{
		.name = "response", .ids = "5040-5.2.2-5 5040-5.5-26 5040-5.5-29 5040-3.2-12 5040-5.2.1-7 5040-5.2.1-8 5041-4.2-4",
		.first = rp_reading,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
		},
	},
	{
		/*
		 * The sink of a Read needs no remote rights. That the peer gets no rights by the
		 * Read is shown by case write-into-sink.
		 */
		.name = "response-local-sink", .ids = "5040-5.2.2-5",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_LO, .len = 100 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_LO, .size = 100 },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
		},
	},
	{
		.name = "write-into-sink", .ids = "5040-8.1.1-5",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_LO, .len = 100 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_LO, .size = 100 },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_LO, .len = 100 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		},
	},
	{
		.name = "response-segments", .ids = "5040-5.5-26 5040-1.2-6",
		.first = rp_reading,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 60, .hit = true, .more = true },
			{ RP_NO_WC },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 1, .hit = true, .more = true },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 39, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
		},
	},
	{
		.name = "response-empty-segment", .ids = "5041-4.4-2",
		.first = rp_reading,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 0, .more = true },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
		},
	},
	{
		.name = "response-zero", .ids = "5040-5.2.1-15 5041-5.2-14",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 0 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 0, .stag_x = 0xffffffff },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
		},
	},
	{
		.name = "response-reserved-bits", .ids = "5041-4.1-11 5040-4.1-11",
		.first = rp_reading,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true, .rsvd = 0xf,
			  .rdmap_rsvd = 3 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
		},
	},
	{
		.name = "response-order", .ids = "5040-5.5-14 5040-5.5-22 5040-5.2.1-9",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 50,
			  .off = 200 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 0, .size = 100 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 200, .size = 50 },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 50, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
			{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_READ },
		},
	},
	{
		.name = "response-unsolicited", .ids = "5040-7.2-1 5040-5.2.2-6",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_READ_RESP, .at = KWT_RW, .len = 16),
	},
	{
		.name = "response-zero-unsolicited", .ids = "5040-7.2-1",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_READ_RESP, .at = KWT_RW),
	},
	{
		.name = "response-twice", .ids = "5040-7.2-1",
		.first = rp_reading,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true, .hold = true },
			{ RP_SEG, .op = KWRAW_READ_RESP, .at = KWT_SINK, .len = 100 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
			{ RP_REFUSED, .err = 0x0206, .headers = RP_DDP },
		},
	},
	{
		.name = "response-past-sink", .ids = "5041-7.1-17 5040-5.2.2-9 5042-6.2.1-1",
		.first = rp_reading,
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_READ_RESP, .len = 101),
	},
	{
		.name = "response-past-sink-later", .ids = "5041-7.1-13 5040-5.2.2-9",
		.first = rp_reading,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 99, .hit = true, .more = true },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 2 },
			{ RP_REFUSED, .err = 0x1101, .headers = RP_DDP },
		},
	},
	{
		.name = "response-short", .ids = "5040-5.2.2-9",
		.first = rp_reading,
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_READ_RESP, .len = 99),
	},
	{
		.name = "response-zero-to-read", .ids = "5040-5.2.2-9",
		.first = rp_reading,
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_READ_RESP, .len = 0),
	},
	{
		.name = "response-last-missing", .ids = "5040-5.2.2-9",
		.first = rp_reading,
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_READ_RESP, .len = 100, .more = true),
	},
	{
		.name = "response-stag", .ids = "5041-4.2-10 5041-7.1-14 5040-5.2.2-9",
		.first = rp_reading,
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_READ_RESP, .len = 100, .stag_x = 1),
	},
	{
		.name = "response-other-region", .ids = "5040-5.2.2-9 5041-7.1-14",
		.first = rp_reading,
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_READ_RESP, .len = 100, .at = KWT_RW),
	},
	{
		.name = "response-to", .ids = "5041-7.1-16 5040-5.2.2-9",
		.first = rp_reading,
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_READ_RESP, .len = 100, .off = 1),
	},
	{
		.name = "response-to-wrap", .ids = "5040-4.4-6",
		.first = rp_reading,
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_READ_RESP, .len = 100, .at = KWT_SINK,
			       .to = ~0ULL),
	},
	{
		.name = "response-to-gap", .ids = "5041-7.1-13",
		.first = rp_reading,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 50, .hit = true, .more = true },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 50, .off = 8 },
			{ RP_REFUSED, .err = 0x1101, .headers = RP_DDP },
		},
	},
	{
		.name = "response-out-of-order", .ids = "5040-5.2.2-9",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100,
			  .off = 200 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 0, .size = 100 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 200, .size = 100 },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .off = 200 },
			{ RP_REFUSED, .err = 0x1101, .headers = RP_DDP },
		},
	},
	{
		.name = "response-ddp-version", .ids = "5041-4.1-13",
		.first = rp_reading,
		RP_ONE_REFUSED(0x1104, RP_DDP, .op = KWRAW_READ_RESP, .len = 100, .dv_x = 1),
	},
	{
		.name = "response-rdmap-version", .ids = "5040-7.2-3",
		.first = rp_reading,
		RP_ONE_REFUSED(0x0205, RP_DDP, .op = KWRAW_READ_RESP, .len = 100, .rv_x = 1),
	},
	{
		.name = "response-sink-deregistered", .ids = "5040-8.1.1-6 5041-8.3.1-6",
		.first = rp_reading,
		.steps = {
			{ RP_DEREG, .at = KWT_SINK },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		},
	},
	{
		.name = "read-fence", .ids = "5040-5.5-19",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 32,
			  .flags = IBV_SEND_FENCE },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 0, .size = 100 },
			{ RP_QUIET },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 32 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
			{ RP_WC, .wr = 101, .wc = IBV_WC_SEND },
		},
	},
	{
		.name = "read-ord", .ids = "5040-6.1-9 5040-6.1-7",
		.ord = 1,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 50,
			  .off = 200 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 0, .size = 100 },
			{ RP_QUIET },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 200, .size = 50 },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 50, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
			{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_READ },
		},
	},
	{
		.name = "read-without-place", .ids = "5040-6.1-7 5040-6.1-9 5040-7.1-2",
		.no_place = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 32 },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 32 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_TERM, .err = 0x0000 },
			{ RP_WC, .wr = 101, .status = IBV_WC_LOC_QP_OP_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "read-without-ord", .ids = "5040-6.1-7 5040-6.1-9 5040-7.1-2",
		.no_ord = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 32 },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 32 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_TERM, .err = 0x0000 },
			{ RP_WC, .wr = 101, .status = IBV_WC_LOC_QP_OP_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "completion-order", .ids = "5040-5.5-22",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 32 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 0, .size = 100 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 32 },
			{ RP_NO_WC },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
			{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE },
		},
	},
	{ .name = NULL }
};
