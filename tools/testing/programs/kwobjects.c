// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwobjects is a test program that creates and destroys objects of every kind, again and again.
 *
 *	kwobjects -d device [-n cycles] [-e entries] [-k]
 *
 * Each cycle creates all objects, with a completion queue of the given number of entries, and
 * destroys them, users of an object before the object. Every second cycle only closes the device,
 * so that the kernel has to destroy the objects. With -k the first cycle keeps the objects until
 * the program is killed.
 */
#include "kwib.h"
#include "kwtest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LEN	(64 << 10)

/* All objects of one cycle. */
struct objects {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *comp;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp, *shared;
	struct ibv_mw *mw;
};

static struct ibv_qp *create_qp(struct objects *o, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = kw_qp_attr(o->cq, 16, 16, 2);

	attr.srq = srq;
	return ibv_create_qp(o->pd, &attr);
}

static void open_all(struct objects *o, struct ibv_device *device, void *memory, int entries)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 16, .max_sge = 2 } };

	o->verbs = ibv_open_device(device);
	o->pd = o->verbs ? ibv_alloc_pd(o->verbs) : NULL;
	o->comp = o->verbs ? ibv_create_comp_channel(o->verbs) : NULL;
	if (!o->pd || !o->comp)
		kw_die(KW_SETUP, "cannot open the device: %s", strerror(errno));
	o->mr = ibv_reg_mr(o->pd, memory, LEN, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_MW_BIND);
	o->cq = ibv_create_cq(o->verbs, entries, NULL, o->comp, 0);
	o->srq = ibv_create_srq(o->pd, &srq);
	o->qp = o->cq ? create_qp(o, NULL) : NULL;
	o->shared = o->cq && o->srq ? create_qp(o, o->srq) : NULL;
	o->mw = ibv_alloc_mw(o->pd, IBV_MW_TYPE_2);
	/* libsiw has no windows, but all other objects. */
	if (!o->mr || !o->cq || !o->srq || !o->qp || !o->shared || (!o->mw && errno != EOPNOTSUPP))
		kw_die(KW_SETUP, "cannot create an object: %s", strerror(errno));
}

static void end_all(struct objects *o)
{
	if ((o->mw && ibv_dealloc_mw(o->mw)) ||
	    ibv_destroy_qp(o->shared) || ibv_destroy_qp(o->qp) ||
	    ibv_destroy_srq(o->srq) || ibv_destroy_cq(o->cq) || ibv_destroy_comp_channel(o->comp) ||
	    ibv_dereg_mr(o->mr) || ibv_dealloc_pd(o->pd))
		kw_die(KW_MISMATCH, "cannot destroy an object: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	unsigned int i, cycles = 1, entries = 64;
	const char *name = NULL;
	bool keep = false;
	const struct kw_option table[] = {
		KW_NEED('d', name),
		KW_NUMBER('n', cycles, 1, 1000000),
		KW_NUMBER('e', entries, 1, 1000000),
		KW_FLAG('k', keep),
		{ 0 }
	};
	struct ibv_device *device;
	void *memory;

	kw_options(argc, argv, table, "kwobjects -d device [-n cycles] [-e entries] [-k] [-v]");
	device = kw_device(name);
	memory = kw_zalloc(LEN);
	for (i = 0; i < cycles; i++) {
		struct objects all;

		open_all(&all, device, memory, entries);
		while (keep)
			pause();
		if (i % 2)
			end_all(&all);
		if (ibv_close_device(all.verbs))
			kw_die(KW_MISMATCH, "cannot close the device: %s", strerror(errno));
	}
	kw_say("%u cycles", cycles);
	return KW_OK;
}
