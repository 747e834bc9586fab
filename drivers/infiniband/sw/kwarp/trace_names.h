/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the tracepoints print for numbers, and how they copy names and addresses. */
#ifndef KWARP_TRACE_NAMES_H
#define KWARP_TRACE_NAMES_H

#include <linux/kernel.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#define KWARP_TRACE_NAME	24
#define KWARP_TRACE_DEV		16
#define KWARP_TRACE_ADDR	48

/* A longer name is cut. */
static inline void kwarp_trace_dev(char to[KWARP_TRACE_DEV], const struct ib_device *dev)
{
	strscpy(to, dev ? dev_name(&dev->dev) : "?", KWARP_TRACE_DEV);
}

static inline void kwarp_trace_addr(char to[KWARP_TRACE_ADDR],
				    const struct sockaddr_storage *addr)
{
	if (addr && addr->ss_family)
		snprintf(to, KWARP_TRACE_ADDR, "%pISpc", addr);
	else
		strscpy(to, "-", KWARP_TRACE_ADDR);
}

#define kwarp_trace_message(opcode) __print_symbolic(opcode,			\
	{ 0, "WRITE" }, { 1, "RREQ" }, { 2, "RRESP" }, { 3, "SEND" },		\
	{ 4, "SEND_INV" }, { 5, "SEND_SE" }, { 6, "SEND_SE_INV" }, { 7, "TERM" }, \
	{ 8, "IMM" }, { 9, "IMM_SE" }, { 10, "ATOMIC_REQ" }, { 11, "ATOMIC_RESP" }, \
	{ 12, "SEND_IMM" }, { 13, "SEND_SE_IMM" })

/* enum kwarp_wr_opcode and KWARP_WC_RECV*, by name. */
#define kwarp_trace_request(opcode) __print_symbolic(opcode,			\
	{ 0, "WRITE" }, { 1, "READ" }, { 2, "SEND" }, { 3, "SEND_INV" },	\
	{ 4, "READ_INV" }, { 5, "LOCAL_INV" }, { 6, "BIND_MW" }, { 7, "REG_MR" }, \
	{ 8, "WRITE_IMM" }, { 9, "FETCH_ADD" }, { 10, "CMP_SWAP" },		\
	{ 11, "SEND_IMM" }, { 128, "RECV" }, { 129, "RECV_INV" },		\
	{ 130, "RECV_IMM" }, { 131, "RECV_SEND_IMM" })

/* enum kwarp_wc_status, by the names that the verbs have for it. */
#define kwarp_trace_status(status) __print_symbolic(status,			\
	{ 0, "SUCCESS" }, { 1, "LOC_LEN_ERR" }, { 2, "LOC_PROT_ERR" },		\
	{ 3, "LOC_QP_OP_ERR" }, { 4, "WR_FLUSH_ERR" }, { 5, "REM_INV_REQ_ERR" }, \
	{ 6, "REM_ACCESS_ERR" }, { 7, "REM_OP_ERR" }, { 8, "MW_BIND_ERR" },	\
	{ 9, "FATAL_ERR" }, { 10, "GENERAL_ERR" }, { 11, "RETRY_EXC_ERR" })

/* enum kwarp_refused_op, kwarp_why and ib_access_flags, by name. */
#define kwarp_trace_op(op) __print_symbolic(op,					\
	{ 0, "WRITE" }, { 1, "READ" }, { 2, "ATOMIC" }, { 3, "INV" }, { 4, "SEND" }, \
	{ 5, "RECEIVE" }, { 6, "REQUEST" }, { 7, "SINK" })
#define kwarp_trace_why(why) __print_symbolic(why,				\
	{ 1, "STAG" }, { 2, "PD" }, { 3, "RIGHT" }, { 4, "WRAP" }, { 5, "BOUNDS" }, \
	{ 6, "QP_RIGHT" }, { 7, "ORD" }, { 8, "ENTRY" }, { 9, "RING" }, { 10, "CQ" }, \
	{ 11, "MEMORY" }, { 12, "NO_RECEIVE" }, { 13, "LONG" }, { 14, "BIND" },	\
	{ 15, "INV" }, { 16, "ALIGN" }, { 17, "MANY" }, { 18, "INJECTED" })
#define kwarp_trace_rights(rights) __print_flags(rights, ",",			\
	{ 1, "local-write" }, { 2, "remote-write" }, { 4, "remote-read" },	\
	{ 8, "remote-atomic" }, { 16, "mw-bind" })

#endif /* KWARP_TRACE_NAMES_H */
