// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwuabi: does the driver follow the core's rules for the driver data of a command and its answer?
 * The provider may be older or newer than the driver. So octets that the driver does not know are
 * accepted if they are zero, and refused otherwise; an answer is cut to the length of the caller's
 * buffer, or padded with zeroes.
 *
 *	kwuabi -d rdma-device [-v]
 *
 * Each command with driver data is called by ioctl() and by write(), with every kind of request and
 * every size of buffer for the answer.
 */
#include "kwtest.h"
#include "kwuverbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/kwarp-abi.h>

#define ROOM		256	/* more than any answer */
#define CANARY		0xa5
#define BUF_LEN		8192
#define EX(cmd)		((cmd) | IB_USER_VERBS_CMD_FLAG_EXTENDED)

static const char *dev;
static unsigned int n_ok, n_failed;
static int fd;
static uint32_t pd, cq, qp, srq;
static uint8_t memory[BUF_LEN];
static int (*run)(int fd, const struct kwu_call *c) = kwu_invoke;

static void verdict(const char *what, const char *name, int good, int got)
{
	if (good) {
		n_ok++;
		kw_debug("ok %s: %s", name, what);
		return;
	}
	n_failed++;
	kw_say("FAILED %s by %s: %s (%s)", name, run == kwu_invoke ? "ioctl" : "write", what,
	       got ? strerror(got) : "accepted");
}

/* Return the first word of the core's answer, which is the handle of the created object. */
static uint32_t first_word(const void *out)
{
	uint32_t word;

	memcpy(&word, out, sizeof(word));
	return word;
}

/* ------------------------------------------------------------------- commands */

static void destroy(uint32_t cmd, uint32_t handle)
{
	struct { uint64_t response; uint32_t handle, rsvd; } with_answer = { .handle = handle };
	struct { uint32_t handle; } plain = { handle };
	uint8_t out[8];
	struct kwu_call c = { .cmd = cmd, .in = KWU_BUF(with_answer) };
	int rv;

	if (cmd == IB_USER_VERBS_CMD_DESTROY_CQ)
		c.out = (struct kwu_buf){ out, sizeof(struct ib_uverbs_destroy_cq_resp) };
	else if (cmd == IB_USER_VERBS_CMD_DESTROY_QP)
		c.out = (struct kwu_buf){ out, sizeof(struct ib_uverbs_destroy_qp_resp) };
	else if (cmd == IB_USER_VERBS_CMD_DESTROY_SRQ)
		c.out = (struct kwu_buf){ out, sizeof(struct ib_uverbs_destroy_srq_resp) };
	else
		c.in = KWU_BUF(plain);
	rv = kwu_invoke(fd, &c);
	if (rv)
		kw_die(KW_MISMATCH, "FAILED: an object stays (%u): %s", cmd, strerror(rv));
}

/**
 * struct command - a command with driver data
 * @name: name for messages
 * @cmd: number of the command
 * @undo: number of the command that destroys the created object, or 0
 * @in_len, @out_len: octets of the core's parts
 * @answer: octets of the driver's answer
 * @fill: writes the core's request
 */
struct command {
	const char *name;
	uint32_t cmd, undo;
	size_t in_len, out_len, answer;
	void (*fill)(void *in);
};

static void fill_nothing(void *in)
{
}

static void fill_cq(void *in)
{
	struct ib_uverbs_create_cq *c = in;

	c->cqe = 8;
	c->comp_channel = -1;
}

static void fill_cq_ex(void *in)
{
	struct ib_uverbs_ex_create_cq *c = in;

	c->cqe = 8;
	c->comp_channel = -1;
}

static void fill_resize(void *in)
{
	struct ib_uverbs_resize_cq *c = in;

	c->cq_handle = cq;
	c->cqe = 16;
}

static void fill_qp(void *in)
{
	struct ib_uverbs_create_qp *c = in;

	c->pd_handle = pd;
	c->send_cq_handle = cq;
	c->recv_cq_handle = cq;
	c->max_send_wr = 4;
	c->max_recv_wr = 4;
	c->max_send_sge = 1;
	c->max_recv_sge = 1;
	c->qp_type = 2;
}

