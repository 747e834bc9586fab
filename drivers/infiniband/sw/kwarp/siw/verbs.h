/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef KWARP_SIW_VERBS_H
#define KWARP_SIW_VERBS_H

extern const struct kwarp_personality kwarp_siw_personality;

#endif /* KWARP_SIW_VERBS_H */
