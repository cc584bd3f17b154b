// Package camera reads cameras: V4L2 devices through OpenCV (camera.go), network cameras (url.go) over RTSP (rtsp.go) and HTTP (http.go, which asks the server by
// fetch.go and digest.go; mjpeg.go and parts.go read pictures one behind the other), GenICam cameras and pipelines through GStreamer (genicam.go,
// gstreamer.go), and lists those that are there (cameras.go). Its sources may hang or abort in a driver: ingest runs each in a
// child process, and only there do they open anything.
//
// A frame carries the camera's own time. cameraClock ties it to the host's clock at the first frame, or to the wall clock that a network camera reports
// (walltime.go); cadence counts the frames that are missing
// by the gaps in the timestamps (clock.go). Options become part of a pipeline's description: what may stand there is held to patterns.
package camera
