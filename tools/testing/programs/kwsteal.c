// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwsteal: tries to connect queue pairs that are not its own, by their numbers.
 *
 *	kwsteal -a addr -p port [-n numbers]
 *
 * A process that makes its queue pairs without rdma_create_qp() passes their numbers to
 * rdma_connect(). This program makes no queue pair, so every call must fail: a number either does
 * not exist (EINVAL) or belongs to another process (EPERM).
 */
#include "kwcm.h"
#include "kwtest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const char *addr, *port;
	unsigned int numbers;
} opt = { .port = "4420", .numbers = 64 };

static unsigned int unknown, denied;

static void try_number(struct rdma_cm_id *id, unsigned int qpn)
{
	struct rdma_conn_param param = { .qp_num = qpn };

	if (!rdma_connect(id, &param))
		kw_die(KW_MISMATCH, "queue pair %u, which is not ours, gets connected", qpn);
	if (errno == EPERM)
		denied++;
	else if (errno == EINVAL)
		unknown++;
	else
		kw_die(KW_MISMATCH, "queue pair %u: %s", qpn, strerror(errno));
}

int main(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_NEED('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_NUMBER('n', opt.numbers, 1, 1 << 24),
		{ 0 }
	};
	struct rdma_cm_id *id;
	unsigned int qpn;

	kw_options(argc, argv, table, "kwsteal -a addr [-p port] [-n numbers] [-v]");
	id = kwcm_resolve(opt.addr, opt.port);
	for (qpn = 0; qpn < opt.numbers; qpn++)
		try_number(id, qpn);
	kwcm_destroy(id);
	kw_say("ok: %u denied, %u unknown", denied, unknown);
	return 0;
}
