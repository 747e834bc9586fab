/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * kwarp: contract between the kernel module and its libibverbs provider.
 *
 * Everything in this file is shared memory layout or uverbs driver data.  All
 * types have a fixed size, all padding is explicit, and no field ever carries a
 * kernel pointer.  Of each value that user space can write, the kernel makes one copy, and
 * validates and uses only the copy.  A wrong value makes the queue pair of the writer fail, and
 * affects nobody else.
 *
 * All fields are in host byte order.
 */
#ifndef KWARP_ABI_H
#define KWARP_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * Oldest and newest version of this interface that this file describes.  Provider and module may
 * each know several versions; they agree on one in alloc_context, whose own layout does not
 * depend on the version.
 */
#define KWARP_ABI_MIN		4
#define KWARP_ABI_MAX		4

/*
 * ABI version of the device, which the RDMA core reports.  It changes only if the way in which the
 * two sides agree on a version (alloc_context) changes.
 */
#define KWARP_UVERBS_ABI	1

/* uverbs driver_id, "kw" in ASCII.  Not allocated upstream; the RDMA core accepts any number. */
#define KWARP_DRIVER_ID		0x6b77

/* ------------------------------------------------------------------ queues */

/**
 * struct kwarp_ring_hdr - header of a shared ring: a cache line for each writer and each habit
 * @prod: producer index, free running; entry i is in slot (i & (size - 1)).
 *	SQ, RQ, SRQ: written by user space with release semantics after the entry.
 *	CQ: written by the kernel after the entries; user space finds new entries by their phase
 *	(KWARP_CQE_EVEN, KWARP_CQE_ODD), not by this index.
 * @prod_rsvd: padding to a cache line
 * @cons: consumer index, free running.
 *	SQ, RQ, SRQ: written by the kernel; slots before it may be reused.
 *	CQ: written by user space after it has read the entries.
 * @polls: CQ only: number of polls so far, written by user space; the kernel sees by it whether
 *	the program polls
 * @cons_rsvd: padding to a cache line
 * @flags: KWARP_RING_*; written by the kernel, and so rarely that a post, which reads it, finds
 *	the line in its cache
 * @flags_rsvd: padding to a cache line
 * @arm: CQ only: KWARP_CQ_ARM_*; written by user space to ask for an event, and
 *	cleared by the kernel (atomic exchange) when the kernel raises the event.
 * @arm_rsvd: padding to a cache line
 *
 * The entries start KWARP_RING_ENTRIES_OFFSET octets after the beginning of the header.
 *
 * Doorbell protocol (SQ): after the release store to @prod user space executes
 * a full barrier and then reads @flags; only if KWARP_RING_NEED_KICK is set it
 * enters the kernel.  The kernel, before it stops looking at the ring, sets the flag,
 * executes a full barrier and reads @prod again.  So either user space sees the
 * flag or the kernel sees the entry.  RQ: the kernel sets the flag only while a message waits for a
 * receive, and while the queue pair is in error: user space then rings after posting receives, and
 * the kernel uses or flushes them.
 *
 * If KWARP_RING_HELD is set instead (the send queue is "held"), user space need not ring at once.
 * It rings later, for all entries posted until then, when the program has nothing else to do: when
 * a poll of one of the queue pair's CQs finds nothing, or the program asks for an event.  If user
 * space does not ring, a timer of the kernel looks at the ring some time later.
 */
struct kwarp_ring_hdr {
	__u32 prod;
	__u32 prod_rsvd[15];
	__u32 cons;
	__u32 polls;
	__u32 cons_rsvd[14];
	__u32 flags;
	__u32 flags_rsvd[15];
	__u32 arm;
	__u32 arm_rsvd[15];
};

#define KWARP_RING_ENTRIES_OFFSET	256

/* Flag: the kernel does not look at the ring: ring the doorbell after posting. */
#define KWARP_RING_NEED_KICK		(1U << 0)
/* Flag: the send queue is held: the doorbell may be rung later, for several requests together. */
#define KWARP_RING_HELD		(1U << 2)
/*
 * Flag: CQ: the queue has another ring since a resize, and arm and cons of this ring are not read
 * any more.  User space polls and arms the old ring during the command; the indices are the same in
 * the new ring.
 */
