/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwdata: random Writes, Reads and Sends whose contents are checked at both ends.
 *
 * Both ends derive the same list of operations ("the plan") from a seed, so each
 * knows what the other must do and what its memory must hold afterwards. Either
 * end, or both at once, work through their own plan ("issuer") while they check
 * the plan of the other ("checker"):
 *
 *  Write  the source is filled, the Write and a control message are posted. The
 *         checker compares the target window, its surroundings, and acknowledges.
 *  Send   likewise; the message itself takes the place of the control message.
 *  Read   the sink is compared when the Read completes. Some Reads are followed by
 *         a fenced control message: the checker then rewrites the source at once.
 *
 * Every source buffer is overwritten as soon as its completion was polled. All memory that no
 * operation should touch holds a guard pattern. The pattern is checked around every piece after
 * each operation, and everywhere now and then and at the end.
 *
 * An operation lives in slot (number mod window), which fixes the buffers and
 * windows it uses at both ends; a slot is free again when its operation is done.
 *
 *   plan.c    the plan, pure functions
 *   mem.c     regions, pieces, guard patterns
 *   conn.c    verbs resources, posting, connecting
 *   run.c     issuer and checker
 *   kwdata.c  options, threads, the end
 */
#ifndef KWDATA_H
#define KWDATA_H

#include "kwcm.h"
#include "kwtest.h"

#define KD_MAGIC	0x6b776461
#define KD_MAX_WINDOW	64
#define KD_MAX_SGE	32
#define KD_MAX_LEN	(64U << 20)
/* Keeps a small message within a page; regions begin at such addresses. */
#define KD_SPARE_ALIGN	64

/* ---------------------------------------------------------------- plan */

enum kd_type {
	KD_WRITE,
	KD_READ,
	KD_SEND,
	KD_TYPES
};

/**
 * struct kd_plan - what the operations of one direction of one connection derive from
 * @seed: different for each connection and direction
 * @max_len: largest operation, octets
 * @span: octets of a target or source window
 * @types: bit mask of enum kd_type: which are drawn
 * @spare: avoid what siw is known to answer wrongly
 */
struct kd_plan {
	uint64_t seed;
	uint32_t max_len;
	uint32_t span;
	unsigned int types;
	bool spare;
};

/**
 * struct kd_op - one operation
 * @type: what it is
 * @len: octets
 * @roff: where in the remote window (Write, Read)
 * @key: key of its contents (Write, Send)
 * @refill: a Read after which the checker rewrites the source
 */
struct kd_op {
	enum kd_type type;
	uint32_t len;
	uint32_t roff;
	uint64_t key;
	bool refill;
};

extern const char *const kd_type_name[KD_TYPES];

void kd_plan_op(const struct kd_plan *plan, uint64_t n, struct kd_op *op);
/* True if the checker gets a message for it and has to acknowledge. */
bool kd_op_has_message(const struct kd_op *op);
/* Key of the source window that Reads of a slot find there. */
uint64_t kd_source_key(const struct kd_plan *plan, unsigned int slot, uint64_t generation);

/* -------------------------------------------------------------- memory */

/**
 * struct kd_region - memory whose untouched part always holds the guard pattern
 * @mem: first octet; guard zones outside the registration lie on both sides
 * @len: octets
 * @all: with the guard zones, in whole pages
 * @fd: of the dma-buf that it is; -1: ordinary memory
 * @key: of the guard pattern
 * @mr: registrations of the whole of it; pieces use them in turn
 * @mrs: how many
 * @align: pieces start at multiples of this
 * @checks: counts the checks, so that now and then one covers everything
 */
struct kd_region {
	uint8_t *mem;
	size_t len;
	size_t all;
	int fd;
	uint64_t key;
	struct ibv_mr *mr[2];
	int mrs;
	unsigned int align;
	unsigned int checks;
};

/**
 * struct kd_pieces - where in a region the octets of one message lie
 * @n: number of pieces
 * @at: offset and octets of each, ascending, with gaps between
 */
