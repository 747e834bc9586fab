/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The send queue. Requests complete in order, even if the response to a Read or atomic operation
 * comes after later requests have been sent (5040-5.5-22, see Documentation/conformance).
 */
#ifndef KWARP_QUEUE_SQ_H
#define KWARP_QUEUE_SQ_H

#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "cq.h"
#include "foreign.h"
#include "wqe.h"

/*
 * A request that has been taken: what its completion needs. @byte_len: length of a Read or atomic
 * operation, octets; 0 for other requests. @vendor_err: reason of an error, as in struct kwarp_cqe:
 * the control field of the Terminate. @awaits: the request is a Read or atomic operation whose
 * response has not come yet
 */
struct kwarp_sq_done {
	u64 id;
	u32 byte_len;
	u32 vendor_err;
	u8 opcode;
	u8 status;
	bool signaled;
	bool awaits;
};

/*
 * struct kwarp_sq - send queue
 * @ring: the entries, perhaps shared with user space; immutable
 * @foreign: ring from which requests are moved to @ring, which is not shared then; NULL: none;
 *	pointer immutable, contents owned by the transmit runner
 * @done: an element for each slot of @ring; pointer immutable
 * @cq: completion queue of the requests; immutable
 * @ibqp: the queue pair; immutable
 * @sig_all: every request is signaled; immutable
 * @user: user space posts, not a kernel consumer; immutable
 * @rfc7306: requests of RFC 7306 (atomic operations, immediate data) may be posted; immutable
 * @send_imm: the stream may carry Sends with immediate data; written by the transmit runner
 * @next: index of the first entry not yet taken; written by the transmit runner, READ_ONCE
 *	elsewhere
 * @lock: protects @sent, @retired and the contents of @done (elements from @sent on: also written
 *	by the transmit runner without the lock); any context but hard interrupt, bottom halves off;
 *	taken before the CQ's lock
 * @sent: TCP has taken all octets of the requests before this index; those of them that send
 *	nothing have been carried out, and flushed ones count, too
 * @retired: the requests before this index have completed
 * @behind: more requests may complete: kwarp_sq_retire() is to be called; written under @lock
 * @posted: kernel consumers: index of the next entry to write, under @post_lock
 */
struct kwarp_sq {
	struct kwarp_ring ring;
	struct kwarp_foreign_ring *foreign;
	struct kwarp_sq_done *done;
	struct kwarp_cq *cq;
	struct ib_qp *ibqp;
	bool sig_all;
	bool user;
	bool rfc7306;
	bool send_imm;

	u32 next;

	spinlock_t lock;		/* sent, retired, behind, done[] */
	u32 sent;
	u32 retired;
	bool behind;

	spinlock_t post_lock;		/* posted */
	u32 posted;
};

enum kwarp_take {
	KWARP_TAKE_NONE,	/* there is no entry that can be taken */
	KWARP_TAKE_OK,		/* the next entry is valid */
	KWARP_TAKE_BAD,		/* the next entry is not valid */
	KWARP_TAKE_CORRUPT,	/* user space has written an impossible index */
};

int kwarp_sq_init(struct kwarp_sq *sq, u32 entries, u32 stride);
enum kwarp_take kwarp_sq_peek(struct kwarp_sq *sq, struct kwarp_wqe *wqe);
u32 kwarp_sq_take(struct kwarp_sq *sq, const struct kwarp_wqe *wqe);
u32 kwarp_sq_posted(struct kwarp_sq *sq);
u32 kwarp_sq_posted_all(struct kwarp_sq *sq);
void kwarp_sq_tell(struct kwarp_sq *sq, u32 flags);
bool kwarp_sq_has_unmoved(const struct kwarp_sq *sq);
bool kwarp_sq_empty(const struct kwarp_sq *sq);
bool kwarp_sq_sent(struct kwarp_sq *sq, u32 end);
bool kwarp_sq_answered(struct kwarp_sq *sq, u32 index);
bool kwarp_sq_retire(struct kwarp_sq *sq);
void kwarp_sq_failed(struct kwarp_sq *sq, u32 index, enum kwarp_wc_status status,
		     u32 vendor_err);
void kwarp_sq_flush(struct kwarp_sq *sq, u32 vendor_err);
bool kwarp_sq_flush_late(struct kwarp_sq *sq, u32 vendor_err);
void kwarp_sq_reset(struct kwarp_sq *sq);

int kwarp_sq_post(struct kwarp_sq *sq, const struct ib_send_wr *wr,
		  const struct ib_send_wr **bad);

#endif /* KWARP_QUEUE_SQ_H */
