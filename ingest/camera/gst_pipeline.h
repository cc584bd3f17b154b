#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>

typedef struct {
	GstElement *pipeline;
	GstElement *sink;
	GstSample *sample; // the last that was pulled; owned
	GstVideoFrame picture; // of it, mapped
	gboolean mapped;
} driftscope_gst;

enum { DRIFTSCOPE_GST_FRAME, DRIFTSCOPE_GST_NOTHING, DRIFTSCOPE_GST_ENDED, DRIFTSCOPE_GST_FAILED };

// open parses the description and starts it. An error is its text, to be freed with g_free.
char *driftscope_gst_open(driftscope_gst *g, const char *description);

// pull waits for a frame, at most timeout nanoseconds, and maps it in place of the one before. text is set where it fails.
int driftscope_gst_pull(driftscope_gst *g, guint64 timeout, char **text);

// close stops the pipeline and frees everything.
void driftscope_gst_close(driftscope_gst *g);

// has says whether an element is installed.
gboolean driftscope_gst_has(const char *element);
