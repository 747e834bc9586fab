// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Call uverbs commands without libibverbs, for the test programs kwuabi, kwbell and kwfuzz: see
 * kwuverbs.h.
 */
#include "kwuverbs.h"
#include "kwtest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/kwarp-abi.h>
#include <rdma/rdma_user_ioctl.h>

#define SYSFS		"/sys/class/infiniband_verbs"
#define MAX_ATTRS	6

static int is_device_of(const char *uverbs, const char *ibdev)
{
	char path[300], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), SYSFS "/%s/ibdev", uverbs);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (!fgets(name, sizeof(name), f))
		name[0] = 0;
	fclose(f);
	name[strcspn(name, "\n")] = 0;
	return !strcmp(name, ibdev);
}

int kwu_open(const char *ibdev)
{
	DIR *dir = opendir(SYSFS);
	struct dirent *d;
	char path[300];
	int fd;

	while (dir && (d = readdir(dir))) {
		if (!is_device_of(d->d_name, ibdev))
			continue;
		snprintf(path, sizeof(path), "/dev/infiniband/%s", d->d_name);
		closedir(dir);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			kw_die(KW_SETUP, "cannot open %s: %s", path, strerror(errno));
		return fd;
	}
	kw_die(KW_SETUP, "there is no RDMA device %s", ibdev);
}

/**
 * struct request - argument of an ioctl
 * @hdr: header
 * @attrs: attributes, which follow the header directly
 */
struct request {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
};

static struct ib_uverbs_attr *add_attr(struct request *r, uint16_t id)
{
	struct ib_uverbs_attr *a = &r->attrs[r->hdr.num_attrs++];

	a->attr_id = id;
	a->flags = UVERBS_ATTR_F_MANDATORY;
	return a;
}

/* Add an attribute of a request. Up to eight octets are stored in the attribute itself. */
static void add_in(struct request *r, uint16_t id, struct kwu_buf b)
{
	struct ib_uverbs_attr *a;

	if (!b.len)
		return;
	a = add_attr(r, id);
	a->len = b.len;
	if (b.len <= sizeof(a->data))
		memcpy(&a->data, b.data, b.len);
	else
		a->data = (uintptr_t)b.data;
}

static void add_out(struct request *r, uint16_t id, struct kwu_buf b)
{
	struct ib_uverbs_attr *a;

	if (!b.len)
		return;
	a = add_attr(r, id);
	a->len = b.len;
	a->data = (uintptr_t)b.data;
}

static int run(int fd, struct request *r, uint16_t object, uint16_t method)
{
	r->hdr.length = sizeof(r->hdr) + r->hdr.num_attrs * sizeof(r->attrs[0]);
	r->hdr.object_id = object;
	r->hdr.method_id = method;
	r->hdr.driver_id = KWARP_DRIVER_ID;
	return ioctl(fd, RDMA_VERBS_IOCTL, &r->hdr) ? errno : 0;
}

