/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwedge, a test program: change a request of librdmacm before it goes to the kernel, so that the
 * kernel gets a value that librdmacm would refuse.
 */
#ifndef KWEDGE_UCM_H
#define KWEDGE_UCM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Make the next rdma_connect() or rdma_accept() ask the kernel for these depths: @depth
 * as initiator_depth, @resources as responder_resources.
 */
void kwucm_change_depths(uint8_t depth, uint8_t resources);
/* Has a request been changed since kwucm_change_depths()? If not, the change is canceled. */
bool kwucm_changed(void);

#endif /* KWEDGE_UCM_H */
