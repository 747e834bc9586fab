/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Creation and removal of the files in /sys/kernel/debug/kwarp. */
#ifndef KWARP_DEBUG_H
#define KWARP_DEBUG_H

struct ib_device;
struct kwarp_dev;

void kwarp_debug_init(void);
void kwarp_debug_exit(void);
void kwarp_debug_enable(struct ib_device *ibdev);
void kwarp_debug_remove(struct kwarp_dev *kdev);

#endif /* KWARP_DEBUG_H */
