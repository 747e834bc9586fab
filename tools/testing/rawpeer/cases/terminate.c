// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* kwrawpeer: cases. Terminates that the device receives (RFC 5040 section 4.8). */
#include "runner/case.h"

/*
 * Members of struct rp_case: the raw peer sends one Terminate, with these members of its step.
 * TAKEN: the device accepts it. MALFORMED: it is an error that ends the connection.
 */
#define TAKEN(...) \
	.steps = { { RP_SEG, .op = KWRAW_TERMINATE, __VA_ARGS__ }, \
		   { RP_END, .event = IBV_EVENT_QP_REQ_ERR, .end = RP_BY_FIN } }
#define MALFORMED(...) \
	.steps = { { RP_SEG, .op = KWRAW_TERMINATE, __VA_ARGS__ }, \
		   { RP_END, .event = IBV_EVENT_QP_FATAL } }

const struct rp_case rp_cases_terminate[] = {
	{
		.name = "terminate-bare", .ids = "5040-5.4-1 5040-5.4-6 5040-5.4-7 5040-5.4-8",
		TAKEN(.err = 0x0000),
	},
	{
		.name = "terminate-llp", .ids = "5040-5.4-7 5040-5.4-8",
		TAKEN(.err = 0x2002),
	},
	{
		.name = "terminate-ddp", .ids = "5040-5.4-7 5040-5.4-8",
		TAKEN(.err = 0x1203, .headers = RP_DDP),
	},
	{
		.name = "terminate-rdma", .ids = "5040-5.4-7 5040-5.4-8",
		TAKEN(.err = 0x0101, .headers = RP_RREQ),
	},
	{
		.name = "terminate-any-code", .ids = "5040-4.8-11 5040-5.4-7",
		TAKEN(.err = 0x00ab),
	},
	{
		.name = "terminate-unknown", .ids = "5040-5.4-1 5040-5.4-7",
		TAKEN(.err = 0xffff),
	},
	{
		.name = "terminate-reserved-bits", .ids = "5040-4.1-11 5040-5.4-7",
		TAKEN(.err = 0x1100, .headers = RP_DDP, .rdmap_rsvd = 3),
	},
	{
		.name = "terminate-control-reserved-bits", .ids = "5040-4.8-13 5040-5.4-7",
		TAKEN(.err = 0x1100, .headers = RP_DDP, .term_rsvd = 0x1fff),
	},
	{
		.name = "terminate-junk-stag", .ids = "5040-4.1-15 5040-5.4-7",
		TAKEN(.err = 0x1100, .headers = RP_DDP, .inv = KWT_RW),
	},
	{
		.name = "terminate-padded", .ids = "5040-5.4-7",
		TAKEN(.err = 0x2002, .len = 20),
	},
	{
		.name = "terminate-no-receives", .ids = "5040-5.4-6 5040-5.4-5 5041-5.1.2-1",
		.no_recvs = true,
		TAKEN(.err = 0x1202, .headers = RP_DDP),
	},
	{
		.name = "terminate-then-data", .ids = "5040-5.4-12 5040-5.4-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16 },
			{ RP_END, .event = IBV_EVENT_QP_REQ_ERR },
		},
	},
	{
		.name = "terminate-in-message", .ids = "5040-5.4-6",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002 },
			{ RP_END, .event = IBV_EVENT_QP_REQ_ERR, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-with-work", .ids = "5040-5.4-10 5040-6.2.1-3",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .size = 100 },
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x1100, .headers = RP_DDP },
			{ RP_END, .event = IBV_EVENT_QP_REQ_ERR, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-of-read", .ids = "5040-3.2-14 5040-5.4-8",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .size = 100 },
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x0102, .headers = RP_RREQ },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_WC, .wr = 100, .status = IBV_WC_REM_ACCESS_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-bad-short", .ids = "5040-5.4-9 5040-7.2-1",
		MALFORMED(.err = 0x2002, .cut = 2),
	},
	{
		.name = "terminate-bad-empty", .ids = "5040-5.4-9 5040-7.2-1",
		MALFORMED(.err = 0x2002, .cut = 4),
	},
	{
		.name = "terminate-bad-too-long", .ids = "5040-5.4-9 5040-7.2-1",
		MALFORMED(.err = 0x2002, .len = 49),
	},
	{
		.name = "terminate-bad-not-last", .ids = "5040-5.4-9 5040-7.2-1",
		MALFORMED(.err = 0x2002, .more = true),
	},
	{
		.name = "terminate-bad-msn-2", .ids = "5040-5.4-9 5040-7.2-1",
		MALFORMED(.err = 0x2002, .msn_d = 1),
	},
	{
		.name = "terminate-bad-mo", .ids = "5040-5.4-9 5040-7.2-1",
		MALFORMED(.err = 0x2002, .mo_d = 4),
	},
	{
		.name = "terminate-bad-on-queue-0", .ids = "5040-5.4-9 5040-7.2-1",
		MALFORMED(.err = 0x2002, .qn_x = 2),
	},
	{
		.name = "terminate-bad-on-queue-3", .ids = "5040-5.4-9 5040-7.2-1",
		MALFORMED(.err = 0x2002, .qn_x = 1),
	},
	{
		.name = "terminate-bad-ddp-version", .ids = "5040-5.4-9 5040-7.2-1",
		MALFORMED(.err = 0x2002, .dv_x = 1),
	},
	{
		.name = "terminate-bad-rdmap-version", .ids = "5040-5.4-9 5040-7.2-1",
		MALFORMED(.err = 0x2002, .rv_x = 1),
	},
	{
		.name = "terminate-headers-missing", .ids = "5040-5.4-9",
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x0101, .headers = RP_RREQ,
			  .cut = 30 },
			{ RP_END, .event = IBV_EVENT_QP_REQ_ERR },
		},
	},
	{ .name = NULL }
};
