/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The engine of one stream: octets on a socket.  It knows queues and regions below it, and
 * speaks upward only through struct kwarp_engine_ops.
 *
 * With params.h this is all of the engine that other layers include, and they touch no field of it:
 * scripts/lint/check-layers.sh sees to both.
 */
#ifndef KWARP_ENGINE_ENGINE_H
#define KWARP_ENGINE_ENGINE_H

#include <linux/socket.h>
#include <linux/tcp.h>

#include "params.h"
#include "types.h"

struct seq_file;

/**
 * struct kwarp_engine_parts - what an engine is wired to
 * @kdev: device
 * @ibqp: named in completions; its protection domain is that of the stream
 * @sq: send queue, and its CQ
 * @rq: receive queue, or that of an SRQ
 * @shared_mem: whose memory an SRQ's receives may be in; NULL: @rq is the queue pair's own
 * @recv_cq: where receives complete
 */
struct kwarp_engine_parts {
	struct kwarp_dev *kdev;
	struct ib_qp *ibqp;
	struct kwarp_sq *sq;
	struct kwarp_rq *rq;
	const struct kwarp_mem_stream *shared_mem;
	struct kwarp_cq *recv_cq;
};

/**
 * struct kwarp_engine_info - how a queue pair's stream stands, for an operator
 * @sq_used: requests that are posted and not completed
 * @rq_used: receives that are posted and not taken; not an SRQ's
 * @held: the send queue is, see tx/coalesce.h
 * @error: name of the error that ended the stream, or of none
 * @has_peer_term: the peer has sent a Terminate
 * @peer_term: it, see kwarp_term_short()
 * @attached: there is a stream, and what follows is set
 * @crc: as in struct kwarp_stream_params
 * @tx_markers: likewise
 * @rx_markers: likewise
 * @align: likewise
 * @ord: likewise
 * @ird: likewise
 * @out_reads: Reads and atomic operations of ours that have not been answered
 * @in_reads: those of the peer
 * @local: our address and port
 * @remote: the peer's
 * @tcp: what TCP says of the connection
 */
struct kwarp_engine_info {
	u32 sq_used;
	u32 rq_used;
	bool held;
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

void kwarp_engine_init_device(struct kwarp_dev *kdev);
void kwarp_engine_fini_device(struct kwarp_dev *kdev);

void kwarp_engine_init_cq(struct kwarp_cq *cq);
void kwarp_engine_fini_cq(struct kwarp_cq *cq);

void kwarp_engine_init(struct kwarp_engine *e, const struct kwarp_engine_ops *ops);
void kwarp_engine_wire(struct kwarp_engine *e, const struct kwarp_engine_parts *parts);
void kwarp_engine_unwire(struct kwarp_engine *e);
int kwarp_engine_start(struct kwarp_engine *e, struct socket *sock,
		       const struct kwarp_stream_params *p);
bool kwarp_engine_has_news(const struct kwarp_engine *e);
void kwarp_engine_describe(struct kwarp_engine *e, struct kwarp_engine_info *info);
void kwarp_engine_dump(struct kwarp_engine *e, struct seq_file *m);
struct kwarp_stats_stream *kwarp_engine_stats(struct kwarp_engine *e);
void kwarp_engine_poll(struct kwarp_engine *e);
void kwarp_engine_drain(struct kwarp_engine *e);
bool kwarp_engine_fin(struct kwarp_engine *e);
bool kwarp_engine_terminate(struct kwarp_engine *e);
void kwarp_engine_stop_receiving(struct kwarp_engine *e);
void kwarp_engine_stop_sending(struct kwarp_engine *e);
void kwarp_engine_stop(struct kwarp_engine *e, bool fin);
void kwarp_engine_reset(struct kwarp_engine *e);
void kwarp_engine_cancel(struct kwarp_engine *e);

void kwarp_engine_posted_send(struct kwarp_engine *e, bool user);
void kwarp_engine_posted_recv(struct kwarp_engine *e, bool user);

/* A stream is attached.  Context: that of start and stop. */
static inline bool kwarp_engine_attached(const struct kwarp_engine *e)
{
	return e->sock;
}

/* The peer has closed its half.  Context: any. */
static inline bool kwarp_engine_peer_closed(const struct kwarp_engine *e)
{
	return test_bit(KWARP_E_FIN_SEEN, &e->flags);
}

/* Why the stream failed.  Context: after KWARP_QPE_PROTO or KWARP_QPE_LOST. */
static inline enum kwarp_perr kwarp_engine_perr(const struct kwarp_engine *e)
{
	return READ_ONCE(e->perr);
}

/* Rights of the peer, IB_ACCESS_REMOTE_*, from the next segment on.  Context: any. */
static inline void kwarp_engine_set_access(struct kwarp_engine *e, int access)
{
	WRITE_ONCE(e->access, access);
}

#endif /* KWARP_ENGINE_ENGINE_H */