static void fill_modify_qp(void *in)
{
	struct ib_uverbs_modify_qp *c = in;

	c->qp_handle = qp;
	c->attr_mask = 1;
	c->qp_state = 1;
}

static void fill_srq(void *in)
{
	struct ib_uverbs_create_srq *c = in;

	c->pd_handle = pd;
	c->max_wr = 4;
	c->max_sge = 1;
}

static void fill_modify_srq(void *in)
{
	struct ib_uverbs_modify_srq *c = in;

	c->srq_handle = srq;
	c->attr_mask = 2;
	c->srq_limit = 1;
}

static void fill_mr(void *in)
{
	struct ib_uverbs_reg_mr *c = in;

	c->start = (uintptr_t)memory;
	c->hca_va = c->start;
	c->length = sizeof(memory);
	c->pd_handle = pd;
	c->access_flags = IB_UVERBS_ACCESS_LOCAL_WRITE;
}

static void fill_mw(void *in)
{
	struct ib_uverbs_alloc_mw *c = in;

	c->pd_handle = pd;
	c->mw_type = 2;
}

#define CMD(x)		IB_USER_VERBS_CMD_##x
#define SIZES(x)	.in_len = sizeof(struct ib_uverbs_##x), \
			.out_len = sizeof(struct ib_uverbs_##x##_resp)
#define SIZE_IN(x)	.in_len = sizeof(struct ib_uverbs_##x), .out_len = 0

static const struct command commands[] = {
	{ "alloc-pd", CMD(ALLOC_PD), CMD(DEALLOC_PD), SIZES(alloc_pd), 0, fill_nothing },
	{ "create-cq", CMD(CREATE_CQ), CMD(DESTROY_CQ), SIZES(create_cq),
	  sizeof(struct kwarp_create_cq_resp), fill_cq },
	{ "create-cq-ex", EX(CMD(CREATE_CQ)), CMD(DESTROY_CQ), SIZES(ex_create_cq),
	  sizeof(struct kwarp_create_cq_resp), fill_cq_ex },
	{ "resize-cq", CMD(RESIZE_CQ), 0, SIZES(resize_cq), sizeof(struct kwarp_create_cq_resp),
	  fill_resize },
	{ "create-qp", CMD(CREATE_QP), CMD(DESTROY_QP), SIZES(create_qp),
	  sizeof(struct kwarp_create_qp_resp), fill_qp },
	{ "modify-qp", CMD(MODIFY_QP), 0, SIZE_IN(modify_qp), 0, fill_modify_qp },
	{ "create-srq", CMD(CREATE_SRQ), CMD(DESTROY_SRQ), SIZES(create_srq),
	  sizeof(struct kwarp_create_srq_resp), fill_srq },
	{ "modify-srq", CMD(MODIFY_SRQ), 0, SIZE_IN(modify_srq), 0, fill_modify_srq },
	{ "reg-mr", CMD(REG_MR), CMD(DEREG_MR), SIZES(reg_mr), 0, fill_mr },
	{ "alloc-mw", CMD(ALLOC_MW), CMD(DEALLOC_MW), SIZES(alloc_mw), 0, fill_mw },
	{ "query-device", EX(CMD(QUERY_DEVICE)), 0, SIZES(ex_query_device), 0, fill_nothing },
};

/* Call a command with this driver data, and destroy the object that it has created. */
static int call(const struct command *m, struct kwu_buf drv_in, struct kwu_buf drv_out)
{
	uint64_t in[32] = { 0 }, out[64] = { 0 };
	struct kwu_call c = {
		.cmd = m->cmd,
		.in = { in, m->in_len },
		.out = { out, m->out_len },
		.drv_in = drv_in,
		.drv_out = drv_out,
	};
	int rv;

	m->fill(in);
	rv = run(fd, &c);
	if (!rv && m->undo)
		destroy(m->undo, first_word(out));
	return rv;
}

/* Are all octets from @from up to @to - 1 of the answer equal to @octet? */
static int all(const uint8_t *answer, size_t from, size_t to, uint8_t octet)
{
	for (; from < to; from++)
		if (answer[from] != octet)
			return 0;
	return 1;
}

static void try_requests(const struct command *m)
{
	struct kwu_buf none = { NULL, 0 };
	uint8_t in[64] = { 0 };
	size_t i;
	int rv;

	rv = call(m, none, none);
	verdict("no request and no room", m->name, !rv, rv);
	rv = call(m, (struct kwu_buf){ in, 8 }, none);
	verdict("8 zero octets", m->name, !rv, rv);
	rv = call(m, (struct kwu_buf){ in, sizeof(in) }, none);
	verdict("64 zero octets", m->name, !rv, rv);
	for (i = 0; i < sizeof(in); i += 21) {
		in[i] = 0x80;
		rv = call(m, (struct kwu_buf){ in, sizeof(in) }, none);
		verdict("an octet that nobody knows", m->name, rv == EOPNOTSUPP, rv);
		in[i] = 0;
	}
}

static void try_answers(const struct command *m)
{
	struct kwu_buf none = { NULL, 0 };
	size_t rooms[] = { 8, 16, m->answer, m->answer + 8, ROOM };
	uint8_t out[ROOM];
	unsigned int i;
	size_t room;
	int rv;

	/*
	 * With write(), a command can have an answer of the driver only if it has an answer of the
	 * core, too.
	 */
	if (!m->out_len && run == kwu_write)
		return;
	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		room = rooms[i];
		memset(out, CANARY, sizeof(out));
		rv = call(m, none, (struct kwu_buf){ out, room });
		verdict("any room for an answer", m->name, !rv, rv);
		if (rv)
			continue;
		verdict("octets after the room are left alone", m->name,
			all(out, room, ROOM, CANARY), 0);
		if (room > m->answer)
			verdict("the rest is zero", m->name, all(out, m->answer, room, 0), 0);
		if (m->answer && room >= m->answer)
			verdict("there is an answer", m->name, !all(out, 0, m->answer, CANARY) &&
				!all(out, 0, m->answer, 0), 0);
	}
}

