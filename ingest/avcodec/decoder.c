#include "decoder.h"

#include <libavutil/pixdesc.h>
#include <string.h>

int driftscope_decoder_open(driftscope_decoder *d, int h265, int64_t pixels) {
	const AVCodec *codec = avcodec_find_decoder(h265 ? AV_CODEC_ID_HEVC : AV_CODEC_ID_H264);
	if (codec == NULL) {
		return AVERROR_DECODER_NOT_FOUND;
	}
	d->context = avcodec_alloc_context3(codec);
	d->packet = av_packet_alloc();
	d->frame = av_frame_alloc();
	if (d->context == NULL || d->packet == NULL || d->frame == NULL) {
		return AVERROR(ENOMEM);
	}
	d->context->max_pixels = pixels;
	// Threads that each decode a slice of the same frame cause no delay. Threads that each decode a different frame would delay frames.
	d->context->thread_type = FF_THREAD_SLICE;
	d->context->thread_count = 0;
	d->context->pkt_timebase = (AVRational){1, 1000000000};
	return avcodec_open2(d->context, codec, NULL);
}

int driftscope_decoder_send(driftscope_decoder *d, const uint8_t *data, int size, int64_t stamp) {
	if (size == 0) {
		return avcodec_send_packet(d->context, NULL);
	}
	int error = av_new_packet(d->packet, size); // adds the padding that FFmpeg reads beyond the end
	if (error < 0) {
		return error;
	}
	memcpy(d->packet->data, data, size);
	d->packet->pts = stamp;
	error = avcodec_send_packet(d->context, d->packet);
	av_packet_unref(d->packet);
	return error;
}

int driftscope_decoder_receive(driftscope_decoder *d) {
	int error = avcodec_receive_frame(d->context, d->frame);
	if (error == AVERROR(EAGAIN) || error == AVERROR_EOF) {
		return DRIFTSCOPE_WANTS_MORE;
	}
	return error < 0 ? error : DRIFTSCOPE_DECODED;
}

int driftscope_decoder_whole(const driftscope_decoder *d) {
	return d->frame->decode_error_flags == 0 && (d->frame->flags & AV_FRAME_FLAG_CORRUPT) == 0;
}

int driftscope_decoder_bits(const driftscope_decoder *d) {
	const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(d->frame->format);
	return format != NULL ? format->comp[0].depth : 0;
}

int driftscope_decoder_bgr(driftscope_decoder *d, uint8_t *to) {
	AVFrame *f = d->frame;
	// The same conversion as OpenCV's, which reads videos.
	d->scale = sws_getCachedContext(d->scale, f->width, f->height, f->format, f->width, f->height, AV_PIX_FMT_BGR24, SWS_BICUBIC, NULL, NULL, NULL);
	if (d->scale == NULL) {
		return AVERROR(EINVAL);
	}
	uint8_t *planes[] = {to, NULL, NULL, NULL};
	int rows[] = {3 * f->width, 0, 0, 0};
	int done = sws_scale(d->scale, (const uint8_t *const *)f->data, f->linesize, 0, f->height, planes, rows);
	return done == f->height ? 0 : AVERROR_EXTERNAL;
}

void driftscope_decoder_flush(driftscope_decoder *d) { avcodec_flush_buffers(d->context); }

void driftscope_decoder_close(driftscope_decoder *d) {
	avcodec_free_context(&d->context);
	av_packet_free(&d->packet);
	av_frame_free(&d->frame);
	sws_freeContext(d->scale);
	d->scale = NULL;
}
