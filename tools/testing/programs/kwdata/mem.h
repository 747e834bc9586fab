/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kwdata is a test program: random Writes, Reads and Sends, whose contents both ends check.
 * This file: memory with a guard pattern, and the pieces of it that contain messages.
 */
#ifndef KWDATA_MEM_H
#define KWDATA_MEM_H

#include <infiniband/verbs.h>

#include "kwtest.h"

#define KD_MAX_SGE	32

/**
 * struct kd_region - registered memory, which has a guard pattern wherever no message is
 * @mem: first octet; before it and after the last octet there are guard zones, which are not
 *	registered
 * @len: octets, without the guard zones
 * @all: octets with the guard zones, a multiple of the page size
 * @fd: file of the dma-buf; -1: ordinary memory
 * @key: key from which kw_fill() makes the guard pattern
 * @mr: registrations, each of all @len octets; pieces use them in turn
 * @mrs: number of registrations
 * @align: pieces start at multiples of this
 * @checks: number of checks so far: now and then one covers the whole region
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
 * struct kd_pieces - the pieces of a region that contain one message
 * @n: number of pieces
 * @at: offset in the region and length of each piece, in ascending order, with gaps between them
 */
struct kd_pieces {
	int n;
	struct {
		size_t off;
		uint32_t len;
	} at[KD_MAX_SGE];
};

/*
 * The memory of all regions: ordinary; or dma-bufs of small pages, of huge pages, or of one small
 * page out of each of many huge pages.
 */
enum kd_memory { KD_PLAIN, KD_DMABUF, KD_HUGE, KD_HUGE_PARTS };

extern enum kd_memory kd_memory;

/* Length of a region in which kd_scatter() can place any message of @len octets. */
size_t kd_scatter_room(size_t len);
/* Allocate and register @len octets, @mrs times, and write the guard pattern. */
void kd_region_init(struct kd_region *r, struct ibv_pd *pd, size_t len, int access, int mrs);
void kd_region_fini(struct kd_region *r);
/* Choose up to @max random pieces for a message of @len octets. */
void kd_scatter(const struct kd_region *r, uint32_t len, int max, struct kw_rng *rng,
		struct kd_pieces *p);
/* Make @p a single piece at offset @off. */
void kd_one_piece(size_t off, uint32_t len, struct kd_pieces *p);
/* Write the scatter/gather elements for the pieces. Return: their number. */
int kd_sges(const struct kd_region *r, const struct kd_pieces *p, struct ibv_sge *sge);
/*
 * Write a message into the pieces: the octets from @pos on of the endless test data that kw_fill()
 * makes from @key. kd_restore() writes the guard pattern over the first @len octets of the message.
 */
void kd_fill_pieces(struct kd_region *r, const struct kd_pieces *p, uint64_t key, uint64_t pos);
void kd_restore(struct kd_region *r, const struct kd_pieces *p, uint32_t len, const char *what);
/*
 * Check a message of @len octets, and the guard pattern around it. If they are wrong, print @what
 * and end the program.
 */
void kd_check_pieces(struct kd_region *r, const struct kd_pieces *p, uint32_t len, uint64_t key,
		     uint64_t pos, const char *what);
/* Check the guard pattern in all of the region, which contains no message. */
void kd_check_guard(struct kd_region *r, const char *what);

#endif /* KWDATA_MEM_H */
