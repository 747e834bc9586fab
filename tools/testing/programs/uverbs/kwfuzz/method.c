// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwfuzz is a fuzzer: it makes random system calls on a uverbs device.
 * This file: methods of uverbs objects with random attributes, and octets that are no command.
 */
#include "kwfuzz.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/kwarp-abi.h>
#include <rdma/rdma_user_ioctl.h>

#define MAX_ATTRS	24

static void random_attr(struct kwf_maker *m, struct ib_uverbs_attr *a, unsigned int i)
{
	static uint8_t place[4096];

	a->attr_id = kwf_one_in(m, 4) ? kwf_below(m, 24) : i;
	if (kwf_one_in(m, 4))
		a->attr_id |= 1U << UVERBS_ID_NS_SHIFT;
	a->flags = kwf_one_in(m, 20) ? kwf_evil(m) : kwf_below(m, 2);
	switch (kwf_below(m, 5)) {
	case 0:		/* an object */
		a->data = kwf_handle(m, kwf_below(m, KWF_OBJECTS));
		break;
	case 1:		/* a small number */
		a->len = 1 << kwf_below(m, 4);
		a->data = kwf_size(m);
		break;
	case 2:		/* a buffer */
		a->len = kwf_below(m, 64) * 8;
		a->data = (uintptr_t)place;
		break;
	case 3:
		a->len = kwf_evil(m);
		a->data = (uintptr_t)m->p->memory + kwf_below(m, KWF_MEMORY / 2);
		break;
	default:
		a->len = kwf_below(m, 9);
		a->data = kwf_evil(m);
	}
	if (kwf_one_in(m, 20))
		a->attr_data.reserved = kwf_evil(m);
}

/*
 * Is the method "get context"? The fuzzer does not call this method: if it is refused, the core
 * loses a reference to the calling task, see kwu_get_context().
 */
static bool asks_for_context(const struct ib_uverbs_ioctl_hdr *hdr)
{
	return hdr->object_id == UVERBS_OBJECT_DEVICE &&
	       hdr->method_id == UVERBS_METHOD_GET_CONTEXT;
}

/* Change a call into one of the driver's own method. The attributes may be wrong, or too many. */
static void aim_at_doorbell(struct kwf_maker *m, struct ib_uverbs_ioctl_hdr *hdr,
			    struct ib_uverbs_attr *attrs)
{
	hdr->object_id = KWARP_OBJECT_DOORBELL;
	hdr->method_id = KWARP_METHOD_DOORBELL_OPEN;
	if (kwf_one_in(m, 4))
		hdr->method_id += kwf_below(m, 3);
	if (kwf_one_in(m, 4) || !hdr->num_attrs)
		return;
	attrs[0].attr_id = KWARP_ATTR_DOORBELL_OPEN_FD;
	if (kwf_one_in(m, 2))
		attrs[0] = (struct ib_uverbs_attr){ .attr_id = KWARP_ATTR_DOORBELL_OPEN_FD };
	if (kwf_one_in(m, 2))
		hdr->num_attrs = 1;
	hdr->length = sizeof(*hdr) + hdr->num_attrs * sizeof(*attrs);
}

/* The method was called successfully: store the doorbells that it has opened. */
static void take_bells(struct kwf_maker *m, const struct ib_uverbs_ioctl_hdr *hdr,
		       const struct ib_uverbs_attr *attrs)
{
	unsigned int i;

	for (i = 0; i < hdr->num_attrs; i++)
		if (attrs[i].attr_id == KWARP_ATTR_DOORBELL_OPEN_FD)
			kwf_keep_bell(m, attrs[i].data_s64);
}

void kwf_call_method(struct kwf_maker *m)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[MAX_ATTRS];
	} r = { 0 };
	unsigned int i, n = kwf_below(m, kwf_one_in(m, 4) ? MAX_ATTRS : 10);
	bool good;

	for (i = 0; i < n; i++)
		random_attr(m, &r.attrs[i], i);
	r.hdr.num_attrs = n;
	r.hdr.length = sizeof(r.hdr) + n * sizeof(r.attrs[0]);
	r.hdr.object_id = kwf_one_in(m, 20) ? kwf_evil(m) :
		kwf_below(m, UVERBS_OBJECT_ASYNC_EVENT + 1);
	r.hdr.method_id = kwf_one_in(m, 20) ? kwf_evil(m) : kwf_below(m, 8);
	if (asks_for_context(&r.hdr))
		r.hdr.method_id = UVERBS_METHOD_QUERY_CONTEXT;
	if (kwf_one_in(m, 8))
		aim_at_doorbell(m, &r.hdr, r.attrs);
	r.hdr.driver_id = kwf_one_in(m, 50) ? kwf_evil(m) : KWARP_DRIVER_ID;
	if (kwf_one_in(m, 50))
		r.hdr.length = kwf_evil(m);
	good = !ioctl(m->p->fd, RDMA_VERBS_IOCTL, &r);
	kwf_done(m, KWF_METHOD, good);
	if (good && r.hdr.object_id == KWARP_OBJECT_DOORBELL)
		take_bells(m, &r.hdr, r.attrs);
}

void kwf_call_garbage(struct kwf_maker *m)
{
	uint64_t msg[64];
	unsigned int i;
	ssize_t rv;

	for (i = 0; i < ARRAY_SIZE(msg); i++)
		msg[i] = kwf_evil(m);
	if (kwf_one_in(m, 2))
		rv = write(m->p->fd, msg, kwf_below(m, sizeof(msg)));
	else
		rv = -!!ioctl(m->p->fd, kwf_one_in(m, 8) ? kwf_evil(m) : RDMA_VERBS_IOCTL, msg);
	kwf_done(m, KWF_GARBAGE, rv >= 0);
}