/* -------------------------------------------------------------- alloc_context */

/* Make a context on a newly opened device. The driver's answer is written to @resp. */
static int context(const void *req, size_t len, void *resp, size_t room)
{
	int other = kwu_open(dev), rv;

	rv = kwu_get_context(other, (struct kwu_buf){ (void *)req, len },
			     (struct kwu_buf){ resp, room });
	close(other);
	return rv;
}

#define FEATURES (KWARP_FEATURE_RFC7306 | KWARP_FEATURE_SEND_IMM)

static const struct version_case {
	const char *what;
	struct kwarp_alloc_ucontext_req req;
	size_t len;
	uint32_t version;	/* in the answer; 0: the request has to be refused */
	uint64_t features;	/* in the answer */
} versions[] = {
	/* Without a request the version is 1, which the driver does not support any more. */
	{ "no request", { 0 }, 0, 0, 0 },
	{ "a request of zeroes", { 0 }, 16, 0, 0 },
	{ "a request cut short", { KWARP_ABI_MIN, 0, 0 }, 4, 0, 0 },
	{ "this version", { KWARP_ABI_MIN, KWARP_ABI_MAX, 0 }, 16, KWARP_ABI_MAX, 0 },
	{ "the oldest one alone", { KWARP_ABI_MIN, KWARP_ABI_MIN, 0 }, 16, KWARP_ABI_MIN, 0 },
	{ "a provider to come", { 1, 1000, 0 }, 16, KWARP_ABI_MAX, 0 },
	{ "a feature", { KWARP_ABI_MIN, KWARP_ABI_MAX, KWARP_FEATURE_RFC7306 }, 16,
	  KWARP_ABI_MAX, KWARP_FEATURE_RFC7306 },
	/* It is in the answer if the knob strict is on. */
	{ "strict mode", { KWARP_ABI_MIN, KWARP_ABI_MAX, KWARP_FEATURE_STRICT }, 16,
	  KWARP_ABI_MAX, 0 },
	{ "features that nobody knows", { KWARP_ABI_MIN, KWARP_ABI_MAX, ~FEATURES },
	  16, KWARP_ABI_MAX, 0 },
	{ "all features", { KWARP_ABI_MIN, KWARP_ABI_MAX, UINT64_MAX }, 16, KWARP_ABI_MAX,
	  FEATURES },
	{ "without features", { KWARP_ABI_MIN, 1000, 0 }, 8, KWARP_ABI_MAX, 0 },
	{ "only newer ones", { KWARP_ABI_MAX + 1, 1000, 0 }, 16, 0, 0 },
	{ "only older ones", { 1, KWARP_ABI_MIN - 1, 0 }, 16, 0, 0 },
	{ "the wrong way round", { KWARP_ABI_MAX + 1, KWARP_ABI_MIN - 1, 0 }, 16, 0, 0 },
};

