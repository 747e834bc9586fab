// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. RDMAP headers (RFC 5040) with wrong versions, wrong opcodes, and opcodes on
 * wrong queues.
 */
#include "runner/case.h"

const struct rp_case rp_cases_rdmap[] = {
	{
		.name = "send-rdmap-version-0", .ids = "5040-7.2-3 5040-4.1-9 5040-4.8-26 5044-C.1-1",
		RP_ONE_REFUSED(0x0205, RP_DDP, .op = KWRAW_SEND, .len = 16, .rv_x = 1),
	},
	{
		.name = "send-rdmap-version-2", .ids = "5040-7.2-3 5040-4.1-9 5040-4.8-26 5044-C.1-1",
		RP_ONE_REFUSED(0x0205, RP_DDP, .op = KWRAW_SEND, .len = 16, .rv_x = 3),
	},
	{
		.name = "send-rdmap-version-3", .ids = "5040-7.2-3 5040-4.1-9 5040-4.8-26 5044-C.1-1",
		RP_ONE_REFUSED(0x0205, RP_DDP, .op = KWRAW_SEND, .len = 16, .rv_x = 2),
	},
	{
		.name = "write-rdmap-version-0", .ids = "5040-7.2-3",
		RP_ONE_REFUSED(0x0205, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16,
			       .rv_x = 1),
	},
	{
		.name = "read-rdmap-version-0", .ids = "5040-7.2-8",
		RP_ONE_REFUSED(0x0205, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .rv_x = 1),
	},
	{
		.name = "untagged-opcode-12", .ids = "5040-7.2-2 5040-4.1-16 7306-8.2-2",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_SEND, .len = 16, .op_x = 0xf),
	},
	{
		.name = "untagged-opcode-13", .ids = "5040-7.2-2 5040-4.1-16 7306-8.2-2",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_SEND, .len = 16, .op_x = 0xe),
	},
	{
		.name = "untagged-opcode-14", .ids = "5040-7.2-2 5040-4.1-16 7306-8.2-2",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_SEND, .len = 16, .op_x = 0xd),
	},
	{
		.name = "untagged-opcode-15", .ids = "5040-7.2-2 5040-4.1-16 7306-8.2-2",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_SEND, .len = 16, .op_x = 0xc),
	},
	{
		.name = "tagged-opcode-12", .ids = "5040-7.2-2 5040-4.1-16",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16,
			       .op_x = 0xc),
	},
	{
		.name = "tagged-opcode-13", .ids = "5040-7.2-2 5040-4.1-16",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16,
			       .op_x = 0xd),
	},
	{
		.name = "tagged-opcode-15", .ids = "5040-7.2-2 5040-4.1-16",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16,
			       .op_x = 0xf),
	},
	{
		.name = "read-opcode-13", .ids = "5040-7.2-7",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .op_x = 0xc),
	},
	{
		.name = "send-tagged", .ids = "5040-7.2-2 5040-4.1-5",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_SEND, .len = 16, .t_x = true,
			       .at = KWT_RW),
	},
	{
		.name = "send-inv-tagged", .ids = "5040-7.2-2",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_SEND_INV, .len = 16, .t_x = true,
			       .at = KWT_RW),
	},
	{
		.name = "write-untagged", .ids = "5040-7.2-2 5040-4.1-5",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16,
			       .t_x = true),
	},
	{
		.name = "read-tagged", .ids = "5040-7.2-7",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .t_x = true),
	},
	{
		.name = "read-response-untagged", .ids = "5040-7.2-2",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_READ_RESP, .at = KWT_RW, .len = 4,
			       .t_x = true),
	},
	{
		.name = "send-on-queue-1", .ids = "5040-7.2-2 5040-3.1-2",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_SEND, .len = 28, .qn_x = 1),
	},
	{
		.name = "send-on-queue-2", .ids = "5040-7.2-2 5040-3.1-2",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_SEND, .len = 16, .qn_x = 2),
	},
	{
		.name = "send-on-queue-3", .ids = "5040-7.2-2 5040-3.1-2",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_SEND, .len = 16, .qn_x = 3),
	},
	{
		.name = "read-on-queue-0", .ids = "5040-7.2-7 5040-3.1-2",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .qn_x = 1),
	},
	{
		.name = "read-on-queue-2", .ids = "5040-7.2-7",
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_READ_REQ, .at = KWT_RW, .size = 4,
			       .qn_x = 3),
	},
	{ .name = NULL }
};
