/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwedge: what happens where a resource runs out or is taken away.
 */
#ifndef KWEDGE_H
#define KWEDGE_H

#include "kwcm.h"
#include "kwtest.h"

#define KWE_WAIT_MS	20000

/**
 * struct kwe_opt - the command line
 * @rounds: how often
 * @spoil: leave out what the test is about: it has to fail then
 */
struct kwe_opt {
	bool server, spoil;
	const char *addr, *port;
	unsigned int rounds;
};

/**
 * struct kwe_end - one end of a connection
 * @id: of a client: with a channel of its own
 * @srq_pd: domain of @srq and of @mr, if it is not @pd
 * @mr: of @buf
 */
struct kwe_end {
	struct rdma_cm_id *id;
	struct ibv_pd *pd, *srq_pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t len;
};

/* The roles of each case; they die if anything is wrong. */
void kwe_srq_server(const struct kwe_opt *opt);
void kwe_srq_client(const struct kwe_opt *opt);
void kwe_srq_pd_server(const struct kwe_opt *opt);
void kwe_cq_client(const struct kwe_opt *opt);
void kwe_dereg_server(const struct kwe_opt *opt);
void kwe_dereg_client(const struct kwe_opt *opt);
void kwe_depth_server(const struct kwe_opt *opt);
void kwe_depth_client(const struct kwe_opt *opt);

/* Objects for @e->id: domain, completion queue, @len octets of memory, queue pair. */
void kwe_open(struct kwe_end *e, size_t len, int access, unsigned int wrs);
void kwe_close(struct kwe_end *e);
/* Resolve, open, connect; the peer's private data to @ev. */
void kwe_connect(struct kwe_end *e, const struct kwe_opt *opt, size_t len, unsigned int wrs,
		 struct kwcm_event *ev);
/* The next connect request of a listener. */
void kwe_request(struct rdma_cm_id *listener, struct kwcm_event *ev);

void kwe_post_send(struct kwe_end *e, size_t offset, uint32_t len);
void kwe_post_recv(struct kwe_end *e, size_t offset, uint32_t len);
/* The next completion, which must be good. */
void kwe_completion(struct kwe_end *e, struct ibv_wc *wc);
/* The next asynchronous event within this time, acknowledged: false if there is none. */
bool kwe_async(struct ibv_context *verbs, int timeout_ms, struct ibv_async_event *ev);

#endif /* KWEDGE_H */
