// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwedge, a test program: change a request of librdmacm before it goes to the kernel, so that the
 * kernel gets a value that librdmacm would refuse. This is a separate file, because the kernel's
 * header and librdmacm's cannot be included together.
 */
#include "ucm.h"

#include <rdma/rdma_user_cm.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	bool armed;
	uint8_t depth, resources;
} change;

void kwucm_change_depths(uint8_t depth, uint8_t resources)
{
	change.armed = true;
	change.depth = depth;
	change.resources = resources;
}

bool kwucm_changed(void)
{
	bool changed = !change.armed;

	change.armed = false;
	return changed;
}

static struct rdma_ucm_conn_param *param_in(void *buf, size_t len)
{
	struct rdma_ucm_cmd_hdr *hdr = buf;

	if (len < sizeof(*hdr))
		return NULL;
	buf = hdr + 1;
	switch (hdr->cmd) {
	case RDMA_USER_CM_CMD_CONNECT:
		return &((struct rdma_ucm_connect *)buf)->conn_param;
	case RDMA_USER_CM_CMD_ACCEPT:
		return &((struct rdma_ucm_accept *)buf)->conn_param;
	default:
		return NULL;
	}
}

/* Replaces the C library's write(), by which librdmacm passes requests to the kernel. */
ssize_t write(int fd, const void *buf, size_t len)
{
	struct rdma_ucm_conn_param *param = change.armed ? param_in((void *)buf, len) : NULL;

	if (param) {
		param->initiator_depth = change.depth;
		param->responder_resources = change.resources;
		change.armed = false;
	}
	return syscall(SYS_write, fd, buf, len);
}
