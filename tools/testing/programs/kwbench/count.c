// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbench is a benchmark: the rate or latency of one kind of traffic between two processes. This
 * file: operations that carry a number and are counted at both ends: Writes with immediate data,
 * and atomic operations. In the end the client sends its count in a note (struct kb_note).
 */
#include "kwbench.h"

#include <arpa/inet.h>
#include <inttypes.h>

/*
 * Count a received operation if its immediate data is the next number. After a gap none is counted
 * any more, so the final count shows the place of the gap.
 */
void kb_hear(struct kb_run *run, struct kb_qp *qp, const struct ibv_wc *wc)
{
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc->wc_flags & IBV_WC_WITH_IMM &&
	    ntohl(wc->imm_data) == (uint32_t)qp->heard && wc->byte_len == run->cfg.size)
		qp->heard++;
}

void kb_check_values(const struct kb_run *run)
{
	const struct kb_qp *qp;
	uint64_t value;

	for (qp = run->qp; qp < run->qp + run->qps; qp++) {
		value = *kb_word(run, qp, run->mem);
		if (qp->posted && value != qp->posted - 1)
			kw_die(KW_MISMATCH, "atomic operation %" PRIu64 " brought back %" PRIu64,
			       qp->posted - 1, value);
	}
}

void kb_answer_note(struct kb_run *run, struct kb_qp *qp)
{
	uint64_t count = qp->heard;

	if (kb_is_atomic(&run->cfg))
		count = __atomic_load_n(kb_word(run, qp, kb_sink(run)), __ATOMIC_ACQUIRE);
	if (count != run->notes[KB_IN].count)
		kw_say("of %" PRIu64 " operations %" PRIu64 " have come as they should",
		       run->notes[KB_IN].count, count);
	run->notes[KB_OUT].count = count;
	kb_post(run, qp, IBV_WR_SEND, KB_NOTE, sizeof(run->notes[KB_OUT]), true);
}

void kb_check_note(const struct kb_run *run, const struct kb_qp *qp)
{
	bool echoed = run->cfg.op == KB_WRITE_IMM && run->cfg.flags & KB_LATENCY;
	uint64_t theirs = run->notes[KB_IN].count;

	if (theirs != qp->posted)
		kw_die(KW_MISMATCH, "of %" PRIu64 " operations the server has %" PRIu64
		       " as they should be", qp->posted, theirs);
	if (echoed && qp->heard != qp->posted)
		kw_die(KW_MISMATCH, "of %" PRIu64 " answers %" PRIu64 " are as they should be",
		       qp->posted, qp->heard);
}
