// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests and answers of a verb, by the RDMA core's rules: provider and driver may be of different
 * age. The tests use mapped user memory, so that a read or write beyond a buffer faults.
 */
#include "fixture.h"

#include <linux/uaccess.h>

#include "../udata.h"

#define KNOWN	16	/* octets of a request, or an answer, that the driver knows */
#define LONG	64
#define CANARY	0xa5

static struct ib_udata *new_request(struct kunit *test, size_t given, u8 octet)
{
	struct ib_udata *udata = vt_udata(test, given, 0);
	size_t i;

	for (i = 0; i < given; i++)
		KUNIT_ASSERT_EQ(test, put_user(octet, vt->page + i), 0);
	return udata;
}

static void expect_octets(struct kunit *test, const u8 *at, size_t from, size_t to, u8 octet)
{
	for (; from < to; from++)
		KUNIT_EXPECT_EQ_MSG(test, at[from], octet, "octet %zu", from);
}

/* Octets that the caller does not give are zero, for programs and kernel consumers (NULL). */
static void test_short(struct kunit *test)
{
	u8 req[KNOWN];
	size_t given;

	memset(req, CANARY, KNOWN);
	KUNIT_EXPECT_EQ(test, kwarp_udata_request(NULL, req, KNOWN), 0);
	expect_octets(test, req, 0, KNOWN, 0);
	for (given = 0; given <= KNOWN; given++) {
		memset(req, CANARY, KNOWN);
		KUNIT_EXPECT_EQ(test, kwarp_udata_request(new_request(test, given, 7), req, KNOWN),
				0);
		expect_octets(test, req, 0, given, 7);
		expect_octets(test, req, given, KNOWN, 0);
	}
}

/* A request may be longer than the driver knows if all octets after the known ones are zero. */
static void test_long(struct kunit *test)
{
	struct ib_udata *udata;
	u8 req[KNOWN];
	size_t at;

	udata = vt_udata(test, LONG, 0);
	KUNIT_EXPECT_EQ(test, kwarp_udata_request(udata, req, KNOWN), 0);
	for (at = 0; at < LONG; at++) {
		udata = vt_udata(test, LONG, 0);
		vt_unknown(test, at);
		KUNIT_EXPECT_EQ_MSG(test, kwarp_udata_request(udata, req, KNOWN),
				    at < KNOWN ? 0 : -EOPNOTSUPP, "octet %zu", at);
		KUNIT_EXPECT_EQ(test, kwarp_udata_no_request(udata), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, kwarp_udata_none(udata), -EOPNOTSUPP);
	}
	for (at = KNOWN; at < LONG; at++) {
		udata = vt_udata(test, at + 1, 0);
		vt_unknown(test, at);
		KUNIT_EXPECT_EQ_MSG(test, kwarp_udata_request(udata, req, KNOWN), -EOPNOTSUPP,
				    "%zu octets", at + 1);
	}
	/* An octet after the end of the request is ignored. */
	udata = vt_udata(test, LONG, 0);
	vt_unknown(test, LONG);
	KUNIT_EXPECT_EQ(test, kwarp_udata_request(udata, req, KNOWN), 0);
	KUNIT_EXPECT_EQ(test, kwarp_udata_no_request(udata), 0);
	KUNIT_EXPECT_EQ(test, kwarp_udata_none(udata), 0);
}

/* EFAULT: no octet of the request is in mapped memory, or only the first KNOWN octets are. */
static void test_request_fault(struct kunit *test)
{
	struct ib_udata *udata = vt_udata(test, KNOWN, 0);
	u8 req[KNOWN];

	udata->inbuf = NULL;
	KUNIT_EXPECT_EQ(test, kwarp_udata_request(udata, req, KNOWN), -EFAULT);
	KUNIT_EXPECT_EQ(test, kwarp_udata_no_request(udata), -EFAULT);
	KUNIT_EXPECT_EQ(test, kwarp_udata_none(udata), -EFAULT);
	udata->inbuf = vt->page + PAGE_SIZE - KNOWN;
	udata->inlen = LONG;
	KUNIT_ASSERT_EQ(test, clear_user((u8 __user *)udata->inbuf, KNOWN), 0);
	KUNIT_EXPECT_EQ(test, kwarp_udata_request(udata, req, KNOWN), -EFAULT);
}

