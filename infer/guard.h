/* OpenCV's DNN module behind try and catch: an exception that crossed into Go would end the process. */
#ifndef DRIFTSCOPE_INFER_GUARD_H
#define DRIFTSCOPE_INFER_GUARD_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A network with one input, perhaps a second of one value, and its outputs, all float32. Not safe for concurrent use. */
typedef struct ds_net ds_net;

/* Reads an ONNX file and runs it once on zeros of the given shape. scalar names its second input, 1 x 1, NULL is none. outputs names what to read; where the network has none of
   these but a single output, that one is taken. Returns NULL and a message to be freed on failure. */
ds_net* ds_net_open(const void* onnx, size_t length, const int* shape, int rank, const char* scalar,
                    const char* const* outputs, int count, char** error);

float* ds_net_input(ds_net* net); /* of the given shape, valid until ds_net_close */
float* ds_net_scalar(ds_net* net); /* likewise; NULL where there is none */
int ds_net_outputs(ds_net* net);
float* ds_net_output(ds_net* net, int i, size_t* length); /* likewise; rewritten by ds_net_forward */

/* Runs the input through the network. Returns NULL, or a message to be freed. */
char* ds_net_forward(ds_net* net);
void ds_net_close(ds_net* net);

void ds_threads(int n); /* how many threads OpenCV takes for one call, in the whole process */

#ifdef __cplusplus
}
#endif
#endif
