/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The engine carries one stream of a queue pair over a TCP socket. It uses queues and memory
 * regions, the layers below it, and calls the layers above only through struct kwarp_engine_ops.
 *
 * Other layers include only this header and params.h, and use no field of the engine:
 * scripts/lint/check-layers.sh checks both.
 */
#ifndef KWARP_ENGINE_ENGINE_H
#define KWARP_ENGINE_ENGINE_H

#include <linux/socket.h>
#include <linux/tcp.h>

#include "params.h"
#include "tx/coalesce.h"
#include "tx/pages.h"
#include "types.h"

/*
 * The objects that an engine works with
 * @ibqp: queue pair named in completions; the stream has its protection domain
 * @creator: process that created it; NULL: a kernel consumer
 * @shared_mem: with an SRQ: protection domain that the regions of its receives must belong to;
 *	NULL: @rq is the queue pair's own
 * @hold: with a foreign ring for sends: decides whether the send queue is held
 */
struct kwarp_engine_parts {
	struct kwarp_dev *kdev;
	struct ib_qp *ibqp;
	const struct pid *creator;
	struct kwarp_sq *sq;
	struct kwarp_rq *rq;
	const struct kwarp_mem_stream *shared_mem;
	struct kwarp_cq *recv_cq;
	const struct kwarp_hold_ops *hold;
};

/*
 * @sq_used: requests that are posted and not completed. @rq_used: receives that are posted and not
 * yet used by a message; 0 with an SRQ. @sender: state of e->tx.run. @attached: there is a stream;
 * if not, the fields below are not set.
 */
struct kwarp_engine_info {
	u32 sq_used;
	u32 rq_used;
	bool held;
	const char *sender;
	const char *error;
	bool has_peer_term;
	u16 peer_term;
	bool attached;
	bool crc;
	bool tx_markers;
	bool rx_markers;
	bool align;
	u32 ord;
	u32 ird;
	u32 out_reads;
	u32 in_reads;
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	struct tcp_info tcp;
};

void kwarp_engine_init(struct kwarp_engine *e, const struct kwarp_engine_ops *ops);
void kwarp_engine_wire(struct kwarp_engine *e, const struct kwarp_engine_parts *parts);
void kwarp_engine_unwire(struct kwarp_engine *e);
int kwarp_engine_start(struct kwarp_engine *e, struct socket *sock,
		       const struct kwarp_stream_params *p);
bool kwarp_engine_has_news(const struct kwarp_engine *e);
void kwarp_engine_describe(struct kwarp_engine *e, struct kwarp_engine_info *info);
bool kwarp_engine_describe_end(struct kwarp_engine *e, struct kwarp_ended *rec);
struct kwarp_stats_stream *kwarp_engine_stats(struct kwarp_engine *e);
void kwarp_engine_poll(struct kwarp_engine *e);
void kwarp_engine_drain(struct kwarp_engine *e);
bool kwarp_engine_fin(struct kwarp_engine *e);
bool kwarp_engine_terminate(struct kwarp_engine *e);
void kwarp_engine_stop_receiving(struct kwarp_engine *e);
void kwarp_engine_stop_sending(struct kwarp_engine *e);
void kwarp_engine_stop(struct kwarp_engine *e, bool fin);
void kwarp_engine_give_up(struct kwarp_engine *e);
void kwarp_engine_reset(struct kwarp_engine *e);
void kwarp_engine_cancel(struct kwarp_engine *e);

void kwarp_engine_posted_send(struct kwarp_engine *e, bool user);
void kwarp_engine_posted_recv(struct kwarp_engine *e, bool user);

/**
 * kwarp_engine_attached - is there a stream?
 * @e: engine
 *
 * Context: any that is serialised with kwarp_engine_start() and kwarp_engine_stop().
 * Return: true if so.
 */
static inline bool kwarp_engine_attached(const struct kwarp_engine *e)
{
	return e->sock;
}

/**
 * kwarp_engine_peer_closed - has the peer sent its FIN?
 * @e: engine
 *
 * Return: true if so.
 */
static inline bool kwarp_engine_peer_closed(const struct kwarp_engine *e)
{
	return test_bit(KWARP_E_FIN_SEEN, &e->flags);
}

/**
 * kwarp_engine_perr - why has the stream failed?
 * @e: engine
 *
 * Context: any; after the event KWARP_QPE_PROTO or KWARP_QPE_LOST.
 * Return: the error; KWARP_PERR_NONE after a KWARP_QPE_LOST for which none was recorded, for
 * example after a reset by the peer.
 */
static inline enum kwarp_perr kwarp_engine_perr(const struct kwarp_engine *e)
{
	return READ_ONCE(e->perr);
}

/**
 * kwarp_engine_set_access - set the rights of the peer
 * @e: engine
 * @access: IB_ACCESS_REMOTE_*
 *
 * Segments that are being processed meanwhile may still be allowed or refused by the old rights.
 */
static inline void kwarp_engine_set_access(struct kwarp_engine *e, int access)
{
	WRITE_ONCE(e->access, access);
}

#endif /* KWARP_ENGINE_ENGINE_H */
