/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel's names that the driver's proto/ uses, see its os.h, defined with libc. Compile as
 * gnu2x, and link os_user.c, too.
 */
#ifndef KWARP_FUZZ_OS_USER_H
#define KWARP_FUZZ_OS_USER_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef u16 __be16;
typedef u32 __be32;
typedef u64 __be64;

#ifndef __packed
#define __packed __attribute__((__packed__))
#endif
#define __maybe_unused __attribute__((__unused__))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define barrier() __asm__ __volatile__("" : : : "memory")

#define U8_MAX 255
#define BIT(nr) (1UL << (nr))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d) ({ u32 _d = (d); ((n) + _d - 1) / _d; })
#define min_t(type, a, b) ({ type _a = (a); type _b = (b); _a < _b ? _a : _b; })
#define min(a, b) min_t(__typeof__((a) + (b)), a, b)

#define FIELD_PREP(mask, v) (((u32)(v) << __builtin_ctz(mask)) & (mask))
#define FIELD_GET(mask, v) (((v) & (mask)) >> __builtin_ctz(mask))

static inline u16 get_unaligned_be16(const void *p)
{
	const u8 *b = p;

	return b[0] << 8 | b[1];
}

static inline u32 get_unaligned_be32(const void *p)
{
	return (u32)get_unaligned_be16(p) << 16 |
	       get_unaligned_be16((const u8 *)p + 2);
}

static inline u64 get_unaligned_be64(const void *p)
{
	return (u64)get_unaligned_be32(p) << 32 |
	       get_unaligned_be32((const u8 *)p + 4);
}

static inline u32 get_unaligned_le32(const void *p)
{
	const u8 *b = p;

	return b[0] | b[1] << 8 | b[2] << 16 | (u32)b[3] << 24;
}

static inline void put_unaligned_be16(u16 v, void *p)
{
	u8 *b = p;

	b[0] = v >> 8;
	b[1] = v;
}

static inline void put_unaligned_be32(u32 v, void *p)
{
	put_unaligned_be16(v >> 16, p);
	put_unaligned_be16(v, (u8 *)p + 2);
}

static inline void put_unaligned_be64(u64 v, void *p)
{
	put_unaligned_be32(v >> 32, p);
	put_unaligned_be32(v, (u8 *)p + 4);
}

static inline void put_unaligned_le32(u32 v, void *p)
{
	u8 *b = p;

	b[0] = v;
	b[1] = v >> 8;
	b[2] = v >> 16;
	b[3] = v >> 24;
}

/* CRC32c without the inversions at the begin and the end, like the kernel's crc32c(). */
u32 crc32c(u32 crc, const void *data, size_t len);

#endif /* KWARP_FUZZ_OS_USER_H */