struct kd_pieces {
	int n;
	struct {
		size_t off;
		uint32_t len;
	} at[KD_MAX_SGE];
};

/* What all regions are: dma-bufs of single pages, of huge pages, of one page of each of many. */
enum kd_memory { KD_PLAIN, KD_DMABUF, KD_HUGE, KD_HUGE_PARTS };

extern enum kd_memory kd_memory;

/* Room that kd_scatter() may need for a message of len octets. */
size_t kd_scatter_room(size_t len);
void kd_region_init(struct kd_region *r, struct ibv_pd *pd, size_t len, int access, int mrs);
void kd_region_fini(struct kd_region *r);
/* Lay len octets out in up to max random pieces. */
void kd_scatter(const struct kd_region *r, uint32_t len, int max, struct kw_rng *rng,
		struct kd_pieces *p);
void kd_one_piece(size_t off, uint32_t len, struct kd_pieces *p);
int kd_sges(const struct kd_region *r, const struct kd_pieces *p, struct ibv_sge *sge);
/* Write the message into the pieces, or the guard pattern back over its first len octets. */
void kd_fill_pieces(struct kd_region *r, const struct kd_pieces *p, uint64_t key, uint64_t pos);
void kd_restore(struct kd_region *r, const struct kd_pieces *p, uint32_t len, const char *what);
/* The message of len octets and the guard pattern around it; dies with what if they are wrong. */
void kd_check_pieces(struct kd_region *r, const struct kd_pieces *p, uint32_t len, uint64_t key,
		     uint64_t pos, const char *what);
/* All of the region holds the guard pattern. */
void kd_check_guard(struct kd_region *r, const char *what);

/* ---------------------------------------------------------- connection */

enum kd_flags {
	KD_DUPLEX	= 1 << 0,	/* the server issues operations, too */
	KD_EVENT	= 1 << 1,	/* sleep until a completion event */
	KD_SPARE	= 1 << 2,	/* see struct kd_plan */
};

/* What -x spoils, to show that it would be seen. */
enum kd_spoil {
	KD_SPOIL_NONE,
	KD_SPOIL_WRITE,		/* one octet of a Write's source */
	KD_SPOIL_READ,		/* one octet of a Read's sink */
	KD_SPOIL_SEND,		/* one octet of a Send's source */
	KD_SPOIL_GUARD,		/* a Write one octet longer than planned */
};

/**
 * struct kd_config - what the client tells the server in its private data
 * (host byte order: both ends are of one kind)
 */
struct kd_config {
	uint32_t magic;
	uint32_t max_len;
	uint64_t seed;
	uint64_t count;		/* operations per direction; UINT64_MAX: until stopped */
	uint16_t window;
	uint16_t conns;
	uint16_t index;		/* which of the connections */
	uint16_t flags;
	uint16_t max_sge;
	uint16_t depth;		/* Reads outstanding on the wire */
	uint32_t types;		/* which operations, bits of enum kd_type */
};

/**
 * struct kd_remote - where the windows of one of the peer's slots are
 */
struct kd_remote {
	uint64_t target, source;
	uint32_t target_key, source_key;
};

/**
 * struct kd_slot - an outstanding operation of ours
 * @arena: source or sink
 * @pieces: where in it
 * @op: the operation
 * @n: its number
 * @source_gen: generation of the peer's source window
 * @wait: events that have to come before it is done: completions, acknowledgment
 */
struct kd_slot {
	struct kd_region arena;
	struct kd_pieces pieces;
	struct kd_op op;
	uint64_t n;
	uint64_t source_gen;
	unsigned int wait;
};

/**
 * struct kd_window - what the peer's operation in one slot works on
 * @target: of Writes
 * @source: of Reads
 * @source_gen: how often the source was rewritten
 */
struct kd_window {
	struct kd_region target;
	struct kd_region source;
	uint64_t source_gen;
};

/**
 * struct kd_recv - a posted receive
 */
