/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwdata: memory under guard, and the pieces of it in which messages lie.
 */
#ifndef KWDATA_MEM_H
#define KWDATA_MEM_H

#include <infiniband/verbs.h>

#include "kwtest.h"

#define KD_MAX_SGE	32

/**
 * struct kd_region - memory whose untouched part always holds the guard pattern
 * @mem: first octet; guard zones outside the registration lie on both sides
 * @len: octets
 * @all: with the guard zones, in whole pages
 * @fd: of the dma-buf that it is; -1: ordinary memory
 * @key: of the guard pattern
 * @mr: registrations of the whole of it; pieces use them in turn
 * @mrs: how many
 * @align: pieces start at multiples of this
 * @checks: counts the checks, so that now and then one covers everything
 */
struct kd_region {
	uint8_t *mem;
	size_t len;
	size_t all;
	int fd;
	uint64_t key;
	struct ibv_mr *mr[2];
	int mrs;
	unsigned int align;
	unsigned int checks;
};

/**
 * struct kd_pieces - where in a region the octets of one message lie
 * @n: number of pieces
 * @at: offset and octets of each, ascending, with gaps between
 */
struct kd_pieces {
	int n;
	struct {
		size_t off;
		uint32_t len;
	} at[KD_MAX_SGE];
};

/* What all regions are: dma-bufs of single pages, of huge pages, of one page of each of many. */
enum kd_memory { KD_PLAIN, KD_DMABUF, KD_HUGE, KD_HUGE_PARTS };

extern enum kd_memory kd_memory;

/* Room that kd_scatter() may need for a message of len octets. */
size_t kd_scatter_room(size_t len);
void kd_region_init(struct kd_region *r, struct ibv_pd *pd, size_t len, int access, int mrs);
void kd_region_fini(struct kd_region *r);
/* Lay len octets out in up to max random pieces. */
void kd_scatter(const struct kd_region *r, uint32_t len, int max, struct kw_rng *rng,
		struct kd_pieces *p);
void kd_one_piece(size_t off, uint32_t len, struct kd_pieces *p);
int kd_sges(const struct kd_region *r, const struct kd_pieces *p, struct ibv_sge *sge);
/* Write the message into the pieces, or the guard pattern back over its first len octets. */
void kd_fill_pieces(struct kd_region *r, const struct kd_pieces *p, uint64_t key, uint64_t pos);
void kd_restore(struct kd_region *r, const struct kd_pieces *p, uint32_t len, const char *what);
/* The message of len octets and the guard pattern around it; dies with what if they are wrong. */
void kd_check_pieces(struct kd_region *r, const struct kd_pieces *p, uint32_t len, uint64_t key,
		     uint64_t pos, const char *what);
/* All of the region holds the guard pattern. */
void kd_check_guard(struct kd_region *r, const char *what);

#endif /* KWDATA_MEM_H */
