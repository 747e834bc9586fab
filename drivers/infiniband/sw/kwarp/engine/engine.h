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
#include "types.h"

struct seq_file;

/**
 * struct kwarp_engine_parts - the objects that an engine works with
 * @kdev: device
 * @ibqp: queue pair named in completions; the stream has its protection domain
 * @sq: send queue; @sq->cq is the CQ in which its requests complete
 * @rq: receive queue, or that of an SRQ
 * @shared_mem: with an SRQ: protection domain that the regions of its receives must belong to;
 *	NULL: @rq is the queue pair's own
 * @recv_cq: CQ in which receives complete
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
 * struct kwarp_engine_info - state of a queue pair's stream, for an operator
 * @sq_used: requests that are posted and not completed
 * @rq_used: receives that are posted and not yet used by a message; 0 with an SRQ
 * @held: the send queue is held: the program posts without ringing its doorbell, and a timer or a
 *	later doorbell sends, see tx/coalesce.h
 * @error: name of the error that ended the stream, or the name for "no error"
 * @has_peer_term: the peer has sent a Terminate
 * @peer_term: that Terminate in 16 bits, see kwarp_term_short()
 * @attached: there is a stream; if not, the fields below are not set
 * @crc: as in struct kwarp_stream_params
 * @tx_markers: as in struct kwarp_stream_params
 * @rx_markers: as in struct kwarp_stream_params
 * @align: as in struct kwarp_stream_params
 * @ord: as in struct kwarp_stream_params
 * @ird: as in struct kwarp_stream_params
 * @out_reads: our Reads and atomic operations that have not been answered
 * @in_reads: the peer's Reads and atomic operations that have not been answered
 * @local: our address and port
 * @remote: the peer's address and port
 * @tcp: what getsockopt(TCP_INFO) would return for the connection
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

void kwarp_engine_init_cq(struct kwarp_cq *cq, struct kwarp_timers *user);
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

/*
 * Is a stream attached, that is, does the engine have a socket? Context: any that is serialised
 * with kwarp_engine_start() and kwarp_engine_stop().
 */
static inline bool kwarp_engine_attached(const struct kwarp_engine *e)
{
	return e->sock;
}

/* Has the engine reported the peer's FIN to the layer above? Context: any. */
static inline bool kwarp_engine_peer_closed(const struct kwarp_engine *e)
{
	return test_bit(KWARP_E_FIN_SEEN, &e->flags);
}

/*
 * Why the stream failed. KWARP_PERR_NONE after a KWARP_QPE_LOST for which no error was recorded,
 * for example after a reset by the peer. Context: after the event KWARP_QPE_PROTO or
 * KWARP_QPE_LOST.
 */
static inline enum kwarp_perr kwarp_engine_perr(const struct kwarp_engine *e)
{
	return READ_ONCE(e->perr);
}

/*
 * Set what the peer may do, IB_ACCESS_REMOTE_*. Segments that are being processed meanwhile may
 * still be allowed or refused by the old rights. Context: any.
 */
static inline void kwarp_engine_set_access(struct kwarp_engine *e, int access)
{
	WRITE_ONCE(e->access, access);
}

#endif /* KWARP_ENGINE_ENGINE_H */
