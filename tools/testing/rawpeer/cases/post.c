// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Sends and Writes that the consumer posts: the octets that the device sends
 * (RFC 5040 section 5), and requests that name memory which they may not name.
 */
#include "runner/case.h"

const struct rp_case rp_cases_post[] = {
	{
		.name = "post-send-inv", .ids = "5040-4.1-3 5040-5.3-15 5040-5.3-16 5040-4.7-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND_WITH_INV, .at = KWT_SRC, .len = 40 },
			{ RP_GET, .op = KWRAW_SEND_INV, .at = KWT_SRC, .off = 0, .len = 40 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		},
	},
	{
		.name = "post-send-se-inv", .ids = "5040-4.1-3 5040-5.3-15 5040-5.3-16",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND_WITH_INV, .at = KWT_SRC, .len = 0,
			  .flags = IBV_SEND_SOLICITED },
			{ RP_GET, .op = KWRAW_SEND_SE_INV, .at = KWT_SRC, .off = 0, .len = 0 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		},
	},
	{
		.name = "post-send-se", .ids = "5040-4.1-14 5040-4.1-6 5040-5.3-2 5040-5.3-11",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 40,
			  .flags = IBV_SEND_SOLICITED },
			{ RP_GET, .op = KWRAW_SEND_SE, .at = KWT_SRC, .off = 0, .len = 40 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		},
	},
	{
		.name = "post-in-order", .ids = "5040-4.1-14 5040-5.5-20 5040-5.3-12 5040-5.1-8 5041-4.3-12 5041-4.3-13 5041-5.3-2 5041-4.1-3 5041-4.1-10 5041-4.1-12 5040-4.1-5 5040-4.1-8 5040-4.1-10 5040-5.1-2 5041-4.2-12",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 3 },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 500, .off = 9 },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 0 },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 7, .off = 3 },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .off = 0, .len = 3 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .off = 9, .len = 500 },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .off = 0, .len = 0 },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .off = 3, .len = 7 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
			{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_WRITE },
			{ RP_WC, .wr = 102, .wc = IBV_WC_SEND },
			{ RP_WC, .wr = 103, .wc = IBV_WC_SEND },
		},
	},
	{
		.name = "post-write-zero", .ids = "5040-5.1-11 5041-5.2-12",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 0 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .off = 0, .len = 0 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_WRITE },
		},
	},
	{
		.name = "post-foreign-memory", .ids = "5040-7.1-1 5040-7.1-2 5040-4.8-24",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_PD, .len = 10 },
			{ RP_TERM, .err = 0x0000 },
			{ RP_WC, .wr = 100, .status = IBV_WC_LOC_PROT_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "post-past-region", .ids = "5040-7.1-1 5040-7.1-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 20, .off = 8990 },
			{ RP_TERM, .err = 0x0000 },
			{ RP_WC, .wr = 100, .status = IBV_WC_LOC_PROT_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{ .name = NULL }
};
