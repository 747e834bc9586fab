// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Decides which context runs the transmit step (step.c), and when.
 *
 * A message is sent                    when
 *
 * in a system call of its program      it is posted, unless the send queue is held (coalesce.h);
 *                                      if held: when the program polls its CQ and finds nothing, or
 *                                      asks for an event
 * in the call of a kernel consumer     it is posted by a task with interrupts enabled, and no other
 *                                      context has the socket; two batches at most
 * with a timer (coalesce.h)            the queue is held, and the program does not ring in time
 * in the softirq that receives         it answers a Read or Atomic Request of the peer; or it
 *                                      waited, fenced or limited by ORD, for a response that has
 *                                      come; or, on a responder, it waited for the peer's
 *                                      first FPDU
 * in the softirq of an ACK             TCP was full and has room, unless TCP probes the path MTU
 * in kwarp_engine_terminate()          it is the Terminate
 * in kwarp_tx_release()                it was posted before the stream, or is the RTR, or is the
 *                                      rest before a graceful close; one batch
 * with the transmit work item          a kernel consumer posts from another context, or more than
 *                                      two batches; a process owns the socket when a callback or
 *                                      the timer wants to send; a claim (below) waits; a limit of
 *                                      run.h or share.h is reached; another task needs the
 *                                      processor; one tick later, when memory is short in
 *                                      process context
 * not at all                           a responder has not received an FPDU (RFC 5044 7.1.2
 *                                      rule 4); after an error, except the Terminate; after our
 *                                      FIN
 *
 * The atomic e->tx.run of each stream is idle, queued, active or again. A context that can send and
 * finds it idle or queued sets it to active, and so becomes the runner: the only context that may
 * send for the stream. A context that finds an active runner sets "again", and the runner makes one
 * more round (a call of kwarp_tx_step(), which sends one batch, that is, FPDUs collected for one
 * socket call) before it leaves, that is, stops being the runner.
 *
 * kwarp_engine_start(), _drain(), _fin(), _stop() and _reset() stop the runner, with priority: they
 * claim the stream, that is, they increment e->tx.claims; the runner leaves after its present
 * round, and no other context becomes the runner.
 */
#include "run.h"

#include <linux/sched/clock.h>
#include <linux/sched/mm.h>

#include "../../compat.h"
#include "../../door.h"
#include "../../kwarp.h"
#include "../../trace.h"
#include "../../wq.h"
#include "../tcp.h"
#include "coalesce.h"
#include "share.h"
#include "tx.h"

/* --------------------------------------------------------------------- posters */

/*
 * The runner sets the flags of the send queue, KWARP_RING_NEED_KICK or KWARP_RING_HELD, then
 * executes a full barrier, then reads the producer index for the last time. The poster stores the
 * index, executes a full barrier and reads the flags (kwarp-abi.h). So either the runner sees the
 * new request or the poster sees the flag.
 */

/*
 * If the queue is held, posters need not ring, unless the stream has ended: then requests have to
 * be flushed. The timer may end the hold at the same time; it then reads these flags, see
 * coalesce.c.
 */
static void tx_tell_posters(struct kwarp_engine *e)
{
	if (e->sock && READ_ONCE(e->tx.coalesce.on)) {
		kwarp_sq_tell(e->sq, KWARP_RING_HELD);
		if (READ_ONCE(e->tx.coalesce.on))
			return;
	}
	kwarp_sq_tell(e->sq, KWARP_RING_NEED_KICK);
}

/*
 * Has the stream ended, or is all sent in a graceful close, so that requests that are posted now
 * are flushed?
 */
static bool tx_only_flushes(const struct kwarp_engine *e)
{
	if (kwarp_engine_dead(e) || test_bit(KWARP_E_TX_STOP, &e->flags))
		return true;
	return test_bit(KWARP_E_TX_DRAIN, &e->flags) && e->tx.msg.kind == KWARP_TXK_NONE &&
	       !kwarp_batch_pending(&e->tx.batch) && kwarp_readq_empty(&e->iread) &&
	       (s32)(e->tx.drain_to - e->sq->next) <= 0;
}

