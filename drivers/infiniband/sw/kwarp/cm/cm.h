/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection management: what the device registers with the iWARP CM.
 *
 * This is all of cm/ that other layers include: scripts/check-layers.sh sees to it.
 */
#ifndef KWARP_CM_CM_H
#define KWARP_CM_CM_H

#include <linux/types.h>

struct ib_device;
struct ib_qp;
struct iw_cm_conn_param;
struct iw_cm_id;
struct kwarp_dev;
struct kwarp_qp;

int kwarp_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int kwarp_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int kwarp_cm_reject(struct iw_cm_id *id, const void *pdata, u8 pdata_len);
int kwarp_cm_create_listen(struct iw_cm_id *id, int backlog);
int kwarp_cm_destroy_listen(struct iw_cm_id *id);

/* iw_cm gets one for a number, which comes back in rem_ref, and in modify_qp. */
struct ib_qp *kwarp_get_qp(struct ib_device *ibdev, int qpn);
void kwarp_qp_add_ref(struct ib_qp *ibqp);
void kwarp_qp_rem_ref(struct ib_qp *ibqp);
bool kwarp_cm_is_stand_in(const struct ib_qp *ibqp);
int kwarp_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful);

void kwarp_cm_init_device(struct kwarp_dev *kdev);
void kwarp_cm_retire(struct kwarp_dev *kdev);
void kwarp_cm_begin_stop(struct kwarp_dev *kdev);
void kwarp_cm_stop_device(struct kwarp_dev *kdev);
void kwarp_cm_drop_qp(struct kwarp_qp *qp);
void kwarp_cm_exit(void);

#endif /* KWARP_CM_CM_H */
