// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Who runs the transmit step.
 *
 * A message leaves                     when
 *
 * in a system call of its program      it is posted, unless the send queue is held (coalesce.h);
 *                                      if so, the program polls and finds nothing, or asks for
 *                                      an event
 * in the call of a kernel consumer     it is posted by a task, with interrupts on, and nobody has
 *                                      the socket: two batches
 * with the timer of its CQ             the send queue is held, and the program does none of these
 * in the softirq that received         a Read or Atomic Request of the peer is answered, a response
 *                                      has come that a fenced or ORD-limited request waited for, or
 *                                      the peer's first FPDU, for which a responder waits
 * in the softirq of an ACK             TCP was full and has room, unless it probes the path's MTU
 * where the QP's actions are done      it is the Terminate
 * in kwarp_tx_release()                it was posted before the attach, or is the RTR, or a
 *                                      graceful close sends the rest: one batch
 * with the runner's work item          a kernel consumer posts otherwise, or more; a callback or
 *                                      the timer finds the socket owned by a process; a claim
 *                                      waits, a budget is used up, or another program wants the
 *                                      processor; one tick later, after a want of memory in
 *                                      process context
 * not at all                           a responder has not heard from its peer (RFC 5044 7.1.2
 *                                      rule 4); after an error, but for the Terminate; after our
 *                                      FIN
 *
 * One atomic word per stream says who: idle, queued, active, again.  A context that can send and
 * finds it idle or queued becomes the runner, in its own context.  All others queue the work
 * item; so does the backlog of a process that owns the socket.  A context that finds a runner
 * sets "again", and the runner goes round once more before it leaves.  So nobody spins, and no
 * kick is lost; and as a rule a program's post and a peer's request do not wait for a worker
 * to get a CPU, which takes a time slice where a program polls.
 *
 * Those that have to stop the runner (attach, stop, reset) go before all others: they
 * say so in "claims", the runner leaves after the round in work, and nobody else enters.
 *
 * The send queue's flags, KWARP_RING_NEED_KICK or KWARP_RING_HELD, are set by the runner before it
 * looks at the producer index for the last time, with a full barrier between; the poster stores
 * the index, executes a full barrier and looks at the flags (kwarp-abi.h).
 */
#include "run.h"

#include <linux/sched/mm.h>

#include "../../compat.h"
#include "../../fault.h"
#include "../../kwarp.h"
#include "../../trace.h"
#include "../../wq.h"
#include "../tcp.h"
#include "coalesce.h"
#include "share.h"
#include "step.h"

/* Batches that one runner sends before it gives others a turn. */
#define RUN_BUDGET	32
/* Where many wait in a row, as in connection management: the work item goes on. */
#define CLAIM_BUDGET	1
/* Within the socket lock, where others wait for the processor: what a call may do, 1 MiB. */
#define SOCKET_CALL	256

static void wake_claimant(struct kwarp_engine *e)
{
	/* The caller has just executed a full barrier. */
	if (waitqueue_active(&e->tx.idle))
		wake_up(&e->tx.idle);
}

/* The word says that it is queued.  One that waits already goes on waiting: a tick at most. */
static void queue(struct kwarp_engine *e, unsigned long delay)
{
	if (e->tx.home < 0)
		queue_delayed_work(kwarp_tx_wq, &e->tx.work, delay);
	else	/* A processor that is not there has no workers; a timer would wait for it, too. */
		queue_delayed_work_on(delay || !cpu_online(e->tx.home) ? WORK_CPU_UNBOUND :
									e->tx.home,
				      kwarp_home_wq, &e->tx.work, delay);
}

/* Leave to the work item, whoever has asked for another round. */
static void leave_queued(struct kwarp_engine *e, unsigned long delay)
{
	/* Not atomic_set(): full barrier for waitqueue_active(). */
	atomic_xchg(&e->tx.run, KWARP_RUN_QUEUED);
	wake_claimant(e);
	queue(e, delay);
}

/*
 * Give others a turn: the work item goes on, unless somebody who can send is quicker.  A
 * program that goes on posting into a dead queue has to wait.
 */