/*
 * After a round that has sent all it could: would another round take nothing, whatever is posted?
 * The first request, posted before the producer index was @seen, waits for a response, or the
 * stream is not open, or has failed. Another thread of the program may change the index all the
 * time, so the runner must not look at it again and again.
 *
 * No kick is lost: kwarp_rx_answered() and first_fpdu() change what is read here, and then
 * kwarp_tx_kick() executes a full barrier and reads tx.run. So either this function sees the
 * change, or the kick finds a runner and makes it look again.
 */
static bool tx_held_up(const struct kwarp_engine *e, u32 seen)
{
	if (tx_only_flushes(e))	/* a round flushes what is posted, whatever waits */
		return false;
	return (s32)(seen - e->sq->next) > 0 || test_bit(KWARP_E_TX_WAIT_READ, &e->flags) ||
	       !test_bit(KWARP_E_TX_OPEN, &e->flags);
}

/*
 * A foreign ring may have more requests than fit into the send queue. The excess does not count:
 * when a response makes room for such requests, the receive path calls kwarp_tx_kick().
 */
static bool tx_posted_since(struct kwarp_engine *e, u32 seen)
{
	if (tx_held_up(e, seen))
		return false;
	if (kwarp_sq_posted(e->sq) != seen)
		return true;
	if (!kwarp_sq_has_unmoved(e->sq))
		return false;
	set_bit(KWARP_E_TX_WAIT_READ, &e->flags);
	/* Set the flag, then look again. kwarp_rx_answered() makes room, then looks at the flag. */
	smp_mb__after_atomic();
	return kwarp_sq_posted(e->sq) != seen;
}

/*
 * The program may change the index to and fro, so count the rounds that take nothing;
 * tx_run_round() resets the count when one does.
 */
static bool tx_looks_again(struct kwarp_engine *e, u32 seen)
{
	bool again = tx_posted_since(e, seen);

	e->tx.vain = again ? e->tx.vain + 1 : 0;
	return again;
}

static bool tx_in_vain(const struct kwarp_engine *e)
{
	return e->tx.vain > 1;
}

/* ------------------------------------------------------------------ the runner */

static void tx_wake_claimant(struct kwarp_engine *e)
{
	/* Our caller has just executed the full barrier that waitqueue_active() needs. */
	if (waitqueue_active(&e->tx.idle))
		wake_up(&e->tx.idle);
}

/* If the item is pending with a delay, that delay stands. */
static void tx_queue_work(struct kwarp_engine *e, unsigned long delay)
{
	if (e->tx.home < 0)
		queue_delayed_work(kwarp_tx_wq, &e->tx.work, delay);
	else	/* an offline processor has no workers; a delayed item would need its timer, too */
		queue_delayed_work_on(delay || !cpu_online(e->tx.home) ? WORK_CPU_UNBOUND :
									e->tx.home,
				      kwarp_home_wq, &e->tx.work, delay);
}

/* A pending request for another round ("again") is dropped: the work item looks anyway. */
static void tx_leave_queued(struct kwarp_engine *e, unsigned long delay)
{
	/* Use atomic_xchg(): tx_wake_claimant() needs a full barrier before it. */
	atomic_xchg(&e->tx.run, KWARP_RUN_QUEUED);
	tx_wake_claimant(e);
	tx_queue_work(e, delay);
}

/*
 * If what is posted is only flushed, or if rounds are made in vain, the work item waits a tick: a
 * program that posts into such a queue in a loop, or changes its producer index, must not keep a
 * worker busy.
 */
static void tx_hand_over(struct kwarp_engine *e)
{
	tx_leave_queued(e, tx_only_flushes(e) || tx_in_vain(e) ? 1 : 0);
}

