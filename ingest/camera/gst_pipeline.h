#include <gst/app/gstappsink.h>
#include <gst/gst.h>
#include <gst/video/video.h>

typedef struct {
	GstElement *pipeline;
	GstElement *sink;
	GstSample *sample; // the sample pulled last; owned
	GstVideoFrame picture; // mapped frame of the sample
	gboolean mapped;
} driftscope_gst;

enum { DRIFTSCOPE_GST_FRAME, DRIFTSCOPE_GST_NOTHING, DRIFTSCOPE_GST_ENDED, DRIFTSCOPE_GST_FAILED };

// open parses the description and starts the pipeline. It returns NULL, or the text of an error, which the caller frees with g_free.
char *driftscope_gst_open(driftscope_gst *g, const char *description);

// pull waits at most timeout nanoseconds for a frame and maps it in place of the previous one. If it fails it sets text.
int driftscope_gst_pull(driftscope_gst *g, guint64 timeout, char **text);

// close stops the pipeline and frees everything.
void driftscope_gst_close(driftscope_gst *g);

// has reports whether an element is installed.
gboolean driftscope_gst_has(const char *element);