static void hand_over(struct kwarp_engine *e)
{
	leave_queued(e, kwarp_engine_dead(e) ? 1 : 0);
}

/* Leave, unless somebody asked for another round: then false. */
static bool leave(struct kwarp_engine *e)
{
	if (!kwarp_run_leave(&e->tx.run))
		return false;
	wake_claimant(e);
	return true;
}

/*
 * Nobody tells us when there is memory again.  Leave whoever asked for another round: it
 * may be TCP, which calls write_space when it has failed.
 */
static void wait_for_memory(struct kwarp_engine *e)
{
	WRITE_ONCE(e->tx.backs_off, true);
	/* Where it may sleep, the allocation itself waits. */
	if (e->tx.in_socket) {
		hand_over(e);
		return;
	}
	leave_queued(e, 1);
}

/*
 * All has been sent.  Posters are not to ring if the queue is held: not for what will be flushed.
 * The timer may end the hold meanwhile: then it looks at what they have been told, see coalesce.c.
 */
static void tell_idle(struct kwarp_engine *e)
{
	if (e->sock && kwarp_coalesce_holds(e)) {
		kwarp_sq_tell(e->sq, KWARP_RING_HELD);
		if (kwarp_coalesce_holds(e))
			return;
	}
	kwarp_sq_tell(e->sq, KWARP_RING_NEED_KICK);
}

/*
 * The last look.  What libsiw has posted beyond what it may have outstanding does not count: when
 * a response has come there is room for it, and the receive path kicks.
 */
static bool posted_since(struct kwarp_engine *e, u32 seen)
{
	if (kwarp_sq_posted(e->sq) != seen)
		return true;
	if (!kwarp_sq_left(e->sq))
		return false;
	set_bit(KWARP_E_TX_WAIT_READ, &e->flags);
	/* Pairs with kwarp_rx_answered(), as in peek_request(). */
	smp_mb__after_atomic();
	return kwarp_sq_posted(e->sq) != seen;
}

/*
 * One round: all there is to send now.  KWARP_TX_MORE if there is, or may be, more:
 * after a batch, or because something was posted while we were about to stop.
 */
static enum kwarp_tx_result one_round(struct kwarp_engine *e)
{
	enum kwarp_tx_result result;
	u32 seen, off = e->tx.off;

	WRITE_ONCE(e->tx.backs_off, false);
	/* Nobody need ring while somebody runs. */
	if (READ_ONCE(e->sq->ring.hdr->flags) & KWARP_RING_NEED_KICK)
		kwarp_sq_tell(e->sq, 0);
	seen = kwarp_sq_posted(e->sq);
	result = kwarp_tx_step(e);
	if (e->tx.in_share)
		this_cpu_add(kwarp_softirq_share.spent,
			     1 + (e->tx.off - off) / KWARP_SHARE_OCTETS +
				     e->tx.effort / KWARP_SHARE_EFFORT);
	/* write_space kicks, so posters need not. */
	if (result == KWARP_TX_BLOCKED) {
		e->stats.s.tx.blocked++;
		kwarp_sq_tell(e->sq, 0);
	}
	if (result != KWARP_TX_IDLE)
		return result;
	kwarp_coalesce_sent(e);
	tell_idle(e);
	return posted_since(e, seen) ? KWARP_TX_MORE : KWARP_TX_IDLE;
}

/* True if the runner has left. */
static bool round_and_leave(struct kwarp_engine *e)
{
	switch (one_round(e)) {
	case KWARP_TX_MORE:
		return false;
	case KWARP_TX_NO_MEMORY:
		e->stats.s.tx.no_memory++;
		wait_for_memory(e);
		return true;
	default:
		return leave(e);
	}
}

/* The peer has asked for more than a poster has to send for it in its own time: one batch. */
static bool enough_for_peer(const struct kwarp_engine *e)
{
	return e->tx.answered && !kwarp_readq_empty(&e->iread);
}

/*
 * The caller has entered, in process context without locks.  The budget, in rounds, also
 * bounds what a program can do to the runner by changing its indices, or by ringing its
 * doorbell all the time.
 */
