/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwarp: strict mode: what hardware would refuse or break is refused and told here, too.
 *
 * A context in strict mode has operations of its own (strict_objects.c), which check, and then
 * call the ordinary functions; the ordinary functions know nothing of it.  Each request that is
 * posted has a record, and its wr_id in the ring is the address of the record.
 *
 * Locks, in this order: kwarp_strict_queue.post, that of the send queue first, or
 * kwarp_strict_cq.lock; kwarp_strict.lock.
 */
#ifndef KWARP_STRICT_H
#define KWARP_STRICT_H

#include <sys/uio.h>

#include "kwarp.h"

/* The rules; their names are in strict.c, and Documentation/strict.rst describes them. */
enum kwarp_strict_rule {
	STRICT_SQ_CREDIT,
	STRICT_EARLY_POST,
	STRICT_CAPS_ASKED,
	STRICT_ACCESS_UNSET,
	STRICT_RECV_POSTED,
	STRICT_READ_SINK,
	STRICT_MEMORY_CHANGED,
	STRICT_POISON,
	STRICT_SHAKE,
	STRICT_CQ_ROOM,
	STRICT_RULES
};

#define STRICT_ALL	((1U << STRICT_RULES) - 1)

/**
 * struct kwarp_strict_set - what the environment asks for
 * @given: the environment says something, be it "off"
 * @rules: bit i: rule i is on
 * @seed: for the order of completions
 * @abort: end the process at the first violation
 */
struct kwarp_strict_set {
	bool given;
	uint32_t rules;
	uint64_t seed;
	bool abort;
};

/**
 * struct kwarp_strict - strict mode of a context
 * @ctx: context
 * @node: in the list of all such contexts
 * @rules: bit i: rule i is on
 * @seed: for the order of completions
 * @lock: protects the lists and the requests and counts of all queues
 * @queues: send, receive and shared receive queues
 * @regions: memory regions
 * @poison_left: octets that may still be kept of sinks
 */
struct kwarp_strict {
	struct kwarp_context *ctx;
	struct list_node node;
	uint32_t rules;
	uint64_t seed;
	pthread_mutex_t lock;
	struct list_head queues;
	struct list_head regions;
	size_t poison_left;
};

/**
 * struct kwarp_strict_region - a registered memory region
 * @node: in kwarp_strict.regions
 * @mr: libibverbs' region
 * @addr: first octet in the process; NULL: not known (dma-buf, zero-based)
 * @length: octets
 */
struct kwarp_strict_region {
	struct list_node node;
	const struct kwarp_mr *mr;
	uint8_t *addr;
	size_t length;
};

/**
 * struct kwarp_strict_cq - a completion queue
 * @s: its context's strict mode
 * @cq: completion queue
 * @raw: the ordinary functions of extended polling
 * @lock: held over a poll; protects @held to @random
 * @held: completions that were taken from the ring, and not yet given to the program
 * @n_held: their number
 * @none: polls in a row that were answered with nothing though something was there
 * @give: completions that this extended poll may still give
 * @random: state of the random numbers
 * @channel: the program may wait for events, so that polls must tell all
 * @may_overrun: the program has promised to poll in time (IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)
 * @polls: number of polls; atomic
 * @cqe: entries that the program has asked for
 * @n: completions that may come of the requests outstanding, under kwarp_strict.lock
 * @told: times that each rule was broken
 */
struct kwarp_strict_cq {
	struct kwarp_strict *s;
	struct kwarp_cq *cq;
	struct ibv_cq_ex raw;
	pthread_mutex_t lock;
	struct list_head held;
	unsigned int n_held;
	unsigned int none;
	unsigned int give;
	uint64_t random;
	bool channel;
	bool may_overrun;
	uint64_t polls;
	uint32_t cqe;
	uint32_t n;
	unsigned int told[STRICT_RULES];
};

/**
 * struct kwarp_strict_queue - a send, receive or shared receive queue
 * @s: its context's strict mode
 * @node: in kwarp_strict.queues
 * @post: held over a post, or over a batch of ibv_wr_*()
 * @wq: the ordinary queue
 * @qp: queue pair; NULL: a shared receive queue
 * @cq: where its requests complete; NULL: a shared receive queue
 * @recv: a receive or shared receive queue
 * @max_wr: requests that the program has asked for
 * @max_sge: elements that the program has asked for
 * @requests: outstanding, the oldest first
 * @n: their number
 * @signaled: number of those that are signaled
 * @refused: posts refused since the CQ was polled last
 * @refused_polls: kwarp_strict_cq.polls at the first of these
 * @refused_at: time of the first of these, ns
 * @told: times that each rule was broken
 */
