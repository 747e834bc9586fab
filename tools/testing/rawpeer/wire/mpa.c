// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sockets, startup frames, FPDUs: see wire.h.
 */
#include "wire/wire.h"
#include "kwtest.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MARKER_EVERY	512U

const char kwraw_req_key[16] = {
	'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F', 'r', 'a', 'm', 'e'
};

const char kwraw_rep_key[16] = {
	'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'p', ' ', 'F', 'r', 'a', 'm', 'e'
};

uint32_t kwraw_crc(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;
	int bit;

	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

/* ------------------------------------------------------------------ sockets */

static struct addrinfo *look_up(const char *addr, const char *port, int flags)
{
	struct addrinfo hints = { .ai_flags = flags | AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
	struct addrinfo *res;

	if (getaddrinfo(addr, port, &hints, &res))
		kw_die(KW_SETUP, "%s port %s is no address", addr, port);
	return res;
}

static void start_connection(struct kwraw *c, int fd)
{
	int one = 1;

	memset(c, 0, sizeof(*c));
	c->fd = fd;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

int kwraw_mss, kwraw_rcvbuf;

int kwraw_connect(struct kwraw *c, const char *addr, const char *port)
{
	struct addrinfo *ai = look_up(addr, port, 0);
	int fd = socket(ai->ai_family, SOCK_STREAM, 0);
	int rv;

	if (kwraw_mss)
		setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &kwraw_mss, sizeof(kwraw_mss));
	if (kwraw_rcvbuf)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kwraw_rcvbuf, sizeof(kwraw_rcvbuf));
	rv = fd < 0 ? -1 : connect(fd, ai->ai_addr, ai->ai_addrlen);

	freeaddrinfo(ai);
	if (!rv)
		start_connection(c, fd);
	else if (fd >= 0)
		close(fd);
	return rv;
}

int kwraw_listen(const char *addr, const char *port)
{
	struct addrinfo *ai = look_up(addr, port, AI_PASSIVE);
	int one = 1, fd = socket(ai->ai_family, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 128))
		kw_die(KW_SETUP, "cannot listen on %s port %s: %s", addr, port, strerror(errno));
	freeaddrinfo(ai);
	return fd;
}

/* Readable within the time: 1, no: 0. */
static int readable(int fd, int64_t until)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t left = until - kw_now_ms();

	return poll(&p, 1, left > 0 ? left : 0) > 0;
}

int kwraw_accept(int listener, struct kwraw *c, int timeout_ms)
{
	int fd;

	if (!readable(listener, kw_now_ms() + timeout_ms)) {
		errno = ETIMEDOUT;
		return -1;
	}
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		return -1;
	start_connection(c, fd);
	return 0;
}

void kwraw_close(struct kwraw *c)
{
	close(c->fd);
	c->fd = -1;
}

void kwraw_reset(struct kwraw *c)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	kwraw_close(c);
}

void kwraw_fin(struct kwraw *c)
{
	shutdown(c->fd, SHUT_WR);
}

int kwraw_send(struct kwraw *c, const void *data, size_t len)
{
	const uint8_t *p = data;
	struct kw_rng rng = { .state = c->rng };
	size_t part;
	ssize_t n;

	while (len) {
		part = c->piece ? 1 + kw_below(&rng, c->piece) : len;
		n = send(c->fd, p, part < len ? part : len, MSG_NOSIGNAL);
		if (n < 0)
			return -1;
		p += n;
		len -= n;
	}
	c->rng = rng.state;
	return 0;
}

size_t kwraw_recv(struct kwraw *c, void *data, size_t len, int timeout_ms)
{
	int64_t until = kw_now_ms() + timeout_ms;
	size_t done = 0;
	ssize_t n;

	while (done < len && readable(c->fd, until)) {
		n = recv(c->fd, (uint8_t *)data + done, len - done, 0);
		if (n <= 0)
			break;
		done += n;
	}
	return done;
}

enum kwraw_end kwraw_wait_end(struct kwraw *c, int timeout_ms, size_t *got)
{
	int64_t until = kw_now_ms() + timeout_ms;
	uint8_t buf[4096];
	size_t sum = 0;
	enum kwraw_end end = KWRAW_OPEN;
	ssize_t n;

	while (end == KWRAW_OPEN && readable(c->fd, until)) {
		n = recv(c->fd, buf, sizeof(buf), 0);
		if (n > 0)
			sum += n;
		else
			end = n ? KWRAW_RST : KWRAW_FIN;
	}
	if (got)
		*got = sum;
	return end;
}

