// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The state of a stream in debugfs, to find out why it makes no progress.
 *
 * The transmit side is read without a lock while it may change, so its numbers may not fit
 * together. The receive side cannot change: the socket lock is held.
 */
#include "engine.h"

#include <linux/net.h>
#include <linux/seq_file.h>
#include <linux/tcp.h>
#include <net/sock.h>

#include "../serial.h"

static const char *const flag_names[] = {
	[KWARP_E_TX_OPEN] = "TX_OPEN",
	[KWARP_E_TX_STOP] = "TX_STOP",
	[KWARP_E_DEAD] = "DEAD",
	[KWARP_E_TX_TERM] = "TX_TERM",
	[KWARP_E_TX_DRAIN] = "TX_DRAIN",
	[KWARP_E_TX_WAIT_READ] = "TX_WAIT_READ",
	[KWARP_E_RX_STOP] = "RX_STOP",
	[KWARP_E_RX_ANY] = "RX_ANY",
	[KWARP_E_RX_SEEN] = "RX_SEEN",
	[KWARP_E_FIN_SEEN] = "FIN_SEEN",
	[KWARP_E_RST_SEEN] = "RST_SEEN",
	[KWARP_E_TERM_SEEN] = "TERM_SEEN",
	[KWARP_E_FAILED] = "FAILED",
	[KWARP_E_TERM_READY] = "TERM_READY",
};

static const char *const run_names[] = {
	[KWARP_RUN_IDLE] = "idle",
	[KWARP_RUN_QUEUED] = "queued",
	[KWARP_RUN_ACTIVE] = "active",
	[KWARP_RUN_AGAIN] = "again",
};

static const char *const kind_names[] = {
	[KWARP_TXK_NONE] = "none",
	[KWARP_TXK_SQ] = "request",
	[KWARP_TXK_ANSWER] = "answer",
	[KWARP_TXK_RTR] = "rtr",
	[KWARP_TXK_ANNOUNCE] = "announcement",
	[KWARP_TXK_TERM] = "terminate",
};

static const char *const target_names[] = {
	[KWARP_RXT_NONE] = "none",
	[KWARP_RXT_RECEIVE] = "receive",
	[KWARP_RXT_TAGGED] = "tagged",
	[KWARP_RXT_SMALL] = "header",
};

static void dump_flags(const struct kwarp_engine *e, struct seq_file *m)
{
	unsigned int i;

	seq_puts(m, "  flags");
	for (i = 0; i < ARRAY_SIZE(flag_names); i++)
		if (test_bit(i, &e->flags))
			seq_printf(m, " %s", flag_names[i]);
	seq_printf(m, " error %s\n", kwarp_perr_name(READ_ONCE(e->perr)));
}

static void dump_queues(const struct kwarp_engine *e, struct seq_file *m)
{
	const struct kwarp_sq *sq = e->sq;
	const struct kwarp_rq *rq = e->rq;

	seq_printf(m, "  sq size %u posted %u taken %u sent %u completed %u flags 0x%x\n",
		   kwarp_ring_size(&sq->ring), READ_ONCE(sq->ring.hdr->prod), READ_ONCE(sq->next),
		   READ_ONCE(sq->sent), READ_ONCE(sq->retired), READ_ONCE(sq->ring.hdr->flags));
	/* Do not read the ring of an SRQ: a resize may replace it at any time. */
	if (e->rq_shared)
		seq_puts(m, "  rq shared\n");
	else
		seq_printf(m, "  rq size %u posted %u taken %u\n", kwarp_ring_size(&rq->ring),
			   READ_ONCE(rq->ring.hdr->prod), READ_ONCE(rq->next));
}