struct kwarp_strict_queue {
	struct kwarp_strict *s;
	struct list_node node;
	pthread_mutex_t post;
	struct kwarp_wq *wq;
	struct kwarp_strict_qp *qp;
	struct kwarp_strict_cq *cq;
	bool recv;
	uint32_t max_wr;
	uint32_t max_sge;
	struct list_head requests;
	uint32_t n;
	uint32_t signaled;
	unsigned int refused;
	uint64_t refused_polls;
	uint64_t refused_at;
	unsigned int told[STRICT_RULES];
};

/**
 * struct kwarp_strict_qp - a queue pair
 * @qp: queue pair
 * @qpn: its number
 * @raw: the ordinary ibv_wr_*() functions
 * @sq: send queue
 * @rq: receive queue
 * @max_inline: octets that the program has asked for
 * @rts: the queue pair has been seen in RTS since its last reset
 * @access: ibv_modify_qp() has given qp_access_flags since then
 * @sent: a request that takes a receive of the peer was posted since then
 * @early: error of the batch if the queue pair is not connected, or 0
 * @batch: requests since ibv_wr_start(), under sq.post
 * @n_batch: their number
 * @batch_signaled: one of them is signaled
 * @cur: the last of them; NULL: there is none, or it was refused
 */
struct kwarp_strict_qp {
	struct kwarp_qp *qp;
	uint32_t qpn;
	struct ibv_qp_ex raw;
	struct kwarp_strict_queue sq;
	struct kwarp_strict_queue rq;
	uint32_t max_inline;
	bool rts;
	bool access;
	bool sent;
	int early;
	struct list_head batch;
	uint32_t n_batch;
	bool batch_signaled;
	struct kwarp_strict_request *cur;
};

/**
 * struct kwarp_strict_request - a request that was posted and whose completion was not polled yet
 * @node: in kwarp_strict_queue.requests, or kwarp_strict_qp.batch
 * @q: queue
 * @wr_id: of the program
 * @opcode: of a request to send
 * @signaled: it will have a completion
 * @source: its memory is sent: it must not change
 * @sink: its memory will be written
 * @late: a receive that was posted after the end of the connection
 * @gone: its queue pair was reset: to be freed when no completion names it
 * @sum: checksum of the source
 * @saved: what was in a sink that is poisoned; NULL: it is not
 * @held: in kwarp_strict_cq.held, if @is_held
 * @is_held: its completion is held
 * @cqe: the completion
 * @places: the elements' memory in this process
 * @n_places: their number; 0: not known
 * @max_sge: room in @sge and @places
 * @num_sge: elements
 * @sge: elements, as posted
 */
struct kwarp_strict_request {
	struct list_node node;
	struct kwarp_strict_queue *q;
	uint64_t wr_id;
	enum ibv_wr_opcode opcode;
	bool signaled;
	bool source;
	bool sink;
	bool late;
	bool gone;
	bool is_held;
	uint64_t sum;
	uint8_t *saved;
	struct list_node held;
	struct kwarp_cqe cqe;
	struct iovec *places;
	unsigned int n_places;
	unsigned int max_sge;
	unsigned int num_sge;
	struct ibv_sge sge[];
};

/* strict.c */
extern struct kwarp_strict_set kwarp_strict_set;
void kwarp_strict_parse(struct kwarp_strict_set *set, const char *text);
bool kwarp_strict_on(const struct kwarp_strict *s, enum kwarp_strict_rule rule);
/* Say that a rule was broken, if its count @told is a power of two. */
void kwarp_strict_say(const struct kwarp_strict *s, unsigned int *told,
		      enum kwarp_strict_rule rule, const char *format, ...)
	__attribute__((format(printf, 4, 5), cold));
void kwarp_strict_say_sum(void);

/* strict_mem.c: kwarp_strict.lock is held, but not for the first three */
void kwarp_strict_add_mr(struct kwarp_strict *s, const struct kwarp_mr *mr, void *addr,
			 size_t length);
