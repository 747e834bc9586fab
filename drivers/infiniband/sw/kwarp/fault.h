/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Points at which tests can inject faults.  This needs a module, and a kernel with fault injection
 * in debugfs; otherwise kwarp_fault() is the constant false.
 */
#ifndef KWARP_FAULT_H
#define KWARP_FAULT_H

#include <linux/types.h>

struct dentry;

/**
 * enum kwarp_fault - the points, and what happens there if a fault is injected
 * @KWARP_FAULT_SHORT_SEND: TCP takes only half of a batch (the FPDUs of one socket call), and calls
 *	write_space at the next ACK
 * @KWARP_FAULT_FULL_SEND: TCP takes nothing, and calls write_space at the next ACK.  If no data is
 *	in flight, no ACK comes: the caller has to try again by itself, as if TCP had no memory
 * @KWARP_FAULT_LOST_KICK: the doorbell of a send queue is ignored
 * @KWARP_FAULT_LATE_WORK: a work item begins 20 ms late
 * @KWARP_FAULT_BAD_CRC: the CRC of an FPDU is sent with one wrong bit
 * @KWARP_FAULTS: number of points
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