int kwu_invoke(int fd, const struct kwu_call *c)
{
	uint64_t cmd = c->cmd;
	struct request r = { 0 };

	add_in(&r, UVERBS_ATTR_WRITE_CMD, (struct kwu_buf){ &cmd, sizeof(cmd) });
	add_in(&r, UVERBS_ATTR_CORE_IN, c->in);
	add_out(&r, UVERBS_ATTR_CORE_OUT, c->out);
	add_in(&r, UVERBS_ATTR_UHW_IN, c->drv_in);
	add_out(&r, UVERBS_ATTR_UHW_OUT, c->drv_out);
	return run(fd, &r, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
}

/*
 * Call the command "get context", not the method of the same name: if the method is refused, the
 * RDMA core of Linux 6.12 loses a reference to the calling task, and the test suite would report a
 * leak.
 *
 * The RDMA core of Linux 7.2 has a bug: it takes the number of a command that is called by ioctl()
 * for a list of files and returns EBADF (see Documentation/upstream). Then write() is used.
 */
int kwu_get_context(int fd, struct kwu_buf drv_in, struct kwu_buf drv_out)
{
	struct ib_uverbs_get_context in = { 0 };
	struct ib_uverbs_get_context_resp out;
	struct kwu_call c = {
		.cmd = IB_USER_VERBS_CMD_GET_CONTEXT,
		.in = { &in, sizeof(in) },
		.out = { &out, sizeof(out) },
		.drv_in = drv_in,
		.drv_out = drv_out,
	};
	int rv = kwu_invoke(fd, &c);

	if (rv == EBADF)
		rv = kwu_write(fd, &c);
	if (!rv)
		close(out.async_fd);
	return rv;
}

/* A request for a context: the ABI versions that this program was built with, and no features. */
static const struct kwarp_alloc_ucontext_req our_versions = { KWARP_ABI_MIN, KWARP_ABI_MAX, 0 };
#define OUR_VERSIONS	((struct kwu_buf){ (void *)&our_versions, sizeof(our_versions) })

int kwu_begin(int fd)
{
	return kwu_get_context(fd, OUR_VERSIONS, (struct kwu_buf){ NULL, 0 });
}

int kwu_doorbell(int fd)
{
	struct request r = { 0 };
	struct ib_uverbs_attr *bell = add_attr(&r, KWARP_ATTR_DOORBELL_OPEN_FD);

	errno = run(fd, &r, KWARP_OBJECT_DOORBELL, KWARP_METHOD_DOORBELL_OPEN);
	return errno ? -1 : (int)bell->data_s64;
}

int kwu_core_support(int fd, uint64_t *support)
{
	struct request r = { 0 };

	add_in(&r, UVERBS_ATTR_UHW_IN, OUR_VERSIONS);
	add_out(&r, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
		(struct kwu_buf){ support, sizeof(*support) });
	return run(fd, &r, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
}

/* Copy a part. An absent part has address NULL, which memcpy() does not allow. */
static void copy(void *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
}

/*
 * The kernel writes the core's answer, and after it the driver's answer, to one buffer, whose
 * address is the first word of the request.
 */
static int write_legacy(int fd, const struct kwu_call *c, uint8_t *msg, uint8_t *answer)
{
	struct ib_uverbs_cmd_hdr *hdr = (void *)msg;
	size_t len = sizeof(*hdr) + c->in.len + c->drv_in.len;
	uint64_t where = (uintptr_t)answer;

	hdr->command = c->cmd;
	hdr->in_words = len / 4;
	hdr->out_words = (c->out.len + c->drv_out.len) / 4;
	copy(msg + sizeof(*hdr), c->in.data, c->in.len);
	if (c->out.len && c->in.len >= sizeof(where))
		memcpy(msg + sizeof(*hdr), &where, sizeof(where));
	copy(msg + sizeof(*hdr) + c->in.len, c->drv_in.data, c->drv_in.len);
	return write(fd, msg, len) == (ssize_t)len ? 0 : errno;
}

static int write_extended(int fd, const struct kwu_call *c, uint8_t *msg, uint8_t *answer)
{
	struct ib_uverbs_cmd_hdr *hdr = (void *)msg;
	struct ib_uverbs_ex_cmd_hdr *ex = (void *)(msg + sizeof(*hdr));
	size_t off = sizeof(*hdr) + sizeof(*ex), len = off + c->in.len + c->drv_in.len;

	memset(msg, 0, off);
	hdr->command = c->cmd;
	hdr->in_words = c->in.len / 8;
	hdr->out_words = c->out.len / 8;
	ex->provider_in_words = c->drv_in.len / 8;
	ex->provider_out_words = c->drv_out.len / 8;
	if (c->out.len || c->drv_out.len) {
		uint64_t where = (uintptr_t)answer;

		memcpy(&ex->response, &where, sizeof(where));
	}
	copy(msg + off, c->in.data, c->in.len);
	copy(msg + off + c->in.len, c->drv_in.data, c->drv_in.len);
	return write(fd, msg, len) == (ssize_t)len ? 0 : errno;
}

int kwu_write(int fd, const struct kwu_call *c)
{
	uint8_t *msg = kw_zalloc(64 + c->in.len + c->drv_in.len);
	uint8_t *answer = kw_zalloc(c->out.len + c->drv_out.len + 1);
	int rv;

	copy(answer + c->out.len, c->drv_out.data, c->drv_out.len);
	if (c->cmd & IB_USER_VERBS_CMD_FLAG_EXTENDED)
		rv = write_extended(fd, c, msg, answer);
	else
		rv = write_legacy(fd, c, msg, answer);
	if (!rv) {
		copy(c->out.data, answer, c->out.len);
		copy(c->drv_out.data, answer + c->out.len, c->drv_out.len);
	}
	free(answer);
	free(msg);
	return rv;
}