/*
 * No event reports that memory is available again, so retry: in the work item, after one tick if
 * memory was short in process context. A pending request for another round is dropped here: it may
 * come from TCP, which calls write_space after a failed allocation, and the runner would spin.
 */
static void tx_wait_for_memory(struct kwarp_engine *e)
{
	WRITE_ONCE(e->tx.backs_off, true);
	/* The work item may sleep, so it can retry at once: the allocation itself waits. */
	if (e->tx.in_socket)
		tx_hand_over(e);
	else
		tx_leave_queued(e, 1);
}

static void tx_wait_for_fault(struct kwarp_engine *e)
{
	const long left = e->tx.stalled - jiffies;

	WRITE_ONCE(e->tx.backs_off, true);
	tx_leave_queued(e, clamp_t(long, left, 1, KWARP_FAULT_LOOK));
}

/*
 * Return: as kwarp_tx_step(); also KWARP_TX_MORE if a request was posted while this function was
 * about to return.
 */
static enum kwarp_tx_result tx_run_round(struct kwarp_engine *e)
{
	enum kwarp_tx_result result;
	u32 seen, next = e->sq->next;

	WRITE_ONCE(e->tx.backs_off, false);
	/* Programs need not ring while there is a runner. */
	if (READ_ONCE(e->sq->ring.hdr->flags) & KWARP_RING_NEED_KICK)
		kwarp_sq_tell(e->sq, 0);
	seen = kwarp_sq_posted(e->sq);
	result = kwarp_tx_step(e);
	/* TCP's write_space callback will call kwarp_tx_kick(), so programs need not ring. */
	if (result == KWARP_TX_BLOCKED) {
		e->stats.s.tx.blocked++;
		kwarp_sq_tell(e->sq, 0);
	}
	if (e->sq->next != next)
		e->tx.vain = 0;
	if (result != KWARP_TX_IDLE)
		return result;
	kwarp_coalesce_sent(e);
	tx_tell_posters(e);
	return tx_looks_again(e, seen) ? KWARP_TX_MORE : KWARP_TX_IDLE;
}

/* Return: true if the caller has left, false if it is to make another round. */
static bool tx_run_round_and_leave(struct kwarp_engine *e)
{
	switch (tx_run_round(e)) {
	case KWARP_TX_MORE:
		return false;
	case KWARP_TX_NO_MEMORY:
		e->stats.s.tx.no_memory++;
		tx_wait_for_memory(e);
		return true;
	case KWARP_TX_STALLED:
		tx_wait_for_fault(e);
		return true;
	default:
		/* If another round was asked for, the caller is still the runner. */
		if (!kwarp_run_leave(&e->tx.run))
			return false;
		tx_wake_claimant(e);
		return true;
	}
}

/*
 * The work item answers the rest of the peer's requests, so that the program does not spend its
 * time on them.
 */
static bool tx_enough_for_peer(const struct kwarp_engine *e)
{
	return e->tx.answered && !kwarp_readq_empty(&e->iread);
}

/*
 * The caller has become the runner, in process context without locks. The budget, in rounds, also
 * limits what a program can make the runner do by changing the indices in the ring, or by ringing
 * its doorbell in a loop.
 */
static void tx_run_rounds(struct kwarp_engine *e, int budget, bool for_poster)
{
	/*
	 * A block device or file system may depend on this stream, so allocations must not wait for
	 * I/O.
	 */
	unsigned int noio = memalloc_noio_save();

	e->tx.in_socket = false;
	while (!tx_run_round_and_leave(e)) {
		/*
		 * Do not let the scheduler stop the runner: no other context could send until it
		 * runs again.
		 */
		if (--budget == 0 || kwarp_need_resched() || atomic_read(&e->tx.claims) ||
		    tx_in_vain(e) || (for_poster && tx_enough_for_peer(e))) {
			tx_hand_over(e);
			break;
		}
	}
	memalloc_noio_restore(noio);
}

