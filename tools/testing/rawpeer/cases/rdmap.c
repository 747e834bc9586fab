// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. RDMAP (RFC 5040): versions, opcodes, Terminate.
 */
#include "runner/case.h"

const struct rp_case rp_cases_rdmap[] = {
	{
		.name = "send-rdmap-version-0", .ids = "5040-7.2-3 5040-4.1-9 5040-4.8-26 5044-C.1-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .rv_x = 1 },
			{ RP_TERM, .err = 0x0205, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-rdmap-version-2", .ids = "5040-7.2-3 5040-4.1-9 5040-4.8-26 5044-C.1-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .rv_x = 3 },
			{ RP_TERM, .err = 0x0205, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-rdmap-version-3", .ids = "5040-7.2-3 5040-4.1-9 5040-4.8-26 5044-C.1-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .rv_x = 2 },
			{ RP_TERM, .err = 0x0205, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "write-rdmap-version-0", .ids = "5040-7.2-3",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .rv_x = 1 },
			{ RP_TERM, .err = 0x0205, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "read-rdmap-version-0", .ids = "5040-7.2-8",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4, .rv_x = 1 },
			{ RP_TERM, .err = 0x0205, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "untagged-opcode-12", .ids = "5040-7.2-2 5040-4.1-16 7306-8.2-2",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .op_x = 0xf },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "untagged-opcode-13", .ids = "5040-7.2-2 5040-4.1-16 7306-8.2-2",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .op_x = 0xe },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "untagged-opcode-14", .ids = "5040-7.2-2 5040-4.1-16 7306-8.2-2",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .op_x = 0xd },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "untagged-opcode-15", .ids = "5040-7.2-2 5040-4.1-16 7306-8.2-2",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .op_x = 0xc },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "tagged-opcode-12", .ids = "5040-7.2-2 5040-4.1-16",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .op_x = 0xc },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "tagged-opcode-13", .ids = "5040-7.2-2 5040-4.1-16",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .op_x = 0xd },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "tagged-opcode-15", .ids = "5040-7.2-2 5040-4.1-16",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .op_x = 0xf },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "read-opcode-13", .ids = "5040-7.2-7",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4, .op_x = 0xc },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-tagged", .ids = "5040-7.2-2 5040-4.1-5",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .t_x = true, .at = KWT_RW },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-inv-tagged", .ids = "5040-7.2-2",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .t_x = true, .at = KWT_RW },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "write-untagged", .ids = "5040-7.2-2 5040-4.1-5",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .t_x = true },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "read-tagged", .ids = "5040-7.2-7",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4, .t_x = true },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "read-response-untagged", .ids = "5040-7.2-2",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_RESP, .at = KWT_RW, .len = 4, .t_x = true },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-on-queue-1", .ids = "5040-7.2-2 5040-3.1-2",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 28, .qn_x = 1 },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-on-queue-2", .ids = "5040-7.2-2 5040-3.1-2",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .qn_x = 2 },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-on-queue-3", .ids = "5040-7.2-2 5040-3.1-2",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .qn_x = 3 },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "read-on-queue-0", .ids = "5040-7.2-7 5040-3.1-2",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4, .qn_x = 1 },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "read-on-queue-2", .ids = "5040-7.2-7",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4, .qn_x = 3 },
			{ RP_TERM, .err = 0x0206, .headers = RP_DDP },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-bare", .ids = "5040-5.4-1 5040-5.4-6 5040-5.4-7 5040-5.4-8",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x0000 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-llp", .ids = "5040-5.4-7 5040-5.4-8",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-ddp", .ids = "5040-5.4-7 5040-5.4-8",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x1203, .headers = RP_DDP },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-rdma", .ids = "5040-5.4-7 5040-5.4-8",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x0101, .headers = RP_RREQ },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-any-code", .ids = "5040-4.8-11 5040-5.4-7",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x00ab },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-unknown", .ids = "5040-5.4-1 5040-5.4-7",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0xffff },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-reserved-bits", .ids = "5040-4.1-11 5040-5.4-7",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x1100, .headers = RP_DDP,
			  .rdmap_rsvd = 3 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-control-reserved-bits", .ids = "5040-4.8-13 5040-5.4-7",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x1100, .headers = RP_DDP,
			  .term_rsvd = 0x1fff },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-junk-stag", .ids = "5040-4.1-15 5040-5.4-7",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x1100, .headers = RP_DDP,
			  .inv = KWT_RW },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-padded", .ids = "5040-5.4-7",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .len = 20 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-no-receives", .ids = "5040-5.4-6 5040-5.4-5 5041-5.1.2-1",
		.role = RP_BOTH, .no_recvs = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x1202, .headers = RP_DDP },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-then-data", .ids = "5040-5.4-12 5040-5.4-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END },
		},
	},
	{
		.name = "terminate-in-message", .ids = "5040-5.4-6",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-with-work", .ids = "5040-5.4-10 5040-6.2.1-3",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .size = 100 },
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x1100, .headers = RP_DDP },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "terminate-of-read", .ids = "5040-3.2-14 5040-5.4-8",
		.role = RP_BOTH,
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
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .cut = 2 },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_END },
		},
	},
	{
		.name = "terminate-bad-empty", .ids = "5040-5.4-9 5040-7.2-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .cut = 4 },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_END },
		},
	},
	{
		.name = "terminate-bad-too-long", .ids = "5040-5.4-9 5040-7.2-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .len = 49 },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_END },
		},
	},
	{
		.name = "terminate-bad-not-last", .ids = "5040-5.4-9 5040-7.2-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .more = true },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_END },
		},
	},
	{
		.name = "terminate-bad-msn-2", .ids = "5040-5.4-9 5040-7.2-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .msn_d = 1 },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_END },
		},
	},
	{
		.name = "terminate-bad-mo", .ids = "5040-5.4-9 5040-7.2-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .mo_d = 4 },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_END },
		},
	},
	{
		.name = "terminate-bad-on-queue-0", .ids = "5040-5.4-9 5040-7.2-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .qn_x = 2 },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_END },
		},
	},
	{
		.name = "terminate-bad-on-queue-3", .ids = "5040-5.4-9 5040-7.2-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .qn_x = 1 },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_END },
		},
	},
	{
		.name = "terminate-bad-ddp-version", .ids = "5040-5.4-9 5040-7.2-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .dv_x = 1 },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_END },
		},
	},
	{
		.name = "terminate-bad-rdmap-version", .ids = "5040-5.4-9 5040-7.2-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x2002, .rv_x = 1 },
			{ RP_EVENT, .event = IBV_EVENT_QP_FATAL },
			{ RP_END },
		},
	},
	{
		.name = "terminate-headers-missing", .ids = "5040-5.4-9",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x0101, .headers = RP_RREQ,
			  .cut = 30 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_END },
		},
	},
	{
		.name = "post-send-inv", .ids = "5040-4.1-3 5040-5.3-15 5040-5.3-16 5040-4.7-1",
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_SEND_WITH_INV, .at = KWT_SRC, .len = 40 },
			{ RP_GET, .op = KWRAW_SEND_INV, .at = KWT_SRC, .off = 0, .len = 40 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_SEND },
		},
	},
	{
		.name = "post-send-se-inv", .ids = "5040-4.1-3 5040-5.3-15 5040-5.3-16",
		.role = RP_BOTH,
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
		.role = RP_BOTH,
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
		.role = RP_BOTH,
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
		.role = RP_BOTH,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE, .at = KWT_SRC, .len = 0 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .off = 0, .len = 0 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_WRITE },
		},
	},
	{
		.name = "post-foreign-memory", .ids = "5040-7.1-1 5040-7.1-2 5040-4.8-24",
		.role = RP_BOTH,
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
		.role = RP_BOTH,
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
