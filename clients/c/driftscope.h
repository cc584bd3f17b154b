/* Frames to Driftscope over NATS, and its messages back, in plain C: for C, LabVIEW and MATLAB. docs/howto/labview-matlab.md says how.
 * A connection belongs to one thread. What returns int returns 0 or more where it succeeds and -1 where it fails; driftscope_problem says why.
 * There is no TLS and no login: connect to a server on this machine or in a network that you trust. */
#ifndef DRIFTSCOPE_H
#define DRIFTSCOPE_H

#include <stdint.h>

#if defined(_WIN32)
#define DRIFTSCOPE_API __declspec(dllexport)
#else
#define DRIFTSCOPE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct driftscope driftscope;

/* Connects to a NATS server, such as "127.0.0.1" and "4222". NULL where none answers. */
DRIFTSCOPE_API driftscope *driftscope_connect(const char *host, const char *port);

/* Publishes a picture on subject: rows from the top, without gaps; bits a pixel are 8, 16, or 32 for float. seq is the camera's count, lost frames
 * included; time_ns is when it was taken, nanoseconds since 1970. Waits where the network is slow. */
DRIFTSCOPE_API int driftscope_frame(driftscope *, const char *subject, const void *pixels, int width, int height, int bits, uint64_t seq, int64_t time_ns);

/* Has driftscope_next return what comes on subject, such as "driftscope.local.camera-bead.latent"; * stands for any word. */
DRIFTSCOPE_API int driftscope_subscribe(driftscope *, const char *subject);

/* Waits at most timeout_ms for the next message, writes its JSON into text, which holds size bytes, and a 0 behind it, and returns its length;
 * 0 where none came in time. A message that text has no room for is passed over with -1. */
DRIFTSCOPE_API int driftscope_next(driftscope *, char *text, int size, int timeout_ms);

/* The computer's clock: nanoseconds since 1970. */
DRIFTSCOPE_API int64_t driftscope_now(void);

/* Returns once the server has all that was published. */
DRIFTSCOPE_API int driftscope_flush(driftscope *, int timeout_ms);

/* The last failure, of a connection that was not made where it is NULL. */
DRIFTSCOPE_API const char *driftscope_problem(const driftscope *);

DRIFTSCOPE_API void driftscope_close(driftscope *);

#ifdef __cplusplus
}
#endif
#endif