static void tx_run(struct kwarp_engine *e, bool for_poster)
{
	/*
	 * After the end of the stream one round flushes a whole queue; a second one flushes what
	 * was posted during the first.
	 */
	tx_run_rounds(e, kwarp_engine_dead(e) ? 2 : KWARP_TX_RUN_BUDGET, for_poster);
}

static void tx_run_for_poster(struct kwarp_engine *e)
{
	kwarp_coalesce_rung(e);
	e->stats.s.tx.doorbells++;
	if (trace_kwarp_doorbell_enabled())
		trace_kwarp_doorbell(e->ibqp, READ_ONCE(e->sq->ring.hdr->prod));
	tx_run(e, true);
	kwarp_coalesce_returns(e);
}

/*
 * The caller has become the runner with the socket's spinlock held. Time is limited for this call
 * and, since each received packet may lead here, for the tick.
 */
static void tx_run_in_socket(struct kwarp_engine *e)
{
	const u32 spent = min_t(u32, kwarp_softirq_share_now()->spent, KWARP_SHARE_TICK_NS);
	const u32 limit = min_t(u32, KWARP_TX_SOCKET_NS, KWARP_SHARE_TICK_NS - spent);
	const u64 begin = local_clock();
	bool goes_on = limit && !atomic_read(&e->tx.claims), left = false;

	e->tx.in_socket = true;
	while (goes_on) {
		left = tx_run_round_and_leave(e);
		goes_on = !left && local_clock() - begin < limit &&
			  !atomic_read(&e->tx.claims) && !tx_in_vain(e);
	}
	kwarp_softirq_share_spend(begin);
	if (left)
		return;
	WRITE_ONCE(e->tx.backs_off, kwarp_softirq_share_now()->spent >= KWARP_SHARE_TICK_NS);
	tx_hand_over(e);
}

/* The caller is the runner for a kernel consumer and has the socket lock: two rounds at most. */
static void tx_run_for_consumer(struct kwarp_engine *e)
{
	e->tx.in_socket = true;
	if (!tx_run_round_and_leave(e) && !tx_run_round_and_leave(e))
		tx_hand_over(e);
}

/*
 * The caller has become the runner in a call of a kernel consumer, so e->sock does not change
 * meanwhile. If the stream is over, the work item flushes what was posted.
 */
static void tx_try_for_consumer(struct kwarp_engine *e)
{
	if (!e->sock || !kwarp_tcp_try_call_locked(e->sock, tx_run_for_consumer, e))
		tx_leave_queued(e, 0);
}

/*
 * May a kernel consumer's call send? Not in softirq, whose time is limited for all streams
 * together. Not with interrupts off: TCP cannot be called then. Not on real-time kernels, where
 * in_task() and irqs_disabled() do not tell whether the consumer holds a spinlock that softirqs
 * need, and softirqs may run in this call.
 */
static bool consumer_may_send(void)
{
	return in_task() && !irqs_disabled() && !IS_ENABLED(CONFIG_PREEMPT_RT);
}

static bool tx_become_runner(struct kwarp_engine *e, int from)
{
	return atomic_cmpxchg(&e->tx.run, from, KWARP_RUN_ACTIVE) == from;
}

static void tx_work(struct work_struct *work)
{
	struct kwarp_engine *e = container_of(work, struct kwarp_engine, tx.work.work);

	kwarp_fault_late(&e->kdev->ibdev);
	/* A context that claims the stream is about to become the runner, and sends at release. */
	if (!atomic_read(&e->tx.claims) && kwarp_run_take(&e->tx.run))
		tx_run(e, false);
}

static void tx_run_as(struct kwarp_engine *e, enum kwarp_tx_from from)
{
	switch (from) {
	case KWARP_TX_FROM_DOORBELL:
		tx_run_for_poster(e);
		break;
	case KWARP_TX_FROM_PROCESS:
		tx_run(e, false);
		break;
	case KWARP_TX_FROM_POSTER:
		tx_try_for_consumer(e);
		break;
	default:
		tx_run_in_socket(e);
	}
}