static void dump_tx(const struct kwarp_tx *tx, struct seq_file *m)
{
	const struct kwarp_tx_msg *msg = &tx->msg;

	seq_printf(m, "  tx run %s claims %d work %s home %d\n",
		   run_names[atomic_read(&tx->run) & 3], atomic_read(&tx->claims),
		   delayed_work_pending(&tx->work) ? "pending" : "none", tx->home);
	seq_printf(m, "  tx message %s left %u sge %u+%u index %u mulpdu %u msn %u %u %u\n",
		   kind_names[READ_ONCE(msg->kind)], READ_ONCE(msg->left), READ_ONCE(msg->sge),
		   READ_ONCE(msg->sge_off), READ_ONCE(msg->sq_index), READ_ONCE(tx->mulpdu),
		   READ_ONCE(tx->msn[0]), READ_ONCE(tx->msn[1]), READ_ONCE(tx->msn[2]));
	seq_printf(m, "  tx batch %u of %u sent goal %u cut %u pieces %u up_to %u drain_to %u\n",
		   READ_ONCE(tx->batch.sent), READ_ONCE(tx->batch.len), READ_ONCE(tx->batch.goal),
		   READ_ONCE(tx->batch.cut), READ_ONCE(tx->batch.n), READ_ONCE(tx->sq_end),
		   READ_ONCE(tx->drain_to));
	seq_printf(m, "  tx crc %d markers %d align %d rtr 0x%x term_done %d no_memory %d\n",
		   tx->crc, tx->markers, tx->align, READ_ONCE(tx->rtr), READ_ONCE(tx->term_done),
		   READ_ONCE(tx->no_memory));
	seq_printf(m, "  tx held %d ns %llu sends %d\n", READ_ONCE(tx->coalesce.on),
		   READ_ONCE(tx->coalesce.ns), atomic_read(&tx->coalesce.sends));
}

static void dump_rx(const struct kwarp_rx *rx, struct seq_file *m)
{
	u32 i;

	seq_printf(m, "  rx ulpdu %u payload_left %u of %u ahead %u skip %u want %u target %s%s\n",
		   rx->fpdu.ulpdu_len, rx->fpdu.payload_left, rx->fpdu.payload_len, rx->ahead,
		   rx->skip, rx->want, target_names[rx->target],
		   rx->tagged_open ? " tagged_open" : "");
	seq_puts(m, "  rx msn+mo");
	for (i = 0; i < KWARP_QN_COUNT; i++)
		seq_printf(m, " %u+%u%s", rx->q[i].msn, rx->q[i].mo, rx->q[i].open ? "*" : "");
	seq_printf(m, " stash %s%u sge %u+%u\n", rx->stash.use ? "" : "none ", rx->stash.have,
		   rx->sge, rx->sge_off);
}

static void dump_reads(const char *name, const struct kwarp_readq *q, struct seq_file *m)
{
	seq_printf(m, "  %s depth %u first %u next %u\n", name, q->depth, READ_ONCE(q->head),
		   READ_ONCE(q->tail));
}

/* Print TCP's own state of the connection. Context: socket lock held. */
static void dump_tcp(const struct sock *sk, struct seq_file *m)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	seq_printf(m, "  tcp state %u err %d rcv_nxt %u copied %u window %u\n",
		   sk->sk_state, sk->sk_err, tp->rcv_nxt, tp->copied_seq, tp->rcv_wnd);
	seq_printf(m, "  tcp snd_una %u snd_nxt %u written %u window %u queued %d of %d\n",
		   tp->snd_una, tp->snd_nxt, tp->write_seq, tp->snd_wnd, sk->sk_wmem_queued,
		   sk->sk_sndbuf);
}

/**
 * kwarp_engine_dump - print the state of a stream, for debugging
 * @e: engine, after kwarp_engine_wire()
 * @m: debugfs file
 *
 * Context: process, may sleep; serialised with kwarp_engine_start() and kwarp_engine_stop().
 */
void kwarp_engine_dump(struct kwarp_engine *e, struct seq_file *m)
{
	struct sock *sk;

	might_sleep();
	dump_flags(e, m);
	dump_queues(e, m);
	dump_tx(&e->tx, m);
	if (!e->sock)
		return;
	dump_reads("reads out", &e->oread, m);
	dump_reads("reads in", &e->iread, m);
	sk = e->sock->sk;
	lock_sock(sk);
	dump_rx(&e->rx, m);
	dump_tcp(sk, m);
	release_sock(sk);
}
