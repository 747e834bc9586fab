// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The first program once more, wired by hand: GID, queue pair number and PSN go over a TCP
 * connection, and ibv_modify_qp() does the rest, as in most programs for InfiniBand.
 *
 *   wired -s ADDRESS     wait for one client
 *   wired ADDRESS        be the client
 *
 * With kwarp this needs a link whose knob wire_port is set, at both ends.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT "7473"

/* What each end tells the other. */
struct card {
	union ibv_gid gid;
	uint32_t qpn, psn, rkey;
	uint64_t address;
};

static char board[64];			/* the other end writes here */
static char words[64] = "wired by hand";
static struct ibv_context *context;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static int gid_index;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* These calls return an errno, and need not set it. */
static void must(int err, const char *what)
{
	errno = err;
	if (err)
		fail(what);
}

/* The TCP connection over which the cards go. */
static int call(const char *address, int serve)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = serve ? AI_PASSIVE : 0 };
	struct addrinfo *info;
	int sock, one = 1;

	if (getaddrinfo(address, PORT, &hints, &info))
		fail("getaddrinfo");
	sock = socket(info->ai_family, SOCK_STREAM, 0);
	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!serve)
		return connect(sock, info->ai_addr, info->ai_addrlen) ? -1 : sock;
	if (bind(sock, info->ai_addr, info->ai_addrlen) || listen(sock, 1))
		return -1;
	return accept(sock, NULL, NULL);
}

/* Open the device that has this end's address as a GID: an IPv4 address is ::ffff:a.b.c.d there. */
static void open_device(int sock, union ibv_gid *own)
{
	struct sockaddr_storage name;
	socklen_t length = sizeof(name);
	struct ibv_device **list = ibv_get_device_list(NULL);
	union ibv_gid gid;

	if (getsockname(sock, (struct sockaddr *)&name, &length) || !list)
		fail("getsockname");
	memset(own, 0, sizeof(*own));
	if (name.ss_family == AF_INET6) {
		memcpy(own, &((struct sockaddr_in6 *)&name)->sin6_addr, 16);
	} else {
		own->raw[10] = 0xff;
		own->raw[11] = 0xff;
		memcpy(own->raw + 12, &((struct sockaddr_in *)&name)->sin_addr, 4);
	}
	for (; *list; list++) {
		context = ibv_open_device(*list);
		gid_index = 0;
		while (context && !ibv_query_gid(context, 1, gid_index, &gid)) {
			if (!memcmp(&gid, own, sizeof(gid)))
				return;
			gid_index++;
		}
	}
	fprintf(stderr, "no device has this address as a GID: is wire_port set?\n");
	exit(1);
}

/* From RESET to RTS, in the three steps that InfiniBand has. */
static void wire(const struct card *mine, const struct card *theirs)
{
	struct ibv_recv_wr receive = { 0 }, *bad;
	struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1,
				    .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
	struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = theirs->qpn, .rq_psn = theirs->psn,
				   .max_dest_rd_atomic = 1, .min_rnr_timer = 12 };
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS, .sq_psn = mine->psn, .timeout = 14,
				   .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1 };

	rtr.ah_attr.is_global = 1;
	rtr.ah_attr.port_num = 1;
	rtr.ah_attr.grh.dgid = theirs->gid;
	rtr.ah_attr.grh.sgid_index = gid_index;
	rtr.ah_attr.grh.hop_limit = 64;
	must(ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			   IBV_QP_ACCESS_FLAGS), "ibv_modify_qp to INIT");
	/* The receive is posted before the other end can send. */
	must(ibv_post_recv(qp, &receive, &bad), "ibv_post_recv");
	must(ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			   IBV_QP_MIN_RNR_TIMER), "ibv_modify_qp to RTR");
	must(ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
	     "ibv_modify_qp to RTS");
}

/*
 * Write our words to the other end, and say so by a Send: a Write that is complete here need not be
 * in the other's memory yet, but it is there before a Send that follows it arrives.
 */
static void talk(const struct ibv_mr *mr, const struct card *theirs)
{
	struct ibv_sge sge = { (uintptr_t)words, sizeof(words), mr->lkey };
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr write = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
				     .send_flags = IBV_SEND_SIGNALED, .next = &send };
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	write.wr.rdma.remote_addr = theirs->address;
	write.wr.rdma.rkey = theirs->rkey;
	must(ibv_post_send(qp, &write, &bad), "ibv_post_send");
	for (int left = 3; left; left--) {	/* Write, Send, and the receive of the other's */
		while (!ibv_poll_cq(cq, 1, &wc))
			;
		printf("%s, vendor_err 0x%x\n", ibv_wc_status_str(wc.status), wc.vendor_err);
		if (wc.status != IBV_WC_SUCCESS)
			exit(1);
	}
}

int main(int argc, char **argv)
{
	int serve = argc == 3 && !strcmp(argv[1], "-s"), sock;
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC, .cap = { 2, 1, 1, 1, 0 } };
	struct ibv_mr *board_mr, *words_mr;
	struct card mine, theirs;
	struct ibv_pd *pd;

	if (argc != 2 + serve || argv[argc - 1][0] == '-')
		return fprintf(stderr, "usage: wired [-s] ADDRESS\n"), 2;
	sock = call(argv[argc - 1], serve);
	if (sock < 0)
		fail("TCP connection");
	open_device(sock, &mine.gid);
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 3, NULL, NULL, 0);
	attr.send_cq = cq;
	attr.recv_cq = cq;
	qp = pd && cq ? ibv_create_qp(pd, &attr) : NULL;
	board_mr = pd ? ibv_reg_mr(pd, board, sizeof(board),
				   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE) : NULL;
	words_mr = pd ? ibv_reg_mr(pd, words, sizeof(words), 0) : NULL;
	if (!qp || !board_mr || !words_mr)
		fail("verbs objects");
	mine.qpn = qp->qp_num;
	mine.psn = getpid() & 0xffffff;
	mine.rkey = board_mr->rkey;
	mine.address = (uintptr_t)board;
	if (write(sock, &mine, sizeof(mine)) != sizeof(mine) ||
	    recv(sock, &theirs, sizeof(theirs), MSG_WAITALL) != sizeof(theirs))
		fail("exchange of cards");
	wire(&mine, &theirs);
	talk(words_mr, &theirs);
	printf("the board says: %s\n", board);
	return 0;
}
