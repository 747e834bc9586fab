// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Module init and exit. */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "cm/cm.h"
#include "debug.h"
#include "engine/engine.h"
#include "fault.h"
#include "link.h"
#include "netlink.h"
#include "wq.h"

static int __init kwarp_init(void)
{
	int ret;

	ret = kwarp_wq_init();
	if (ret)
		return ret;
	ret = kwarp_engine_init_module();
	if (ret)
		goto out_wq;
	kwarp_debug_init();
	ret = kwarp_netlink_register();
	if (ret)
		goto out;
	ret = kwarp_link_register();
	if (ret)
		goto out_netlink;
	kwarp_foreign_links_register();
	return 0;

out_netlink:
	kwarp_netlink_unregister();
	kwarp_fault_exit();
out:
	kwarp_debug_exit();
	kwarp_engine_exit_module();
out_wq:
	kwarp_wq_exit();
	kwarp_cm_exit();
	return ret;
}

static void __exit kwarp_exit(void)
{
	kwarp_foreign_links_unregister();
	kwarp_link_unregister();
	kwarp_netlink_unregister();
	kwarp_fault_exit();
	kwarp_engine_exit_module();
	kwarp_wq_exit();
	kwarp_cm_exit();
	kwarp_debug_exit();
}

module_init(kwarp_init);
module_exit(kwarp_exit);

MODULE_DESCRIPTION("Software iWARP RDMA device (MPA/DDP/RDMAP over TCP)");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(KWARP_VERSION);
MODULE_ALIAS_RDMA_LINK("kwarp");
/* Load the modules of /dev/infiniband/uverbs* and rdma_cm, too: Linux 7.2 itself does not. */
MODULE_SOFTDEP("post: ib_uverbs rdma_ucm");
