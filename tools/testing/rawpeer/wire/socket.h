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

/* State of a connection after a wait for its end. */
enum kwraw_end {
	KWRAW_OPEN,		/* the connection is still open when the time is over */
	KWRAW_FIN,		/* the peer has sent a FIN */
	KWRAW_RST,		/* the peer has reset the connection */
};

/**
 * struct kwraw_half - one direction of a connection after the startup
 * @markers: the stream has a marker every 512 octets
 * @pos: octets since the startup frame
 */
struct kwraw_half {
	bool markers;
	uint32_t pos;
};

/**
 * struct kwraw - a connection
 * @fd: its socket
 * @crc: CRCs are in use, in both directions
 * @tx: the direction to the peer
 * @rx: the direction from the peer
 * @piece: if not 0, every write is cut into pieces of 1 to this many octets
 * @rng: state of the random numbers that decide the lengths of the pieces
 */
struct kwraw {
	int fd;
	bool crc;
	struct kwraw_half tx, rx;
	unsigned int piece;
	uint64_t rng;
};

/* If not 0: the MSS that kwraw_connect() announces. */
extern int kwraw_mss;
/* If not 0: the size of the receive buffer (SO_RCVBUF) of sockets that kwraw_connect() makes. */
extern int kwraw_rcvbuf;

/*
 * kwraw_connect() and kwraw_accept() return 0, or -1 with errno. kwraw_listen() returns a socket,
 * or ends the program.
 */
int kwraw_connect(struct kwraw *c, const char *addr, const char *port);
int kwraw_listen(const char *addr, const char *port);
int kwraw_accept(int listener, struct kwraw *c, int timeout_ms);
void kwraw_close(struct kwraw *c);
/* Close with a reset. */
void kwraw_reset(struct kwraw *c);
/* Send a FIN. The connection can still receive. */
void kwraw_fin(struct kwraw *c);

/* Send all octets. Return 0, or -1 if the connection takes no more. */
int kwraw_send(struct kwraw *c, const void *data, size_t len);
/*
 * Receive until @len octets are there, the time is over, or the connection ends. Return the number
 * of octets.
 */
size_t kwraw_recv(struct kwraw *c, void *data, size_t len, int timeout_ms);
/*
 * Read and drop octets until the connection ends or the time is over. *@got is the number of these
 * octets; @got may be NULL.
 */
enum kwraw_end kwraw_wait_end(struct kwraw *c, int timeout_ms, size_t *got);
/* True if the connection has ended and all octets that came have been read. */
bool kwraw_ended(struct kwraw *c);
const char *kwraw_end_name(enum kwraw_end end);

#endif /* RAWPEER_SOCKET_H */