struct kd_recv {
	struct kd_region buf;
	struct kd_pieces pieces;
};

enum kd_ctl_kind {
	KD_CTL_WRITTEN = 1,	/* operation n, a Write, is placed */
	KD_CTL_READ,		/* operation n, a Read, is complete */
	KD_CTL_ACK,		/* your operation n was found good */
	KD_CTL_BYE,		/* I issue no more */
};

/**
 * struct kd_ctl - a control message: told from all others by its length
 */
struct kd_ctl {
	uint32_t magic;
	uint32_t kind;
	uint64_t n;
	uint64_t fill[3];
};

/**
 * struct kd_posted - an entry of the send queue, as we remember it
 * @slot: whose operation this is, or -1
 * @restore: the source may be overwritten when this completes
 */
struct kd_posted {
	int slot;
	bool restore;
};

/**
 * struct kd_sq - the send queue
 * @ring: what is posted, index modulo @depth
 * @ctl: memory for one control message per entry
 * @head: oldest not known to be complete
 * @tail: next to post
 * @unsignaled: entries since the last signaled one
 */
struct kd_sq {
	struct kd_posted *ring;
	struct kd_region ctl;
	unsigned int depth;
	unsigned int max_inline;
	uint64_t head, tail;
	unsigned int unsignaled;
};

/**
 * struct kd_acks - acknowledgements that wait for room in the send queue
 */
struct kd_acks {
	uint64_t n[KD_MAX_WINDOW];
	unsigned int count;
};

/**
 * struct kd_conn - one connection; used by its own thread only
 */
struct kd_conn {
	struct kd_config cfg;
	bool client;
	enum kd_spoil spoil;
	bool quirks;		/* of our device have to be spared: option -Q */
	int stall_ms;

	struct rdma_cm_id *id;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct kw_rng rng;		/* choices the peer need not know */
	int send_sge, recv_sge, read_sge;

	/* issuer */
	struct kd_plan plan;
	struct kd_slot *slots;
	struct kd_remote remote[KD_MAX_WINDOW];
	struct kd_sq sq;
	uint64_t next, count, done;
	bool remote_known, bye_posted;

	/* checker */
	struct kd_plan peer_plan;
	struct kd_window *windows;
	struct kd_recv *recvs;
	unsigned int recv_depth;
	struct kd_acks acks;
	uint64_t peer_next;
	bool peer_bye;

	bool lost, disconnected;
	int64_t last_progress;
	uint64_t octets, ops[KD_TYPES], checked;
};

/* Verbs resources on c->id, receives posted; dies on failure. */
void kd_conn_setup(struct kd_conn *c);
void kd_conn_teardown(struct kd_conn *c);
/* 0, or an error with a message. */
int kd_conn_connect(struct kd_conn *c);
int kd_conn_accept(struct kd_conn *c);
/* End the connection in good order: 0, or an error with a message. */
int kd_conn_finish(struct kd_conn *c);

unsigned int kd_sq_room(const struct kd_conn *c);
/* Post a chain of one or two requests; the entries tell what their completion means. */
void kd_post(struct kd_conn *c, struct ibv_send_wr *wr, const struct kd_posted *what, int n);
/* Make a control message the last of a chain. */
void kd_ctl_wr(struct kd_conn *c, unsigned int ahead, enum kd_ctl_kind kind, uint64_t n,
	       struct ibv_send_wr *wr, struct ibv_sge *sge);
void kd_post_ctl(struct kd_conn *c, enum kd_ctl_kind kind, uint64_t n);
void kd_post_hello(struct kd_conn *c);
void kd_post_recv(struct kd_conn *c, unsigned int index);
/* The connection is gone: said once. */
void kd_lost(struct kd_conn *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ----------------------------------------------------------------- run */

/* Set by a signal: issue no more and end in good order. */
extern volatile bool kd_stop;

/* Work until both plans are done: an exit code. */
enum kw_exit kd_run(struct kd_conn *c);

#endif /* KWDATA_H */
