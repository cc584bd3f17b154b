// Package camera reads cameras: V4L2 devices through OpenCV (camera.go), network cameras (url.go) over RTSP (rtsp.go) and
// HTTP (http.go), and GenICam cameras and pipelines through GStreamer (genicam.go, gstreamer.go). Cameras lists the connected
// ones (cameras.go). A source can hang or abort in a driver, so ingest runs each source in a child process and opens devices
// only there.
//
// A frame carries the camera's own time. cameraClock ties it to the host's clock at the first frame, or to the wall clock of a network camera (walltime.go).
// cadence counts missing frames from gaps in the time stamps (clock.go). Some options become part of a pipeline's description, so patterns restrict their
// characters.
//
// gst_pipeline.go reads raw video from GStreamer's pipelines. OpenCV can, too, but it returns the time of the pipeline's newest frame instead
// of the returned frame's, gives no reason if a pipeline does not start, and waits without limit.
package camera
