#include "gst_pipeline.h"

#include <string.h>

// trouble removes the first error from the pipeline's bus and returns its text, or NULL. The last line of GLib's detail describes the failed call.
static char *trouble(driftscope_gst *g) {
	GstBus *bus = gst_element_get_bus(g->pipeline);
	GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
	char *text = NULL;
	if (message != NULL) {
		GError *error = NULL;
		char *detail = NULL;
		gst_message_parse_error(message, &error, &detail);
		char *last = detail != NULL ? strrchr(detail, '\n') : NULL;
		text = g_strconcat(error->message, last, NULL);
		g_error_free(error);
		g_free(detail);
		gst_message_unref(message);
	}
	gst_object_unref(bus);
	return text;
}

// appsink returns the first appsink of the pipeline, which the caller owns, or NULL.
static GstElement *appsink(GstElement *pipeline) {
	GstIterator *sinks = gst_bin_iterate_all_by_element_factory_name(GST_BIN(pipeline), "appsink");
	GValue found = G_VALUE_INIT;
	GstElement *sink = NULL;
	if (gst_iterator_next(sinks, &found) == GST_ITERATOR_OK) {
		sink = g_value_dup_object(&found);
		g_value_unset(&found);
	}
	gst_iterator_free(sinks);
	return sink;
}

char *driftscope_gst_open(driftscope_gst *g, const char *description) {
	GError *error = NULL;
	if (!gst_init_check(NULL, NULL, &error)) {
		char *text = g_strdup(error != NULL ? error->message : "GStreamer does not start");
		g_clear_error(&error);
		return text;
	}
	// The flag makes elements that are not installed or cannot be linked an error here.
	g->pipeline = gst_parse_launch_full(description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
	if (g->pipeline != NULL && !GST_IS_PIPELINE(g->pipeline)) {
		GstElement *pipeline = gst_pipeline_new(NULL);
		gst_bin_add(GST_BIN(pipeline), g->pipeline);
		g->pipeline = pipeline;
	}
	if (error != NULL || g->pipeline == NULL) {
		char *text = g_strdup(error != NULL ? error->message : "no pipeline");
		g_clear_error(&error);
		return text;
	}
	g->sink = appsink(g->pipeline);
	if (g->sink == NULL) {
		return g_strdup("no appsink in the pipeline");
	}
	if (gst_element_set_state(g->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
		char *text = trouble(g);
		return text != NULL ? text : g_strdup("the pipeline does not start");
	}
	return NULL;
}

// forget unmaps and frees the last frame.
static void forget(driftscope_gst *g) {
	if (g->mapped) {
		gst_video_frame_unmap(&g->picture);
		g->mapped = FALSE;
	}
	if (g->sample != NULL) {
		gst_sample_unref(g->sample);
		g->sample = NULL;
	}
}

int driftscope_gst_pull(driftscope_gst *g, guint64 timeout, char **text) {
	forget(g);
	g->sample = gst_app_sink_try_pull_sample(GST_APP_SINK(g->sink), timeout);
	if (g->sample == NULL) {
		*text = trouble(g);
		if (*text != NULL) {
			return DRIFTSCOPE_GST_FAILED;
		}
		return gst_app_sink_is_eos(GST_APP_SINK(g->sink)) ? DRIFTSCOPE_GST_ENDED : DRIFTSCOPE_GST_NOTHING;
	}
	GstCaps *caps = gst_sample_get_caps(g->sample);
	GstBuffer *buffer = gst_sample_get_buffer(g->sample);
	GstVideoInfo info;
	if (caps == NULL || buffer == NULL || !gst_video_info_from_caps(&info, caps)) {
		*text = g_strdup("what comes is no raw video");
		return DRIFTSCOPE_GST_FAILED;
	}
	// The map checks that the buffer holds as many bytes as the caps claim.
	if (!gst_video_frame_map(&g->picture, &info, buffer, GST_MAP_READ)) {
		*text = g_strdup("a frame holds fewer bytes than its size needs");
		return DRIFTSCOPE_GST_FAILED;
	}
	g->mapped = TRUE;
	return DRIFTSCOPE_GST_FRAME;
}

void driftscope_gst_close(driftscope_gst *g) {
	forget(g);
	if (g->sink != NULL) {
		gst_object_unref(g->sink);
		g->sink = NULL;
	}
	if (g->pipeline != NULL) {
		gst_element_set_state(g->pipeline, GST_STATE_NULL);
		gst_object_unref(g->pipeline);
		g->pipeline = NULL;
	}
}

gboolean driftscope_gst_has(const char *element) {
	if (!gst_init_check(NULL, NULL, NULL)) {
		return FALSE;
	}
	GstElementFactory *factory = gst_element_factory_find(element);
	if (factory == NULL) {
		return FALSE;
	}
	gst_object_unref(factory);
	return TRUE;
}
