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
struct kwarp_qp;

int kwarp_cm_connect(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int kwarp_cm_accept(struct iw_cm_id *id, struct iw_cm_conn_param *param);
int kwarp_cm_reject(struct iw_cm_id *id, const void *pdata, u8 pdata_len);
int kwarp_cm_create_listen(struct iw_cm_id *id, int backlog);
int kwarp_cm_destroy_listen(struct iw_cm_id *id);

/*
 * What iw_cm calls for a queue pair of a number: it gets something of ours instead, see
 * cm_qp.c, which comes back in rem_ref, and in modify_qp.
 */
struct ib_qp *kwarp_get_qp(struct ib_device *ibdev, int qpn);
void kwarp_qp_add_ref(struct ib_qp *ibqp);
void kwarp_qp_rem_ref(struct ib_qp *ibqp);
bool kwarp_cm_is_stand_in(const struct ib_qp *ibqp);
int kwarp_cm_modify_stand_in(struct ib_qp *ibqp, bool graceful);

/* Before the device is registered: set up kdev->cm. */
void kwarp_cm_init_device(struct kwarp_dev *kdev);

/**
 * kwarp_cm_retire - the users of a device are about to be told to leave
 * @kdev: device
 *
 * Listeners are shut, connections that are being set up fail, since users wait for those, and no
 * new one begins. The others go on, since a user may need them for its leave: an NVMe host
 * shuts its controller down.
 *
 * Context: process; waits for no peer.
 */
void kwarp_cm_retire(struct kwarp_dev *kdev);

/**
 * kwarp_cm_begin_stop - the network below a device goes away
 * @kdev: device
 *
 * Connections end, those that are being set up fail, and no new one begins. To be called
 * before the RDMA core tells the device's users, who would wait for a peer in vain.
 *
 * Context: process; does not wait.
 */
void kwarp_cm_begin_stop(struct kwarp_dev *kdev);

/**
 * kwarp_cm_stop_device - end every listener and every connection of a device
 * @kdev: device
 *
 * Nothing new can start afterwards. Listeners remain as empty shells until iw_cm
 * destroys them. To be called while kdev->netdev is held and QPs still work: before or
 * after ib_unregister_device() has dealt with its clients, in any case before the
 * netdev is given up.
 *
 * Context: process. Returns when no endpoint refers to the device any more, which
 * takes as long as its QPs need to go down after kwarp_qp_close(qp, false).
 */
void kwarp_cm_stop_device(struct kwarp_dev *kdev);

/**
 * kwarp_cm_drop_qp - a QP is being destroyed
 * @qp: the QP
 *
 * Connections that are still being set up for it fail and give their reference back
 * soon; without this destroy would wait for the peer or for a timer. To be called
 * before the wait for the QP's last reference. A stream that is attached
 * already is ended by kwarp_qp_close().
 *
 * Context: process; does not wait.
 */
void kwarp_cm_drop_qp(struct kwarp_qp *qp);

/* Module-wide state. kwarp_cm_exit() after kwarp_wq has been destroyed. */
int kwarp_cm_init(void);
void kwarp_cm_exit(void);

#endif /* KWARP_CM_CM_H */
