#include <libavcodec/avcodec.h>

typedef struct {
	AVCodecContext *context;
	AVFrame *frame;
	AVPacket *packet;
} driftscope_encoder;

// open prepares libx264 or libx265 for grey pictures, with a key frame every gop pictures. It returns NULL or the text of an error.
const char *driftscope_encoder_open(driftscope_encoder *e, int h265, int width, int height, int gop, int reordered);

// send passes a picture of width*height grey values to the encoder, or NULL at the end.
int driftscope_encoder_send(driftscope_encoder *e, const uint8_t *grey, int64_t number);

// receive puts the next access unit into packet and returns 1, or returns 0 if there is none yet.
int driftscope_encoder_receive(driftscope_encoder *e);

void driftscope_encoder_close(driftscope_encoder *e);
