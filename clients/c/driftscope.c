/* driftscope.h over a socket: the text protocol of NATS, https://docs.nats.io/reference/reference-protocols/nats-protocol */
#define _POSIX_C_SOURCE 200809L
#include "driftscope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32) /* link with ws2_32 */
#include <winsock2.h>
#include <ws2tcpip.h>
#define poll WSAPoll
#define close_socket closesocket
typedef SOCKET socket_t;
#define NO_SOCKET INVALID_SOCKET
#else
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#define close_socket close
typedef int socket_t;
#define NO_SOCKET (-1)
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

enum {
	HEADER_ROOM = 1 << 10, /* kept free in every message for its headers, which count towards max_payload */
	MAX_CHUNKS = 4096,
	MAX_SIDE = 16384,
	MAX_FRAME = 64 << 20,     /* bytes of pixels */
	LONGEST_LINE = 1 << 20,   /* bytes of what the server says between messages */
	LARGEST_INBOX = 64 << 20, /* bytes of messages that wait */
	GREETING_MS = 5000
};

struct message {
	struct message *next;
	int size;
	char text[];
};

struct driftscope {
	socket_t socket;
	long max_payload;
	int subscriptions;
	int pongs; /* that are awaited */
	char session[40];
	char problem[256];
	char *in; /* bytes that came and are not taken */
	size_t have, room;
	struct message *first, **last; /* that wait for driftscope_next */
	size_t waiting;                /* their bytes */
};

static char unconnected[256] = "driftscope: no connection";

static int fail(driftscope *d, const char *what, const char *found)
{
	snprintf(d ? d->problem : unconnected, sizeof unconnected, "driftscope: %s%s%.120s", what, found ? ": " : "", found ? found : "");
	return -1;
}

