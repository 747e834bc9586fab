// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Tests of the stand-ins, the objects that iw_cm gets instead of queue pairs (cm_qp.c), and of
 * accepts and rejects that a program may not make (cm.c). Sockets, queue pairs and iw_cm are fakes.
 * DOWN is a queue pair's report that its stream has ended.
 *
 * Each look-up of a queue pair gives iw_cm a new stand-in; without memory, the device's no_qp, a
 * stand-in that all look-ups share and that ends no stream. iw_cm returns a stand-in when it drops
 * its reference. A stand-in that iw_cm may have used, because the id was ESTABLISHED, is freed
 * after a grace period of Tasks RCU; any other is freed at once.
 */
#include "states.h"

/* ------------------------------------------------------------------ wrong calls */

static void test_accept_twice(struct kunit *test)
{
	int i;

	/* Accept again in both states in which an accept waits for its ESTABLISHED event. */
	for (i = 0; i < 2; i++) {
		(i ? ct_to_send_rep : ct_to_wait_fpdu)(test);
		KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN + 1), 0);
		KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN), 0);
		KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN + 1), 0);
		ct_settle();
		KUNIT_EXPECT_EQ(test, fake.id.ests, 1);
		KUNIT_EXPECT_EQ(test, fake.id.closes, 1);
		ct_again(test);
	}
}

static void test_accept_reject(struct kunit *test)
{
	int i;

	for (i = 0; i < 2; i++) {
		(i ? ct_to_send_rep : ct_to_wait_fpdu)(test);
		KUNIT_EXPECT_EQ(test, ct_iw_reject(), -EINVAL);
		ct_settle();
		KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
		KUNIT_EXPECT_EQ(test, fake.id.refs, 1);
		ct_again(test);
	}
}

/* Two accepts and then a reject: iw_cm has the stand-in of the second accept. */
static void test_accept_twice_reject(struct kunit *test)
{
	ct_to_wait_fpdu(test);
	/*
	 * A queue pair that sends a Terminate does not report DOWN at once: this test lets it
	 * report DOWN after the reject.
	 */
	fake.qp[0].state = KWARP_QPS_TERM;
	KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN + 1), 0);
	KUNIT_EXPECT_EQ(test, ct_iw_reject(), -EINVAL);
	ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, false);
	ct_settle();
	KUNIT_EXPECT_EQ(test, fake.id.ests, 0);
}

/* ------------------------------------------------------- what iw_cm has for a QP */

/* The queue pair has only its own reference left, so it can be destroyed. */
static void test_reject_keeps_no_qp(struct kunit *test)
{
	ct_to_wait_fpdu(test);
	KUNIT_EXPECT_EQ(test, ct_iw_reject(), -EINVAL);
	ct_settle();
	KUNIT_EXPECT_NOT_NULL(test, fake.id.qp);
	KUNIT_EXPECT_EQ(test, fake.qp[0].refs, 1);
	/* iw_cm disconnects much later, when a real queue pair might be gone: no effect. */
	KUNIT_EXPECT_EQ(test, ct_iw_disconnect(true), 0);
	ct_iw_drop_qp(&fake.id);
}

static void test_disconnect(struct kunit *test)
{
	bool abrupt;

	for (abrupt = false; ; abrupt = true) {
		ct_to_stream(test);
		KUNIT_EXPECT_EQ(test, ct_iw_disconnect(abrupt), 0);
		KUNIT_EXPECT_TRUE(test, fake.qp[0].closed);
		KUNIT_EXPECT_EQ(test, fake.qp[0].aborted, abrupt);
		/*
		 * The stream has ended. If the queue pair has a new stream, a disconnect of the
		 * same id must not end the new one.
		 */
		flush_workqueue(kwarp_cm_wq);
		fake.qp[0].state = KWARP_QPS_RTS;
		fake.qp[0].closed = false;
		KUNIT_EXPECT_EQ(test, ct_iw_disconnect(abrupt), 0);
		KUNIT_EXPECT_FALSE(test, fake.qp[0].closed);
		if (abrupt)
			break;
		ct_again(test);
	}
}

/* iw_cm_disconnect() may still use a stand-in that the CLOSE event of the id has returned. */
static void test_disconnect_late(struct kunit *test)
{
	struct ib_qp *ibqp;

	ct_to_stream(test);
	ibqp = fake.id.qp;
	ct_iw_drop_qp(&fake.id);
	KUNIT_EXPECT_EQ(test, kwarp_cm_modify_stand_in(ibqp, true), -EINVAL);
	KUNIT_EXPECT_FALSE(test, fake.qp[0].closed);
	KUNIT_EXPECT_EQ(test, ct_grace_period(), 1);
}

