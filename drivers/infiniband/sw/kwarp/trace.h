/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tracepoints, one or two for each layer of the driver, to follow connections and messages.
 *
 * Names of states and errors are texts, so that a trace can be read without this source.  Events
 * of the data path get pointers as arguments: the objects are read only if the event is enabled.
 * Documentation/reference/traces.rst says what each field means.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kwarp

#if !defined(KWARP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KWARP_TRACE_H

#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include <rdma/kwarp-abi.h>

#include "ended.h"
#include "proto/mpa_startup.h"
#include "trace_names.h"

TRACE_EVENT(kwarp_cm_event,
	TP_PROTO(const struct ib_device *dev, const void *ep, u32 qpn, const struct iw_cm_id *id,
		 const char *state, const char *event, const char *next),
	TP_ARGS(dev, ep, qpn, id, state, event, next),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(const void *, ep)
		__field(u32, qpn)
		__array(char, local, KWARP_TRACE_ADDR)
		__array(char, remote, KWARP_TRACE_ADDR)
		__array(char, state, KWARP_TRACE_NAME)
		__array(char, event, KWARP_TRACE_NAME)
		__array(char, next, KWARP_TRACE_NAME)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, dev);
		__entry->ep = ep;
		__entry->qpn = qpn;
		kwarp_trace_addr(__entry->local, id ? &id->m_local_addr : NULL);
		kwarp_trace_addr(__entry->remote, id ? &id->m_remote_addr : NULL);
		strscpy(__entry->state, state, KWARP_TRACE_NAME);
		strscpy(__entry->event, event, KWARP_TRACE_NAME);
		strscpy(__entry->next, next, KWARP_TRACE_NAME);
	),
	TP_printk("dev=%s ep=%p qpn=%u local=%s remote=%s %s: %s -> %s", __entry->dev,
		  __entry->ep, __entry->qpn, __entry->local, __entry->remote, __entry->event,
		  __entry->state, __entry->next)
);

TRACE_EVENT(kwarp_startup_frame,
	TP_PROTO(const struct ib_device *dev, const void *ep, bool sent,
		 const struct kwarp_mpa_frame *frame),
	TP_ARGS(dev, ep, sent, frame),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(const void *, ep)
		__field(bool, sent)
		__field(bool, reply)
		__field(u8, rev)
		__field(bool, reject)
		__field(bool, crc)
		__field(bool, markers)
		__field(u16, ird)
		__field(u16, ord)
		__field(u16, pdata_len)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, dev);
		__entry->ep = ep;
		__entry->sent = sent;
		__entry->reply = frame->reply;
		__entry->rev = frame->rev;
		__entry->reject = frame->reject;
		__entry->crc = frame->crc;
		__entry->markers = frame->markers;
		__entry->ird = frame->ird;
		__entry->ord = frame->ord;
		__entry->pdata_len = frame->pdata_len;
	),
	TP_printk("dev=%s ep=%p %s %s rev=%u reject=%d crc=%d markers=%d ird=%u ord=%u pdata_len=%u",
		  __entry->dev, __entry->ep, __entry->sent ? "sent" : "received",
		  __entry->reply ? "Reply" : "Request", __entry->rev, __entry->reject,
		  __entry->crc, __entry->markers, __entry->ird, __entry->ord, __entry->pdata_len)
);

TRACE_EVENT(kwarp_qp_event,
	TP_PROTO(const struct ib_qp *qp, const char *state, const char *event, const char *next),
	TP_ARGS(qp, state, event, next),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(u32, qpn)
		__array(char, state, KWARP_TRACE_NAME)
		__array(char, event, KWARP_TRACE_NAME)
		__array(char, next, KWARP_TRACE_NAME)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, qp->device);
		__entry->qpn = qp->qp_num;
		strscpy(__entry->state, state, KWARP_TRACE_NAME);
		strscpy(__entry->event, event, KWARP_TRACE_NAME);
		strscpy(__entry->next, next, KWARP_TRACE_NAME);
	),
	TP_printk("dev=%s qpn=%u %s: %s -> %s", __entry->dev, __entry->qpn, __entry->event,
		  __entry->state, __entry->next)
);

/*
 * A program has rung the doorbell: it has posted requests, and its own call is about to send them.
 */
TRACE_EVENT(kwarp_doorbell,
	TP_PROTO(const struct ib_qp *qp, u32 posted),
	TP_ARGS(qp, posted),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(u32, qpn)
		__field(u32, posted)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, qp->device);
		__entry->qpn = qp->qp_num;
		__entry->posted = posted;
	),
	TP_printk("dev=%s qpn=%u posted=%u", __entry->dev, __entry->qpn, __entry->posted)
);

/* A message is complete in the batch (the FPDUs of one socket call) that is given to TCP next. */
TRACE_EVENT(kwarp_tx_message,
	TP_PROTO(const struct ib_qp *qp, u8 opcode, bool request, u32 index),
	TP_ARGS(qp, opcode, request, index),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(u32, qpn)
		__field(u8, opcode)
		__field(bool, request)
		__field(u32, index)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, qp->device);
		__entry->qpn = qp->qp_num;
		__entry->opcode = opcode;
		__entry->request = request;
		__entry->index = index;
	),
	TP_printk("dev=%s qpn=%u opcode=%s request=%d index=%u", __entry->dev, __entry->qpn,
		  kwarp_trace_message(__entry->opcode), __entry->request, __entry->index)
);

