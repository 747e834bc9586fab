// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Untagged segments that the device receives (DDP, RFC 5041), most of them of the
 * four Sends.
 */
#include "runner/case.h"

const struct rp_case rp_cases_untagged[] = {
	{
		.name = "send", .ids = "5041-4.1-2 5041-5.2-5 5041-5.4-2 5041-5.4-3 5040-5.3-3 5040-5.3-4 5040-5.3-5 5044-3-10",
		.steps = {
			{ RP_SEND, .len = 100 },
		},
	},
	{
		.name = "send-exact-fit", .ids = "5041-7.1-9 5040-5.3-4",
		.steps = {
			{ RP_SEND, .len = 512 },
		},
	},
	{
		.name = "send-one-octet", .ids = "5040-5.3-4",
		.steps = {
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "send-zero", .ids = "5041-5.2-11 5040-5.3-14 5041-4.4-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 0 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 0 },
			{ RP_SEND, .len = 8, .wr = 1 },
		},
	},
	{
		.name = "send-in-segments", .ids = "5041-4.1-9 5041-4.3-15 5041-4.3-17 5041-5.2-5 5041-5.4-2 5041-5.4-4 5040-5.5-23",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 100, .more = true, .hit = true },
			{ RP_NO_WC },
			{ RP_SEG, .op = KWRAW_SEND, .len = 1, .more = true, .hit = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 99, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 200 },
		},
	},
	{
		.name = "send-empty-segments", .ids = "5041-4.4-2 5041-5.4-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 0, .more = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 7, .more = true, .hit = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 0, .more = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 0 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 7 },
		},
	},
	{
		.name = "send-order", .ids = "5041-5.3-6 5041-5.3-7 5041-4.1-7 5041-4.1-8 5041-4.3-12 5040-5.3-7 5040-5.5-12 5044-2-2 5044-4.3-16",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 10, .hit = true, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 20, .hit = true, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 30, .hit = true, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 40, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 10 },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV, .len = 20 },
			{ RP_WC, .wr = 2, .wc = IBV_WC_RECV, .len = 30 },
			{ RP_WC, .wr = 3, .wc = IBV_WC_RECV, .len = 40 },
		},
	},
	{
		.name = "send-reserved-bits", .ids = "5041-4.1-11 5040-4.1-11",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 33, .rsvd = 0xf, .rdmap_rsvd = 3,
			  .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 33 },
		},
	},
	{
		.name = "send-junk-stag", .ids = "5040-4.1-15",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .inv = KWT_RW, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16 },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .hit = true },
			{ RP_SEND, .len = 1, .wr = 1 },
		},
	},
	{
		.name = "send-solicited", .ids = "5040-1.2-3 5041-4.3-4 5041-5.4-5",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_SE, .len = 5, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 5 },
		},
	},
	{
		.name = "send-wakes-if-solicited", .ids = "5040-1.2-3 5040-2.4-3 5041-5.4-5",
		.steps = {
			{ RP_ARM },
			{ RP_SEND, .len = 5 },
			{ RP_ASLEEP },
			{ RP_SEG, .op = KWRAW_SEND_SE, .len = 5, .hit = true },
			{ RP_AWAKE },
			{ RP_WC, .wr = 1, .wc = IBV_WC_RECV, .len = 5 },
		},
	},
	{
		.name = "send-second-stag-differs", .ids = "5041-4.3-6",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 5, .more = true, .hit = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 5, .inv_x = 77, .hit = true },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 10 },
		},
	},
	{
		.name = "send-queue-5", .ids = "5041-7.1-2 5040-7.2-1 5040-7.1-3 5041-7.1-20 5041-7.1-21 5041-7.2-1 5040-4.8-27 5040-4.8-14 5040-4.8-15",
		RP_ONE_REFUSED(0x1201, RP_DDP, .op = KWRAW_SEND, .len = 16, .qn_x = 5),
	},
	{
		.name = "send-queue-max", .ids = "5041-7.1-2 5040-7.2-1 5040-7.1-3 5041-7.1-20 5041-7.1-21 5041-7.2-1 5040-4.8-27 5040-4.8-14 5040-4.8-15",
		RP_ONE_REFUSED(0x1201, RP_DDP, .op = KWRAW_SEND, .len = 16, .qn_x = 0xffffffff),
	},
	{
		.name = "send-queue-4", .ids = "5041-7.1-2 5040-7.2-1 5040-7.1-3 5041-7.1-20 5041-7.1-21 5041-7.2-1 5040-4.8-27 5040-4.8-14 5040-4.8-15",
		RP_ONE_REFUSED(0x1201, RP_DDP, .op = KWRAW_SEND, .len = 16, .qn_x = 4),
	},
	{
		.name = "send-no-buffer", .ids = "5041-7.1-3 5041-7.1-7 5041-1.2-5",
		.no_recvs = true,
		RP_ONE_REFUSED(0x1202, RP_DDP, .op = KWRAW_SEND, .len = 16),
	},
	{
		.name = "send-zero-no-buffer", .ids = "5041-7.1-3 5040-5.3-14",
		.no_recvs = true,
		RP_ONE_REFUSED(0x1202, RP_DDP, .op = KWRAW_SEND, .len = 0),
	},
	{
		.name = "send-buffers-used-up", .ids = "5041-7.1-3 5041-7.1-11 5042-6.4.3.1-3",
		.recvs = { 64 },
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 64, .hit = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 64 },
			{ RP_TERM, .err = 0x1202, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 64 },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-buffer-posted-late", .ids = "5041-7.1-11",
		.recvs = { 64 },
		.steps = {
			{ RP_SEND, .len = 64 },
			{ RP_RECV, .len = 70 },
			{ RP_SEND, .len = 70, .wr = 1 },
		},
	},
	{
		.name = "send-msn-zero", .ids = "5041-7.1-10 5041-4.3-12 5041-4.3-13",
		RP_ONE_REFUSED(0x1203, RP_DDP, .op = KWRAW_SEND, .len = 16, .msn_d = -1),
	},
	{
		.name = "send-msn-skipped", .ids = "5041-7.1-10 5041-4.3-12 5041-4.3-13",
		RP_ONE_REFUSED(0x1203, RP_DDP, .op = KWRAW_SEND, .len = 16, .msn_d = 1),
	},
	{
		.name = "send-msn-far", .ids = "5041-7.1-10 5041-4.3-12 5041-4.3-13",
		RP_ONE_REFUSED(0x1203, RP_DDP, .op = KWRAW_SEND, .len = 16, .msn_d = 0x7fffffff),
	},
	{
		.name = "send-msn-repeated", .ids = "5041-7.1-10 5041-5.3-6",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .hit = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .msn_d = -1 },
			{ RP_WC, .wr = 0, .wc = IBV_WC_RECV, .len = 16 },
			{ RP_REFUSED, .err = 0x1203, .headers = RP_DDP },
		},
	},
	{
		.name = "send-msn-changes", .ids = "5041-4.3-15 5041-7.1-10",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .msn_d = 1 },
			{ RP_REFUSED, .err = 0x1203, .headers = RP_DDP },
		},
	},
	{
		.name = "send-zero-msn", .ids = "5041-7.1-10",
		RP_ONE_REFUSED(0x1203, RP_DDP, .op = KWRAW_SEND, .len = 0, .msn_d = 5),
	},
	{
		.name = "send-mo-not-zero", .ids = "5041-7.1-8 5041-4.3-18",
		RP_ONE_REFUSED(0x1204, RP_DDP, .op = KWRAW_SEND, .len = 16, .mo_d = 1),
	},
	{
		.name = "send-mo-gap", .ids = "5041-7.1-8 5041-5.2-7",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .mo_d = 4 },
			{ RP_REFUSED, .err = 0x1204, .headers = RP_DDP },
		},
	},
	{
		.name = "send-mo-back", .ids = "5041-7.1-8 5041-5.2-7",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .more = true, .maybe = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .mo_d = -1 },
			{ RP_REFUSED, .err = 0x1204, .headers = RP_DDP },
		},
	},
	{
		.name = "send-mo-outside", .ids = "5041-7.1-8",
		RP_ONE_REFUSED(0x1204, RP_DDP, .op = KWRAW_SEND, .len = 16, .mo_d = 600),
	},
	{
		.name = "send-mo-max", .ids = "5041-7.1-8 5042-D-2",
		RP_ONE_REFUSED(0x1204, RP_DDP, .op = KWRAW_SEND, .len = 16, .mo_d = -1),
	},
	{
		.name = "send-too-long", .ids = "5040-5.4-2 5040-5.4-3 5040-5.4-4 5041-7.1-9 5041-1.2-2 5041-7.1-1 5041-7.1-19 5040-5.3-6 5040-3.2-5",
		.recvs = { 100, 100 },
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 101 },
			{ RP_TERM, .err = 0x1205, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_LOC_LEN_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-much-too-long", .ids = "5041-7.1-9 5042-6.2.1-1",
		.recvs = { 100, 100 },
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 30000 },
			{ RP_TERM, .err = 0x1205, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_LOC_LEN_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-too-long-later", .ids = "5041-7.1-9 5041-7.1-1 5040-3.1-10",
		.recvs = { 100, 100 },
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 100, .more = true, .maybe = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 1 },
			{ RP_TERM, .err = 0x1205, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_LOC_LEN_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-ddp-version-0", .ids = "5041-4.1-13 5041-6.2.2-3 5044-C.1-1",
		RP_ONE_REFUSED(0x1206, RP_DDP, .op = KWRAW_SEND, .len = 16, .dv_x = 1),
	},
	{
		.name = "send-ddp-version-2", .ids = "5041-4.1-13 5041-6.2.2-3 5044-C.1-1",
		RP_ONE_REFUSED(0x1206, RP_DDP, .op = KWRAW_SEND, .len = 16, .dv_x = 3),
	},
	{
		.name = "send-ddp-version-3", .ids = "5041-4.1-13 5041-6.2.2-3 5044-C.1-1",
		RP_ONE_REFUSED(0x1206, RP_DDP, .op = KWRAW_SEND, .len = 16, .dv_x = 2),
	},
	{
		.name = "send-first-error", .ids = "5040-7.1-7 5041-7.1-22 5044-8-10",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .msn_d = 1, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .qn_x = 5 },
			{ RP_REFUSED, .err = 0x1203, .headers = RP_DDP, .of = 1 },
		},
	},
	{
		.name = "send-dropped-after-error", .ids = "5041-7.1-22 5041-3-10 5040-7-3 5044-8-10",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .qn_x = 5, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 16, .msn_d = -1, .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16 },
			{ RP_REFUSED, .err = 0x1201, .headers = RP_DDP, .of = 2 },
		},
	},
	{
		.name = "send-after-write", .ids = "5040-5.5-13 5041-5.4-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 1000, .hit = true,
			  .hold = true },
			{ RP_SEND, .len = 4 },
		},
	},
	{
		.name = "send-inv-unknown", .ids = "5040-7.2-4 5040-7.1-3 5042-6.1.1-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv_x = 0x00123456,
			  .maybe = true },
			{ RP_TERM, .err = 0x0100, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-inv-dead", .ids = "5040-7.2-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_DEAD, .maybe = true },
			{ RP_TERM, .err = 0x0100, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-inv-wrong-key", .ids = "5040-7.2-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_RW, .inv_x = 1,
			  .maybe = true },
			{ RP_TERM, .err = 0x0100, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-inv-other-pd", .ids = "5040-7.2-5 5040-5.3-17 5040-5.3-19 5042-6.1.1-2 5040-8.1.1-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_PD, .maybe = true },
			{ RP_TERM, .err = 0x0109, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-inv-shared", .ids = "5040-8.1.1-7 5040-5.3-19",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_INV, .len = 16, .inv = KWT_RW, .maybe = true },
			{ RP_TERM, .err = 0x0109, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-inv-local", .ids = "5040-5.3-19",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_SE_INV, .len = 16, .inv = KWT_LO,
			  .maybe = true },
			{ RP_TERM, .err = 0x0109, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "send-inv-zero-length", .ids = "5040-7.2-4 5040-5.3-17",
		.steps = {
			{ RP_SEG, .op = KWRAW_SEND_SE_INV, .inv_x = 0x00123456 },
			{ RP_TERM, .err = 0x0100, .headers = RP_DDP },
			{ RP_WC, .wr = 0, .status = IBV_WC_REM_INV_REQ_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{ .name = NULL }
};
