/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: the plan, the list of operations of one direction, which both ends derive from a seed.
 * Issuer: the end that posts an operation; checker: the other end.
 */
#ifndef KWDATA_PLAN_H
#define KWDATA_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define KD_MAX_LEN	(64U << 20)
/*
 * Alignment of data if an end is siw, which answers small Reads across a page boundary wrongly.
 * Data of up to this number of octets, at an address that is a multiple of this number, lie within
 * one page.
 */
#define KD_SPARE_ALIGN	64

enum kd_type {
	KD_WRITE,
	KD_READ,
	KD_SEND,
	KD_TYPES
};

/**
 * struct kd_plan - parameters from which the operations of one direction are derived
 * @seed: different for each connection and direction
 * @max_len: largest operation, octets
 * @span: octets of the remote memory that a Write or Read may access
 * @types: types of operations: 1 << enum kd_type
 * @spare: no Reads that siw is known to answer wrongly
 */
struct kd_plan {
	uint64_t seed;
	uint32_t max_len;
	uint32_t span;
	unsigned int types;
	bool spare;
};

/**
 * struct kd_op - one operation
 * @type: Write, Read or Send
 * @len: octets
 * @roff: offset in the remote memory (Write, Read)
 * @key: seed from which kw_fill() makes the data (Write, Send)
 * @refill: a Read after which the checker rewrites the source
 */
struct kd_op {
	enum kd_type type;
	uint32_t len;
	uint32_t roff;
	uint64_t key;
	bool refill;
};

extern const char *const kd_type_name[KD_TYPES];

/* Derive operation @n. */
void kd_plan_op(const struct kd_plan *plan, uint64_t n, struct kd_op *op);
/* Does the checker get a message for this operation, and have to acknowledge it? */
bool kd_op_has_message(const struct kd_op *op);
/*
 * Return: the seed from which kw_fill() makes the data that Reads in this slot have to return (a
 * slot is for one outstanding operation). @generation: how often the checker has rewritten the
 * memory that these Reads read.
 */
uint64_t kd_source_key(const struct kd_plan *plan, unsigned int slot, uint64_t generation);

#endif /* KWDATA_PLAN_H */
