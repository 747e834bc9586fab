/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests changed on their way from librdmacm into the kernel.
 */
#ifndef KWEDGE_UCM_H
#define KWEDGE_UCM_H

#include <stdbool.h>
#include <stdint.h>

/* Make the next rdma_connect() or rdma_accept() ask the kernel for these depths. */
void kwucm_change_depths(uint8_t depth, uint8_t resources);
/* Was a request changed? If not, the change is dropped. */
bool kwucm_changed(void);

#endif /* KWEDGE_UCM_H */