/* Nothing is written after the process's buffer (@room). */
static void test_answer(struct kunit *test)
{
	u8 want[KNOWN], got[LONG];
	struct ib_udata *udata;
	size_t room, i;

	memset(want, 7, KNOWN);
	for (room = 0; room < LONG; room++) {
		udata = vt_udata(test, 0, room);
		for (i = 0; i < LONG; i++)
			KUNIT_ASSERT_EQ(test, put_user((u8)CANARY, vt->answer + i), 0);
		KUNIT_EXPECT_EQ(test, kwarp_udata_answer(udata, want, KNOWN), 0);
		vt_get_answer(test, got, LONG);
		expect_octets(test, got, 0, min_t(size_t, room, KNOWN), 7);
		expect_octets(test, got, KNOWN, room, 0);
		expect_octets(test, got, room, LONG, CANARY);
	}
}

/* A verb without an answer fills the buffer with zeroes, unless its request is refused. */
static void test_no_answer(struct kunit *test)
{
	struct ib_udata *udata = vt_udata(test, LONG, KNOWN);
	u8 got[LONG];
	size_t i;

	for (i = 0; i < LONG; i++)
		KUNIT_ASSERT_EQ(test, put_user((u8)CANARY, vt->answer + i), 0);
	vt_unknown(test, 3);
	KUNIT_EXPECT_EQ(test, kwarp_udata_none(udata), -EOPNOTSUPP);
	vt_get_answer(test, got, LONG);
	expect_octets(test, got, 0, LONG, CANARY);
	udata = vt_udata(test, LONG, KNOWN);
	KUNIT_EXPECT_EQ(test, kwarp_udata_none(udata), 0);
	vt_get_answer(test, got, LONG);
	expect_octets(test, got, 0, KNOWN, 0);
	expect_octets(test, got, KNOWN, LONG, CANARY);
	KUNIT_EXPECT_EQ(test, kwarp_udata_none(NULL), 0);
}

static void test_answer_fault(struct kunit *test)
{
	u8 answer[KNOWN] = { };
	struct ib_udata *udata;

	vt->fault = FAULT_ANSWER;
	udata = vt_udata(test, 0, KNOWN);
	KUNIT_EXPECT_EQ(test, kwarp_udata_answer(udata, answer, KNOWN), -EFAULT);
	KUNIT_EXPECT_EQ(test, kwarp_udata_none(udata), -EFAULT);
	/* The buffer's first KNOWN octets are mapped: the answer is written, the zeroes fault. */
	udata->outbuf = vt->page + PAGE_SIZE - KNOWN;
	KUNIT_EXPECT_EQ(test, kwarp_udata_answer(udata, answer, KNOWN), 0);
	udata->outlen = LONG;
	KUNIT_EXPECT_EQ(test, kwarp_udata_answer(udata, answer, KNOWN), -EFAULT);
}

/* Attributes that the driver does not implement are refused, not ignored. */
static void test_refuse(struct kunit *test)
{
	static const u16 refused[] = {
		UVERBS_ATTR_CREATE_CQ_FLAGS, UVERBS_ATTR_CREATE_CQ_EVENT_FD
	};
	unsigned long *present = vt->attrs->attr_present;
	struct ib_udata *udata = vt_udata(test, 0, 0);

	__set_bit(uapi_bkey_attr(uapi_key_attr(UVERBS_ATTR_CREATE_CQ_CQE)), present);
	KUNIT_EXPECT_EQ(test, kwarp_udata_refuse(NULL, refused, 2), 0);
	KUNIT_EXPECT_EQ(test, kwarp_udata_refuse(udata, refused, 2), 0);
	__set_bit(uapi_bkey_attr(uapi_key_attr(UVERBS_ATTR_CREATE_CQ_EVENT_FD)), present);
	KUNIT_EXPECT_EQ(test, kwarp_udata_refuse(udata, refused, 2), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, kwarp_udata_refuse(udata, refused, 1), 0);
	__set_bit(uapi_bkey_attr(uapi_key_attr(UVERBS_ATTR_CREATE_CQ_FLAGS)), present);
	KUNIT_EXPECT_EQ(test, kwarp_udata_refuse(udata, refused, 1), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, kwarp_udata_refuse(udata, refused, 0), 0);
}

static struct kunit_case udata_cases[] = {
	KUNIT_CASE(test_short),
	KUNIT_CASE(test_long),
	KUNIT_CASE(test_request_fault),
	KUNIT_CASE(test_answer),
	KUNIT_CASE(test_no_answer),
	KUNIT_CASE(test_answer_fault),
	KUNIT_CASE(test_refuse),
	{ }
};

static struct kunit_suite udata_suite = {
	.name = "kwarp_udata",
	.init = vt_init,
	.exit = vt_exit,
	.test_cases = udata_cases,
};

kunit_test_suite(udata_suite);
