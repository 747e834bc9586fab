// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwmost is a test program: it creates as many objects of one kind as the device reports as its
 * limit, and checks that the device refuses one more.
 *
 *	kwmost -d device -k pd|cq|srq|qp|mr|mw
 *
 * No other program may have an object of that kind. Each object is as small as possible. One object
 * more than the device reports must be refused with ENOMEM; after one has been destroyed another
 * can be made, and in the end all are destroyed.
 */
#include "kwib.h"
#include "kwtest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_context *verbs;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static char octet;

/**
 * struct kind - a kind of object
 * @most: offset of the limit of the device, in struct ibv_device_attr
 * @own: how many of them this program needs for the other objects
 * @make: creates one; NULL and errno if that fails
 * @end: destroys one
 */
struct kind {
	const char *name;
	size_t most;
	int own;
	void *(*make)(void);
	int (*end)(void *object);
};

static void *make_pd(void)
{
	return ibv_alloc_pd(verbs);
}

static int end_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

static void *make_cq(void)
{
	return ibv_create_cq(verbs, 1, NULL, NULL, 0);
}

static int end_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static void *make_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	return ibv_create_srq(pd, &attr);
}

static int end_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static void *make_qp(void)
{
	struct ibv_qp_init_attr attr = kw_qp_attr(cq, 1, 1, 1);

	return ibv_create_qp(pd, &attr);
}

static int end_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static void *make_mr(void)
{
	return ibv_reg_mr(pd, &octet, 1, 0);
}

static int end_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static void *make_mw(void)
{
	return ibv_alloc_mw(pd, IBV_MW_TYPE_2);
}

static int end_mw(void *object)
{
	return ibv_dealloc_mw(object);
}

static const struct kind kinds[] = {
	{ "pd", offsetof(struct ibv_device_attr, max_pd), 1, make_pd, end_pd },
	{ "cq", offsetof(struct ibv_device_attr, max_cq), 1, make_cq, end_cq },
	{ "srq", offsetof(struct ibv_device_attr, max_srq), 0, make_srq, end_srq },
	{ "qp", offsetof(struct ibv_device_attr, max_qp), 0, make_qp, end_qp },
	{ "mr", offsetof(struct ibv_device_attr, max_mr), 0, make_mr, end_mr },
	{ "mw", offsetof(struct ibv_device_attr, max_mw), 0, make_mw, end_mw },
};

static const struct kind *kind_of(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	kw_die(KW_SETUP, "there is no kind %s", name);
}

static void open_device(const char *name)
{
	verbs = ibv_open_device(kw_device(name));
	pd = verbs ? ibv_alloc_pd(verbs) : NULL;
	cq = verbs ? ibv_create_cq(verbs, 1, NULL, NULL, 0) : NULL;
	if (!pd || !cq)
		kw_die(KW_SETUP, "cannot open the device %s: %s", name, strerror(errno));
}

static void one_too_many(const struct kind *kind, int have)
{
	void *object = kind->make();

	if (object)
		kw_die(KW_MISMATCH, "there is one %s more than %d", kind->name, have);
	if (errno != ENOMEM)
		kw_die(KW_MISMATCH, "one %s too many: %s", kind->name, strerror(errno));
}

static void *make_one(const struct kind *kind, int have)
{
	void *object = kind->make();

	if (!object)
		kw_die(KW_MISMATCH, "no %s after %d: %s", kind->name, have, strerror(errno));
	return object;
}

static void end_one(const struct kind *kind, void *object)
{
	if (kind->end(object))
		kw_die(KW_MISMATCH, "cannot end a %s: %s", kind->name, strerror(errno));
}

int main(int argc, char **argv)
{
	const char *name = NULL, *what = NULL;
	const struct kw_option table[] = {
		KW_NEED('d', name),
		KW_NEED('k', what),
		{ 0 }
	};
	const struct kind *kind;
	struct ibv_device_attr attr;
	int64_t start = kw_now_ms();
	int i, most;
	void **all;

	kw_options(argc, argv, table, "kwmost -d device -k pd|cq|srq|qp|mr|mw [-v]");
	kind = kind_of(what);
	open_device(name);
	if (ibv_query_device(verbs, &attr))
		kw_die(KW_SETUP, "cannot ask the device");
	most = *(int *)((char *)&attr + kind->most) - kind->own;
	all = kw_zalloc(most * sizeof(*all));
	for (i = 0; i < most; i++)
		all[i] = make_one(kind, i);
	one_too_many(kind, most);
	one_too_many(kind, most);
	end_one(kind, all[most / 2]);
	all[most / 2] = make_one(kind, most - 1);
	one_too_many(kind, most);
	kw_say("%d of kind %s after %lld ms", most + kind->own, kind->name,
	       (long long)(kw_now_ms() - start));
	for (i = 0; i < most; i++)
		end_one(kind, all[i]);
	end_one(kind, make_one(kind, 0));
	if (ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) || ibv_close_device(verbs))
		kw_die(KW_MISMATCH, "cannot close the device: %s", strerror(errno));
	kw_say("all are gone after %lld ms", (long long)(kw_now_ms() - start));
	return KW_OK;
}
