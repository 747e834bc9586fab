/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Prediction of the next FPDU: the segments in the middle of a long message differ in their offset
 * only. So length field and header of the next FPDU can be predicted, and an FPDU that is as
 * predicted can be processed as a whole (engine/rx/series.c) instead of part by part (fpdu_rx.c).
 */
#ifndef KWARP_PROTO_FPDU_EXPECT_H
#define KWARP_PROTO_FPDU_EXPECT_H

#include "fpdu_rx.h"

/**
 * kwarp_fpdu_rx_expect - predict the next FPDU: the next segment of the same message
 * @rx: parser
 * @fields: result: length field and DDP header of an FPDU that differs from the last one only in
 *	the offset (TO or MO)
 *
 * Context: any; @rx has one user at a time.
 * Return: octets of the predicted FPDU; 0 if there is no prediction: the parser is inside an FPDU,
 * the stream has markers, or the last FPDU had no payload or ended its message.
 */
u32 kwarp_fpdu_rx_expect(const struct kwarp_fpdu_rx *rx, u8 fields[KWARP_FPDU_FIELDS]);

/**
 * kwarp_fpdu_rx_taken - advance the parser past a predicted FPDU that the caller has handled itself
 * @rx: parser
 * @fields: prediction from kwarp_fpdu_rx_expect() or from the last call of this function; changed
 *	to the prediction for the FPDU after this one
 * @wire: octets of the FPDU
 *
 * Context: any; @rx has one user at a time.
 */
void kwarp_fpdu_rx_taken(struct kwarp_fpdu_rx *rx, u8 fields[KWARP_FPDU_FIELDS], u32 wire);

#endif /* KWARP_PROTO_FPDU_EXPECT_H */
