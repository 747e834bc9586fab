// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwrawpeer: cases. Atomic operations (RFC 7306 section 5) that the consumer posts, so that the
 * device is the requester.
 */
#include "runner/atomic.h"
#include "runner/start.h"

static void wrong_lengths(struct rp *r);

/* Steps after which an atomic operation of the consumer waits for its Response. */
static const struct rp_step adding[] = {
	{ RP_SEG, .op = KWRAW_WRITE },
	{ RP_POST, POST_ADD(5), .at = KWT_SINK, .off = 40 },
	{ RP_GET, ADD(5), .at = KWT_SINK, .off = 40 },
	{ .what = RP_DONE },
};

const struct rp_case rp_cases_atomic_post[] = {
	{
		.name = "atomic-post-add", .ids = "7306-5.2.1-1 7306-5.2.1-7 7306-5.2.1-8 7306-5.2.1-13 7306-5.2-1 7306-4.1-1 7306-4.1-2 7306-4.1-3 7306-4.1-5 7306-4.1-7 7306-4.2-1 7306-5.1.1-7 7306-5.2.2-6 7306-5.4-8 7306-D-1",
		.first = adding,
		.steps = {
			{ RP_NO_WC },
			{ RP_SEG, RESP, .word = 0x1122334455667788, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_FETCH_ADD },
		},
	},
	{
		.name = "atomic-post-swap", .ids = "7306-5.2.1-1 7306-5.2.2-6 7306-5.4-8 7306-5.4-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, POST_SWAP(41, 0xfedcba9876543210), .at = KWT_SINK,
			  .off = ALIGNED(0x11003) },
			{ RP_GET, SWAP(41, 0xfedcba9876543210), .at = KWT_SINK,
			  .off = ALIGNED(0x11003) },
			{ RP_NO_WC },
			{ RP_SEG, RESP, .word = 41, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_COMP_SWAP },
		},
	},
	{
		.name = "atomic-post-all", .ids = "7306-5.2.2-5 7306-5-6 7306-5.2.1-14 7306-5.4-8",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, POST_ADD(1), .at = KWT_SINK, .off = 0 },
			{ RP_POST, POST_ADD(2), .at = KWT_SINK, .off = 20 },
			{ RP_POST, POST_ADD(3), .at = KWT_SINK, .off = 40 },
			{ RP_POST, POST_ADD(4), .at = KWT_SINK, .off = 60 },
			{ RP_GET, ADD(1), .at = KWT_SINK, .off = 0 },
			{ RP_GET, ADD(2), .at = KWT_SINK, .off = 20 },
			{ RP_GET, ADD(3), .at = KWT_SINK, .off = 40 },
			{ RP_GET, ADD(4), .at = KWT_SINK, .off = 60 },
			{ RP_SEG, RESP, .word = 100, .hit = true, .hold = true },
			{ RP_SEG, RESP, .word = 101, .hit = true, .hold = true },
			{ RP_SEG, RESP, .word = 102, .hit = true, .hold = true },
			{ RP_SEG, RESP, .word = 103, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_FETCH_ADD },
			{ RP_WC, .wr = 101, .wc = IBV_WC_FETCH_ADD },
			{ RP_WC, .wr = 102, .wc = IBV_WC_FETCH_ADD },
			{ RP_WC, .wr = 103, .wc = IBV_WC_FETCH_ADD },
		},
	},
	{
		.name = "atomic-post-with-reads", .ids = "7306-5.2-1 7306-5.2.1-14 7306-5.2-3",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 100 },
			{ RP_POST, POST_ADD(1), .at = KWT_SINK, .off = 200 },
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .off = 300,
			  .len = 50 },
			{ RP_POST, POST_SWAP(2, 3), .at = KWT_SINK, .off = 400 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .size = 100 },
			{ RP_GET, ADD(1), .at = KWT_SINK, .off = 200 },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .off = 300, .size = 50 },
			{ RP_GET, SWAP(2, 3), .at = KWT_SINK, .off = 400 },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 100, .hit = true },
			{ RP_SEG, RESP, .word = 7, .hit = true },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 50, .hit = true },
			{ RP_SEG, RESP, .word = 8, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_RDMA_READ },
			{ RP_WC, .wr = 101, .wc = IBV_WC_FETCH_ADD },
			{ RP_WC, .wr = 102, .wc = IBV_WC_RDMA_READ },
			{ RP_WC, .wr = 103, .wc = IBV_WC_COMP_SWAP },
		},
	},
	{
		.name = "atomic-post-ord", .ids = "7306-5.2-3",
		.ord = 1, .first = adding,
		.steps = {
			{ RP_POST, .verb = IBV_WR_RDMA_READ, .at = KWT_SINK, .len = 50 },
			{ RP_QUIET },
			{ RP_SEG, RESP, .word = 7, .hit = true },
			{ RP_GET, .op = KWRAW_READ_REQ, .at = KWT_SINK, .size = 50 },
			{ RP_POST, POST_ADD(1), .at = KWT_SINK, .off = 200 },
			{ RP_QUIET },
			{ RP_SEG, .op = KWRAW_READ_RESP, .len = 50, .hit = true },
			{ RP_GET, ADD(1), .at = KWT_SINK, .off = 200 },
			{ RP_SEG, RESP, .word = 8, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_FETCH_ADD },
			{ RP_WC, .wr = 101, .wc = IBV_WC_RDMA_READ },
			{ RP_WC, .wr = 102, .wc = IBV_WC_FETCH_ADD },
		},
	},
	{
		.name = "atomic-post-fence", .ids = "7306-5.4-1",
		.first = adding,
		.steps = {
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 32,
			  .flags = IBV_SEND_FENCE },
			{ RP_QUIET },
			{ RP_SEG, RESP, .word = 7, .hit = true },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 32 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_FETCH_ADD },
			{ RP_WC, .wr = 101, .wc = IBV_WC_SEND },
		},
	},
	{
		.name = "atomic-post-then-others", .ids = "7306-5.4-8 7306-7-4",
		.first = adding,
		.steps = {
			{ RP_POST, .verb = IBV_WR_SEND, .at = KWT_SRC, .len = 32 },
			{ RP_POST, .verb = IBV_WR_RDMA_WRITE_WITH_IMM, .at = KWT_SRC, .len = 9 },
			{ RP_GET, .op = KWRAW_SEND, .at = KWT_SRC, .len = 32 },
			{ RP_GET, .op = KWRAW_WRITE, .at = KWT_SRC, .len = 9 },
			{ RP_GET, .op = KWRAW_IMM },
			{ RP_NO_WC },
			{ RP_SEG, RESP, .word = 7, .hit = true },
			{ RP_WC, .wr = 100, .wc = IBV_WC_FETCH_ADD },
			{ RP_WC, .wr = 101, .wc = IBV_WC_SEND },
			{ RP_WC, .wr = 102, .wc = IBV_WC_RDMA_WRITE },
		},
	},
	{
		.name = "atomic-post-without-place", .ids = "7306-5.2-3 7306-8.1-1",
		.no_place = true,
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, POST_ADD(1), .at = KWT_SINK },
			{ RP_TERM, .err = 0x0000 },
			{ RP_WC, .wr = 100, .status = IBV_WC_LOC_QP_OP_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "atomic-post-foreign-memory", .ids = "7306-D-7 7306-8.1-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, POST_ADD(1), .at = KWT_PD },
			{ RP_TERM, .err = 0x0000 },
			{ RP_WC, .wr = 100, .status = IBV_WC_LOC_PROT_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "atomic-post-no-write", .ids = "7306-D-7 7306-8.1-1",
		.steps = {
			{ RP_SEG, .op = KWRAW_WRITE },
			{ RP_POST, POST_ADD(1), .at = KWT_RO },
			{ RP_TERM, .err = 0x0000 },
			{ RP_WC, .wr = 100, .status = IBV_WC_LOC_PROT_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "atomic-response-junk", .ids = "7306-4.1-4 7306-4.1-7",
		.first = adding,
		.steps = {
			{ RP_SEG, RESP, .word = 7, .hit = true, .inv = KWT_RW, .rsvd = 0xf,
			  .rdmap_rsvd = 3 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_FETCH_ADD },
		},
	},
	{
		.name = "atomic-response-id", .ids = "7306-5.2.2-7",
		.first = adding,
		RP_ONE_REFUSED(0x0207, RP_DDP, RESP, .id_x = 1),
	},
	{
		.name = "atomic-response-lengths", .ids = "7306-5.2.2-7 7306-4.1-6",
		.first = adding, .run = wrong_lengths,
	},
	{
		.name = "atomic-response-not-last", .ids = "7306-4.1-6",
		.first = adding,
		RP_ONE_REFUSED(0x0207, RP_DDP, RESP, .more = true),
	},
	{
		.name = "atomic-response-unsolicited", .ids = "7306-5.2.2-7",
		RP_ONE_REFUSED(0x1202, RP_DDP, RESP),
	},
	{
		.name = "atomic-response-to-read", .ids = "7306-5.2.2-7",
		.first = rp_reading,
		RP_ONE_REFUSED(0x1202, RP_DDP, RESP),
	},
	{
		.name = "atomic-response-behind-read", .ids = "7306-5.2.2-7",
		.first = rp_reading,
		.steps = {
			{ RP_POST, POST_ADD(1), .at = KWT_SINK, .off = 200 },
			{ RP_GET, ADD(1), .at = KWT_SINK, .off = 200 },
			{ RP_SEG, RESP },
			{ RP_REFUSED, .err = 0x1202, .headers = RP_DDP },
		},
	},
	{
		.name = "atomic-response-twice", .ids = "7306-5.2.2-7",
		.first = adding,
		.steps = {
			{ RP_SEG, RESP, .word = 7, .hit = true, .hold = true },
			{ RP_SEG, RESP, .word = 8 },
			{ RP_WC, .wr = 100, .wc = IBV_WC_FETCH_ADD },
			{ RP_REFUSED, .err = 0x1202, .headers = RP_DDP },
		},
	},
	{
		.name = "atomic-response-sink-deregistered", .ids = "7306-5.2.2-7 7306-D-7",
		.first = adding,
		.steps = {
			{ RP_DEREG, .at = KWT_SINK },
			{ RP_SEG, RESP },
			{ RP_TERM, .err = 0x0000 },
			{ RP_WC, .wr = 100, .status = IBV_WC_LOC_PROT_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "atomic-response-of-read", .ids = "7306-5.2.2-7",
		.first = adding,
		RP_ONE_REFUSED(0x0206, RP_DDP, .op = KWRAW_READ_RESP, .at = KWT_SINK, .off = 40,
			       .len = 8),
	},
	{
		.name = "atomic-response-msn-skipped", .ids = "7306-5.2.2-7 7306-8.2-1",
		.first = adding,
		RP_ONE_REFUSED(0x1203, RP_DDP, RESP, .msn_d = 1),
	},
	{
		.name = "atomic-response-msn-zero", .ids = "7306-5.2.2-7 7306-8.2-1",
		.first = adding,
		RP_ONE_REFUSED(0x1203, RP_DDP, RESP, .msn_d = -1),
	},
	{
		.name = "atomic-response-mo", .ids = "7306-8.2-1",
		.first = adding,
		RP_ONE_REFUSED(0x1204, RP_DDP, RESP, .mo_d = 4),
	},
	{
		.name = "atomic-response-tagged", .ids = "7306-4.1-5",
		.first = adding,
		RP_ONE_REFUSED(0x0206, RP_DDP, RESP, .t_x = true, .at = KWT_SINK),
	},
	{
		.name = "atomic-response-on-queue-0", .ids = "7306-4.1-5",
		.first = adding,
		RP_ONE_REFUSED(0x0206, RP_DDP, RESP, .qn_x = 3),
	},
	{
		.name = "atomic-response-on-queue-1", .ids = "7306-4.1-5",
		.first = adding,
		RP_ONE_REFUSED(0x0206, RP_DDP, RESP, .qn_x = 2),
	},
	{
		.name = "atomic-response-ddp-version", .ids = "7306-8.2-1",
		.first = adding,
		RP_ONE_REFUSED(0x1206, RP_DDP, RESP, .dv_x = 1),
	},
	{
		.name = "atomic-response-rdmap-version", .ids = "7306-8.2-3",
		.first = adding,
		RP_ONE_REFUSED(0x0205, RP_DDP, RESP, .rv_x = 1),
	},
	{
		.name = "atomic-refused-access", .ids = "7306-8.1-2",
		.first = adding,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x0102, .headers = RP_DDP,
			  .about = KWRAW_ATOMIC_REQ, .about_msn = 1 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_WC, .wr = 100, .status = IBV_WC_REM_ACCESS_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "atomic-refused-operation", .ids = "7306-8.1-2 7306-1.1-4",
		.first = adding,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x0207, .headers = RP_DDP,
			  .about = KWRAW_ATOMIC_REQ, .about_msn = 1 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_WC, .wr = 100, .status = IBV_WC_REM_OP_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "atomic-refused-second", .ids = "7306-8.1-2",
		.first = adding,
		.steps = {
			{ RP_POST, POST_SWAP(1, 2), .at = KWT_SINK, .off = 80 },
			{ RP_GET, SWAP(1, 2), .at = KWT_SINK, .off = 80 },
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x0101, .headers = RP_DDP,
			  .about = KWRAW_ATOMIC_REQ, .about_msn = 2 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_WC, .wr = 100, .status = IBV_WC_WR_FLUSH_ERR },
			{ RP_WC, .wr = 101, .status = IBV_WC_REM_ACCESS_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "atomic-refused-unknown", .ids = "7306-8.1-2",
		.first = adding,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x0101, .headers = RP_DDP,
			  .about = KWRAW_ATOMIC_REQ, .about_msn = 7 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_WC, .wr = 100, .status = IBV_WC_WR_FLUSH_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{
		.name = "read-refused-by-msn", .ids = "7306-8.1-2",
		.first = rp_reading,
		.steps = {
			{ RP_SEG, .op = KWRAW_TERMINATE, .err = 0x0101, .headers = RP_DDP,
			  .about = KWRAW_READ_REQ, .about_msn = 1 },
			{ RP_EVENT, .event = IBV_EVENT_QP_REQ_ERR },
			{ RP_WC, .wr = 100, .status = IBV_WC_REM_ACCESS_ERR },
			{ RP_END, .end = RP_BY_FIN },
		},
	},
	{ .name = NULL }
};

/* Send Atomic Responses whose RDMAP part does not have 12 octets. The device must refuse each. */
static void wrong_lengths(struct rp *r)
{
	static const int cuts[] = { 12, 8, 4, 1, -1, -4, -8, -500 };
	struct rp_step response = { RP_SEG, RESP };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cuts); i++) {
		response.cut = cuts[i];
		rp_refused(r, &response, 0x0207, "octets left away", cuts[i]);
	}
}