struct kwarp_strict_region *kwarp_strict_take_mr(struct kwarp_strict *s, const struct kwarp_mr *mr);
void kwarp_strict_return_mr(struct kwarp_strict *s, struct kwarp_strict_region *region);
const struct kwarp_mr *kwarp_strict_find_mr(const struct kwarp_strict *s, uint32_t lkey);
bool kwarp_strict_reaches_memory(void);
void kwarp_strict_begin_memory(struct kwarp_strict_request *r);
void kwarp_strict_end_memory(struct kwarp_strict_request *r);
void kwarp_strict_leave_memory(struct kwarp_strict_request *r);
bool kwarp_strict_source_changed(const struct kwarp_strict_request *r);
void kwarp_strict_unpoison(struct kwarp_strict_request *r, size_t from);
void kwarp_strict_forget_saved(struct kwarp_strict_request *r);

/* strict_request.c */
struct kwarp_strict_request *kwarp_strict_new(struct kwarp_strict_queue *q, uint64_t wr_id,
					      unsigned int max_sge);
void kwarp_strict_free(struct kwarp_strict_request *r);
void kwarp_strict_put(struct kwarp_strict_request *r);
void kwarp_strict_drop(struct kwarp_strict_request *r);
void kwarp_strict_take_back(struct kwarp_strict_request *r);
void kwarp_strict_opcode(struct kwarp_strict_request *r, enum ibv_wr_opcode opcode);
const char *kwarp_strict_name(const struct kwarp_strict_request *r);
bool kwarp_strict_is_rts(struct kwarp_strict_qp *qp);
void kwarp_strict_reached_rts(struct kwarp_strict_qp *qp, const char *call);
int kwarp_strict_state(struct kwarp_strict_qp *qp, const char *call);
void kwarp_strict_say_refused(struct kwarp_strict_queue *q, const char *call);
int kwarp_strict_room(struct kwarp_strict_queue *q, uint32_t more, bool signaled,
		      const char *call);
int kwarp_strict_sges(struct kwarp_strict_request *r, size_t num, const struct ibv_sge *list,
		      const char *call);
int kwarp_strict_inline(struct kwarp_strict_qp *qp, uint64_t octets, const char *call);

/* strict_post.c */
int kwarp_strict_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
			   struct ibv_send_wr **bad_wr);
int kwarp_strict_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
			   struct ibv_recv_wr **bad_wr);
int kwarp_strict_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			       struct ibv_recv_wr **bad_wr);
int kwarp_strict_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw, struct ibv_mw_bind *bind);

/* strict_wr.c */
void kwarp_strict_qp_init_ex(struct kwarp_strict_qp *qp);

/* strict_poll.c */
int kwarp_strict_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc);
void kwarp_strict_settle(struct kwarp_strict_cq *cq);
void kwarp_strict_forget(struct kwarp_strict_cq *cq, uint32_t qpn);
void kwarp_strict_cq_init_ex(struct kwarp_strict_cq *cq);

/* strict_objects.c */
extern const struct verbs_context_ops kwarp_strict_ops;
struct kwarp_strict_cq *kwarp_strict_add_cq(struct kwarp_strict *s, struct kwarp_cq *cq, int cqe,
					    bool channel);
int kwarp_strict_add_qp(struct kwarp_strict *s, struct kwarp_qp *qp, const struct ibv_qp_cap *cap);
void kwarp_strict_drop_cq(struct kwarp_strict_cq *cq);
void kwarp_strict_unlink_qp(struct kwarp_strict_qp *qp);
void kwarp_strict_drop_qp(struct kwarp_strict_qp *qp);
int kwarp_strict_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
void kwarp_strict_check_mr(struct kwarp_strict *s, const struct kwarp_mr *mr, const char *call);
void kwarp_strict_leave_mr(struct kwarp_strict *s, const struct kwarp_mr *mr);
int kwarp_strict_add_srq(struct kwarp_strict *s, struct kwarp_srq *srq,
			 const struct ibv_srq_attr *attr);
void kwarp_strict_drop_srq(struct kwarp_strict_queue *srq);

/* strict_open.c; other functions are in kwarp.h */
struct kwarp_strict *kwarp_strict_open(struct kwarp_context *ctx);

#endif /* KWARP_STRICT_H */
