/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lets the test kwedge change a request of librdmacm before it goes to the kernel.
 */
#ifndef KWEDGE_UCM_H
#define KWEDGE_UCM_H

#include <stdbool.h>
#include <stdint.h>

/* Make the next rdma_connect() or rdma_accept() ask the kernel for these depths. */
void kwucm_change_depths(uint8_t depth, uint8_t resources);
/* Has a request been changed since kwucm_change_depths()? If not, the change is canceled. */
bool kwucm_changed(void);

#endif /* KWEDGE_UCM_H */