static void run_rounds(struct kwarp_engine *e, int budget, bool for_poster)
{
	/* Storage may sit on top: no allocation of ours waits for I/O. */
	unsigned int noio = memalloc_noio_save();

	e->tx.in_socket = false;
	e->tx.in_share = false;
	while (!round_and_leave(e)) {
		/* Not to sleep as the runner: nobody else could send until it is our turn again. */
		if (--budget == 0 || kwarp_need_resched() || atomic_read(&e->tx.claims) ||
		    (for_poster && enough_for_peer(e))) {
			hand_over(e);
			break;
		}
	}
	memalloc_noio_restore(noio);
}

static void run(struct kwarp_engine *e, bool for_poster)
{
	/* A round flushes all that a queue holds; the second is for what came meanwhile. */
	run_rounds(e, kwarp_engine_dead(e) ? 2 : RUN_BUDGET, for_poster);
}

/* The caller has entered, because a doorbell was rung. */
static void run_for_poster(struct kwarp_engine *e)
{
	bool inside = kwarp_coalesce_rung(e);

	e->stats.s.tx.doorbells++;
	if (trace_kwarp_doorbell_enabled())
		trace_kwarp_doorbell(e->ibqp, READ_ONCE(e->sq->ring.hdr->prod));
	run(e, true);
	if (inside)
		kwarp_coalesce_returns(e);
}

/*
 * The caller has entered, with the socket lock held.  Bounded by tick, too: each packet
 * that comes in may lead here.
 */
static void run_in_socket(struct kwarp_engine *e)
{
	struct kwarp_softirq_share *s = kwarp_softirq_share_now();
	struct kwarp_tx *tx = &e->tx;
	const u32 end = min(s->spent + SOCKET_CALL, KWARP_SHARE_TICK);

	tx->in_socket = true;
	tx->in_share = true;
	do {
		if (s->spent >= end || atomic_read(&tx->claims)) {
			WRITE_ONCE(tx->backs_off, s->spent >= KWARP_SHARE_TICK);
			hand_over(e);
			return;
		}
	} while (!round_and_leave(e));
}

/* The caller has entered, for a kernel consumer, and has the socket: two rounds at most. */
static void run_for_consumer(struct kwarp_engine *e)
{
	e->tx.in_socket = true;
	e->tx.in_share = false;
	if (!round_and_leave(e) && !round_and_leave(e))
		hand_over(e);
}

/*
 * The caller has entered, in a call of a kernel consumer.  As the runner, it may look at the
 * socket.  What is posted when the stream is over is flushed by the work item.
 */
static void try_for_consumer(struct kwarp_engine *e)
{
	if (!e->sock || !kwarp_tcp_try_run(e->sock, run_for_consumer, e))
		leave_queued(e, 0);
}

/*
 * A softirq has a share that is for all; a consumer that posts with interrupts off has a lock that
 * needs it, and TCP cannot be called.  Real-time kernels do not say whether it has such a lock, and
 * softirqs, which take it, would run in this call.
 */
static bool consumer_may_send(void)
{
	return in_task() && !irqs_disabled() && !IS_ENABLED(CONFIG_PREEMPT_RT);
}

static bool enter(struct kwarp_engine *e, int from)
{
	return atomic_cmpxchg(&e->tx.run, from, KWARP_RUN_ACTIVE) == from;
}

static void tx_work(struct work_struct *work)
{
	struct kwarp_engine *e = container_of(work, struct kwarp_engine, tx.work.work);

	kwarp_fault_late();
	/* A claimant is about to enter, and runs when it is done. */
	if (!atomic_read(&e->tx.claims) && enter(e, KWARP_RUN_QUEUED))
		run(e, false);
}

/* The caller has entered. */
static void run_as(struct kwarp_engine *e, enum kwarp_tx_from from)
{
	switch (from) {
	case KWARP_TX_FROM_DOORBELL:
		run_for_poster(e);
		break;
	case KWARP_TX_FROM_PROCESS:
		run(e, false);
		break;
	case KWARP_TX_FROM_POSTER:
		try_for_consumer(e);
		break;
	default:
		run_in_socket(e);
	}
}

