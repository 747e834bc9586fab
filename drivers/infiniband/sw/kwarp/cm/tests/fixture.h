/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Begin and end of a test of connection management, with the fakes of fake.h.
 *
 * At the end of each case the device is stopped, and no endpoint (connection), no socket and no
 * reference to an id or a queue pair may be left. fake.bug must be NULL: the fakes set it when the
 * code under test does something wrong, for example when it makes a second upcall where iw_cm
 * expects one.
 */
#ifndef KWARP_CM_TESTS_FIXTURE_H
#define KWARP_CM_TESTS_FIXTURE_H

#include "fake.h"

#include "../ep_run.h"
#include "../ep_stream.h"

int ct_init(struct kunit *test);
void ct_exit(struct kunit *test);
int ct_suite_init(struct kunit_suite *suite);
void ct_suite_exit(struct kunit_suite *suite);
void ct_again(struct kunit *test);
void ct_settle(void);

/* Stand-ins that iw_cm has returned and that wait for a grace period */
int ct_returned(void);
void ct_set_returned(int n);
u32 ct_grace_period(void);

unsigned int ct_actions_without_function(void);

#endif /* KWARP_CM_TESTS_FIXTURE_H */
