/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections of kwrawpeer and kwtarget: an ordinary TCP socket, and what MPA has agreed on for it.
 * Nothing here knows the device under test.
 */
#ifndef RAWPEER_SOCKET_H
#define RAWPEER_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kwraw_end {
	KWRAW_OPEN,		/* the time is over and the connection stands */
	KWRAW_FIN,		/* the peer has closed its half */
	KWRAW_RST,		/* the peer has reset it */
};

/**
 * struct kwraw_half - one direction in full operation
 * @markers: every 512 octets
 * @pos: octets since the start-up frame
 */
struct kwraw_half {
	bool markers;
	uint32_t pos;
};

/**
 * struct kwraw - a connection
 * @fd: its socket
 * @crc: CRC is in use, both ways
 * @tx: what we send
 * @rx: what we receive
 * @piece: if not 0, every write is cut into pieces of 1 to this many octets
 * @rng: of the cuts
 */
struct kwraw {
	int fd;
	bool crc;
	struct kwraw_half tx, rx;
	unsigned int piece;
	uint64_t rng;
};

/* If not 0: the MSS that is announced by connections to come. */
extern int kwraw_mss;
/* If not 0: the size of their receive buffers. */
extern int kwraw_rcvbuf;

/* -1 and errno on failure. */
int kwraw_connect(struct kwraw *c, const char *addr, const char *port);
int kwraw_listen(const char *addr, const char *port);
int kwraw_accept(int listener, struct kwraw *c, int timeout_ms);
void kwraw_close(struct kwraw *c);
/* Close with a reset, or half-close with a FIN. */
void kwraw_reset(struct kwraw *c);
void kwraw_fin(struct kwraw *c);

/* All of it, or -1. */
int kwraw_send(struct kwraw *c, const void *data, size_t len);
/* Exactly len octets within the time; less if the connection ended: the number. */
size_t kwraw_recv(struct kwraw *c, void *data, size_t len, int timeout_ms);
/* Read and drop until the end comes; *got, if not NULL: octets dropped. */
enum kwraw_end kwraw_wait_end(struct kwraw *c, int timeout_ms, size_t *got);
/* It has ended, and all that came was read. */
bool kwraw_ended(struct kwraw *c);
const char *kwraw_end_name(enum kwraw_end end);

#endif /* RAWPEER_SOCKET_H */
