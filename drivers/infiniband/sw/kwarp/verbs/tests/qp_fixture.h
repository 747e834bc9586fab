/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A queue pair, and functions that create and destroy it, for the tests of its verbs. */
#ifndef KWARP_VERBS_TESTS_QP_FIXTURE_H
#define KWARP_VERBS_TESTS_QP_FIXTURE_H

#include "fixture.h"

/* Requests of the queue pair complete in vt->scq and vt->rcq. The SRQ is zeroed memory. */
extern struct kwarp_qp *vt_qp;
extern struct kwarp_srq *vt_srq;

struct ib_qp_init_attr vt_qp_attr(void);
int verbs_qp_init(struct kunit *test);
int vt_create_user(struct kunit *test, struct ib_qp_init_attr *attr);
void vt_make_qp(struct kunit *test);
void vt_destroy_qp(struct kunit *test);

#endif /* KWARP_VERBS_TESTS_QP_FIXTURE_H */
