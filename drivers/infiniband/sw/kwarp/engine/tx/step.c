// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One round of the runner: fill a batch with FPDUs of the messages that are to be sent next
 * (fill_batch()), and pass it to TCP (push_batch()). Context of all functions: the runner.
 */
#include "tx.h"

#include "../../door.h"
#include "../../proto/mpa_frame.h"
#include "../../trace.h"
#include "../fail.h"
#include "../tcp.h"

static bool lost_completion(const struct kwarp_engine *e)
{
	return READ_ONCE(e->sq->cq->overflow) && !test_bit(KWARP_E_FAILED, &e->flags);
}

/*
 * A quick check after a batch: is there certainly nothing to send, and nothing to report? Then the
 * runner need not look for the next message.
 */
static bool nothing_left(const struct kwarp_engine *e)
{
	const unsigned long busy = BIT(KWARP_E_DEAD) | BIT(KWARP_E_FAILED) |
				   BIT(KWARP_E_TX_TERM) | BIT(KWARP_E_TX_DRAIN) |
				   BIT(KWARP_E_TX_ANNOUNCE);

	return !e->tx.msg.kind && !e->tx.rtr && !(READ_ONCE(e->flags) & busy) &&
	       kwarp_sq_empty(e->sq) && kwarp_readq_empty(&e->iread) && !lost_completion(e);
}

static enum kwarp_tx_result push_batch(struct kwarp_engine *e)
{
	const u32 octets = e->tx.batch.len;
	int ret = kwarp_batch_send(&e->tx.batch, e->sock, e->tx.in_socket);

	trace_kwarp_tx_batch(e->ibqp, octets, ret, e->tx.sq_end);
	if (ret == -EAGAIN)
		return KWARP_TX_BLOCKED;
	if (ret == -ENOBUFS)
		return KWARP_TX_NO_MEMORY;
	if (ret) {
		kwarp_batch_reset(&e->tx.batch);
		set_bit(KWARP_E_TX_STOP, &e->flags);
		e->ops->event(e, KWARP_QPE_LOST);
		return KWARP_TX_IDLE;
	}
	e->stats.s.tx.batches++;
	if (kwarp_sq_sent(e->sq, e->tx.sq_end) || !nothing_left(e))
		return KWARP_TX_MORE;
	kwarp_batch_idle(&e->tx.batch);
	return KWARP_TX_IDLE;
}

static noinline __cold bool is_hit(struct kwarp_engine *e)
{
	enum kwarp_perr perr;
	u32 ms;

	if (e->tx.msg.kind != KWARP_TXK_SQ && e->tx.msg.kind != KWARP_TXK_ANSWER)
		return false;
	ms = kwarp_engine_fault(e, KWARP_FAULT_STALL);
	if (ms) {
		e->tx.stalled = (jiffies + msecs_to_jiffies(ms)) ?: 1;
		return true;
	}
	perr = kwarp_engine_hit(e, KWARP_REFUSED_REQUEST);
	if (perr != KWARP_PERR_NONE)
		kwarp_engine_fail(e, perr, NULL, 0, NULL);
	return perr != KWARP_PERR_NONE;
}

static noinline __cold bool is_stalled(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;

	if (tx->stalled && (time_after_eq(jiffies, tx->stalled) ||
			    !kwarp_engine_fault_lasts(e, KWARP_FAULT_STALL)))
		tx->stalled = 0;
	return tx->stalled;
}

static void fill_batch(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	/* After memory was short, get enough for at least one FPDU (see kwarp_tx_step()). */
	u32 want = tx->no_memory ? KWARP_BATCH_FRAG_SURE : 1;

	tx->no_memory = false;
	while (!tx->batch.len || tx->batch.len < tx->batch.goal) {
		bool answer;

		if (!tx->msg.kind) {
			if (!kwarp_tx_pick(e))
				return;
			if (kwarp_faults_on() && is_hit(e))
				return;
		}
		if (!tx->batch.len)
			kwarp_batch_prefill(&tx->batch, want, !tx->in_socket);
		answer = tx->msg.kind == KWARP_TXK_ANSWER;
		if (!kwarp_tx_build_series(e) && !kwarp_tx_build(e))
			return;
		tx->answered |= answer;
	}
}

