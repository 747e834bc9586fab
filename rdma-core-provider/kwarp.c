// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * kwarp: registration with libibverbs, contexts, device and port attributes.
 *
 * libibverbs uses this provider for a device if the kernel reports KWARP_DRIVER_ID for it over
 * netlink.
 */
#define _GNU_SOURCE
#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/cmd_ioctl.h>

#include "inject.h"
#include "kwarp.h"
#include "say.h"

static int query_device(struct ibv_context *ctx,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	uint64_t fw;
	int ret;

	ret = ibv_cmd_query_device_any(ctx, input, attr, attr_size, &resp,
				       &resp_size);
	if (ret)
		return ret;

	/* The module passes its version as three numbers of 16 bits. */
	fw = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u", (unsigned int)(fw >> 32) & 0xffff,
		 (unsigned int)(fw >> 16) & 0xffff, (unsigned int)fw & 0xffff);
	return 0;
}

/* The clock of completion timestamps (KWARP_CQ_STAMP_RAW).  Unknown values are not answered. */
static int query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values)
{
	values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
	if (values->comp_mask && clock_gettime(CLOCK_MONOTONIC_RAW, &values->raw_clock))
		return errno;
	return 0;
}

static int query_port(struct ibv_context *ctx, uint8_t port,
		      struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = {};

	return ibv_cmd_query_port(ctx, port, attr, &cmd, sizeof(cmd));
}

/* A connection error moves the QP to the error state without ibv_modify_qp(): set qp->state. */
static void async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		event->element.qp->state = IBV_QPS_ERR;
		break;
	default:
		break;
	}
}

static void free_context(struct ibv_context *ibctx)
{
	struct kwarp_context *ctx = to_kctx(ibctx);

	kwarp_strict_close(ctx);
	close(ctx->doorbell);
	free(ctx->inject);
	verbs_uninit_context(&ctx->ibv_ctx);
	free(ctx);
}

/*
 * For operations that are missing in this table (those of UD and multicast) libibverbs returns
 * EOPNOTSUPP.
 */
static const struct verbs_context_ops kwarp_ctx_ops = {
	.advise_mr = kwarp_advise_mr,
	.alloc_mw = kwarp_alloc_mw,
	.alloc_parent_domain = kwarp_alloc_parent_domain,
	.alloc_pd = kwarp_alloc_pd,
	.alloc_td = kwarp_alloc_td,
	.async_event = async_event,
	.bind_mw = kwarp_bind_mw,
	.create_cq = kwarp_create_cq,
	.create_cq_ex = kwarp_create_cq_ex,
	.create_qp = kwarp_create_qp,
	.create_qp_ex = kwarp_create_qp_ex,
	.create_srq = kwarp_create_srq,
	.dealloc_mw = kwarp_dealloc_mw,
	.dealloc_pd = kwarp_dealloc_pd,
	.dealloc_td = kwarp_dealloc_td,
	.dereg_mr = kwarp_dereg_mr,
	.destroy_cq = kwarp_destroy_cq,
	.destroy_qp = kwarp_destroy_qp,
	.destroy_srq = kwarp_destroy_srq,
	.free_context = free_context,
	.modify_qp = kwarp_modify_qp,
	.modify_srq = kwarp_modify_srq,
	.poll_cq = kwarp_poll_cq,
	.post_recv = kwarp_post_recv,
	.post_send = kwarp_post_send,
	.post_srq_recv = kwarp_post_srq_recv,
	.query_device_ex = query_device,
	.query_port = query_port,
	.query_qp = kwarp_query_qp,
	.query_rt_values = query_rt_values,
	.query_srq = kwarp_query_srq,
	.reg_dmabuf_mr = kwarp_reg_dmabuf_mr,
	.reg_mr = kwarp_reg_mr,
	.req_notify_cq = kwarp_req_notify_cq,
	.rereg_mr = kwarp_rereg_mr,
	.resize_cq = kwarp_resize_cq,
};

static int get_context(struct kwarp_context *ctx,
		       struct kwarp_cmd_alloc_context_resp *resp)
{
	struct kwarp_cmd_alloc_context cmd = {
		.abi_min = KWARP_ABI_MIN,
		.abi_max = KWARP_ABI_MAX,
		.features = KWARP_FEATURE_RFC7306 | KWARP_FEATURE_SEND_IMM |
			    KWARP_FEATURE_STRICT,
	};

#ifdef KWARP_HAVE_GET_CONTEXT_FD_ARR
	return ibv_cmd_get_context(&ctx->ibv_ctx, &cmd.ibv_cmd, sizeof(cmd),
				   NULL, &resp->ibv_resp, sizeof(*resp));
#else
	return ibv_cmd_get_context(&ctx->ibv_ctx, &cmd.ibv_cmd, sizeof(cmd),
				   &resp->ibv_resp, sizeof(*resp));
#endif
}

