// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The layout of the memory of the consumer (kwtarget, an RDMA program on the device under test),
 * for kwtarget itself and for the raw peer (kwrawpeer) that attacks it: name, offset in the memory,
 * and length of each region.
 */
#include "target/places.h"

const struct kwt_place kwt_places[KWT_REGIONS] = {
	[KWT_NONE] = { "none", 0, 0 },
	[KWT_RW] = { "rw", 0x2003, 20000 },
	[KWT_RO] = { "ro", 0x8005, 5000 },
	[KWT_WO] = { "wo", 0xa011, 5000 },
	[KWT_LO] = { "lo", 0xc000, 3000 },
	[KWT_PD] = { "pd", 0xd100, 3000 },
	[KWT_DEAD] = { "dead", 0xe100, 3000 },
	[KWT_IOVA] = { "iova", 0xf007, 3000 },
	[KWT_ONE] = { "one", 0x10800, 1 },
	[KWT_SINK] = { "sink", 0x11003, 8000 },
	[KWT_SRC] = { "src", 0x14001, 9000 },
	[KWT_RECV] = { "recv", KWT_RECV_OFF,
		       (KWT_RECV_MAX + KWT_RECV_OTHER) * KWT_RECV_STEP },
	[KWT_BELOW] = { "below", 0x21207, 23000 },
	[KWT_WIN] = { "win", 0x21c03, 20000 },
};
