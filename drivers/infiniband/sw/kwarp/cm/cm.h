/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connection management: what the device registers with the iWARP CM.
 */
#ifndef KWARP_CM_CM_H
#define KWARP_CM_CM_H

#include <linux/types.h>

struct ib_device;
struct ib_qp;
struct iw_cm_conn_param;
struct iw_cm_id;
struct kwarp_dev;

int kwarp_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int kwarp_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int kwarp_cm_reject(struct iw_cm_id *id, const void *pdata, u8 pdata_len);
int kwarp_cm_create_listen(struct iw_cm_id *id, int backlog);
int kwarp_cm_destroy_listen(struct iw_cm_id *id);

/*
 * End every listener and every connection of @kdev (device removal); returns when
 * none of them refers to the device any more.
 */
void kwarp_cm_stop_device(struct kwarp_dev *kdev);

/* Module-wide state: caches, lock classes. */
int kwarp_cm_init(void);
void kwarp_cm_exit(void);

#endif /* KWARP_CM_CM_H */
