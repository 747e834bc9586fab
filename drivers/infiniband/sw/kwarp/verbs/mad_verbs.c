// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Performance management: answers to the only MADs (InfiniBand's management datagrams) that a link
 * gets.  No peer can send one, because the port has no MAD agents.  The RDMA core asks for them
 * itself, to fill /sys/class/infiniband/NAME/ports/1/counters, which programs for monitoring expect
 * of every port.
 */
#include "verbs.h"

#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "../kwarp.h"
#include "../proto/perr.h"
#include "../stats.h"

#define PMA_VERSION	1

/* InfiniBand counts data in units of four octets. */
#define DATA_UNIT	4

typedef void (*fill_fn)(struct kwarp_dev *kdev, void *data);

static void fill_class_info(struct kwarp_dev *kdev, void *data)
{
	struct ib_class_port_info *info = data;

	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = PMA_VERSION;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
}

static u64 rcv_errors(const struct kwarp_stats *stats)
{
	return atomic_long_read(&stats->errors[KWARP_PERR_MPA_CRC]) +
	       atomic_long_read(&stats->errors[KWARP_PERR_MPA_MARKER]);
}

/* A counter that is too small for the value stays at its maximum. */
static __be32 most32(u64 value)
{
	return cpu_to_be32(min_t(u64, value, U32_MAX));
}

static void fill_counters(struct kwarp_dev *kdev, void *data)
{
	struct ib_pma_portcounters *counters = data;
	struct kwarp_stream_stats sum;

	kwarp_stats_total(kdev, &sum);
	counters->port_select = 1;
	counters->port_rcv_errors = cpu_to_be16(min_t(u64, rcv_errors(&kdev->stats), U16_MAX));
	counters->port_xmit_data = most32(sum.tx.octets / DATA_UNIT);
	counters->port_rcv_data = most32(sum.rx.octets / DATA_UNIT);
	counters->port_xmit_packets = most32(sum.tx.fpdus);
	counters->port_rcv_packets = most32(sum.rx.fpdus);
}

static void fill_counters_ext(struct kwarp_dev *kdev, void *data)
{
	struct ib_pma_portcounters_ext *counters = data;
	struct kwarp_stream_stats sum;

	kwarp_stats_total(kdev, &sum);
	counters->port_select = 1;
	counters->port_xmit_data = cpu_to_be64(sum.tx.octets / DATA_UNIT);
	counters->port_rcv_data = cpu_to_be64(sum.rx.octets / DATA_UNIT);
	counters->port_xmit_packets = cpu_to_be64(sum.tx.fpdus);
	counters->port_rcv_packets = cpu_to_be64(sum.rx.fpdus);
	/* iWARP has no multicast. */
	counters->port_unicast_xmit_packets = counters->port_xmit_packets;
	counters->port_unicast_rcv_packets = counters->port_rcv_packets;
}

/* PortSelect is at the same place in both forms of counters. */
static_assert(offsetof(struct ib_pma_portcounters, port_select) ==
	      offsetof(struct ib_pma_portcounters_ext, port_select));

static fill_fn find_answer(const struct ib_pma_mad *ask)
{
	const struct ib_mad_hdr *hdr = &ask->mad_hdr;
	const struct ib_pma_portcounters *which = (const void *)ask->data;

	if (hdr->base_version != IB_MGMT_BASE_VERSION ||
	    hdr->mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    hdr->class_version != PMA_VERSION || hdr->method != IB_MGMT_METHOD_GET)
		return NULL;
	if (hdr->attr_id == IB_PMA_CLASS_PORT_INFO)
		return fill_class_info;
	if (which->port_select != 1)
		return NULL;
	if (hdr->attr_id == IB_PMA_PORT_COUNTERS)
		return fill_counters;
	return hdr->attr_id == IB_PMA_PORT_COUNTERS_EXT ? fill_counters_ext : NULL;
}

/*
 * Packets are FPDUs, data is their payload. Set, which would clear the counters, is refused like
 * everything else.
 */
int kwarp_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		      const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *pkey_index)
{
	const struct ib_pma_mad *ask = (const void *)in;
	struct ib_pma_mad *answer = (void *)out;
	fill_fn fill = find_answer(ask);

	if (port != 1 || !fill)
		return IB_MAD_RESULT_FAILURE;
	memset(answer, 0, sizeof(*answer));
	answer->mad_hdr = ask->mad_hdr;
	answer->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	fill(to_kdev(ibdev), answer->data);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