/* Open the file whose ioctl() is the doorbell.  Return: 0, or an errno value. */
static int open_doorbell(struct kwarp_context *ctx)
{
	DECLARE_COMMAND_BUFFER(cmd, KWARP_OBJECT_DOORBELL,
			       KWARP_METHOD_DOORBELL_OPEN, 1);
	struct ib_uverbs_attr *fd =
		fill_attr_out_fd(cmd, KWARP_ATTR_DOORBELL_OPEN_FD, 0);
	int ret;

	ret = execute_ioctl(&ctx->ibv_ctx.context, cmd);
	if (ret)
		return errno;
	ctx->doorbell = read_attr_fd(KWARP_ATTR_DOORBELL_OPEN_FD, fd);
	return 0;
}

static struct verbs_context *alloc_context(struct ibv_device *ibdev, int cmd_fd,
					   void *private_data)
{
	struct kwarp_cmd_alloc_context_resp resp = {};
	struct kwarp_context *ctx;
	int ret;

	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, ibv_ctx,
					   KWARP_DRIVER_ID);
	if (!ctx)
		return NULL;

	ret = get_context(ctx, &resp);
	if (ret) {
		if (ret == EOPNOTSUPP)
			verbs_err(&ctx->ibv_ctx,
				  "the kernel module speaks none of the ABI versions %u to %u of this provider\n",
				  KWARP_ABI_MIN, KWARP_ABI_MAX);
		goto err;
	}

	/* A module that ignores abi_min and abi_max may answer with a version unknown here. */
	if (resp.abi_version < KWARP_ABI_MIN ||
	    resp.abi_version > KWARP_ABI_MAX) {
		verbs_err(&ctx->ibv_ctx,
			  "the kernel module speaks ABI version %u, this provider %u to %u\n",
			  resp.abi_version, KWARP_ABI_MIN, KWARP_ABI_MAX);
		ret = ENOSYS;
		goto err;
	}

	ctx->features = resp.features;
	ctx->max_inline = resp.max_inline;
	ret = open_doorbell(ctx);
	if (ret)
		goto err;

	verbs_set_ops(&ctx->ibv_ctx, &kwarp_ctx_ops);
	kwarp_strict_init(ctx);
	kwarp_inject_init(ctx);
	return &ctx->ibv_ctx;

err:
	verbs_uninit_context(&ctx->ibv_ctx);
	free(ctx);
	errno = ret;
	return NULL;
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	return calloc(1, sizeof(struct verbs_device));
}

static void uninit_device(struct verbs_device *vdev)
{
	free(vdev);
}

static const struct verbs_match_ent match_table[] = {
	VERBS_DRIVER_ID(KWARP_DRIVER_ID),
	{},
};

static const struct verbs_device_ops kwarp_dev_ops = {
	.name = "kwarp",
	.match_min_abi_version = KWARP_UVERBS_ABI,
	.match_max_abi_version = KWARP_UVERBS_ABI,
	.match_table = match_table,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
	.alloc_context = alloc_context,
};

/*
 * Find out to which release of rdma-core the loaded libibverbs belongs, from the name of its file.
 * Return: the release, "56.1" for libibverbs.so.1.14.56.1; NULL: the file has another kind of name.
 */
static const char *libibverbs_release(char path[PATH_MAX])
{
	static const char prefix[] = "libibverbs.so.1.";
	const char *minor;
	Dl_info info;

	if (!dladdr(verbs_register_driver, &info) || !info.dli_fname ||
	    !realpath(info.dli_fname, path))
		return NULL;
	minor = strstr(path, prefix);
	if (!minor)
		return NULL;
	minor = strchr(minor + strlen(prefix), '.');
	return minor ? minor + 1 : NULL;
}

/* Does the machine have a link of kwarp?  Each has a folder "kwarp" in sysfs. */
bool kwarp_has_link(const char *sysfs)
{
	char pattern[PATH_MAX];
	glob_t found;
	bool has;

	snprintf(pattern, sizeof(pattern), "%s/class/infiniband/*/kwarp", sysfs);
	has = !glob(pattern, GLOB_NOSORT, NULL, &found);
	globfree(&found);
	return has;
}

/*
 * This function replaces PROVIDER_DRIVER().  Two releases of rdma-core may have the same private
 * ABI number although their private headers differ.  libibverbs would load a provider that was
 * built for another release, and the provider would read the wrong fields.  So the provider
 * checks the release, and does not register if it differs.  libibverbs loads all providers if there
 * is any RDMA device, so programs on machines without links of kwarp are not told.
 */
static __attribute__((constructor)) void register_driver(void)
{
	char path[PATH_MAX];
	const char *release = libibverbs_release(path);

	kwarp_debug_init();
	if (release && atoi(release) != atoi(PACKAGE_VERSION)) {
		if (kwarp_has_link(ibv_get_sysfs_path()))
			fprintf(stderr,
				"kwarp: this provider is for rdma-core " PACKAGE_VERSION
				", and libibverbs is of %s: it serves no device; install kwarp's provider for that release\n",
				release);
		return;
	}
	verbs_register_driver(&kwarp_dev_ops);
}