/* There may be something to send: send it or get it sent. Context: as @from says. */
void kwarp_tx_kick(struct kwarp_engine *e, enum kwarp_tx_from from)
{
	KWARP_DOOR(kwarp_tx_kick, e, from);
	/*
	 * The caller has stored what there is to send; e->tx.run is read after this barrier. A
	 * runner changes e->tx.run, which is a full barrier, and then reads what there is to send.
	 */
	smp_mb();
	/* Without a stream nothing can be sent. When one begins, kwarp_tx_release() sends. */
	if (!READ_ONCE(e->sock) && !kwarp_engine_dead(e))
		return;
	if (from == KWARP_TX_FROM_DOORBELL && kwarp_engine_fault(e, KWARP_FAULT_LOST_KICK))
		return;
	/*
	 * Taking the socket lock may reschedule. Reschedule now, while other contexts can still
	 * send, rather than as the runner.
	 */
	if (from == KWARP_TX_FROM_DOORBELL || from == KWARP_TX_FROM_PROCESS)
		cond_resched();
	if (from == KWARP_TX_FROM_POSTER && !consumer_may_send())
		from = KWARP_TX_FROM_ANY;
	/* A context that claims the stream is about to become the runner, and sends at release. */
	if (atomic_read(&e->tx.claims))
		return;
	if (from != KWARP_TX_FROM_ANY) {
		if (kwarp_run_enter(&e->tx.run))
			tx_run_as(e, from);
	} else if (kwarp_run_ask(&e->tx.run)) {
		tx_queue_work(e, 0);
	}
}

static void tx_send_in_socket(struct kwarp_engine *e)
{
	kwarp_tx_kick(e, KWARP_TX_FROM_SOCKET);
}

/*
 * Called by the timer of coalesce.c or of struct kwarp_hold_ops, which has found requests posted
 * without a doorbell, or wants the ring's flags set so that programs ring again. Context: softirq.
 */
static void tx_send_waiting(struct kwarp_engine *e)
{
	/*
	 * The socket stays valid: kwarp_engine_stop() clears e->sock first, and then
	 * kwarp_coalesce_stop() waits for this function.
	 */
	struct socket *sock = READ_ONCE(e->sock);

	if (sock && !kwarp_tcp_call_locked(sock, tx_send_in_socket, e))
		kwarp_tx_kick(e, KWARP_TX_FROM_ANY);
}

/*
 * Waits for the present runner, which leaves after a limited time: it never waits for the peer.
 * Context: process. Undone by kwarp_tx_release().
 */
void kwarp_tx_claim(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_tx_claim, e);
	might_sleep();
	atomic_inc(&e->tx.claims);
	wait_event(e->tx.idle, tx_become_runner(e, KWARP_RUN_IDLE) ||
		   tx_become_runner(e, KWARP_RUN_QUEUED));
	atomic_dec(&e->tx.claims);
	/*
	 * A context that kicks and still sees our claim returns without queueing the work item. It
	 * has stored its request before, and the round in kwarp_tx_release() will see that request.
	 */
	smp_mb__after_atomic();
}

/*
 * Sends one batch at most, because other connections may wait for the caller. The work item sends
 * the rest. Context: process.
 */
void kwarp_tx_release(struct kwarp_engine *e)
{
	KWARP_DOOR(kwarp_tx_release, e);
	kwarp_assert_runner(e);
	tx_run_rounds(e, KWARP_TX_CLAIM_BUDGET, false);
}

void kwarp_tx_init(struct kwarp_engine *e)
{
	atomic_set(&e->tx.run, KWARP_RUN_IDLE);
	atomic_set(&e->tx.claims, 0);
	init_waitqueue_head(&e->tx.idle);
	INIT_DELAYED_WORK(&e->tx.work, tx_work);
	e->tx.home = -1;
	e->tx.coalesce.send = tx_send_waiting;
}
