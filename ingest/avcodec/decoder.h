#include <libavcodec/avcodec.h>
#include <libswscale/swscale.h>

typedef struct {
	AVCodecContext *context;
	AVPacket *packet;
	AVFrame *frame; // the last that was received
	struct SwsContext *scale;
} driftscope_decoder;

enum { DRIFTSCOPE_DECODED = 1, DRIFTSCOPE_WANTS_MORE = 0 };

// open makes a decoder of pictures of at most so many pixels; negative: FFmpeg's error.
int driftscope_decoder_open(driftscope_decoder *d, int h265, int64_t pixels);

// send gives an access unit, or with size 0 says that no more come until flush. data is copied.
int driftscope_decoder_send(driftscope_decoder *d, const uint8_t *data, int size, int64_t stamp);

// receive takes the next picture: DRIFTSCOPE_DECODED, DRIFTSCOPE_WANTS_MORE, or FFmpeg's error.
int driftscope_decoder_receive(driftscope_decoder *d);

// whole says that the last picture was decoded without an error, and of pictures that are there.
int driftscope_decoder_whole(const driftscope_decoder *d);

// bits of a sample of the last picture, 0 where they are not known.
int driftscope_decoder_bits(const driftscope_decoder *d);

// bgr writes the last picture's pixels, 3 bytes each, its rows without gaps.
int driftscope_decoder_bgr(driftscope_decoder *d, uint8_t *to);

// flush forgets all pictures.
void driftscope_decoder_flush(driftscope_decoder *d);

void driftscope_decoder_close(driftscope_decoder *d);
