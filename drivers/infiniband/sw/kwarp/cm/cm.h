/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection management: the functions that the iWARP CM (iw_cm) calls, and those that set up, stop
 * and describe the connection management of a device.
 *
 * Other layers include only this header of cm/; scripts/lint/check-layers.sh enforces that.
 */
#ifndef KWARP_CM_CM_H
#define KWARP_CM_CM_H

#include "cm_qp.h"

struct iw_cm_conn_param;
struct iw_cm_id;
struct kwarp_dev;
struct kwarp_qp;
struct seq_file;

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
int kwarp_cm_dump(struct kwarp_dev *kdev, struct seq_file *m);
void kwarp_cm_exit(void);

#endif /* KWARP_CM_CM_H */
