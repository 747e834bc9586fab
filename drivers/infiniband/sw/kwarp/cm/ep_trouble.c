// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tells why a connection has failed to start: a line in the kernel log, and a record for "kwarpctl
 * why" (../ended.h).  What a peer has tried at a listener is of another kind than what a program
 * here has tried, so that a peer cannot push out the records of programs here.
 */
#include "ep.h"

#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include <linux/ratelimit.h>

#include "../ended.h"
#include "../qp/stream.h"
#include "cm_sock.h"
#include "startup.h"

enum no_start {
	WHY_NOT_TOLD,
	WHY_NO_LISTENER,
	WHY_NO_ANSWER,
	WHY_NO_TCP,
	WHY_REJECTED,
	WHY_REJECTED_CRC,
	WHY_REJECTED_MARKERS,
	WHY_CRC_REQUIRED,
	WHY_NOT_MPA,
	WHY_REPLY_LESS,
	WHY_CLOSED,
	WHY_NO_REQUEST,
	WHY_NO_REPLY,
	WHY_NO_ACCEPT,
	WHY_NO_MESSAGE,
	WHY_EVICTED,
	WHY_LOCAL,
};

#define WHY(name, text)	\
	[WHY_##name] = { #name, text }

/* The names are known to tools/kwarpctl/why.py. */
static const struct {
	const char *name;
	const char *text;
} reasons[] = {
	WHY(NO_LISTENER, "TCP did not connect: nothing listens there, or a firewall refuses"),
	WHY(NO_ANSWER, "TCP did not connect: no route, or no answer"),
	WHY(NO_TCP, "TCP did not connect"),
	WHY(REJECTED, "the peer's program has rejected it"),
	WHY(REJECTED_CRC, "rejected: the peer's Reply asks for CRC, which is off here"),
	WHY(REJECTED_MARKERS, "rejected: the peer's Reply has no markers, which are on here"),
	WHY(CRC_REQUIRED, "refused: CRC is required here, and the peer has it off"),
	WHY(NOT_MPA, "the peer broke the protocol"),
	WHY(REPLY_LESS, "refused: the peer's Reply gives less than was asked for"),
	WHY(CLOSED, "lost before it was established"),
	WHY(NO_REQUEST, "no MPA Request came in time"),
	WHY(NO_REPLY, "TCP has connected, and no MPA Reply came in time"),
	WHY(NO_ACCEPT, "the program here did not accept it in time"),
	WHY(NO_MESSAGE, "it was accepted, and the peer's first message did not come in time"),
	WHY(EVICTED, "gave way to others: too many are half-open"),
	WHY(LOCAL, "no memory, or another trouble of this machine"),
};

static enum no_start no_tcp(int err)
{
	switch (err) {
	case -ECONNREFUSED:
		return WHY_NO_LISTENER;
	case -ETIMEDOUT:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return WHY_NO_ANSWER;
	default:
		return WHY_NO_TCP;
	}
}

/*
 * A Reply that rejects does not say why.  If it differs from this end's knobs, that may be the
 * reason: both knobs are usually set otherwise.
 */
static enum no_start rejected(const struct kwarp_startup *su)
{
	if (su->rep.crc && !su->req.crc)
		return WHY_REJECTED_CRC;
	return su->req.markers && !su->rep.markers ? WHY_REJECTED_MARKERS : WHY_REJECTED;
}

/* Is it the initiator that has required CRC, and the peer's correct Reply has none? */
static enum no_start bad(const struct kwarp_startup *su)
{
	return su->params.crc == KWARP_CRC_REQUIRED && su->rep.reply && !su->rep.crc ?
	       WHY_CRC_REQUIRED : WHY_NOT_MPA;
}

static enum no_start too_late(enum kwarp_cm_state was)
{
	switch (was) {
	case KWARP_CMS_CONNECT:
		return WHY_NO_ANSWER;
	case KWARP_CMS_SEND_REQ:
	case KWARP_CMS_WAIT_REP:
		return WHY_NO_REPLY;
	case KWARP_CMS_WAIT_REQ:
		return WHY_NO_REQUEST;
	case KWARP_CMS_WAIT_BACKLOG:
	case KWARP_CMS_WAIT_ULP:
		return WHY_NO_ACCEPT;
	default:
		return WHY_NO_MESSAGE;
	}
}

static enum no_start why(const struct kwarp_ep *ep, enum kwarp_cm_state was,
			 enum kwarp_cm_event event)
{
	switch (event) {
	case KWARP_CME_BAD:
		return bad(ep->su);
	case KWARP_CME_LOST:
		if (was == KWARP_CMS_CONNECT)
			return no_tcp(ep->status);
		return kwarp_startup_is_probe(ep->su) ? WHY_NOT_TOLD : WHY_CLOSED;
	case KWARP_CME_PEER_FIN:
		return WHY_CLOSED;
	case KWARP_CME_REJECTED:
		return rejected(ep->su);
	case KWARP_CME_REFUSE:			/* CRC policy: 5044-7.1.1-9 */
		return WHY_CRC_REQUIRED;
	case KWARP_CME_OWE_TERM:
		return ep->status == -EPROTO ? WHY_REPLY_LESS : WHY_LOCAL;
	case KWARP_CME_TIMER:
		return too_late(was);
	case KWARP_CME_EVICT:
		return WHY_EVICTED;
	case KWARP_CME_LOCAL:
		return WHY_LOCAL;
	default:
		return WHY_NOT_TOLD;
	}
}

static bool addresses(const struct kwarp_ep *ep, enum kwarp_cm_state was,
		      struct sockaddr_storage *local, struct sockaddr_storage *remote)
{
	/*
	 * An unconnected socket has no peer address, and after a second attempt that has failed
	 * there is no socket: take the addresses of the id.
	 */
	if (was == KWARP_CMS_CONNECT && ep->cm_id) {
		*local = ep->cm_id->m_local_addr;
		*remote = ep->cm_id->m_remote_addr;
	} else if (ep->cs.sock) {
		kwarp_cm_sock_names(ep->cs.sock, local, remote);
	} else {
		return false;
	}
	return true;
}

/*
 * A peer can let any number of connections fail, so the lines about those of listeners have a limit
 * of their own: they do not hide the lines of initiators.  It is the link's, because any user can
 * make any number of listeners.  A program may reject as it likes.
 */
static void notice(const struct kwarp_ep *ep, enum kwarp_cm_state was, enum no_start reason,
		   const struct sockaddr_storage *local, const struct sockaddr_storage *remote)
{
	if (reason != WHY_REJECTED &&
	    __ratelimit(&ep->kdev->cm.notices[!!ep->listener]))
		ibdev_notice(&ep->kdev->ibdev, "connection %pISpc, peer %pISpc: %s (%s)\n", local,
			     remote, reasons[reason].text, kwarp_cm_state_name(was));
}

static void keep(const struct kwarp_ep *ep, enum kwarp_cm_state was, enum no_start reason,
		 const struct sockaddr_storage *local, const struct sockaddr_storage *remote)
{
	struct kwarp_ended rec = {
		.kind = ep->listener ? KWARP_ENDED_INBOUND : KWARP_ENDED_STARTUP,
		.uid = INVALID_UID,
		.startup = kwarp_cm_state_name(was),
		.no_start = reasons[reason].name,
		.no_start_text = reasons[reason].text,
		.age_ms = jiffies_to_msecs(jiffies - ep->since),
		.err = -ep->status,
	};

	memcpy(&rec.local, local, sizeof(rec.local));
	memcpy(&rec.remote, remote, sizeof(rec.remote));
	if (ep->qp)
		kwarp_qp_tell_no_start(ep->qp, &rec);
	else
		kwarp_ended_add_startup(ep->kdev, &rec);
}

static noinline_for_stack void tell(const struct kwarp_ep *ep, enum kwarp_cm_state was,
				    enum no_start reason)
{
	struct sockaddr_storage local = {}, remote = {};

	if (!addresses(ep, was, &local, &remote))
		return;
	notice(ep, was, reason, &local, &remote);
	keep(ep, was, reason, &local, &remote);
}

/* Before the actions of the event. The end of a stream is told by kwarp_qp_tell_end(). */
void kwarp_ep_tell_trouble(struct kwarp_ep *ep, enum kwarp_cm_state was, enum kwarp_cm_event event)
{
	enum no_start reason;

	lockdep_assert_held(&ep->mutex);
	/* A wired queue pair tries again until its peer is ready: no line for each attempt. */
	if (was >= KWARP_CMS_SEND_REJ || ep->vet)
		return;
	reason = why(ep, was, event);
	if (reason != WHY_NOT_TOLD)
		tell(ep, was, reason);
}