/* True if the kick has been dealt with; false if the word changed under us. */
static bool try_kick(struct kwarp_engine *e, enum kwarp_tx_from from)
{
	int state = atomic_read(&e->tx.run);

	if (state == KWARP_RUN_AGAIN)
		return true;
	if (state == KWARP_RUN_ACTIVE)
		return atomic_cmpxchg(&e->tx.run, state, KWARP_RUN_AGAIN) == state;
	/* A claimant is about to enter, and runs when it is done. */
	if (atomic_read(&e->tx.claims))
		return true;
	if (from == KWARP_TX_FROM_ANY) {
		if (state == KWARP_RUN_IDLE &&
		    atomic_cmpxchg(&e->tx.run, state, KWARP_RUN_QUEUED) != state)
			return false;
		/* Also if the word says so: who wrote it may have been preempted before this. */
		queue(e, 0);
		return true;
	}
	if (!enter(e, state))
		return false;
	run_as(e, from);
	return true;
}

/**
 * kwarp_tx_kick - there may be something to send
 * @e: engine
 * @from: what the caller can do about it
 *
 * Context: as @from says.
 */
void kwarp_tx_kick(struct kwarp_engine *e, enum kwarp_tx_from from)
{
	/*
	 * What there is to send has been stored before the state is read; a runner that
	 * enters or looks again does so through an atomic that is a full barrier.
	 */
	smp_mb();
	/* Before and between streams there is nothing to do: attach looks for itself. */
	if (!READ_ONCE(e->sock) && !kwarp_engine_dead(e))
		return;
	if (from == KWARP_TX_FROM_DOORBELL && kwarp_fault(KWARP_FAULT_LOST_KICK))
		return;
	/* The socket's lock lets others run first: rather now than while nobody else can send. */
	if (from == KWARP_TX_FROM_DOORBELL || from == KWARP_TX_FROM_PROCESS)
		cond_resched();
	if (from == KWARP_TX_FROM_POSTER && !consumer_may_send())
		from = KWARP_TX_FROM_ANY;
	while (!try_kick(e, from))
		cpu_relax();
}

static void send_in_socket(struct kwarp_engine *e)
{
	kwarp_tx_kick(e, KWARP_TX_FROM_SOCKET);
}

/* The timer of coalesce.c has found requests left, or ends the hold.  Context: softirq. */
static void send_left(struct kwarp_engine *e)
{
	/* kwarp_coalesce_stop() comes after the store and waits for us. */
	struct socket *sock = READ_ONCE(e->sock);

	if (sock && !kwarp_tcp_run(sock, send_in_socket, e))
		kwarp_tx_kick(e, KWARP_TX_FROM_ANY);
}

/**
 * kwarp_tx_claim - become the runner without running
 * @e: engine
 *
 * Waits for the present runner, who is bounded: it never waits for the peer.
 * Context: process.  Undone by kwarp_tx_release().
 */
void kwarp_tx_claim(struct kwarp_engine *e)
{
	might_sleep();
	atomic_inc(&e->tx.claims);
	wait_event(e->tx.idle, enter(e, KWARP_RUN_IDLE) || enter(e, KWARP_RUN_QUEUED));
	atomic_dec(&e->tx.claims);
	/* Who still sees the claim has stored what it kicks for, and the next round sees it. */
	smp_mb__after_atomic();
}

/**
 * kwarp_tx_release - give the claim back, and look after kicks that came meanwhile
 * @e: engine
 *
 * Sends no more than a batch: connections of others may wait for the caller.  The work item
 * does the rest.
 *
 * Context: process.
 */
void kwarp_tx_release(struct kwarp_engine *e)
{
	kwarp_assert_runner(e);
	run_rounds(e, CLAIM_BUDGET, false);
}

void kwarp_tx_init(struct kwarp_engine *e)
{
	atomic_set(&e->tx.run, KWARP_RUN_IDLE);
	atomic_set(&e->tx.claims, 0);
	init_waitqueue_head(&e->tx.idle);
	INIT_DELAYED_WORK(&e->tx.work, tx_work);
	e->tx.home = -1;
	kwarp_coalesce_init(e, send_left);
}
