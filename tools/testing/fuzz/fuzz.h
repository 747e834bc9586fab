/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the fuzz targets for proto/ share: reading the input in pieces, and checks that abort. */
#ifndef KWARP_FUZZ_H
#define KWARP_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "os.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define CHECK(cond)	do {						\
	if (!(cond)) {							\
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);	\
		abort();						\
	}								\
} while (0)

/* The rest of the input that has not been used yet. */
struct fuzz {
	const u8 *at;
	size_t left;
};

static inline u8 fuzz_u8(struct fuzz *f)
{
	if (!f->left)
		return 0;
	f->left--;
	return *f->at++;
}

static inline u16 fuzz_u16(struct fuzz *f)
{
	u8 high = fuzz_u8(f);

	return high << 8 | fuzz_u8(f);
}

/* Copy into an allocation of exactly this size: AddressSanitizer reports a read beyond it. */
static inline u8 *fuzz_copy(const u8 *data, size_t len)
{
	u8 *copy = malloc(len ? len : 1);

	CHECK(copy);
	if (len)
		memcpy(copy, data, len);
	return copy;
}

#endif /* KWARP_FUZZ_H */
