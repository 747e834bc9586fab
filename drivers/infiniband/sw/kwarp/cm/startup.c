// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Octets of MPA startup, to and from the socket: Request, Reply, and the Terminate that is sent if
 * the stream ends before it has a QP. cm_mpa.c decides what to send, and what a received frame
 * means.
 *
 * Context of functions that take an endpoint: process, ep->mutex held. No function here waits for a
 * peer.
 */
#include "startup.h"

#include "../proto/ddp.h"
#include "../proto/mpa_frame.h"
#include "../proto/term.h"
#include "../trace.h"
#include "sock_io.h"
#include "types.h"

void kwarp_startup_put(struct kwarp_ep *ep, const struct kwarp_mpa_frame *frame, const void *pdata)
{
	struct kwarp_startup *su = ep->su;
	u32 len = kwarp_mpa_frame_encode(su->tx, frame);

	trace_kwarp_startup_frame(&ep->kdev->ibdev, ep, true, frame);
	memcpy(su->tx + len, pdata, frame->pdata_len);
	su->tx_len = len + frame->pdata_len;
	su->tx_off = 0;
}

/*
 * Put a Terminate into the send buffer: the first and last FPDU of a stream that gets no QP
 * (6581-8-1, -2).
 */
void kwarp_startup_put_terminate(struct kwarp_startup *su, enum kwarp_perr err)
{
	static const struct kwarp_ddp_hdr hdr = {
		.last = true, .opcode = KWARP_OP_TERM, .qn = KWARP_QN_TERM, .msn = 1,
	};
	u32 off = 0, ulpdu = 0;
	struct kwarp_term term;
	u8 *fpdu;

	if (su->res.tx_markers) {	/* markers begin with the first FPDU: 5044-4.3-10 */
		kwarp_mpa_marker_encode(su->tx, 0);
		off = KWARP_MPA_MARKER_LEN;
	}
	fpdu = su->tx + off;
	ulpdu = kwarp_ddp_encode(fpdu + KWARP_MPA_LEN_FIELD, &hdr);
	kwarp_term_fill(&term, err, NULL, 0, NULL);
	ulpdu += kwarp_term_encode(fpdu + KWARP_MPA_LEN_FIELD + ulpdu, &term);
	put_unaligned_be16(ulpdu, fpdu);
	off += KWARP_MPA_LEN_FIELD + ulpdu;
	memset(su->tx + off, 0, kwarp_mpa_pad(ulpdu));
	off += kwarp_mpa_pad(ulpdu);
	/*
	 * 5044-4.4-11: send a CRC even if none was agreed on; 5044-4.4-16: the CRC covers the
	 * marker
	 */
	kwarp_mpa_crc_put(su->tx + off,
			  kwarp_mpa_crc_add(kwarp_mpa_crc_init(), su->tx, off));
	su->tx_len = off + KWARP_MPA_CRC_LEN;
	su->tx_off = 0;
}

int kwarp_startup_send(struct kwarp_ep *ep)
{
	struct kwarp_startup *su = ep->su;
	int ret;

	while (su->tx_off < su->tx_len) {
		ret = kwarp_cm_sock_send(ep->cs.sock, su->tx + su->tx_off,
					 su->tx_len - su->tx_off);
		if (ret <= 0)
			return ret ? ret : -EAGAIN;
		su->tx_off += ret;
	}
	return 0;
}

int kwarp_startup_recv(struct kwarp_ep *ep, bool reply)
{
	struct kwarp_startup *su = ep->su;
	u32 need;
	int ret;

	for (;;) {
		/* 5044-7.1.1-2, -4, -19, -23: refuse a bad frame at its first wrong octet */
		if (kwarp_mpa_frame_need(su->rx, su->rx_len, reply, &need))
			return -EPROTO;
		if (su->rx_len >= need)
			return 0;
		/* 5044-7.1.2-26, -27: the buffer holds the longest frame */
		if (WARN_ON_ONCE(need > sizeof(su->rx)))
			return -EPROTO;
		ret = kwarp_cm_sock_recv(ep->cs.sock, su->rx + su->rx_len,
					 need - su->rx_len, 0);
		if (ret <= 0)
			return ret ? ret : -ENODATA;
		su->rx_len += ret;
	}
}

/*
 * "kwarpctl doctor" at a peer asks in this way whether a device of kwarp has the port: what has
 * come is no correct Request, but nothing is wrong, either.
 */
bool kwarp_startup_is_probe(const struct kwarp_startup *su)
{
	static const char probe[] = "MPA ID??";

	return su->rx_len >= strlen(probe) && !memcmp(su->rx, probe, strlen(probe));
}
