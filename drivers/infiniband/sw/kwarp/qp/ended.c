// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Tells why a stream ends, if that is an error, or why it has not begun. */
#include "qp.h"

#include "../ended.h"

static void describe_program(const struct kwarp_qp *qp, struct kwarp_ended *rec)
{
	rec->qpn = qp->ibqp.qp_num;
	rec->uid = qp->owner;
	rec->pid = qp->sq.user ? qp->creator : NULL;
	strscpy(rec->program, qp->sq.user ? qp->program : qp->ibqp.res.kern_name ?: "kernel",
		sizeof(rec->program));
}

/* An end by this end's own close or abort is no error, nor is one by the peer's close. */
static bool is_error(const struct kwarp_qp *qp, const struct kwarp_ended *rec)
{
	return rec->has_term || READ_ONCE(qp->lost) ||
	       (rec->perr != KWARP_PERR_NONE && rec->perr != KWARP_PERR_MPA_LOST);
}

/* Context: process; qp->mutex held; before the engine is stopped. */
void kwarp_qp_tell_end(struct kwarp_qp *qp)
{
	struct kwarp_ended rec = {};

	lockdep_assert_held(&qp->mutex);
	if (!kwarp_engine_describe_end(&qp->engine, &rec) || !is_error(qp, &rec))
		return;
	describe_program(qp, &rec);
	kwarp_ended_add(qp->kdev, &rec);
}

/**
 * kwarp_qp_tell_no_start - keep why a connection of this queue pair has failed to start
 * @qp: queue pair, referenced by the caller
 * @rec: record; the members about the program and the queue pair are set
 */
void kwarp_qp_tell_no_start(struct kwarp_qp *qp, struct kwarp_ended *rec)
{
	describe_program(qp, rec);
	kwarp_ended_add_startup(qp->kdev, rec);
}
