// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC32c for builds of proto/ in user space.
 *
 * The code is small rather than fast: four bits at a time, reflected polynomial 0x82f63b78.
 */
#include "os_user.h"

static const u32 crc32c_nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
	0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

u32 crc32c(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;

	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ crc32c_nibble[crc & 15];
		crc = crc >> 4 ^ crc32c_nibble[crc & 15];
	}
	return crc;
}
