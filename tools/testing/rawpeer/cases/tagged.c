// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Tagged segments that the device receives (DDP, RFC 5041), most of them of RDMA
 * Writes.
 */
#include "runner/case.h"

const struct rp_case rp_cases_tagged[] = {
	{
		.name = "write", .ids = "5041-4.1-1 5041-4.2-14 5041-5.1.1-1 5040-5.1-3 5040-5.1-5 5040-5.1-6 5041-4.2-4",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 100, .off = 4001,
			  .hit = true },
			{ RP_NO_WC },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-region", .ids = "5041-7.1-16 5041-7.1-17 5040-5.1-6",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 20000, .hit = true },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-ends", .ids = "5041-8.3.1-4 5041-7.1-16 5041-7.1-17 5042-6.2.1-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WO, .len = 1, .hit = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WO, .len = 1, .off = 4999,
			  .hit = true },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-one-octet-region", .ids = "5042-6.2.1-2 5041-8.1-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_ONE, .len = 1, .hit = true },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-iova", .ids = "5041-4.2-14 5041-8.3-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_IOVA, .len = 3000, .hit = true },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-segments", .ids = "5041-5.2-5 5041-5.2-8 5041-4.2-14",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 500, .hit = true,
			  .more = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 1500, .off = 500,
			  .hit = true, .more = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 3, .off = 2000,
			  .hit = true },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-again", .ids = "5041-5.1.1-2 5041-1.2-7 5040-1.2-5",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 64, .hit = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 64, .off = 8,
			  .hit = true },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-reserved-bits", .ids = "5041-4.1-11 5040-4.1-11",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 64, .hit = true,
			  .rsvd = 0xf, .rdmap_rsvd = 3 },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-zero-junk", .ids = "5041-5.2-13 5041-5.2-14 6581-9.2-24",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_NONE, .len = 0,
			  .stag_x = 0xffffffff, .to = ~0ULL },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-zero-read-only", .ids = "5041-5.2-14",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RO, .len = 0 },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-zero-not-last", .ids = "5041-4.4-2 5041-7.1-13",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 0, .more = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .hit = true },
			{ RP_SEND, .len = 1 },
		},
	},
	{
		.name = "write-zero-not-last-then-bad", .ids = "5041-7.1-13 5041-7.1-14",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 0, .more = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_DEAD, .len = 16 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		},
	},
	{
		.name = "write-zero-junk-not-last", .ids = "5041-7.1-13",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_NONE, .len = 0,
			  .stag_x = 0x77777700, .more = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_NONE, .len = 16,
			  .stag_x = 0x77777700 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		},
	},
	{
		.name = "write-stag-key", .ids = "5041-7.1-14 5041-4.2-7 5042-5.1.1-1 5041-8.3-5 5040-5.1-4 5040-3.2-10 5040-7.1-3 5040-7.2-1",
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16,
			       .stag_x = 1),
	},
	{
		.name = "write-stag-index", .ids = "5041-7.1-14 5041-4.2-7 5042-5.1.1-1 5041-8.3-5 5040-5.1-4 5040-3.2-10 5040-7.1-3 5040-7.2-1",
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16,
			       .stag_x = 0x00010000),
	},
	{
		.name = "write-stag-zero", .ids = "5041-7.1-14 5041-4.2-7 5042-5.1.1-1 5041-8.3-5 5040-5.1-4 5040-3.2-10 5040-7.1-3 5040-7.2-1",
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_WRITE, .at = KWT_NONE, .len = 16),
	},
	{
		.name = "write-stag-max", .ids = "5041-7.1-14 5041-4.2-7 5042-5.1.1-1 5041-8.3-5 5040-5.1-4 5040-3.2-10 5040-7.1-3 5040-7.2-1",
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_WRITE, .at = KWT_NONE, .len = 16,
			       .stag_x = 0xffffffff),
	},
	{
		.name = "write-stag-dead", .ids = "5041-7.1-14 5041-4.2-7 5042-5.1.1-1 5041-8.3-5 5040-5.1-4 5040-3.2-10 5040-7.1-3 5040-7.2-1",
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_WRITE, .at = KWT_DEAD, .len = 16),
	},
	{
		.name = "write-stag-deregistered", .ids = "5041-8.3.1-4 5041-8.3.1-6 5040-8.1.1-6 5042-6.2.2-2",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .hit = true },
			{ RP_SEND, .len = 1 },
			{ RP_DEREG, .at = KWT_RW },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		},
	},
	{
		.name = "write-other-pd", .ids = "5041-8.2-1 5041-8.3.1-1 5041-7.1-14 5041-2.3-3 5040-8.1.1-1 5042-6.1.1-2 5042-2.2.4-1",
		RP_ONE_REFUSED(0x1102, RP_DDP, .op = KWRAW_WRITE, .at = KWT_PD, .len = 16),
	},
	{
		.name = "write-read-only", .ids = "5041-7.1-15 5040-8.1.1-5 5041-8.3.1-5",
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RO, .len = 16),
	},
	{
		.name = "write-without-rights", .ids = "5041-7.1-15 5040-8.1.1-5",
		.no_rights = true,
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16),
	},
	{
		.name = "write-local-only", .ids = "5041-7.1-15 5040-8.1.1-5",
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_WRITE, .at = KWT_LO, .len = 16),
	},
	{
		.name = "write-receive-buffer", .ids = "5041-7.1-15",
		RP_ONE_REFUSED(0x1100, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RECV, .len = 16),
	},
	{
		.name = "write-bounds-before", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_WO, .len = 1,
			       .off = -1),
	},
	{
		.name = "write-bounds-across-begin", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_WO, .len = 2,
			       .off = -1),
	},
	{
		.name = "write-bounds-behind", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_WO, .len = 1,
			       .off = 5000),
	},
	{
		.name = "write-bounds-across-end", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_WO, .len = 2,
			       .off = 4999),
	},
	{
		.name = "write-bounds-longer", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_WO, .len = 5001),
	},
	{
		.name = "write-bounds-far-before", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_WO, .len = 16,
			       .off = -100000),
	},
	{
		.name = "write-bounds-far-behind", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_WO, .len = 16,
			       .off = 0x7000000),
	},
	{
		.name = "write-bounds-one-before", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_ONE, .len = 1,
			       .off = -1),
	},
	{
		.name = "write-bounds-one-behind", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_ONE, .len = 1,
			       .off = 1),
	},
	{
		.name = "write-bounds-one-longer", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_ONE, .len = 2),
	},
	{
		.name = "write-bounds-address", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_IOVA, .len = 1,
			       .off = 3000),
	},
	{
		.name = "write-bounds-to-zero", .ids = "5041-7.1-16 5041-7.1-17 5041-7.1-13 5041-7.1-19 5041-8.3.1-3 5040-8.1.1-3 5042-6.2.1-1",
		RP_ONE_REFUSED(0x1101, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .to = 1),
	},
	{
		.name = "write-bounds-second-segment", .ids = "5041-7.1-13 5042-6.2.1-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WO, .len = 4000, .more = true,
			  .hit = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WO, .len = 1001, .off = 4000 },
			{ RP_REFUSED, .err = 0x1101, .headers = RP_DDP },
		},
	},
	{
		.name = "write-stag-second-segment", .ids = "5041-7.1-13 5041-4.2-11",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_WO, .len = 100, .more = true,
			  .hit = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RO, .len = 100, .off = 100 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP },
		},
	},
	{
		.name = "write-wrap-by-one", .ids = "5041-7.1-18 5041-7.2-1 5040-7.2-1",
		RP_ONE_REFUSED(0x1103, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 1,
			       .to = ~0ULL),
	},
	{
		.name = "write-wrap-by-two", .ids = "5041-7.1-18 5041-7.2-1 5040-7.2-1",
		RP_ONE_REFUSED(0x1103, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 2,
			       .to = ~0ULL),
	},
	{
		.name = "write-wrap-by-four", .ids = "5041-7.1-18 5041-7.2-1 5040-7.2-1",
		RP_ONE_REFUSED(0x1103, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 8,
			       .to = 0xfffffffffffffffcULL),
	},
	{
		.name = "write-wrap-long", .ids = "5041-7.1-18 5041-7.2-1 5040-7.2-1",
		RP_ONE_REFUSED(0x1103, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 20000,
			       .to = 0xffffffffffffff00ULL),
	},
	{
		.name = "write-ddp-version-0", .ids = "5041-4.1-13 5041-6.2.2-3 5040-7.2-1",
		RP_ONE_REFUSED(0x1104, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16,
			       .dv_x = 1),
	},
	{
		.name = "write-ddp-version-2", .ids = "5041-4.1-13 5041-6.2.2-3 5040-7.2-1",
		RP_ONE_REFUSED(0x1104, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16,
			       .dv_x = 3),
	},
	{
		.name = "write-ddp-version-3", .ids = "5041-4.1-13 5041-6.2.2-3 5040-7.2-1",
		RP_ONE_REFUSED(0x1104, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16,
			       .dv_x = 2),
	},
	{
		.name = "write-zero-ddp-version", .ids = "5041-4.1-13",
		RP_ONE_REFUSED(0x1104, RP_DDP, .op = KWRAW_WRITE, .at = KWT_RW, .len = 0,
			       .dv_x = 1),
	},
	{
		.name = "write-first-error", .ids = "5040-7.1-7",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_DEAD, .len = 16, .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_PD, .len = 16 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP, .of = 1 },
		},
	},
	{
		.name = "write-dropped-after-error", .ids = "5041-7.1-22",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_DEAD, .len = 16, .hold = true },
			{ RP_SEG, .op = KWRAW_WRITE, .at = KWT_RW, .len = 16, .hold = true },
			{ RP_SEG, .op = KWRAW_SEND, .len = 16 },
			{ RP_REFUSED, .err = 0x1100, .headers = RP_DDP, .of = 2 },
		},
	},
	{ .name = NULL }
};