#define KWARP_RING_MOVED		(1U << 3)
/* Flag: SQ, RQ: the queue pair is in error: requests are flushed.  CQ: a completion was lost. */
#define KWARP_RING_ERROR		(1U << 1)

/*
 * Values of arm. SOLICITED: ask for an event at the next solicited or failed completion; NEXT: at
 * the next completion of any kind.
 */
#define KWARP_CQ_ARM_SOLICITED		(1U << 0)
#define KWARP_CQ_ARM_NEXT		(1U << 1)

/**
 * struct kwarp_sge - one scatter/gather element
 * @addr: virtual address in the consumer's address space (or iova of the MR)
 * @length: octets
 * @lkey: STag of the region
 */
struct kwarp_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/* Work request opcodes (kwarp_sqe.opcode). */
enum kwarp_wr_opcode {
	KWARP_WR_WRITE		= 0,
	KWARP_WR_READ		= 1,
	KWARP_WR_SEND		= 2,
	KWARP_WR_SEND_INV	= 3,	/* Send with Invalidate of inv_stag */
	KWARP_WR_READ_INV	= 4,	/* kernel consumers: Read, then invalidate its sink STag */
	KWARP_WR_LOCAL_INV	= 5,	/* invalidate inv_stag locally */
	KWARP_WR_BIND_MW	= 6,	/* bind a memory window; type 1: length 0 unbinds it */
	KWARP_WR_REG_MR		= 7,	/* kernel consumers: make a fast-register MR valid */
	KWARP_WR_WRITE_IMM	= 8,	/* Write, then Immediate Data (imm) */
	KWARP_WR_FETCH_ADD	= 9,	/* FetchAdd: add compare_add */
	KWARP_WR_CMP_SWAP	= 10,	/* CmpSwap: store swap if the old value is compare_add */
	KWARP_WR_SEND_IMM	= 11,	/* Send with immediate data (imm): wired queue pairs */
	KWARP_WR_MAX
};

/* Work request flags (kwarp_sqe.flags). */
#define KWARP_WR_SIGNALED	(1U << 0)
#define KWARP_WR_SOLICITED	(1U << 1)
#define KWARP_WR_FENCE		(1U << 2)	/* wait for earlier Reads and atomic operations */
#define KWARP_WR_INLINE		(1U << 3)	/* inline_len octets follow the fixed part */

/**
 * struct kwarp_sqe - fixed part of a send queue entry
 * @id: wr_id, returned in the completion
 * @opcode: enum kwarp_wr_opcode
 * @num_sge: elements in the SGL that follows (0 with KWARP_WR_INLINE)
 * @flags: KWARP_WR_*
 * @inline_len: octets of payload that follow, with KWARP_WR_INLINE
 * @raddr: Write, Read, atomic operation: remote address (tagged offset); BIND_MW: address of the
 *	window's first octet, in the region
 * @rkey: Write, Read, atomic operation: remote STag; BIND_MW, REG_MR: the STag with its new key
 * @inv_stag: STag to invalidate (SEND_INV, LOCAL_INV); BIND_MW: lkey of the region
 * @length: BIND_MW: octets in the window
 * @access: BIND_MW: enum ib_uverbs_access_flags: REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC,
 *	ZERO_BASED; REG_MR: enum ib_access_flags
 * @imm: WRITE_IMM, SEND_IMM: immediate data, four octets that are sent unchanged
 * @compare_add: FETCH_ADD: value to add; CMP_SWAP: value to compare with
 * @swap: CMP_SWAP: value to store if the comparison is equal
 *
 * After this part come num_sge elements (struct kwarp_sge), or inline_len octets of payload.  An
 * entry occupies sq_stride octets (struct kwarp_create_qp_resp).  An atomic operation has one
 * element of 8 octets, which receives the old value.
 */
struct kwarp_sqe {
	__aligned_u64 id;
	__u8 opcode;
	__u8 num_sge;
	__u16 flags;
	__u32 inline_len;
	__aligned_u64 raddr;
	__u32 rkey;
	__u32 inv_stag;
	union {
		struct {
			__aligned_u64 length;
			__u32 access;
			__u32 imm;
		};
		struct {
			__aligned_u64 compare_add;
			__aligned_u64 swap;
		};
	};
};

