/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection management: what the device registers with the iWARP CM.
 *
 * This is all of cm/ that other layers include: scripts/check-layers.sh sees to it.
 */
#ifndef KWARP_CM_CM_H
#define KWARP_CM_CM_H

#include "cm_qp.h"

struct iw_cm_conn_param;
struct iw_cm_id;
struct kwarp_dev;
struct kwarp_qp;
struct seq_file;

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
int kwarp_cm_dump(struct kwarp_dev *kdev, struct seq_file *m);
void kwarp_cm_exit(void);

#endif /* KWARP_CM_CM_H */
