// Package rtsp receives what a network camera films, over RTSP and RTP: access units of H.264 and H.265, and pictures of MJPEG, each with its time stamp, and
// with what is known to be missing before it. It decodes nothing and is pure Go.
//
// A unit is whole or is not given: RTP numbers its packets, so a unit of which one is missing is known (units.go, after nal.go took the packets apart, RFC 6184
// and RFC 7798). Decoders do not find it: of a picture whose end is missing they make one with the end of another. The camera's sender reports (RFC 3550)
// tie its stamps to its wall clock (report.go).
package rtsp
