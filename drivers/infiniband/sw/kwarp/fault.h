/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Points at which tests make something go wrong.  Only in a module for a kernel with fault
 * injection in debugfs; in any other the points are the constant "no".
 */
#ifndef KWARP_FAULT_H
#define KWARP_FAULT_H

#include <linux/types.h>

struct dentry;

/**
 * enum kwarp_fault - the points
 * @KWARP_FAULT_SHORT_SEND: TCP takes half of a batch, and tells when there is room
 * @KWARP_FAULT_FULL_SEND: TCP takes nothing, and tells when there is room; with nothing in
 *	flight it has no memory, and will not tell
 * @KWARP_FAULT_LOST_KICK: a doorbell is not heard
 * @KWARP_FAULT_LATE_WORK: a worker begins 20 ms late
 * @KWARP_FAULT_BAD_CRC: one bit of a CRC that is sent is wrong
 * @KWARP_FAULTS: their number
 */
enum kwarp_fault {
	KWARP_FAULT_SHORT_SEND,
	KWARP_FAULT_FULL_SEND,
	KWARP_FAULT_LOST_KICK,
	KWARP_FAULT_LATE_WORK,
	KWARP_FAULT_BAD_CRC,
	KWARP_FAULTS
};

#if defined(CONFIG_FAULT_INJECTION_DEBUG_FS) && defined(MODULE)
bool kwarp_fault(enum kwarp_fault point);
void kwarp_fault_late(void);
void kwarp_fault_init(struct dentry *dir);
#else
static inline bool kwarp_fault(enum kwarp_fault point)
{
	return false;
}

static inline void kwarp_fault_late(void)
{
}

static inline void kwarp_fault_init(struct dentry *dir)
{
}
#endif

#endif /* KWARP_FAULT_H */