static void test_disconnect_next(struct kunit *test)
{
	ct_to_stream(test);
	ct_stream_says(&fake.qp[0], KWARP_STREAM_DOWN, true);
	/* The queue pair is reset and connected again before the endpoint has handled DOWN. */
	fake.qp[0].state = KWARP_QPS_RTS;
	KUNIT_EXPECT_EQ(test, ct_iw_disconnect(true), 0);
	KUNIT_EXPECT_FALSE(test, fake.qp[0].closed);
}

/* A second accept may name any queue pair, also another program's. */
static void test_accept_twice_other(struct kunit *test)
{
	ct_to_wait_fpdu(test);
	fake.qp[1].may_connect = false;
	fake.qp[1].state = KWARP_QPS_RTS;
	KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN + 1), 0);
	KUNIT_EXPECT_EQ(test, fake.qp[1].refs, 1);
	KUNIT_EXPECT_EQ(test, ct_iw_disconnect(true), -EINVAL);
	KUNIT_EXPECT_FALSE(test, fake.qp[1].closed);
	ct_settle();
	/* The id was ESTABLISHED, so the stand-in of the second accept waits for RCU. */
	KUNIT_EXPECT_EQ(test, ct_grace_period(), 1);
}

/* A connect or a first accept returns -ENOMEM. */
static void test_no_memory(struct kunit *test)
{
	struct ib_qp *none = &fake.kdev->cm.no_qp;

	fake.no_memory = true;
	KUNIT_EXPECT_PTR_EQ(test, kwarp_get_qp(&fake.kdev->ibdev, FAKE_QPN), none);
	KUNIT_EXPECT_TRUE(test, kwarp_cm_is_stand_in(none));
	KUNIT_EXPECT_EQ(test, kwarp_cm_modify_stand_in(none, true), -EINVAL);
	kwarp_qp_rem_ref(none);
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fake.connects, 0);
	fake.no_memory = false;
	ct_to_wait_ulp(test);
	fake.no_memory = true;
	KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, ct_has_rejected());
	fake.no_memory = false;
	KUNIT_EXPECT_EQ(test, ct_grace_period(), 0);
}

/* There is no memory for the stand-in of a second accept: iw_cm gets the device's no_qp. */
static void test_no_memory_again(struct kunit *test)
{
	ct_to_wait_fpdu(test);
	fake.no_memory = true;
	KUNIT_EXPECT_EQ(test, ct_iw_accept(FAKE_QPN), 0);
	fake.no_memory = false;
	KUNIT_EXPECT_PTR_EQ(test, fake.id.qp, &fake.kdev->cm.no_qp);
	ct_settle();
	/* The first stand-in was freed at once: the id was not ESTABLISHED yet. */
	KUNIT_EXPECT_EQ(test, ct_grace_period(), 0);
}

/* A look-up finds no_qp until a grace period has freed some stand-ins. */
static void test_many_returned(struct kunit *test)
{
	struct ib_qp *none = &fake.kdev->cm.no_qp;
	struct ib_qp *ibqp;

	ct_set_returned(KWARP_MAX_RETURNED - 1);
	/* A stand-in that no connect or accept has used is freed at once: it does not count. */
	ibqp = kwarp_get_qp(&fake.kdev->ibdev, FAKE_QPN);
	KUNIT_ASSERT_PTR_NE(test, ibqp, none);
	kwarp_qp_rem_ref(ibqp);
	KUNIT_EXPECT_EQ(test, ct_grace_period(), 0);
	ibqp = kwarp_get_qp(&fake.kdev->ibdev, FAKE_QPN);
	KUNIT_ASSERT_PTR_NE(test, ibqp, none);
	kwarp_cm_expose_stand_in(ibqp);
	kwarp_qp_rem_ref(ibqp);
	KUNIT_EXPECT_PTR_EQ(test, kwarp_get_qp(&fake.kdev->ibdev, FAKE_QPN), none);
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ct_grace_period(), 1);
	KUNIT_EXPECT_EQ(test, ct_iw_connect(FAKE_QPN), 0);
}

static struct kunit_case cm_qp_cases[] = {
	KUNIT_CASE(test_accept_twice),
	KUNIT_CASE(test_accept_reject),
	KUNIT_CASE(test_accept_twice_reject),
	KUNIT_CASE(test_reject_keeps_no_qp),
	KUNIT_CASE(test_disconnect),
	KUNIT_CASE(test_disconnect_late),
	KUNIT_CASE(test_disconnect_next),
	KUNIT_CASE(test_accept_twice_other),
	KUNIT_CASE(test_no_memory),
	KUNIT_CASE(test_no_memory_again),
	KUNIT_CASE(test_many_returned),
	{ }
};

static struct kunit_suite cm_qp_suite = {
	.name = "kwarp_cm_qp",
	.suite_init = ct_suite_init,
	.suite_exit = ct_suite_exit,
	.init = ct_init,
	.exit = ct_exit,
	.test_cases = cm_qp_cases,
};
kunit_test_suite(cm_qp_suite);
