/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tracepoints, one or two for each layer of the driver, to follow connections and messages.
 *
 * Names of states and errors are texts, so that a trace can be read without this source.  Events
 * of the data path get pointers as arguments: the objects are read only if the event is enabled.
 *
 * scripts/reference.py makes Documentation/reference/traces.rst from the comments and the fields.
 * "Numbers" is the last section of that page.  Fields that mean the same in each event:
 *
 * @qpn: number of the queue pair
 * @ep: the connection, as a hashed pointer, which differs from boot to boot
 * @state: state before the event
 * @event: what happened
 * @next: state after the event
 * @opcode: opcode of RDMAP, see Numbers_
 * @sent: 1: sent by this end; 0: sent by the peer
 * @code: as in the Terminate: layer << 12 | type << 8 | code
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kwarp

#if !defined(KWARP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KWARP_TRACE_H

#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/kwarp-abi.h>

#define KWARP_TRACE_NAME	24

/* A connection's state in connection management changes. */
TRACE_EVENT(kwarp_cm_event,
	TP_PROTO(const void *ep, const char *state, const char *event, const char *next),
	TP_ARGS(ep, state, event, next),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__array(char, state, KWARP_TRACE_NAME)
		__array(char, event, KWARP_TRACE_NAME)
		__array(char, next, KWARP_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->ep = ep;
		strscpy(__entry->state, state, KWARP_TRACE_NAME);
		strscpy(__entry->event, event, KWARP_TRACE_NAME);
		strscpy(__entry->next, next, KWARP_TRACE_NAME);
	),
	TP_printk("ep=%p %s: %s -> %s", __entry->ep, __entry->event, __entry->state,
		  __entry->next)
);

/*
 * A startup frame (MPA Request or Reply) is sent, or was received.
 *
 * @reply: 1: a Reply; 0: a Request
 * @rev: revision of MPA
 * @reject: 1: the Reply rejects
 * @crc: 1: the sender asks for CRCs
 * @markers: 1: the sender asks for markers
 * @ird: number of Reads that the sender can serve at a time
 * @ord: largest number of Reads that the sender wants outstanding
 * @pd_len: octets of private data
 */
TRACE_EVENT(kwarp_startup_frame,
	TP_PROTO(const void *ep, bool sent, bool reply, u8 rev, bool reject, bool crc,
		 bool markers, u16 ird, u16 ord, u16 pd_len),
	TP_ARGS(ep, sent, reply, rev, reject, crc, markers, ird, ord, pd_len),
	TP_STRUCT__entry(
		__field(const void *, ep)
		__field(bool, sent)
		__field(bool, reply)
		__field(u8, rev)
		__field(bool, reject)
		__field(bool, crc)
		__field(bool, markers)
		__field(u16, ird)
		__field(u16, ord)
		__field(u16, pd_len)
	),
	TP_fast_assign(
		__entry->ep = ep;
		__entry->sent = sent;
		__entry->reply = reply;
		__entry->rev = rev;
		__entry->reject = reject;
		__entry->crc = crc;
		__entry->markers = markers;
		__entry->ird = ird;
		__entry->ord = ord;
		__entry->pd_len = pd_len;
	),
	TP_printk("ep=%p %s %s rev=%u reject=%d crc=%d markers=%d ird=%u ord=%u pd_len=%u",
		  __entry->ep, __entry->sent ? "sent" : "received",
		  __entry->reply ? "Reply" : "Request", __entry->rev, __entry->reject,
		  __entry->crc, __entry->markers, __entry->ird, __entry->ord, __entry->pd_len)
);

/* The state of a queue pair's stream changes. */
TRACE_EVENT(kwarp_qp_event,
	TP_PROTO(const struct ib_qp *qp, const char *state, const char *event, const char *next),
	TP_ARGS(qp, state, event, next),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__array(char, state, KWARP_TRACE_NAME)
		__array(char, event, KWARP_TRACE_NAME)
		__array(char, next, KWARP_TRACE_NAME)
	),
	TP_fast_assign(
		__entry->qpn = qp->qp_num;
		strscpy(__entry->state, state, KWARP_TRACE_NAME);
		strscpy(__entry->event, event, KWARP_TRACE_NAME);
		strscpy(__entry->next, next, KWARP_TRACE_NAME);
	),
	TP_printk("qpn=%u %s: %s -> %s", __entry->qpn, __entry->event, __entry->state,
		  __entry->next)
);

/*
 * A program has rung the doorbell: it has posted requests, and its own call is about to send them.
 *
 * @posted: index of the newest request in the send queue, plus 1
 */
TRACE_EVENT(kwarp_doorbell,
	TP_PROTO(const struct ib_qp *qp, u32 posted),
	TP_ARGS(qp, posted),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, posted)
	),
	TP_fast_assign(
		__entry->qpn = qp->qp_num;
		__entry->posted = posted;
	),
	TP_printk("qpn=%u posted=%u", __entry->qpn, __entry->posted)
);