bool kwraw_ended(struct kwraw *c)
{
	uint8_t octet;
	ssize_t n = recv(c->fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT);

	return !n || (n < 0 && errno != EAGAIN);
}

const char *kwraw_end_name(enum kwraw_end end)
{
	static const char *const names[] = { "still open", "closed", "reset" };

	return names[end];
}

/* ------------------------------------------------------------------ startup */

void kwraw_mpa_init(struct kwraw_mpa *m, const char *key, uint8_t flags, uint8_t rev)
{
	memset(m, 0, sizeof(*m));
	memcpy(m->key, key, sizeof(m->key));
	m->flags = flags;
	m->rev = rev;
}

size_t kwraw_mpa_encode(const struct kwraw_mpa *m, uint8_t *buf)
{
	size_t pd = m->pd_len < sizeof(m->pd) ? m->pd_len : sizeof(m->pd);

	memcpy(buf, m->key, sizeof(m->key));
	buf[16] = m->flags;
	buf[17] = m->rev;
	buf[18] = m->pd_len >> 8;
	buf[19] = m->pd_len & 0xff;
	memcpy(buf + KWRAW_MPA_HDR, m->pd, pd);
	return KWRAW_MPA_HDR + pd;
}

bool kwraw_mpa_recv(struct kwraw *c, const char *key, struct kwraw_mpa *m, int timeout_ms)
{
	uint8_t buf[KWRAW_MPA_HDR];

	memset(m, 0, sizeof(*m));
	if (kwraw_recv(c, buf, sizeof(buf), timeout_ms) != sizeof(buf))
		return false;
	memcpy(m->key, buf, sizeof(m->key));
	m->flags = buf[16];
	m->rev = buf[17];
	m->pd_len = buf[18] << 8 | buf[19];
	if (m->pd_len > sizeof(m->pd) || memcmp(m->key, key, sizeof(m->key)))
		return false;
	return kwraw_recv(c, m->pd, m->pd_len, timeout_ms) == m->pd_len;
}

void kwraw_full_operation(struct kwraw *c, const struct kwraw_mpa *ours,
			  const struct kwraw_mpa *theirs)
{
	c->crc = (ours->flags | theirs->flags) & KWRAW_MPA_C;
	c->tx = (struct kwraw_half){ .markers = theirs->flags & KWRAW_MPA_M };
	c->rx = (struct kwraw_half){ .markers = ours->flags & KWRAW_MPA_M };
}

/* -------------------------------------------------------------------- FPDUs */

static unsigned int pad_of(unsigned int ulpdu)
{
	return -(2 + ulpdu) & 3;
}

/**
 * struct writer - an FPDU in the making
 * @half: its stream
 * @start: stream position of ULPDU_Length; a marker before it points at nothing
 * @buf: the wire octets
 * @len: how many
 * @skew: added to every marker's pointer
 * @rsvd: a marker's reserved half
 */
struct writer {
	struct kwraw_half *half;
	uint32_t start;
	uint8_t *buf;
	size_t len;
	uint16_t skew, rsvd;
};

static void put_octet(struct writer *w, uint8_t octet)
{
	w->buf[w->len++] = octet;
	w->half->pos++;
}

static void put_marker(struct writer *w, bool inside)
{
	uint16_t ptr = inside ? w->half->pos - w->start : 0;

	ptr += w->skew;
	put_octet(w, w->rsvd >> 8);
	put_octet(w, w->rsvd & 0xff);
	put_octet(w, ptr >> 8);
	put_octet(w, ptr & 0xff);
}

static bool marker_due(const struct kwraw_half *half)
{
	return half->markers && half->pos % MARKER_EVERY == 0;
}

static void put_octets(struct writer *w, const uint8_t *p, size_t len)
{
	for (; len; len--) {
		if (marker_due(w->half))
			put_marker(w, true);
		put_octet(w, *p++);
	}
}

