/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwbench: the rate or latency of one kind of traffic between two processes, over any RDMA device.
 * `make bench` runs it over kwarp, siw and rxe in turn.
 *
 * perftest is not enough for that.  Its rates come from the processor's cycle counter, which an
 * emulator does not keep steady.  With rdma_cm it listens twice on one port, so that a quick client
 * fails now and then.  It counts octets that TCP has accepted, not those that have arrived, which
 * favours a slow device by a socket buffer.  It neither measures processor time nor opens 512
 * connections in reasonable time.
 *
 * Run: what one client process does, on one or more connections.  The client chooses the parameters
 * of a run and sends them in its private data.  A rate is measured over a number of operations,
 * which a warm-up has found to take the requested time. A phase is one number of operations: the
 * warm-up has several phases, the measurement one or more. Each phase ends with a Read on each
 * queue pair: the response comes after all earlier operations are placed at the far end, so
 * everything that is counted has arrived.  Processor time is that of the whole machine, both ends,
 * user and kernel: the time of all processors without the idle time.
 *
 * iWARP has no flow control for Sends: the client sends only as many as it has credits, and the
 * server returns credits in a small Send, one for each half of its receives.  A Write with
 * immediate data takes a receive, too.
 *
 * Immediate data are consecutive numbers: the server counts those that arrive in order.  Each queue
 * pair has a word for its atomic operations: FetchAdd adds 1, CmpSwap replaces a number by the
 * next.  In the end the client sends how many operations it has posted; the server compares its
 * count, or the word, and answers.
 */
#ifndef KWBENCH_H
#define KWBENCH_H

#include "kwcm.h"
#include "kwtest.h"

#include "protocol.h"
#include "request.h"

#define KB_CM_MS	20000
#define KB_INLINE	200	/* octets: latency runs post messages up to this length inline */

/*
 * Notes of a queue pair (struct kb_note). KB_OUT: index of the one to send; KB_IN: index of the
 * received one; KB_NOTES: how many there are.
 */
enum { KB_OUT, KB_IN, KB_NOTES };

/**
 * struct kb_qp - one connection
 * @id: has the queue pair and, at the client, an event channel of its own
 * @peer: the peer's memory: target of Writes, source of Reads
 * @queued: requests in the send queue that are not known to be complete
 * @unsignaled: requests since the last signaled one
 * @credits: Sends that the peer has receives for (client)
 * @owed: receives that were posted again since the last credit message (server)
 * @posted: operations that were posted, if kb_is_counted()
 * @heard: operations whose immediate data arrived in order, up to the first gap
 * @drained: the Read that ends a phase is complete
 * @answered: the server has answered the client's note (client)
 */
struct kb_qp {
	struct rdma_cm_id *id;
	struct kb_window peer;
	unsigned int queued, unsignaled, credits, owed;
	uint64_t posted, heard;
	bool drained, answered;
};

/**
 * struct kb_run - one end of a run
 * @cfg: what the client asked for
 * @qp: connections, of which the first @qps are in use
 * @mem: source of @half octets, then sink of the same size, see kb_sink()
 * @half: the size of an operation; for atomic operations a word for each queue pair
 * @notes: notes to send and received, in the same memory after the sink
 * @signal: one request in this many is signaled
 * @ops: requests posted in this phase
 * @goal: the number that @ops has to reach
 * @turn: in a latency run of Writes: last octet of the previous Write
 * @max_inline: octets that may be posted inline
 */
struct kb_run {
	struct kb_config cfg;
	bool client;
	struct kb_qp *qp;
	unsigned int qps;
	struct ibv_pd *pd;
	struct ibv_comp_channel *comp;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *mem;
	size_t half;
	struct kb_note *notes;
	unsigned int signal;
	unsigned int max_inline;
	uint64_t ops, goal;
	uint8_t turn;
};

/* Functions of conn.c: resources and connections */
void kb_open(struct kb_run *run, struct ibv_context *verbs);
void kb_close(struct kb_run *run);
/*
 * Create a queue pair for qp->id, which is bound to a device, and post its receives. Return: 0 or
 * -errno.
 */
int kb_create_qp(struct kb_run *run, struct kb_qp *qp);
void kb_post_recv(struct kb_run *run, struct kb_qp *qp);
/* Post one request for @len octets of the source. A Read writes to the source. */
void kb_post(struct kb_run *run, struct kb_qp *qp, enum ibv_wr_opcode opcode,
	     enum kb_what what, uint32_t len, bool signaled);
/* Return: name of what the run needs and the device does not have, or NULL. */
const char *kb_lacks(const struct kb_config *cfg, struct ibv_context *verbs);
/* Make connections until there are @qps. A failure ends the program. */
void kb_connect(struct kb_run *run, unsigned int qps, const char *addr, const char *port);
void kb_disconnect_all(struct kb_run *run);
uint8_t *kb_sink(const struct kb_run *run);
/*
 * Return: this queue pair's word for atomic operations. With kb_sink() as @half: the word that the
 * operations change (server); with run->mem: the value that the last operation returned (client).
 */
uint64_t *kb_word(const struct kb_run *run, const struct kb_qp *qp, uint8_t *half);

/* Functions of count.c: operations that are counted */
/* Count a received operation if its immediate data is the next number. */
void kb_hear(struct kb_run *run, struct kb_qp *qp, const struct ibv_wc *wc);
/* Client, when all atomic operations are complete: check the value that the last one returned. */
void kb_check_values(const struct kb_run *run);
/* Server: a note has arrived. Send the server's own count. */
void kb_answer_note(struct kb_run *run, struct kb_qp *qp);
/* Client: the server's answer has arrived. Compare the counts. */
void kb_check_note(const struct kb_run *run, const struct kb_qp *qp);

/* Functions of client.c */
void kb_client_rate(struct kb_run *run, double warm, double seconds);
void kb_client_latency(struct kb_run *run, double warm, double seconds);
/* After a measurement: check that the server has counted as many operations as were posted. */
void kb_client_compare(struct kb_run *run);
/* Print how much memory a connection takes. */
void kb_client_memory(struct kb_run *run, const char *addr, const char *port);

/* Functions of server.c */
void kb_serve(struct rdma_cm_id *listener);

#endif /* KWBENCH_H */
