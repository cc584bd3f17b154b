// Package camera reads cameras: V4L2 devices and addresses through OpenCV (camera.go, url.go), GenICam cameras and pipelines through GStreamer
// (genicam.go, gstreamer.go), and lists those that are there (cameras.go). Its sources may hang or abort in a driver: ingest runs each in a
// child process, and only there do they open anything.
//
// A frame carries the camera's own time. cameraClock ties it to the host's clock at the first frame; cadence counts the frames that are missing
// by the gaps in the timestamps (clock.go). Options become part of a pipeline's description: what may stand there is held to patterns.
package camera
