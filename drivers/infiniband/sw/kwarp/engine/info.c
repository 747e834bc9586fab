// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "engine.h"

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/net.h>
#include <linux/tcp.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "../proto/ddp.h"
#include "../proto/rdmap.h"
#include "../proto/term.h"
#include "../serial.h"
#include "fail.h"

static const char *const run_names[] = {
	[KWARP_RUN_IDLE] = "idle",
	[KWARP_RUN_QUEUED] = "queued",
	[KWARP_RUN_ACTIVE] = "active",
	[KWARP_RUN_AGAIN] = "again",
};

/*
 * The producer index may be in user memory and wrong, so the result is limited to the size of the
 * queue.
 */
static u32 ring_used(const struct kwarp_ring *ring, u32 from)
{
	return min(READ_ONCE(ring->hdr->prod) - from, kwarp_ring_size(ring));
}

static u32 readq_waiting(const struct kwarp_readq *q)
{
	return READ_ONCE(q->tail) - READ_ONCE(q->head);
}

static void describe_stream(const struct kwarp_engine *e, struct kwarp_engine_info *info)
{
	info->attached = true;
	info->crc = e->tx.crc;
	info->tx_markers = e->tx.markers;
	info->rx_markers = e->rx.fpdu.markers;
	info->align = e->tx.align;
	info->ord = e->oread.depth;
	info->ird = e->iread.depth;
	info->out_reads = readq_waiting(&e->oread);
	info->in_reads = readq_waiting(&e->iread);
	/* Argument 2 of getname(): the peer's address, even if the connection is gone. */
	e->sock->ops->getname(e->sock, (struct sockaddr *)&info->local, 0);
	e->sock->ops->getname(e->sock, (struct sockaddr *)&info->remote, 2);
	tcp_get_info(e->sock->sk, &info->tcp);
}

/**
 * kwarp_engine_describe - get the state of a stream, for an operator
 * @e: engine
 * @info: result, zeroed by the caller
 *
 * The numbers are read without locks while they may change.
 *
 * Context: process; serialised with kwarp_engine_start() and kwarp_engine_stop().
 */
void kwarp_engine_describe(struct kwarp_engine *e, struct kwarp_engine_info *info)
{
	might_sleep();
	info->sq_used = ring_used(&e->sq->ring, READ_ONCE(e->sq->retired));
	/*
	 * Do not read the ring of an SRQ: a resize may replace it at any time. The SRQ's receives
	 * are reported for the SRQ itself.
	 */
	if (!e->rq_shared)
		info->rq_used = ring_used(&e->rq->ring, READ_ONCE(e->rq->next));
	info->held = READ_ONCE(e->tx.coalesce.on);
	info->sender = run_names[atomic_read(&e->tx.run)];
	info->error = kwarp_perr_name(READ_ONCE(e->perr));
	if (test_bit(KWARP_E_TERM_SEEN, &e->flags)) {
		/* Pairs with end_terminate() in rx/segment.c: the flag is read before peer_term. */
		smp_rmb();
		info->peer_term = kwarp_term_short(&e->peer_term);
		info->has_peer_term = true;
	}
	if (e->sock)
		describe_stream(e, info);
}

static void describe_blame(const struct kwarp_term *term, struct kwarp_ended *rec)
{
	struct kwarp_ddp_hdr hdr;
	struct kwarp_rreq req;

	if (term->has_rdmap) {
		kwarp_rreq_decode(term->rreq, &req);
		rec->blamed = KWARP_BLAMED_READ;
		rec->blamed_stag = req.src_stag;
		rec->blamed_addr = req.src_to;
		rec->blamed_len = req.size;
	} else if (term->has_ddp) {
		kwarp_ddp_decode(term->ddp_hdr, &hdr);
		rec->blamed = hdr.tagged ? KWARP_BLAMED_TAGGED : KWARP_BLAMED_MESSAGE;
		rec->blamed_stag = hdr.stag;
		rec->blamed_addr = hdr.to;
		rec->blamed_msn = hdr.msn;
		if (term->seg_len_valid && term->seg_len >= kwarp_ddp_len(hdr.tagged))
			rec->blamed_len = term->seg_len - kwarp_ddp_len(hdr.tagged);
	}
}

/* IPv4 addresses of a socket for both versions are told as such. */
static void get_name(struct socket *sock, int which, union kwarp_ended_addr *to)
{
	struct sockaddr_storage addr = {};
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&addr;

	sock->ops->getname(sock, (struct sockaddr *)&addr, which);
	if (addr.ss_family == AF_INET6 && ipv6_addr_v4mapped(&in6->sin6_addr))
		to->in = (struct sockaddr_in) {
			.sin_family = AF_INET,
			.sin_port = in6->sin6_port,
			.sin_addr.s_addr = in6->sin6_addr.s6_addr32[3],
		};
	else
		memcpy(to, &addr, sizeof(*to));
}

static void describe_socket(struct socket *sock, struct kwarp_ended *rec)
{
	const struct tcp_sock *tp = tcp_sk(sock->sk);

	get_name(sock, 0, &rec->local);
	get_name(sock, 2, &rec->remote);
	rec->err = READ_ONCE(sock->sk->sk_err);
	rec->sent = READ_ONCE(tp->bytes_acked);
	rec->received = READ_ONCE(tp->bytes_received);
	rec->retrans = READ_ONCE(tp->total_retrans);
}

/**
 * kwarp_engine_describe_end - collect why a stream ends
 * @e: engine
 * @rec: result; the members about the program and the queue pair are not changed
 *
 * Context: process, may sleep; serialised with kwarp_engine_start() and kwarp_engine_stop().
 * Return: false: there is no stream.
 */
bool kwarp_engine_describe_end(struct kwarp_engine *e, struct kwarp_ended *rec)
{
	might_sleep();
	if (!e->sock)
		return false;
	describe_socket(e->sock, rec);
	rec->time = ktime_get_boottime_ns();
	rec->age_ms = ktime_to_ms(ktime_get_boottime()) - e->began;
	rec->perr = READ_ONCE(e->perr);
	rec->vendor_err = kwarp_engine_short(e);
	rec->cut = test_bit(KWARP_E_FIN_SEEN, &e->flags) && !test_bit(KWARP_E_RST_SEEN, &e->flags);
	if (test_bit(KWARP_E_TERM_SEEN, &e->flags)) {
		/* Pairs with end_terminate() in rx/segment.c: the flag is read before peer_term. */
		smp_rmb();
		rec->has_term = true;
		rec->term = kwarp_term_short(&e->peer_term);
		rec->term_perr = kwarp_term_perr(&e->peer_term);
		describe_blame(&e->peer_term, rec);
	}
	/* Pairs with the release in refusal.c. */
	if (smp_load_acquire(&e->refused.why))
		rec->refused = e->refused;
	return true;
}
