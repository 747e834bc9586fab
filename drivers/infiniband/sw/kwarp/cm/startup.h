/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Buffers and parameters of an endpoint during MPA startup, and the process whose connect or accept
 * iw_cm waits for (caller.c)
 */
#ifndef KWARP_CM_STARTUP_H
#define KWARP_CM_STARTUP_H

#include "../proto/mpa_neg.h"
#include "../queue/readq.h"

struct kwarp_ep;
struct kwarp_qp;
struct pid;

/*
 * struct kwarp_startup - what an endpoint needs until the stream begins
 * @params: what this end asks for in MPA startup: copied from the knobs (tunables) when the
 *	endpoint is made (5044-4.4-9, see Documentation/conformance); IRD and ORD are the ULP's
 * @readqs: queues of Read requests for the stream, with the depths in @res; made by
 *	kwarp_ep_prepare()
 * @give_up: initiator: time at which all attempts end, jiffies
 * @caller: the process that has called connect or accept, a reference; NULL: neither has been
 *	called, or the kernel has called
 * @send_imm: for the stream, see struct kwarp_stream_params
 * @receive_wait: likewise
 * @pdata: the peer's private data inside @rx, rep.pdata_len or req.pdata_len octets
 * @tx_off: octets of @tx that TCP has taken
 * @own_pdata: initiator: the ULP's private data, for the Request of each attempt
 * @tx: startup frame, or Terminate, to the peer
 */
struct kwarp_startup {
	struct kwarp_mpa_params params;
	struct kwarp_mpa_frame req;
	struct kwarp_mpa_frame rep;
	struct kwarp_mpa_result res;
	struct kwarp_readqs readqs;
	unsigned long give_up;
	struct pid *caller;
	bool send_imm;
	u32 receive_wait;
	const u8 *pdata;
	u16 own_pdata_len;
	u32 rx_len;
	u32 tx_len;
	u32 tx_off;
	u8 own_pdata[KWARP_MPA_MAX_PDATA];
	u8 rx[KWARP_MPA_FRAME_LEN + KWARP_MPA_MAX_PDATA];
	u8 tx[KWARP_MPA_FRAME_LEN + KWARP_MPA_MAX_PDATA];
};

void kwarp_startup_put(struct kwarp_ep *ep, const struct kwarp_mpa_frame *frame, const void *pdata);
void kwarp_startup_put_terminate(struct kwarp_startup *su, enum kwarp_perr err);
int kwarp_startup_send(struct kwarp_ep *ep);
int kwarp_startup_recv(struct kwarp_ep *ep, bool reply);
bool kwarp_startup_is_probe(const struct kwarp_startup *su);

struct pid *kwarp_caller_get(struct kwarp_qp *qp);
bool kwarp_caller_ends(struct pid *pid);

#endif /* KWARP_CM_STARTUP_H */
