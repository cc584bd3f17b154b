// The C face of the oneDNN trunk. No function throws; those that can fail return 0 for success and leave a text in trunk_error.
#ifndef DRIFTSCOPE_TRUNK_H
#define DRIFTSCOPE_TRUNK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// One block [Upsample] Conv [BatchNorm] [LeakyReLU | Sigmoid] [MaxPool].
typedef struct {
	int channels_in, channels_out, height, width; // of the block's input, before upsampling
	int kernel;
	int upsample, norm, leaky, squash, pool;      // flags
	int weight, bias, gamma, beta;                // offsets in theta
	int moments;                                  // offset of the means in the list of moments; the variances follow
} trunk_stage;

typedef struct trunk trunk;

// Returns NULL and writes a message when it fails.
trunk *trunk_new(const trunk_stage *stages, int count, int batch, char *message, size_t size);
void trunk_free(trunk *t);

void trunk_set_threads(trunk *t, int threads); // 0: as OpenMP would choose

int trunk_forward(trunk *t, float *y, const float *x, const float *theta, float *moments, int n);
int trunk_infer(trunk *t, float *y, const float *x, const float *theta, const float *moments, int n);
int trunk_backward(trunk *t, float *dx, float *dtheta, const float *dy, int n); // dx may be NULL

// The last failure's text, valid until the next call.
const char *trunk_error(const trunk *t);

#ifdef __cplusplus
}
#endif

#endif
