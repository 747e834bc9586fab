/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * uverbs commands without libibverbs: the caller decides about every octet of a command.
 */
#ifndef KWUVERBS_H
#define KWUVERBS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct kwu_buf - octets that go one way
 * @data: they
 * @len: their number
 */
struct kwu_buf {
	void *data;
	size_t len;
};

/**
 * struct kwu_call - one command with its two parts
 * @cmd: IB_USER_VERBS_CMD_*, with IB_USER_VERBS_CMD_FLAG_EXTENDED or not
 * @in, @out: the core's part, @in with the place of the answer where the command has one
 * @drv_in, @drv_out: the driver's part
 */
struct kwu_call {
	uint32_t cmd;
	struct kwu_buf in, out, drv_in, drv_out;
};

/* The uverbs device of an RDMA device; dies if there is none. */
int kwu_open(const char *ibdev);
/* A context; 0 or errno. */
int kwu_get_context(int fd, struct kwu_buf drv_in, struct kwu_buf drv_out);
/* The same with the request of a provider of this version; the driver's answer is not taken. */
int kwu_begin(int fd);
/* A doorbell of the context: its file, or -1 with errno. */
int kwu_doorbell(int fd);
/* A context by the method of that name, and what the core can do for it; 0 or errno. */
int kwu_core_support(int fd, uint64_t *support);
/* The command by ioctl, its parts apart; 0 or errno. */
int kwu_invoke(int fd, const struct kwu_call *c);
/* The same by write(), its parts one after the other; 0 or errno. */
int kwu_write(int fd, const struct kwu_call *c);

#endif /* KWUVERBS_H */
