// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Make seeds (first inputs) for the fuzz targets from the test vectors of the KUnit suites. Before
 * each vector a seed has the parameters with which inputs of that target begin.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/vectors.h"

static void put(const char *dir, const char *target, u32 n, const u8 *prefix, u32 prefix_len,
		const u8 *data, u32 len)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/seed-%03u", dir, target, n);
	file = fopen(path, "w");
	if (!file || fwrite(prefix, 1, prefix_len, file) != prefix_len ||
	    fwrite(data, 1, len, file) != len || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static void put_fpdus(const char *dir)
{
	u8 prefix[4] = {};
	u32 i, n = 0;

	for (i = 0; i < ARRAY_SIZE(kwarp_vec_fpdus); i++) {
		const struct kwarp_vec_fpdu *v = &kwarp_vec_fpdus[i];

		/*
		 * Make a seed for each of the 16 modes of fuzz_fpdu_rx.c. Some modes take the
		 * input as lengths and ULPDUs; the ULPDU_Length at the start of the vector is such
		 * a length.
		 */
		for (prefix[0] = 0; prefix[0] < 16; prefix[0]++)
			put(dir, "fpdu_rx", n++, prefix, 4, v->wire, v->len);
	}
}

int main(int argc, char **argv)
{
	static const u8 sides[15] = {
		0xfa, 0, 16, 0, 16, 0, 32, 0xf1, 0, 16, 0, 16, 0, 32, 1,
	};
	static const u8 segment[4] = { 2, 1, 0, 46 };
	u32 i;

	if (argc != 2)
		return 1;
	put_fpdus(argv[1]);
	for (i = 0; i < ARRAY_SIZE(kwarp_vec_frames); i++)
		put(argv[1], "mpa_neg", i, sides, sizeof(sides), kwarp_vec_frames[i].wire,
		    kwarp_vec_frames[i].len);
	for (i = 0; i < ARRAY_SIZE(kwarp_vec_terms); i++)
		put(argv[1], "term", i, segment, sizeof(segment), kwarp_vec_terms[i].wire,
		    kwarp_vec_terms[i].len);
	return 0;
}
