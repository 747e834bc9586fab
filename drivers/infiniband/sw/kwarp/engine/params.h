/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parameters that the MPA startup has agreed on, handed from the negotiation to the engine. */
#ifndef KWARP_ENGINE_PARAMS_H
#define KWARP_ENGINE_PARAMS_H

#include <linux/types.h>

struct kwarp_readqs;

/*
 * struct kwarp_stream_params - result of the MPA startup
 * @initiator: we sent the MPA Request; if false, we send no FPDU before the peer's first FPDU has
 *	been validated (RFC 5044 7.1.2 rule 4)
 * @align: begin each TCP segment with an FPDU
 * @long_frames: tell the peer that this end accepts FPDUs longer than a TCP segment, and send such
 *	FPDUs if the peer accepts them
 * @strict: the sink region of a Read needs remote write as well as local write
 * @send_imm: both ends are wired queue pairs that know the Send with immediate data
 * @receive_wait: how long a message that finds no receive waits for one, milliseconds; 0: not at
 *	all, U32_MAX: without a limit
 * @ird: inbound Reads and atomic operations served at a time
 * @ord: outbound Reads and atomic operations allowed at a time
 * @rtr: initiator: KWARP_RTR_* form of the "ready to receive" message, which is sent as the first
 *	FPDU; 0: none
 * @say_first: responder: report KWARP_STREAM_ESTABLISHED when the first FPDU has come, because a
 *	consumer waits for that event
 * @readqs: empty queues of lengths @ord and @ird. kwarp_engine_start() takes them and clears
 *	*@readqs, even if it fails; if it is not called, the caller frees them
 */
struct kwarp_stream_params {
	bool initiator;
	bool crc;
	bool tx_markers;
	bool rx_markers;
	bool align;
	bool long_frames;
	bool strict;
	bool send_imm;
	u32 receive_wait;
	u16 ird;
	u16 ord;
	u8 rtr;
	bool say_first;
	struct kwarp_readqs *readqs;
};

#endif /* KWARP_ENGINE_PARAMS_H */