static int send_all(driftscope *d, const void *data, size_t size)
{
	const char *p = data;
	while (size > 0) {
		long n = send(d->socket, p, size > 1 << 20 ? 1 << 20 : size, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(d, "the server is gone: connect again", NULL);
		p += n;
		size -= (size_t)n;
	}
	return 0;
}

static int keep(driftscope *d, const char *text, size_t size)
{
	struct message *m;
	if (d->waiting + size > LARGEST_INBOX)
		return fail(d, "64 MiB of messages wait: call driftscope_next more often", NULL);
	if (!(m = malloc(sizeof *m + size)))
		return fail(d, "out of memory", NULL);
	m->next = NULL;
	m->size = (int)size;
	memcpy(m->text, text, size);
	*d->last = m;
	d->last = &m->next;
	d->waiting += size;
	return 0;
}

/* Takes the first item of d->in, a line and for messages the bytes behind it. 0 where it is not whole. */
static int take(driftscope *d)
{
	long numbers[2] = {0, 0}; /* the last two words, where they are numbers */
	size_t line, used;
	char *end = d->have ? memchr(d->in, '\n', d->have) : NULL, *word, *rest;
	char copy[1024];
	if (!end)
		return d->have > LONGEST_LINE ? fail(d, "the server's line has no end: is it a NATS server?", NULL) : 0;
	line = used = (size_t)(end - d->in) + 1;
	snprintf(copy, sizeof copy, "%.*s", (int)(line < sizeof copy ? line : sizeof copy - 1), d->in);
	if (!strncmp(copy, "MSG ", 4) || !strncmp(copy, "HMSG ", 5)) {
		for (word = copy; *word; word += strcspn(word, " ")) {
			word += strspn(word, " ");
			numbers[0] = numbers[1];
			numbers[1] = strtol(word, NULL, 10);
		}
		if (d->in[0] == 'M')
			numbers[0] = 0; /* no headers */
		if (line >= sizeof copy || numbers[0] < 0 || numbers[1] < numbers[0] || numbers[1] > LARGEST_INBOX)
			return fail(d, "a message without a size: is it a NATS server?", NULL);
		used += (size_t)numbers[1] + 2;
		if (d->have < used)
			return 0;
		if (keep(d, d->in + line + numbers[0], (size_t)(numbers[1] - numbers[0])) < 0)
			return -1;
	} else if (!strncmp(copy, "PING", 4)) {
		if (send_all(d, "PONG\r\n", 6) < 0)
			return -1;
	} else if (!strncmp(copy, "PONG", 4)) {
		d->pongs--;
	} else if (!strncmp(copy, "-ERR", 4)) {
		memmove(d->in, d->in + used, d->have -= used);
		return fail(d, "the server says", copy + 5);
	} else if (!strncmp(copy, "INFO ", 5)) {
		d->in[line - 1] = 0;
		rest = strstr(d->in, "\"max_payload\":");
		d->max_payload = rest ? strtol(rest + 14, NULL, 10) : d->max_payload;
	}
	memmove(d->in, d->in + used, d->have -= used);
	return 1;
}

/* Waits for something of the server's and takes it. 0 where nothing came in time. */
static int pump(driftscope *d, int timeout_ms)
{
	struct pollfd p = {d->socket, POLLIN, 0};
	int taken = take(d);
	long n;
	if (taken)
		return taken;
	if (poll(&p, 1, timeout_ms) <= 0)
		return 0;
	if (d->room - d->have < 65536) {
		char *larger = realloc(d->in, d->room * 2 + 65536);
		if (!larger)
			return fail(d, "out of memory", NULL);
		d->in = larger;
		d->room = d->room * 2 + 65536;
	}
	n = recv(d->socket, d->in + d->have, d->room - d->have, 0);
	if (n <= 0)
		return fail(d, "the server is gone: connect again", NULL);
	d->have += (size_t)n;
	return (taken = take(d)) ? taken : 1;
}

int64_t driftscope_now(void)
{
#if defined(_WIN32)
	FILETIME t; /* of 100 ns since 1601 */
	GetSystemTimeAsFileTime(&t);
	return (((int64_t)t.dwHighDateTime << 32 | t.dwLowDateTime) - 116444736000000000LL) * 100;
#else
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
#endif
}

static int64_t now_ms(void)
{
	return driftscope_now() / 1000000;
}

int driftscope_flush(driftscope *d, int timeout_ms)
{
	int64_t end = now_ms() + timeout_ms, left;
	if (send_all(d, "PING\r\n", 6) < 0)
		return -1;
	for (d->pongs++; d->pongs > 0;) {
		if ((left = end - now_ms()) < 0)
			return fail(d, "the server did not answer in time", NULL);
		if (pump(d, (int)left) < 0)
			return -1;
	}
	return 0;
}

driftscope *driftscope_connect(const char *host, const char *port)
{
	static const char hello[] = "CONNECT {\"verbose\":false,\"headers\":true,\"name\":\"driftscope c\"}\r\n";
	struct addrinfo hints = {0}, *found = NULL, *a;
	driftscope *d = calloc(1, sizeof *d);
	int one = 1;
#if defined(_WIN32)
	WSADATA data;
	WSAStartup(MAKEWORD(2, 2), &data);
#endif
	if (!d) {
		fail(NULL, "out of memory", NULL);
		return NULL;
	}
	d->last = &d->first;
	d->socket = NO_SOCKET;
	snprintf(d->session, sizeof d->session, "c-%llx-%p", (unsigned long long)now_ms(), (void *)d);
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(host, port, &hints, &found))
		found = NULL;
	for (a = found; a && d->socket == NO_SOCKET; a = a->ai_next) {
		d->socket = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
		if (d->socket != NO_SOCKET && connect(d->socket, a->ai_addr, a->ai_addrlen)) {
			close_socket(d->socket);
			d->socket = NO_SOCKET;
		}
	}
	if (found)
		freeaddrinfo(found);
	if (d->socket == NO_SOCKET) {
		fail(NULL, "no NATS server answers: start it, or driftscope run", host);
	} else {
		setsockopt(d->socket, IPPROTO_TCP, TCP_NODELAY, (const char *)&one, sizeof one);
		if (!send_all(d, hello, sizeof hello - 1) && !driftscope_flush(d, GREETING_MS) && d->max_payload > HEADER_ROOM)
			return d;
		fail(NULL, "this server cannot be used", d->problem);
	}
	driftscope_close(d);
	return NULL;
}

