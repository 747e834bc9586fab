/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Links, that is, kwarp devices on netdevs: the commands `rdma link add` and `rdma link delete`. */
#ifndef KWARP_LINK_H
#define KWARP_LINK_H

int kwarp_link_register(void);
void kwarp_link_unregister(void);

#endif /* KWARP_LINK_H */