/**
 * struct kwarp_rqe - fixed part of a receive queue entry
 * @id: wr_id, returned in the completion
 * @num_sge: elements in the SGL that follows
 * @rsvd: zero
 *
 * After this part come num_sge elements (struct kwarp_sge).  An entry occupies rq_stride octets
 * (struct kwarp_create_qp_resp) or, in an SRQ, stride octets (struct kwarp_create_srq_resp).
 */
struct kwarp_rqe {
	__aligned_u64 id;
	__u32 num_sge;
	__u32 rsvd;
};

/* Completion opcodes (kwarp_cqe.opcode): enum kwarp_wr_opcode, or these. */
#define KWARP_WC_RECV		0x80
#define KWARP_WC_RECV_INV	0x81	/* the peer's Send has invalidated inv_stag */
#define KWARP_WC_RECV_IMM	0x82	/* Immediate Data (imm); no data in the buffers */
#define KWARP_WC_RECV_SEND_IMM	0x83	/* Send with immediate data (imm) */

/*
 * Private numbers of vendor_err, beyond the 16 bits of a Terminate: what RFC 5040 has one code for,
 * "local catastrophic error".  All but PEER: the program at this end has made the mistake.
 */
#define KWARP_VENDOR_LOCAL	0x10000

enum kwarp_vendor_err {
	KWARP_VENDOR_STAG	= 0x10001,	/* lkey: no such region, or no longer registered */
	KWARP_VENDOR_PD		= 0x10002,	/* lkey: a region of another protection domain */
	KWARP_VENDOR_RIGHT	= 0x10003,	/* lkey: the region lacks a right */
	KWARP_VENDOR_WRAP	= 0x10004,	/* an element's address and length wrap */
	KWARP_VENDOR_BOUNDS	= 0x10005,	/* an element goes beyond its region */
	KWARP_VENDOR_ORD	= 0x10007,	/* a Read or atomic operation, and ORD is 0 */
	KWARP_VENDOR_ENTRY	= 0x10008,	/* the entry in the queue is malformed */
	KWARP_VENDOR_RING	= 0x10009,	/* an index of the ring is impossible */
	KWARP_VENDOR_CQ		= 0x1000a,	/* the completion queue was full */
	KWARP_VENDOR_BIND	= 0x1000e,	/* a window could not be bound */
	KWARP_VENDOR_INV	= 0x1000f,	/* the STag cannot be invalidated, or registered */
	KWARP_VENDOR_INJECTED	= 0x10012,	/* no mistake: a test has asked for this error */
	KWARP_VENDOR_PEER	= 0x10020,	/* the peer has had such an error */
};

/* Completion status (kwarp_cqe.status). */
enum kwarp_wc_status {
	KWARP_WC_SUCCESS	= 0,
	KWARP_WC_LOC_LEN_ERR	= 1,
	KWARP_WC_LOC_PROT_ERR	= 2,
	KWARP_WC_LOC_QP_OP_ERR	= 3,
	KWARP_WC_FLUSH_ERR	= 4,
	KWARP_WC_REM_INV_REQ_ERR = 5,
	KWARP_WC_REM_ACCESS_ERR	= 6,
	KWARP_WC_REM_OP_ERR	= 7,
	KWARP_WC_MW_BIND_ERR	= 8,
	KWARP_WC_FATAL_ERR	= 9,
	KWARP_WC_GENERAL_ERR	= 10,
	KWARP_WC_RETRY_EXC_ERR	= 11,	/* wired queue pair: the peer did not connect in time */
	KWARP_WC_MAX
};

/*
 * Flags of a completion queue entry.  The kernel stores them last, with release semantics.  EVEN or
 * ODD, the entry's phase, makes it valid: entry i of a ring with size entries has EVEN if i / size
 * is even, otherwise ODD.  So what a slot held one pass earlier is not valid, nor are zeroes.
 */
#define KWARP_CQE_SOLICITED	(1U << 0)
#define KWARP_CQE_EVEN		(1U << 1)
#define KWARP_CQE_ODD		(1U << 2)
/* User space's own: the kernel stores 0, and keeps the bit if a resize moves the entry. */
#define KWARP_CQE_USER		(1U << 15)

