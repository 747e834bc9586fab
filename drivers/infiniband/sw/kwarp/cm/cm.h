/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection management: the functions that the iWARP CM (iw_cm) calls, and those that set up, stop
 * and describe the connection management of a device.
 *
 * Other layers include only this header of cm/; scripts/lint/check-layers.sh enforces that.
 */
#ifndef KWARP_CM_CM_H
#define KWARP_CM_CM_H

#include "../proto/pairing.h"
#include "cm_qp.h"

struct iw_cm_conn_param;
struct iw_cm_id;
struct kwarp_dev;
struct kwarp_qp;
struct kwarp_wire;

/**
 * struct kwarp_cm_info - diagnostics of the endpoint or listener of an iw_cm_id
 * @role: "initiator", "responder" or "listener"
 * @state: name of an endpoint's state; NULL: a listener
 * @state_ms: endpoint: time in @state, milliseconds
 * @timed: endpoint: a timer is running for @state
 * @ends_ms: endpoint: time until that timer expires, milliseconds
 * @backlog: listener: length of the accept queue that the ULP asked for
 * @queued: listener: connections in TCP's accept queue
 * @half_open: listener: accepted by TCP, but not by the ULP: in MPA startup, or refused
 * @asked: listener: MPA Requests that the ULP has received and has not answered
 */
struct kwarp_cm_info {
	const char *role;
	const char *state;
	u64 state_ms;
	bool timed;
	u64 ends_ms;
	int backlog;
	u32 queued;
	u32 half_open;
	int asked;
};

/**
 * struct kwarp_wiring - what the consumer of a queue pair says in modify to RTR
 * @pair: addresses, numbers, the PSN to be received first, features; own.sends is false
 * @ird: Reads and atomic operations to be served at a time
 * @tos: type of service; 0: that of the knob
 * @rnr_us: how long a sender waits before it sends again what has found no receive, microseconds
 */
struct kwarp_wiring {
	struct kwarp_pair pair;
	u8 ird;
	u8 tos;
	u32 rnr_us;
};

/**
 * struct kwarp_wire_sends - what it says in modify to RTS
 * @sq_psn: PSN to be sent first
 * @rnr_retry: how often a Send may find no receive; 7: for ever
 * @ord: Reads and atomic operations outstanding at a time
 * @limit_ms: how long posted requests wait for the connection, milliseconds
 */
struct kwarp_wire_sends {
	u32 sq_psn;
	u8 rnr_retry;
	u8 ord;
	u32 limit_ms;
};

int kwarp_cm_wire(struct kwarp_qp *qp, const struct kwarp_wiring *to, struct kwarp_wire **wire);
int kwarp_cm_wire_sends(struct kwarp_wire *w, const struct kwarp_wire_sends *s);
void kwarp_cm_unwire(struct kwarp_wire *w);
int kwarp_cm_wire_listen(struct kwarp_dev *kdev, u32 port);
void kwarp_cm_wire_begin(struct kwarp_dev *kdev);

int kwarp_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int kwarp_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int kwarp_cm_reject(struct iw_cm_id *id, const void *pdata, u8 pdata_len);
int kwarp_cm_create_listen(struct iw_cm_id *id, int backlog);
int kwarp_cm_destroy_listen(struct iw_cm_id *id);

void kwarp_cm_init_device(struct kwarp_dev *kdev);
void kwarp_cm_retire(struct kwarp_dev *kdev);
void kwarp_cm_begin_stop(struct kwarp_dev *kdev);
void kwarp_cm_stop_device(struct kwarp_dev *kdev);
void kwarp_cm_drop_qp(struct kwarp_qp *qp);
bool kwarp_cm_describe(struct kwarp_dev *kdev, const struct iw_cm_id *id,
		       struct kwarp_cm_info *info);
void kwarp_cm_exit(void);

#endif /* KWARP_CM_CM_H */