/*
 * May FPDUs be longer than a TCP segment? With markers they may not: each needs a pointer to the
 * start of its FPDU, and the receiver looks at each octet. Foreign receivers may count on FPDUs
 * that fit a segment (5044-3-3).
 */
static bool sends_long(const struct kwarp_engine *e)
{
	return e->tx.long_frames && !e->tx.markers && !e->tx.align &&
	       test_bit(KWARP_E_PEER_LONG, &e->flags);
}

static void set_lengths(struct kwarp_engine *e)
{
	struct kwarp_tx *tx = &e->tx;
	u32 emss = kwarp_tcp_emss(e->sock);

	tx->mulpdu = kwarp_mpa_mulpdu(emss, tx->markers);
	tx->batch.least = sends_long(e) ? tx->mulpdu : 0;
	/*
	 * With CRCs the peer's TCP keeps an FPDU until it is complete. So that the window does not
	 * close before that, an FPDU takes a quarter of it at most.
	 */
	if (tx->batch.least)
		tx->mulpdu = clamp(kwarp_tcp_window(e->sock) / 4, tx->mulpdu, KWARP_MPA_MAX_ULPDU);
	tx->batch.cut = tx->align ? emss : 0;
	tx->batch.goal = kwarp_tcp_packet(e->sock, emss, KWARP_BATCH_LEN);
}

/* Takes the socket lock, unless tx.in_socket. */
enum kwarp_tx_result kwarp_tx_step(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_tx_step, e);
	struct kwarp_tx *tx = &e->tx;

	kwarp_assert_runner(e);
	tx->effort = 0;
	tx->answered = false;
	/* After the end of the stream no softirq comes here, because there is no socket. */
	if (test_bit(KWARP_E_DEAD, &e->flags))
		kwarp_engine_flush(e);
	/* This does not wait for TCP. */
	if (unlikely(READ_ONCE(e->sq->behind)) && kwarp_sq_retire(e->sq))
		return KWARP_TX_MORE;
	if (test_bit(KWARP_E_TX_STOP, &e->flags) || !e->sock)
		return kwarp_tx_flush_late(e) ? KWARP_TX_MORE : KWARP_TX_IDLE;
	if (kwarp_faults_on() && is_stalled(e))
		return KWARP_TX_STALLED;
	if (kwarp_batch_pending(&tx->batch))
		return push_batch(e);
	if (!kwarp_tcp_writable(e->sock))
		return KWARP_TX_BLOCKED;
	/* No completion can report that another was lost, so fail the stream. */
	if (lost_completion(e))
		kwarp_engine_fail_local(e, KWARP_WHY_CQ);
	/* After an error only the Terminate may be sent (5040-5.4-11). */
	if (test_bit(KWARP_E_FAILED, &e->flags) && tx->msg.kind != KWARP_TXK_TERM)
		tx->msg.kind = KWARP_TXK_NONE;
	set_lengths(e);
	/* After memory was short, build FPDUs that fit the memory of kwarp_batch_prefill(). */
	if (tx->no_memory)
		tx->mulpdu = min_t(u32, tx->mulpdu, KWARP_BATCH_FRAG_SURE / 2);
	fill_batch(e);
	if (kwarp_batch_pending(&tx->batch))
		return push_batch(e);
	kwarp_batch_reset(&tx->batch);
	if (tx->no_memory)
		return KWARP_TX_NO_MEMORY;
	if (kwarp_faults_on() && is_stalled(e))
		return KWARP_TX_STALLED;
	/* Operations that send nothing complete without a batch. */
	if (kwarp_sq_sent(e->sq, tx->sq_end) || tx->effort >= KWARP_BATCH_EFFORT ||
	    lost_completion(e) || kwarp_tx_flush_late(e))
		return KWARP_TX_MORE;
	kwarp_batch_idle(&tx->batch);
	/* A fault has stalled the message, and ended before is_stalled() looked. */
	if (unlikely(tx->msg.kind))
		return KWARP_TX_MORE;
	if (tx->term_done)
		e->ops->event(e, KWARP_QPE_TERM_SENT);
	else if (kwarp_tx_drained(e))
		e->ops->event(e, KWARP_QPE_DRAINED);
	return KWARP_TX_IDLE;
}