/**
 * struct kwarp_cqe - completion queue entry
 * @id: wr_id of the request
 * @timestamp: time when the entry was added, in nanoseconds, see KWARP_CQ_STAMP_*; else 0
 * @qpn: number of the queue pair
 * @byte_len: octets placed (receive, Read, atomic operation); KWARP_WC_RECV_IMM: octets of the
 *	Write before the Immediate Data, modulo 2^32
 * @inv_stag: STag invalidated by the peer (KWARP_WC_RECV_INV)
 * @imm: immediate data, four octets as received (KWARP_WC_RECV_IMM, KWARP_WC_RECV_SEND_IMM)
 * @vendor_err: failed or flushed request: control field of the Terminate that was
 *	sent or received, layer << 12 | etype << 8 | code; or enum kwarp_vendor_err if this
 *	is RDMAP's "local catastrophic error" (0/0/00); 0 if there was no error
 * @status: enum kwarp_wc_status
 * @opcode: enum kwarp_wr_opcode or KWARP_WC_*; KWARP_WC_RECV for each failed receive
 * @flags: KWARP_CQE_*
 */
struct kwarp_cqe {
	__aligned_u64 id;
	__aligned_u64 timestamp;
	__u32 qpn;
	__u32 byte_len;
	union {
		__u32 inv_stag;
		__u32 imm;
		__u32 vendor_err;
	};
	__u8 status;
	__u8 opcode;
	__u16 flags;
};

/* ---------------------------------------------------------------- doorbell */

/*
 * The doorbell is a file, an FD object of the context: the method OPEN, called through ib_uverbs'
 * ioctl(), creates it.  The commands KWARP_IOC_POSTED_* are ioctl()s on that file.  Their argument
 * is the number of a queue pair of this context or, for KWARP_IOC_POSTED_SENDS, the address of a
 * list of such numbers.  The kernel sends, or flushes, what has been posted to these queue pairs.
 * Errors: EINVAL: the context has no such queue pair, or the list is empty or too long; EIO: the
 * device is gone; EINTR: the process is being killed; EFAULT: the list cannot be read.
 */
enum kwarp_objects {
	KWARP_OBJECT_DOORBELL = 0x1000,
};

enum kwarp_doorbell_methods {
	KWARP_METHOD_DOORBELL_OPEN = 0x1000,
};

enum kwarp_doorbell_open_attrs {
	KWARP_ATTR_DOORBELL_OPEN_FD = 0x1000,
};

#define KWARP_IOC_POSTED_SEND	_IO('k', 0x77)
#define KWARP_IOC_POSTED_RECV	_IO('k', 0x78)

/**
 * struct kwarp_doorbells - argument of KWARP_IOC_POSTED_SENDS: a doorbell for several send queues
 * @n: number of queue pairs, 1 to 16
 * @qpn: numbers (QPN) of these queue pairs
 */
struct kwarp_doorbells {
	__u32 n;
	__u32 qpn[16];
};

#define KWARP_IOC_POSTED_SENDS	_IOW('k', 0x79, struct kwarp_doorbells)

/* ------------------------------------------------------- uverbs driver data */

/*
 * Requests and answers may be longer or shorter than the other side knows.  Missing octets of a
 * request count as zero; octets that the kernel does not know have to be zero, otherwise the
 * command fails with EOPNOTSUPP.  An answer is cut to the provider's buffer, or filled up with
 * zeroes.  So new fields are appended to a structure, and zero in a new field means the behaviour
 * before the field existed.
 */

/*
 * Immediate data and atomic operations (RFC 7306): WRITE_IMM, FETCH_ADD and CMP_SWAP may be posted,
 * and the peer's Immediate Data completes receives. In the features of a context this bit means
 * that provider and module both know RFC 7306; in the features of a queue pair, that RFC 7306 is in
 * force for the queue pair. A queue pair without the bit refuses these requests and messages.
 */
#define KWARP_FEATURE_RFC7306		(1ULL << 0)

/*
 * Send with immediate data between wired queue pairs: those that were moved to RTR with the peer's
 * address, not by rdma_cm. In the features of a context: provider and module both know it. The
 * answer to create_qp does not have the bit: a queue pair is wired later.
 */
