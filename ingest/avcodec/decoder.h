#include <libavcodec/avcodec.h>
#include <libswscale/swscale.h>

typedef struct {
	AVCodecContext *context;
	AVPacket *packet;
	AVFrame *frame; // the frame received last
	struct SwsContext *scale;
} driftscope_decoder;

enum { DRIFTSCOPE_DECODED = 1, DRIFTSCOPE_WANTS_MORE = 0 };

// open makes a decoder for pictures of at most pixels pixels. A negative result is FFmpeg's error.
int driftscope_decoder_open(driftscope_decoder *d, int h265, int64_t pixels);

// send passes an access unit to the decoder. size 0 marks the end of the stream until flush. data is copied.
int driftscope_decoder_send(driftscope_decoder *d, const uint8_t *data, int size, int64_t stamp);

// receive gets the next picture. It returns DRIFTSCOPE_DECODED, DRIFTSCOPE_WANTS_MORE, or FFmpeg's error.
int driftscope_decoder_receive(driftscope_decoder *d);

// whole reports that the last picture was decoded without an error, and that the pictures it depends on exist.
int driftscope_decoder_whole(const driftscope_decoder *d);

// bits returns the bits per sample of the last picture, or 0 if unknown.
int driftscope_decoder_bits(const driftscope_decoder *d);

// bgr writes the last picture's pixels, 3 bytes each, without gaps between rows.
int driftscope_decoder_bgr(driftscope_decoder *d, uint8_t *to);

// flush drops all pictures.
void driftscope_decoder_flush(driftscope_decoder *d);

void driftscope_decoder_close(driftscope_decoder *d);
