/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Wired queue pairs (wire.c): the functions for cm_device.c. */
#ifndef KWARP_CM_WIRE_H
#define KWARP_CM_WIRE_H

struct kwarp_dev;

void kwarp_wire_init_device(struct kwarp_dev *kdev);

#endif /* KWARP_CM_WIRE_H */