TRACE_EVENT(kwarp_tx_batch,
	TP_PROTO(const struct ib_qp *qp, u32 octets, int ret, u32 end),
	TP_ARGS(qp, octets, ret, end),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(u32, qpn)
		__field(u32, octets)
		__field(int, ret)
		__field(u32, end)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, qp->device);
		__entry->qpn = qp->qp_num;
		__entry->octets = octets;
		__entry->ret = ret;
		__entry->end = end;
	),
	TP_printk("dev=%s qpn=%u octets=%u ret=%d end=%u", __entry->dev, __entry->qpn,
		  __entry->octets, __entry->ret, __entry->end)
);

/*
 * A DDP segment has been placed.  Not reported are segments in the middle of a long message whose
 * headers are as predicted from the segment before (see engine/rx/series.c).
 */
TRACE_EVENT(kwarp_rx_segment,
	TP_PROTO(const struct ib_qp *qp, u8 opcode, bool last, u32 payload),
	TP_ARGS(qp, opcode, last, payload),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(u32, qpn)
		__field(u8, opcode)
		__field(bool, last)
		__field(u32, payload)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, qp->device);
		__entry->qpn = qp->qp_num;
		__entry->opcode = opcode;
		__entry->last = last;
		__entry->payload = payload;
	),
	TP_printk("dev=%s qpn=%u opcode=%s last=%d payload=%u", __entry->dev, __entry->qpn,
		  kwarp_trace_message(__entry->opcode), __entry->last, __entry->payload)
);

TRACE_EVENT(kwarp_complete,
	TP_PROTO(const struct ib_device *dev, const struct kwarp_cqe *cqe),
	TP_ARGS(dev, cqe),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(u32, qpn)
		__field(u64, id)
		__field(u8, opcode)
		__field(u8, status)
		__field(u32, vendor_err)
		__field(u32, octets)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, dev);
		__entry->qpn = cqe->qpn;
		__entry->id = cqe->id;
		__entry->opcode = cqe->opcode;
		__entry->status = cqe->status;
		__entry->vendor_err = cqe->status == KWARP_WC_SUCCESS ? 0 : cqe->vendor_err;
		__entry->octets = cqe->byte_len;
	),
	TP_printk("dev=%s qpn=%u id=%#llx opcode=%s status=%s vendor_err=%#06x octets=%u",
		  __entry->dev, __entry->qpn, __entry->id, kwarp_trace_request(__entry->opcode),
		  kwarp_trace_status(__entry->status), __entry->vendor_err, __entry->octets)
);

TRACE_EVENT(kwarp_error,
	TP_PROTO(const struct ib_qp *qp, const char *error, u16 code),
	TP_ARGS(qp, error, code),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(u32, qpn)
		__array(char, error, KWARP_TRACE_NAME)
		__field(u16, code)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, qp->device);
		__entry->qpn = qp->qp_num;
		strscpy(__entry->error, error, KWARP_TRACE_NAME);
		__entry->code = code;
	),
	TP_printk("dev=%s qpn=%u %s code=%#06x", __entry->dev, __entry->qpn, __entry->error,
		  __entry->code)
);

/*
 * A check has refused what the peer or the program has asked for. What the region or window allows
 * is zero if there is none.
 */
TRACE_EVENT(kwarp_refused,
	TP_PROTO(const struct ib_qp *qp, const struct kwarp_refusal *refusal),
	TP_ARGS(qp, refusal),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(u32, qpn)
		__field(u8, op)
		__field(u8, why)
		__field(u32, stag)
		__field(u64, addr)
		__field(u64, len)
		__field(u32, rights)
		__field(u32, mr_stag)
		__field(u64, mr_addr)
		__field(u64, mr_len)
		__field(u32, mr_rights)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, qp->device);
		__entry->qpn = qp->qp_num;
		__entry->op = refusal->op;
		__entry->why = refusal->why;
		__entry->stag = refusal->stag;
		__entry->addr = refusal->addr;
		__entry->len = refusal->len;
		__entry->rights = refusal->rights;
		__entry->mr_stag = refusal->mr_stag;
		__entry->mr_addr = refusal->mr_va;
		__entry->mr_len = refusal->mr_len;
		__entry->mr_rights = refusal->mr_access;
	),
	TP_printk("dev=%s qpn=%u %s %s stag=%#010x addr=%#llx len=%llu rights=%s allows=%#010x,%#llx,%llu,%s",
		  __entry->dev, __entry->qpn, kwarp_trace_op(__entry->op),
		  kwarp_trace_why(__entry->why), __entry->stag, __entry->addr, __entry->len,
		  kwarp_trace_rights(__entry->rights), __entry->mr_stag, __entry->mr_addr,
		  __entry->mr_len, kwarp_trace_rights(__entry->mr_rights))
);

TRACE_EVENT(kwarp_terminate,
	TP_PROTO(const struct ib_qp *qp, bool sent, u16 code),
	TP_ARGS(qp, sent, code),
	TP_STRUCT__entry(
		__array(char, dev, KWARP_TRACE_DEV)
		__field(u32, qpn)
		__field(bool, sent)
		__field(u16, code)
	),
	TP_fast_assign(
		kwarp_trace_dev(__entry->dev, qp->device);
		__entry->qpn = qp->qp_num;
		__entry->sent = sent;
		__entry->code = code;
	),
	TP_printk("dev=%s qpn=%u %s code=%#06x", __entry->dev, __entry->qpn,
		  __entry->sent ? "sent" : "received", __entry->code)
);

#endif /* KWARP_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
