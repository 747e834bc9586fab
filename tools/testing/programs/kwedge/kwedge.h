/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwedge is a test program: what does the device do when a resource runs out or is taken away?
 */
#ifndef KWEDGE_H
#define KWEDGE_H

#include "kwcm.h"
#include "kwtest.h"

#define KWE_WAIT_MS	20000

/**
 * struct kwe_opt - the command line
 * @rounds: how often the cases srq-limit, srq-domain and dereg are repeated
 * @spoil: leave out the operation that the case tests, so that the case must fail
 */
struct kwe_opt {
	bool server, spoil;
	const char *addr, *port;
	unsigned int rounds;
};

/**
 * struct kwe_end - one end of a connection
 * @id: connection manager id; at a client it has an event channel of its own
 * @srq_pd: protection domain of @srq and @mr; NULL: they are in @pd
 * @mr: region of @buf, of @len octets
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

/* Server and client of each case. If anything is wrong they end the program. */
void kwe_srq_server(const struct kwe_opt *opt);
void kwe_srq_client(const struct kwe_opt *opt);
void kwe_srq_pd_server(const struct kwe_opt *opt);
void kwe_cq_client(const struct kwe_opt *opt);
void kwe_dereg_server(const struct kwe_opt *opt);
void kwe_dereg_client(const struct kwe_opt *opt);
void kwe_depth_server(const struct kwe_opt *opt);
void kwe_depth_client(const struct kwe_opt *opt);
void kwe_long_server(const struct kwe_opt *opt);
void kwe_long_srq_server(const struct kwe_opt *opt);
void kwe_long_client(const struct kwe_opt *opt);

/* Create for e->id: protection domain, completion queue, @len octets of memory, queue pair. */
void kwe_open(struct kwe_end *e, size_t len, int access, unsigned int wrs);
void kwe_close(struct kwe_end *e);
/* Resolve the address, kwe_open(), connect. @ev gets the peer's private data. */
void kwe_connect(struct kwe_end *e, const struct kwe_opt *opt, size_t len, unsigned int wrs,
		 struct kwcm_event *ev);
/* Wait for the next connect request of a listener. */
void kwe_request(struct rdma_cm_id *listener, struct kwcm_event *ev);

void kwe_post_send(struct kwe_end *e, size_t offset, uint32_t len);
void kwe_post_recv(struct kwe_end *e, size_t offset, uint32_t len);
/* Wait for the next completion, which must be a success. */
void kwe_completion(struct kwe_end *e, struct ibv_wc *wc);
/* Wait for an asynchronous event and acknowledge it. Return: false if none comes in time. */
bool kwe_async(struct ibv_context *verbs, int timeout_ms, struct ibv_async_event *ev);

#endif /* KWEDGE_H */
