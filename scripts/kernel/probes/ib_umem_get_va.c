// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Since Linux 7.2 ib_umem_get() is named ib_umem_get_va(). */
#include <rdma/ib_umem.h>

struct ib_umem *probe(struct ib_device *dev, unsigned long addr, size_t len);
struct ib_umem *probe(struct ib_device *dev, unsigned long addr, size_t len)
{
	return ib_umem_get_va(dev, addr, len, 0);
}
