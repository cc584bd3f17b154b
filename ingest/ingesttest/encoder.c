#include "encoder.h"

#include <libavutil/opt.h>
#include <string.h>

const char *driftscope_encoder_open(driftscope_encoder *e, int h265, int width, int height, int gop, int reordered) {
	const AVCodec *codec = avcodec_find_encoder_by_name(h265 ? "libx265" : "libx264");
	if (codec == NULL) {
		return h265 ? "this FFmpeg has no libx265" : "this FFmpeg has no libx264";
	}
	AVCodecContext *c = e->context = avcodec_alloc_context3(codec);
	e->frame = av_frame_alloc();
	e->packet = av_packet_alloc();
	c->width = width;
	c->height = height;
	c->pix_fmt = AV_PIX_FMT_YUV420P;
	c->time_base = (AVRational){1, 25};
	c->gop_size = gop;
	c->max_b_frames = reordered ? 2 : 0;
	c->thread_count = 1;
	av_opt_set(c->priv_data, "preset", "ultrafast", 0);
	if (h265) {
		av_opt_set(c->priv_data, "x265-params", reordered ? "log-level=none:bframes=2:b-adapt=0:scenecut=0:open-gop=0" : "log-level=none:bframes=0:scenecut=0:open-gop=0", 0);
	} else {
		if (!reordered) {
			av_opt_set(c->priv_data, "tune", "zerolatency", 0);
		}
		av_opt_set(c->priv_data, "x264-params", "log=-1:b-adapt=0:scenecut=0", 0);
	}
	av_opt_set(c->priv_data, "crf", "18", 0);
	if (avcodec_open2(c, codec, NULL) < 0) {
		return "the encoder does not open";
	}
	e->frame->format = c->pix_fmt;
	e->frame->width = width;
	e->frame->height = height;
	return av_frame_get_buffer(e->frame, 0) < 0 ? "no memory" : NULL;
}

int driftscope_encoder_send(driftscope_encoder *e, const uint8_t *grey, int64_t number) {
	if (grey == NULL) {
		return avcodec_send_frame(e->context, NULL);
	}
	int error = av_frame_make_writable(e->frame);
	if (error < 0) {
		return error;
	}
	int width = e->context->width, height = e->context->height;
	for (int y = 0; y < height; y++) {
		memcpy(e->frame->data[0] + y * e->frame->linesize[0], grey + y * width, width);
	}
	for (int y = 0; y < (height + 1) / 2; y++) {
		memset(e->frame->data[1] + y * e->frame->linesize[1], 128, (width + 1) / 2);
		memset(e->frame->data[2] + y * e->frame->linesize[2], 128, (width + 1) / 2);
	}
	e->frame->pts = number;
	return avcodec_send_frame(e->context, e->frame);
}

int driftscope_encoder_receive(driftscope_encoder *e) {
	av_packet_unref(e->packet);
	return avcodec_receive_packet(e->context, e->packet) == 0;
}

void driftscope_encoder_close(driftscope_encoder *e) {
	avcodec_free_context(&e->context);
	av_frame_free(&e->frame);
	av_packet_free(&e->packet);
}