int driftscope_frame(driftscope *d, const char *subject, const void *pixels, int width, int height, int bits, uint64_t seq, int64_t time_ns)
{
	const char *type = bits == 8 ? "uint8" : bits == 16 ? "uint16" : bits == 32 ? "float32" : NULL;
	long each = d->max_payload - HEADER_ROOM, size, chunks, k, part;
	char head[HEADER_ROOM], line[256];
	int taken, length;
	if (!type || width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE || (long long)width * height * (bits / 8) > MAX_FRAME)
		return fail(d, "a picture of 1 to 16384 pixels a side, 8, 16 or 32 bits and at most 64 MiB expected", NULL);
	if (strlen(subject) > 128 || strpbrk(subject, " *>\t\r\n") || !*subject)
		return fail(d, "a subject of words with dots between expected, such as camera.bead", subject);
	while ((taken = pump(d, 0)) > 0) /* the server asks whether somebody is there */
		;
	if (taken < 0)
		return -1;
	size = (long)width * height * (bits / 8);
	if ((chunks = (size + each - 1) / each) > MAX_CHUNKS)
		return fail(d, "the frame takes more than 4096 messages: raise the server's max_payload", NULL);
	for (k = 0; k < chunks; k++) {
		part = size - k * each < each ? size - k * each : each;
		length = snprintf(head, sizeof head,
			"NATS/1.0\r\nDriftscope-Session: %s\r\nDriftscope-Seq: %llu\r\nDriftscope-Time-Ns: %lld\r\nDriftscope-Width: %d\r\nDriftscope-Height: %d\r\n"
			"Driftscope-Pixel-Type: %s\r\nDriftscope-Chunk: %ld\r\nDriftscope-Chunks: %ld\r\n\r\n",
			d->session, (unsigned long long)seq, (long long)time_ns, width, height, type, k, chunks);
		snprintf(line, sizeof line, "HPUB %s %d %ld\r\n", subject, length, length + part);
		if (send_all(d, line, strlen(line)) < 0 || send_all(d, head, (size_t)length) < 0 ||
			send_all(d, (const char *)pixels + k * each, (size_t)part) < 0 || send_all(d, "\r\n", 2) < 0)
			return -1;
	}
	return 0;
}

int driftscope_subscribe(driftscope *d, const char *subject)
{
	char line[256];
	if (strlen(subject) > 200 || strpbrk(subject, " \t\r\n") || !*subject)
		return fail(d, "a subject expected, such as driftscope.local.camera-bead.latent", subject);
	snprintf(line, sizeof line, "SUB %s %d\r\n", subject, ++d->subscriptions);
	return send_all(d, line, strlen(line)) < 0 ? -1 : driftscope_flush(d, GREETING_MS);
}

int driftscope_next(driftscope *d, char *text, int size, int timeout_ms)
{
	int64_t end = now_ms() + timeout_ms, left;
	struct message *m;
	int length;
	while (!d->first) {
		left = end - now_ms();
		if (pump(d, left > 0 ? (int)left : 0) < 0)
			return -1;
		if (!d->first && now_ms() >= end)
			return 0;
	}
	m = d->first;
	if (!(d->first = m->next))
		d->last = &d->first;
	d->waiting -= (size_t)m->size;
	if ((length = m->size) < size) {
		memcpy(text, m->text, (size_t)length);
		text[length] = 0;
	} else {
		length = fail(d, "a message was larger than the room for it: give more", NULL);
	}
	free(m);
	return length;
}

const char *driftscope_problem(const driftscope *d)
{
	return d ? d->problem : unconnected;
}

void driftscope_close(driftscope *d)
{
	struct message *m, *next;
	if (!d)
		return;
	for (m = d->first; m; m = next) {
		next = m->next;
		free(m);
	}
	if (d->socket != NO_SOCKET)
		close_socket(d->socket);
	free(d->in);
	free(d);
}
