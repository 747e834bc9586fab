// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwbind makes rdma_cm look for the device of an address, as often as it can.
 *
 *	kwbind -a addr -t seconds [-v]			binds ids to the address
 *	kwbind -s -a addr -p port -t seconds [-v]	listens there, and rejects each request
 *
 * Prints how many binds or requests there were. Status 0: there were some, and no bind failed.
 */
#include "kwcm.h"
#include "kwtest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static struct {
	const char *addr, *port;
	unsigned int seconds;
	bool server;
} opt = { .port = "4422", .seconds = 5 };

static unsigned int bind_all(int64_t end)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct rdma_event_channel *ch = rdma_create_event_channel();
	struct rdma_cm_id *id;
	unsigned int n;

	if (!ch || inet_pton(AF_INET, opt.addr, &addr.sin_addr) != 1)
		kw_die(KW_SETUP, "no event channel, or no IPv4 address: %s", opt.addr);
	for (n = 0; kw_now_ms() < end; n++) {
		if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
			kw_die(KW_SETUP, "cannot create an id: %s", strerror(errno));
		if (rdma_bind_addr(id, (struct sockaddr *)&addr))
			kw_die(KW_MISMATCH, "cannot bind: %s", strerror(errno));
		rdma_destroy_id(id);
	}
	return n;
}

static unsigned int reject_all(int64_t end)
{
	struct rdma_cm_id *listener = kwcm_listen(opt.addr, opt.port, 64);
	struct kwcm_event ev;
	unsigned int n = 0;
	int64_t left;

	while ((left = end - kw_now_ms()) > 0) {
		if (kwcm_next(listener->channel, left, &ev))
			break;
		if (ev.type != RDMA_CM_EVENT_CONNECT_REQUEST)
			continue;
		rdma_reject(ev.id, NULL, 0);
		rdma_destroy_id(ev.id);
		n++;
	}
	kwcm_destroy(listener);
	return n;
}

int main(int argc, char **argv)
{
	const struct kw_option table[] = {
		KW_FLAG('s', opt.server),
		KW_NEED('a', opt.addr),
		KW_TEXT('p', opt.port),
		KW_NUMBER('t', opt.seconds, 1, 3600),
		{ 0 }
	};
	unsigned int n;
	int64_t end;

	kw_options(argc, argv, table, "kwbind [-s] -a addr [-p port] [-t seconds] [-v]");
	end = kw_now_ms() + opt.seconds * 1000;
	n = opt.server ? reject_all(end) : bind_all(end);
	if (!n)
		kw_die(KW_STALL, "there were no %s", opt.server ? "requests" : "binds");
	kw_say("%u %s", n, opt.server ? "requests" : "binds");
	return 0;
}
