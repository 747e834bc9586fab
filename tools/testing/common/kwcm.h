/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * librdmacm in a synchronous form with time limits.
 */
#ifndef KWCM_H
#define KWCM_H

#include <rdma/rdma_cma.h>

/**
 * struct kwcm_event - what is left of a connection manager event
 * @type: RDMA_CM_EVENT_*
 * @status: as the event had it
 * @id: the id it is about; of a connect request: the new one
 * @depth: Reads and atomic operations that the peer takes at once; initiator_depth of an answer
 * @resources: that it wants to send at once; responder_resources of an answer
 * @priv_len: octets in @priv
 * @priv: private data of the peer
 */
struct kwcm_event {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *id;
	unsigned int depth, resources, priv_len;
	uint8_t priv[256];
};

/* Wait up to timeout_ms for an event. Return: 0, -ETIMEDOUT, or the channel's error. */
int kwcm_next(struct rdma_event_channel *ch, int timeout_ms, struct kwcm_event *ev);
/* Like kwcm_next(), but any other event gives -ECONNABORTED and a message. */
int kwcm_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type, int timeout_ms,
		struct kwcm_event *ev);

/* A new id on a channel of its own with address and route resolved; dies on failure. */
struct rdma_cm_id *kwcm_resolve(const char *addr, const char *port);
/* A new id on a channel of its own that listens; dies on failure. */
struct rdma_cm_id *kwcm_listen(const char *addr, const char *port, int backlog);
/* Like kwcm_listen(); connections send with this type of service, unless it is 0. */
struct rdma_cm_id *kwcm_listen_tos(const char *addr, const char *port, int backlog, uint8_t tos);
/* Destroy an id and its channel. */
void kwcm_destroy(struct rdma_cm_id *id);

#endif /* KWCM_H */
