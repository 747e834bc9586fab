// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: the plan, the list of operations of one direction. It is made by pure functions, so
 * that the same seed gives the same operations at both ends.
 */
#include "plan.h"

#include "kwtest.h"
#include "protocol.h"

const char *const kd_type_name[KD_TYPES] = {
	[KD_WRITE] = "write",
	[KD_READ] = "read",
	[KD_SEND] = "send",
};

/* Lengths at or near which the number of segments, of pages, or of parts of a message changes. */
static const uint32_t edges[] = {
	0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 128, 255, 256, 257, 511, 512, 513,
	1407, 1408, 1409, 1424, 1426, 1427, 1428, 1429, 1430, 1431, 1432, 1436, 1440, 1448, 1460,
	4095, 4096, 4097, 8191, 8192, 8193, 8900, 8926, 8927, 8928, 8932, 8940, 8948,
	16384, 65535, 65536, 65537, 131072, 1U << 20, (1U << 20) + 1,
};

/*
 * Choose a random length up to @max, mostly a small one: its number of bits is the smaller of two
 * random numbers. Of 8 lengths one is from the table edges, and of 500 one is @max. So ten thousand
 * operations of up to 4 MiB have some 600 MiB together.
 */
static uint32_t draw_len(struct kw_rng *rng, uint32_t max)
{
	unsigned int bits = 64 - __builtin_clzll(max | 1);
	unsigned int a = kw_below(rng, bits + 1), b = kw_below(rng, bits + 1);
	uint64_t top = 1ULL << (a < b ? a : b);
	uint32_t len;

	if (kw_one_in(rng, 8))
		len = edges[kw_below(rng, ARRAY_SIZE(edges))];
	else if (kw_one_in(rng, 500))
		len = max;
	else
		len = top / 2 + kw_below(rng, top - top / 2 + 1);
	return len > max ? max : len;
}

/*
 * Choose a random offset of @len octets in the @span octets that the operation may access: a
 * multiple of the page size, the offset at which the data end at the end of the memory, or any.
 */
static uint32_t draw_offset(struct kw_rng *rng, uint32_t span, uint32_t len)
{
	uint32_t room = span - len;

	switch (kw_below(rng, 4)) {
	case 0:
		return kw_below(rng, room + 1) & ~4095U;
	case 1:
		return room;
	default:
		return kw_below(rng, room + 1);
	}
}

/*
 * siw answers a Read of no octets with old data, and a small Read that crosses a page boundary with
 * octets from the wrong place. Change such a Read.
 */
static void spare_read(const struct kd_plan *plan, struct kd_op *op)
{
	if (!op->len)
		op->len = 1;
	if (op->roff + op->len > plan->span)
		op->roff = plan->span - op->len;
	if (op->len < KD_SPARE_ALIGN)
		op->roff &= ~(KD_SPARE_ALIGN - 1U);
}

void kd_plan_op(const struct kd_plan *plan, uint64_t n, struct kd_op *op)
{
	struct kw_rng rng = { .state = kw_mix(plan->seed, n) };

	do
		op->type = kw_below(&rng, KD_TYPES);
	while (!(plan->types & (1U << op->type)));
	op->len = draw_len(&rng, plan->max_len);
	/* A message of this length is a control message. */
	if (op->type == KD_SEND && op->len == sizeof(struct kd_ctl))
		op->len--;
	op->roff = draw_offset(&rng, plan->span, op->len);
	if (plan->spare && op->type == KD_READ)
		spare_read(plan, op);
	op->key = kw_rand(&rng);
	op->refill = op->type == KD_READ && kw_one_in(&rng, 8);
}

bool kd_op_has_message(const struct kd_op *op)
{
	return op->type != KD_READ || op->refill;
}

uint64_t kd_source_key(const struct kd_plan *plan, unsigned int slot, uint64_t generation)
{
	return kw_mix(kw_mix(plan->seed, 0x5eed0000 + slot), generation);
}
