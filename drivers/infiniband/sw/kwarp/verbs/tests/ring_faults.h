/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Faults that tests let happen while an object with a ring is made or resized. */
#ifndef KWARP_VERBS_TESTS_RING_FAULTS_H
#define KWARP_VERBS_TESTS_RING_FAULTS_H

#include "fixture.h"

/* FAULT_ANSWER is not a call: the process's buffer for the answer is bad, and @nth is not used. */
struct fault_case {
	const char *desc;
	enum vt_fault fault;
	int nth;
	int ret;
};

static const struct fault_case ring_faults[] = {
	{ "ring", FAULT_RING, 1, -ENOMEM },
	{ "file", FAULT_FILE, 1, -ENOMEM },
	{ "mapping", FAULT_MAP, 1, -ENOMEM },
	{ "answer", FAULT_ANSWER, 0, -EFAULT },
};

KUNIT_ARRAY_PARAM_DESC(ring_fault, ring_faults, desc);

static void set_fault(const struct fault_case *c)
{
	vt->fault = c->fault;
	vt->nth = c->nth;
}

#endif /* KWARP_VERBS_TESTS_RING_FAULTS_H */
