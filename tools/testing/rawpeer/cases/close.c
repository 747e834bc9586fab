// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. How connections end: by a FIN, a reset, a disconnect of the consumer, or a
 * Terminate.
 */
#include "runner/case.h"

const struct rp_case rp_cases_close[] = {
	{
		.name = "fin-idle", .ids = "5041-6.2.1-7 5041-3-11 5041-3-12 5041-3-13 5041-6.2.1-5 5044-8-3",
		.steps = {
			{ RP_FIN },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "fin-after-message", .ids = "5041-3-11",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .hit = true },
			{ RP_FIN },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16 },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "fin-in-header", .ids = "5044-6-6 5041-6.2.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .part = 9 },
			{ RP_FIN },
			{ RP_END, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "fin-in-length", .ids = "5044-6-6",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .part = 1 },
			{ RP_FIN },
			{ RP_END, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "fin-in-payload", .ids = "5044-6-6 5044-1.2-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .part = 30, .loose = true },
			{ RP_FIN },
			{ RP_END, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "fin-in-crc", .ids = "5044-6-6 5044-1.2-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .part = 39, .loose = true },
			{ RP_FIN },
			{ RP_END, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "fin-in-message", .ids = "5041-5.4-2 5041-6.2.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_FIN },
			{ RP_END, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "fin-in-write", .ids = "5041-6.2.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .more = true,
			  .hit = true },
			{ RP_FIN },
			{ RP_END, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "fin-with-read-open", .ids = "5041-6.2.2-5",
		.first = rp_reading,
		.steps = {
			{ RP_FIN },
			{ RP_END, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "rst-idle", .ids = "5041-6.2.2-1 5040-6.2-4 5044-8-3",
		.steps = {
			{ RP_RST },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "rst-after-message", .ids = "5041-6.2.2-1",
		.steps = {
			{ RP_SEND, .len = 16 },
			{ RP_RST },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "rst-in-message", .ids = "5041-6.2.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_RST },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "rst-with-read-open", .ids = "5041-6.2.2-5",
		.first = rp_reading,
		.steps = {
			{ RP_RST },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
		},
	},
	{
		.name = "half-close-then-data", .ids = "5041-6.2.1-6 5044-7.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 400 },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 100 },
			{ RP_FIN },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 400 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 100 },
			{ RP_END, .end = RP_BY_FIN },
			{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
			{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE },
		},
	},
	{
		.name = "half-close-read-answered", .ids = "5041-6.2.1-6 5044-7.2-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 500 },
			{ RP_FIN },
			{ RP_GET, .op = KWRAW_READ_RESP, .at = KWT_RW, .off = 0, .len = 500 },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "disconnect", .ids = "5041-6.2.1-7 5041-6.2.1-8",
		.steps = {
			{ RP_CLOSE },
			{ RP_SEE_FIN },
			{ RP_FIN },
		},
	},
	{
		.name = "disconnect-sends-all", .ids = "5041-6.2.1-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 400 },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 1 },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 300 },
			{ RP_CLOSE },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 400 },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 1 },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 300 },
			{ RP_SEE_FIN },
			{ RP_FIN },
			{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
			{ RP_WC, .wr = 101, .wc = IBV_WC_SEND },
			{ RP_WC, .wr = 102, .wc = IBV_WC_SEND },
		},
	},
	{
		.name = "disconnect-still-receives", .ids = "5041-6.2.1-9",
		.steps = {
			{ RP_CLOSE },
			{ RP_SEE_FIN },
			{ RP_SEND, .len = 16 },
			{ RP_FIN },
		},
	},
	{
		.name = "disconnect-still-checks", .ids = "5041-6.2.1-9",
		.steps = {
			{ RP_CLOSE },
			{ RP_SEE_FIN },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_DEAD, .len = 16 },
			{ RP_EVENT, .event = IBV_EVENT_QP_ACCESS_ERR },
		},
	},
	{
		.name = "disconnect-then-post", .ids = "5041-6.2.1-3 5041-6.2.1-9",
		.steps = {
			{ RP_CLOSE },
			{ RP_SEE_FIN },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 400 },
			{ RP_WC, .wr = 100, .status = IBV_WC_WR_FLUSH_ERR },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_WC, .wr = 101, .status = IBV_WC_WR_FLUSH_ERR },
			{ RP_NO_WC },
			{ RP_SEND, .len = 16 },
			{ RP_FIN },
		},
	},
	{
		.name = "disconnect-then-post-behind-read", .ids = "5041-6.2.1-3 5040-5.5-22",
		.first = rp_reading,
		.steps = {
			{ RP_CLOSE },
			{ RP_QUIET },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 400 },
			{ RP_QUIET },
			{ RP_NO_WC },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
			{ RP_WC, .wr = 101, .status = IBV_WC_WR_FLUSH_ERR },
			{ RP_SEE_FIN },
			{ RP_SEND, .len = 16 },
			{ RP_FIN },
		},
	},
	{
		.name = "disconnect-then-rst", .ids = "5041-6.2.2-1",
		.steps = {
			{ RP_CLOSE },
			{ RP_SEE_FIN },
			{ RP_RST },
		},
	},
	{
		.name = "destroy-while-receiving", .ids = "5041-2.3-2 5040-2.4-5",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_DESTROY },
			{ RP_END },
		},
	},
	{
		.name = "destroy-with-read-open", .ids = "5041-2.3-2 5040-2.4-5",
		.first = rp_reading,
		.steps = {
			{ RP_DESTROY },
			{ RP_END },
		},
	},
	{
		.name = "data-after-terminate", .ids = "5041-7.1-22 5040-5.4-11 5041-3-10",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .qn_x = 4 },
			{ RP_TERM, .err = 0x1201, .headers = RP_DDP },
			{ RP_SEG, .op = KWRAW_SEND, .len = 16 },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16 },
			{ RP_END },
		},
	},
	{ .name = NULL }
};
