/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Helpers of the test programs: librdmacm with synchronous calls and time limits.
 */
#ifndef KWCM_H
#define KWCM_H

#include "kwib.h"

#include <rdma/rdma_cma.h>
#include <stdbool.h>

/**
 * struct kwcm_event - copy of a connection manager event, which is acknowledged already
 * @type: RDMA_CM_EVENT_*
 * @status: status of the event
 * @id: the id that the event is about; for a connect request: the id of the new connection
 * @depth: how many Reads and atomic operations the peer accepts at once; a value for
 *	initiator_depth of rdma_accept()
 * @resources: how many Reads and atomic operations the peer wants to send at once; a value for
 *	responder_resources of rdma_accept()
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
/*
 * Like kwcm_next(), but the event must have this @type. Another event gives -ECONNABORTED and a
 * message.
 */
int kwcm_expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type, int timeout_ms,
		struct kwcm_event *ev);

/*
 * Return: a new id with an event channel of its own, and with address and route resolved. A failure
 * ends the program.
 */
struct rdma_cm_id *kwcm_resolve(const char *addr, const char *port);
/*
 * Return: a new id that listens, with an event channel of its own. A failure ends the program.
 */
struct rdma_cm_id *kwcm_listen(const char *addr, const char *port, int backlog);
/*
 * Like kwcm_listen(), but the connections send with IP type of service @tos; 0: the default. With
 * @ipv4_too the address :: is for IPv4 as well, whatever net.ipv6.bindv6only says.
 */
struct rdma_cm_id *kwcm_listen_with(const char *addr, const char *port, int backlog, uint8_t tos,
				    bool ipv4_too);
/* Destroy an id and its event channel. */
void kwcm_destroy(struct rdma_cm_id *id);

#endif /* KWCM_H */
