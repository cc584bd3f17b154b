#include <libavcodec/avcodec.h>

typedef struct {
	AVCodecContext *context;
	AVFrame *frame;
	AVPacket *packet;
} driftscope_encoder;

// open makes libx264 or libx265 ready for grey pictures, a key frame every gop; NULL, or what is wrong.
const char *driftscope_encoder_open(driftscope_encoder *e, int h265, int width, int height, int gop, int reordered);

// send gives a picture of width*height grey values, or NULL at the end.
int driftscope_encoder_send(driftscope_encoder *e, const uint8_t *grey, int64_t number);

// receive puts the next access unit into packet: 1, or 0 where there is none yet.
int driftscope_encoder_receive(driftscope_encoder *e);

void driftscope_encoder_close(driftscope_encoder *e);