#define KWARP_FEATURE_SEND_IMM		(1ULL << 1)

/*
 * In the features of a context: the link's knob strict is on, and the provider should check
 * programs, too. It is an answer only; no request depends on it.
 */
#define KWARP_FEATURE_STRICT		(1ULL << 2)

/**
 * struct kwarp_alloc_ucontext_req - request of alloc_context
 * @abi_min: oldest version that user space speaks
 * @abi_max: newest version that user space speaks; 0, or no request at all: version 1 only
 * @features: KWARP_FEATURE_* bits that user space knows
 */
struct kwarp_alloc_ucontext_req {
	__u32 abi_min;
	__u32 abi_max;
	__aligned_u64 features;
};

/**
 * struct kwarp_alloc_ucontext_resp - answer to alloc_context
 * @abi_version: the version of this context: the newest one that both sides speak
 * @max_inline: largest inline payload of any queue pair, octets
 * @features: KWARP_FEATURE_* bits of the request that the module knows, too; KWARP_FEATURE_STRICT
 *	only while the knob is on
 */
struct kwarp_alloc_ucontext_resp {
	__u32 abi_version;
	__u32 max_inline;
	__aligned_u64 features;
};

/* The clock of a CQ's timestamps.  Without a flag the kernel takes none. */
#define KWARP_CQ_STAMP_RAW		(1U << 0)	/* CLOCK_MONOTONIC_RAW */
#define KWARP_CQ_STAMP_REAL		(1U << 1)	/* CLOCK_REALTIME */

/**
 * struct kwarp_create_cq_req - request of create_cq
 * @flags: one KWARP_CQ_STAMP_*, or 0
 * @rsvd: zero
 */
struct kwarp_create_cq_req {
	__u32 flags;
	__u32 rsvd;
};

/**
 * struct kwarp_create_cq_resp - answer to create_cq and resize_cq
 * @mmap_key: offset to give to mmap() for the ring
 * @mmap_len: octets to map
 * @cq_id: number of the CQ, for diagnostics; 0 from resize_cq
 * @size: entries in the ring, a power of two
 */
struct kwarp_create_cq_resp {
	__aligned_u64 mmap_key;
	__u32 mmap_len;
	__u32 cq_id;
	__u32 size;
	__u32 rsvd;
};

/**
 * struct kwarp_create_qp_resp - answer to create_qp
 * @mmap_key: mmap offset of both rings: the send ring, and after it the receive ring
 * @sq_len: octets of the send ring; map @sq_len + @rq_len octets
 * @rq_len: octets of the receive ring; 0 if the QP uses an SRQ
 * @sq_size: entries of the send ring, a power of two
 * @rq_size: entries of the receive ring, a power of two
 * @sq_stride: octets per entry of the send ring
 * @rq_stride: octets per entry of the receive ring
 * @max_inline: octets of inline payload that a request may have
 * @qpn: number of the queue pair
 * @features: KWARP_FEATURE_* bits of the context that are in force for this queue pair
 */
struct kwarp_create_qp_resp {
	__aligned_u64 mmap_key;
	__u32 sq_len;
	__u32 rq_len;
	__u32 sq_size;
	__u32 rq_size;
	__u32 sq_stride;
	__u32 rq_stride;
	__u32 max_inline;
	__u32 qpn;
	__aligned_u64 features;
};

/**
 * struct kwarp_create_srq_resp - answer to create_srq, and to modify_srq that changes the size
 * @mmap_key: mmap offset of the ring
 * @mmap_len: octets to map
 * @size: entries, a power of two
 * @stride: octets per entry
 */
struct kwarp_create_srq_resp {
	__aligned_u64 mmap_key;
	__u32 mmap_len;
	__u32 size;
	__u32 stride;
	__u32 rsvd;
};

/**
 * struct kwarp_modify_srq_req - request of modify_srq that changes the size
 * @answer: address of a struct kwarp_create_srq_resp, where the kernel writes how to map the new
 *	ring. The verb itself has no answer in which it could be returned.
 *
 * User space must not post to the queue during the verb. Receives that were posted and not yet
 * used are in the new ring, under the same indices.
 */
struct kwarp_modify_srq_req {
	__aligned_u64 answer;
};

#endif /* KWARP_ABI_H */
