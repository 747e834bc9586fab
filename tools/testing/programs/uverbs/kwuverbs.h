/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Call uverbs commands (system calls on a device file of the RDMA core) without libibverbs, so that
 * a test program can choose each octet of a command.
 */
#ifndef KWUVERBS_H
#define KWUVERBS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct kwu_buf - a buffer for a part of a request or of an answer
 * @data: address
 * @len: octets
 */
struct kwu_buf {
	void *data;
	size_t len;
};

#define KWU_BUF(x)	((struct kwu_buf){ &(x), sizeof(x) })
#define KWU_NONE	((struct kwu_buf){ NULL, 0 })

/**
 * struct kwu_call - one command, which has a part for the RDMA core and a part for the driver
 * @cmd: IB_USER_VERBS_CMD_*, with or without IB_USER_VERBS_CMD_FLAG_EXTENDED
 * @in, @out: the core's part of request and answer; @in includes the field for the address of the
 *	answer if the command has one
 * @drv_in, @drv_out: the driver's part of request and answer
 */
struct kwu_call {
	uint32_t cmd;
	struct kwu_buf in, out, drv_in, drv_out;
};

/* Open the uverbs device of RDMA device @ibdev. Return: its file. A failure ends the program. */
int kwu_open(const char *ibdev);
/* Make a device context. Return: 0 or errno. */
int kwu_get_context(int fd, struct kwu_buf drv_in, struct kwu_buf drv_out);
/*
 * Make a device context, with the ABI versions that this program was built with, and no room for
 * the driver's answer. Return: 0 or errno.
 */
int kwu_begin(int fd);
/* Open a doorbell of the context. Return: its file, or -1 with errno set. */
int kwu_doorbell(int fd);
/*
 * Make a context by the method "get context", which reports the features of the core in @support.
 * Return: 0 or errno.
 */
int kwu_core_support(int fd, uint64_t *support);
/* Call a command by ioctl(), with each part as an attribute. Return: 0 or errno. */
int kwu_invoke(int fd, const struct kwu_call *c);
/* Call a command by write(), with the parts one after the other. Return: 0 or errno. */
int kwu_write(int fd, const struct kwu_call *c);

#endif /* KWUVERBS_H */