static void try_versions(void)
{
	struct kwarp_alloc_ucontext_resp resp;
	const struct version_case *c;
	int rv;

	for (c = versions; c < versions + ARRAY_SIZE(versions); c++) {
		memset(&resp, CANARY, sizeof(resp));
		rv = context(&c->req, c->len, &resp, sizeof(resp));
		if (!c->version)
			verdict(c->what, "alloc-context", rv == EOPNOTSUPP, rv);
		else
			verdict(c->what, "alloc-context", !rv && resp.abi_version == c->version &&
				resp.max_inline && resp.features == c->features, rv);
	}
}

static void try_context(void)
{
	struct { struct kwarp_alloc_ucontext_req req; uint8_t more[16]; } req = {
		.req = { KWARP_ABI_MIN, KWARP_ABI_MAX, 0 },
	};
	uint8_t out[ROOM];
	int rv;

	rv = context(&req, sizeof(req), out, 16);
	verdict("a longer request", "alloc-context", !rv, rv);
	req.more[15] = 1;
	rv = context(&req, sizeof(req), out, 16);
	verdict("an octet that nobody knows", "alloc-context", rv == EOPNOTSUPP, rv);
	memset(out, CANARY, sizeof(out));
	rv = context(&req.req, sizeof(req.req), out, 8);
	verdict("an answer cut short", "alloc-context",
		!rv && first_word(out) == KWARP_ABI_MAX && all(out, 8, ROOM, CANARY), rv);
	rv = context(&req.req, sizeof(req.req), out, ROOM);
	verdict("an answer filled up", "alloc-context",
		!rv && first_word(out) == KWARP_ABI_MAX && all(out, 16, ROOM, 0), rv);
}

/*
 * Since Linux 7.1 the driver tells the core that it follows the core's rules for driver data, and
 * the core reports that to programs.
 */
static void try_support(void)
{
	const uint64_t robust_udata = 1 << 1;
	unsigned int major, minor;
	struct utsname u;
	uint64_t support;
	int rv;

	if (uname(&u) || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		kw_die(KW_SETUP, "no version of the kernel");
	fd = kwu_open(dev);
	rv = kwu_core_support(fd, &support);
	verdict("what the driver promises is told", "get-context",
		!rv && !(support & robust_udata) == (major < 7 || (major == 7 && minor < 1)), rv);
	close(fd);
}

/* ----------------------------------------------------------------------- main */

static uint32_t make(const char *name)
{
	uint64_t in[32] = { 0 }, out[64] = { 0 };
	const struct command *m = commands;
	struct kwu_call c = { 0 };
	int rv;

	while (strcmp(m->name, name))
		m++;
	c.cmd = m->cmd;
	c.in = (struct kwu_buf){ in, m->in_len };
	c.out = (struct kwu_buf){ out, m->out_len };
	m->fill(in);
	rv = kwu_invoke(fd, &c);
	if (rv)
		kw_die(KW_SETUP, "%s: %s", name, strerror(rv));
	return first_word(out);
}

static void try_all(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		try_requests(&commands[i]);
		try_answers(&commands[i]);
	}
}

int main(int argc, char **argv)
{
	static const struct kw_option table[] = { KW_NEED('d', dev), { 0 } };
	int rv;

	kw_options(argc, argv, table, "kwuabi -d rdma-device [-v]");
	try_versions();
	try_context();
	try_support();
	fd = kwu_open(dev);
	rv = kwu_begin(fd);
	if (rv)
		kw_die(KW_MISMATCH, "FAILED: no context: %s", strerror(rv));
	pd = make("alloc-pd");
	cq = make("create-cq");
	srq = make("create-srq");
	qp = make("create-qp");
	try_all();
	run = kwu_write;
	try_all();
	close(fd);
	kw_say("%u ok, %u failed", n_ok, n_failed);
	return n_failed ? KW_MISMATCH : KW_OK;
}
