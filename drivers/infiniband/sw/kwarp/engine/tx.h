/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Between tx.c (what goes next) and tx_build.c (one FPDU). */
#ifndef KWARP_ENGINE_TX_H
#define KWARP_ENGINE_TX_H

#include <rdma/ib_verbs.h>

struct kwarp_engine;

/*
 * Rights of a Read's sink.  The peer's Read Response writes it by STag, so iWARP
 * hardware wants remote write there, and so do we (the RDMA core says the same in
 * rdma_rw and in its documentation of iWARP).
 */
#define KWARP_SINK_RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)

bool kwarp_tx_pick(struct kwarp_engine *e);
void kwarp_tx_message_built(struct kwarp_engine *e);

#endif /* KWARP_ENGINE_TX_H */