/*
 * A message is complete in the batch (the FPDUs of one socket call) that is given to TCP next.
 *
 * @request: 1: for a request in the send queue; 0: a response to the peer, a Terminate, or an RTR
 *	(the first message of RFC 6581's peer-to-peer mode)
 * @index: index of the request in the send queue
 */
TRACE_EVENT(kwarp_tx_message,
	TP_PROTO(const struct ib_qp *qp, u8 opcode, bool request, u32 index),
	TP_ARGS(qp, opcode, request, index),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u8, opcode)
		__field(bool, request)
		__field(u32, index)
	),
	TP_fast_assign(
		__entry->qpn = qp->qp_num;
		__entry->opcode = opcode;
		__entry->request = request;
		__entry->index = index;
	),
	TP_printk("qpn=%u opcode=%u request=%d index=%u", __entry->qpn, __entry->opcode,
		  __entry->request, __entry->index)
);

/*
 * A batch (the FPDUs of one socket call) was given to TCP.
 *
 * @octets: size of the batch, including headers and CRCs
 * @ret: 0; or a negative errno if TCP has not taken the whole batch
 * @end: index of the last request in this batch or an earlier one, plus 1
 */
TRACE_EVENT(kwarp_tx_batch,
	TP_PROTO(const struct ib_qp *qp, u32 octets, int ret, u32 end),
	TP_ARGS(qp, octets, ret, end),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, octets)
		__field(int, ret)
		__field(u32, end)
	),
	TP_fast_assign(
		__entry->qpn = qp->qp_num;
		__entry->octets = octets;
		__entry->ret = ret;
		__entry->end = end;
	),
	TP_printk("qpn=%u octets=%u ret=%d end=%u", __entry->qpn, __entry->octets, __entry->ret,
		  __entry->end)
);

/*
 * A DDP segment has been placed.  Not reported are segments in the middle of a long message whose
 * headers are as predicted from the segment before (see engine/rx/series.c).
 *
 * @last: 1: the last segment of its message
 * @payload: octets of payload
 */
TRACE_EVENT(kwarp_rx_segment,
	TP_PROTO(const struct ib_qp *qp, u8 opcode, bool last, u32 payload),
	TP_ARGS(qp, opcode, last, payload),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u8, opcode)
		__field(bool, last)
		__field(u32, payload)
	),
	TP_fast_assign(
		__entry->qpn = qp->qp_num;
		__entry->opcode = opcode;
		__entry->last = last;
		__entry->payload = payload;
	),
	TP_printk("qpn=%u opcode=%u last=%d payload=%u", __entry->qpn, __entry->opcode,
		  __entry->last, __entry->payload)
);

/*
 * A completion is added to the completion queue.
 *
 * @id: ``wr_id`` of the request
 * @opcode: opcode of the request, or of the receive, see Numbers_
 * @status: status of the completion, see Numbers_
 * @vendor_err: code of the Terminate that made the request fail, or 0
 * @octets: octets placed by a receive, a Read or an atomic operation
 */
TRACE_EVENT(kwarp_complete,
	TP_PROTO(const struct kwarp_cqe *cqe),
	TP_ARGS(cqe),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u64, id)
		__field(u8, opcode)
		__field(u8, status)
		__field(u16, vendor_err)
		__field(u32, octets)
	),
	TP_fast_assign(
		__entry->qpn = cqe->qpn;
		__entry->id = cqe->id;
		__entry->opcode = cqe->opcode;
		__entry->status = cqe->status;
		__entry->vendor_err = cqe->vendor_err;
		__entry->octets = cqe->byte_len;
	),
	TP_printk("qpn=%u id=%#llx opcode=%u status=%u vendor_err=%#06x octets=%u",
		  __entry->qpn, __entry->id, __entry->opcode, __entry->status,
		  __entry->vendor_err, __entry->octets)
);

/*
 * The error that ends a stream.
 *
 * @error: name of the error, as in Documentation/reference/codes.rst
 */
TRACE_EVENT(kwarp_error,
	TP_PROTO(const struct ib_qp *qp, const char *error, u16 code),
	TP_ARGS(qp, error, code),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__array(char, error, KWARP_TRACE_NAME)
		__field(u16, code)
	),
	TP_fast_assign(
		__entry->qpn = qp->qp_num;
		strscpy(__entry->error, error, KWARP_TRACE_NAME);
		__entry->code = code;
	),
	TP_printk("qpn=%u %s code=%#06x", __entry->qpn, __entry->error, __entry->code)
);

/* A Terminate is sent, or was received. */
TRACE_EVENT(kwarp_terminate,
	TP_PROTO(const struct ib_qp *qp, bool sent, u16 code),
	TP_ARGS(qp, sent, code),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(bool, sent)
		__field(u16, code)
	),
	TP_fast_assign(
		__entry->qpn = qp->qp_num;
		__entry->sent = sent;
		__entry->code = code;
	),
	TP_printk("qpn=%u %s code=%#06x", __entry->qpn, __entry->sent ? "sent" : "received",
		  __entry->code)
);

#endif /* KWARP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