size_t kwraw_fpdu_encode(struct kwraw *c, const void *ulpdu, uint16_t len, unsigned int bad,
			 uint8_t *buf)
{
	struct writer w = { .half = &c->tx, .buf = buf, .skew = bad & KWRAW_BAD_MARKER ? 8 : 0 };
	uint16_t told = len + (bad & KWRAW_BAD_LENGTH ? 4 : 0);
	uint8_t head[2] = { told >> 8, told & 0xff }, pad[3] = { 0 }, trailer[4];
	uint32_t crc;
	int i;

	if (bad & KWRAW_ODD_MARKER) {
		w.rsvd = 0xdead;
		w.skew += 3;	/* the two low bits of a pointer count as zero */
	}
	if (bad & KWRAW_BAD_PAD)
		memset(pad, 0xa5, sizeof(pad));
	if (marker_due(w.half))
		put_marker(&w, false);
	w.start = w.half->pos;
	put_octets(&w, head, sizeof(head));
	put_octets(&w, ulpdu, len);
	put_octets(&w, pad, pad_of(len));
	/* A marker between pad and CRC is covered by the CRC. */
	if (marker_due(w.half))
		put_marker(&w, true);
	crc = kwraw_crc(0, buf, w.len);
	if (!c->crc)
		crc = 0;
	if (bad & KWRAW_BAD_CRC)
		crc ^= 0x00010000;
	for (i = 0; i < 4; i++)
		trailer[i] = crc >> (8 * i);
	for (i = 0; i < 4; i++)
		put_octet(&w, trailer[i]);
	return w.len;
}

int kwraw_send_fpdu(struct kwraw *c, const void *ulpdu, uint16_t len, unsigned int bad)
{
	static __thread uint8_t buf[KWRAW_FPDU_MAX];

	return kwraw_send(c, buf, kwraw_fpdu_encode(c, ulpdu, len, bad, buf));
}

/**
 * struct reader - an FPDU as it comes in
 * @start: stream position of ULPDU_Length, as far as it is known
 * @crc: of all octets so far
 * @bad_marker: one did not point at @start
 * @short_of: octets that did not come
 */
struct reader {
	struct kwraw *c;
	int timeout_ms;
	uint32_t start, crc;
	bool bad_marker, short_of;
};

static bool take(struct reader *r, uint8_t *to, size_t len)
{
	if (kwraw_recv(r->c, to, len, r->timeout_ms) != len) {
		r->short_of = true;
		return false;
	}
	r->crc = kwraw_crc(r->crc, to, len);
	r->c->rx.pos += len;
	return true;
}

static bool take_marker(struct reader *r, bool inside)
{
	uint32_t at = r->c->rx.pos;
	uint8_t m[4];

	if (!take(r, m, sizeof(m)))
		return false;
	if (m[0] || m[1] || (m[2] << 8 | m[3]) != (inside ? (int)(at - r->start) : 0))
		r->bad_marker = true;
	return true;
}

static bool take_octets(struct reader *r, uint8_t *to, size_t len)
{
	size_t part;

	while (len) {
		if (marker_due(&r->c->rx) && !take_marker(r, true))
			return false;
		part = r->c->rx.markers ? MARKER_EVERY - r->c->rx.pos % MARKER_EVERY : len;
		if (part > len)
			part = len;
		if (!take(r, to, part))
			return false;
		to += part;
		len -= part;
	}
	return true;
}

/* Everything after ULPDU_Length. */
static enum kwraw_got recv_rest(struct reader *r, uint8_t *buf, size_t len)
{
	uint8_t pad[3] = { 0 }, trailer[4];
	uint32_t crc;

	if (!take_octets(r, buf, len) || !take_octets(r, pad, pad_of(len)))
		return KWRAW_GOT_PART;
	if (marker_due(&r->c->rx) && !take_marker(r, true))
		return KWRAW_GOT_PART;
	crc = r->crc;
	if (!take(r, trailer, sizeof(trailer)))
		return KWRAW_GOT_PART;
	if (r->bad_marker)
		return KWRAW_GOT_BAD_MARKER;
	if (r->c->crc && crc != (trailer[0] | trailer[1] << 8 | trailer[2] << 16 |
				 (uint32_t)trailer[3] << 24))
		return KWRAW_GOT_BAD_CRC;
	return pad[0] | pad[1] | pad[2] ? KWRAW_GOT_BAD_PAD : KWRAW_GOT_FPDU;
}

enum kwraw_got kwraw_recv_fpdu(struct kwraw *c, uint8_t *buf, size_t *len, int timeout_ms)
{
	struct reader r = { .c = c, .timeout_ms = timeout_ms };
	uint8_t head[2];

	*len = 0;
	if (marker_due(&c->rx) && !take_marker(&r, false))
		return KWRAW_GOT_NOTHING;
	r.start = c->rx.pos;
	if (!take(&r, head, sizeof(head)))
		return KWRAW_GOT_NOTHING;
	*len = head[0] << 8 | head[1];
	return recv_rest(&r, buf, *len);
}

const char *kwraw_got_name(enum kwraw_got got)
{
	static const char *const names[] = {
		"an FPDU", "nothing", "part of an FPDU", "an FPDU with a wrong CRC",
		"an FPDU with a wrong marker", "an FPDU with a non-zero pad",
	};

	return names[got];
}
