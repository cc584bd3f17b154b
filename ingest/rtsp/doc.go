// Package rtsp receives the stream of a network camera over RTSP and RTP: access units of H.264 and H.265, and MJPEG
// pictures, each with its time stamp and the known losses before it. It decodes nothing and is pure Go.
//
// A unit is returned whole or not at all. RTP numbers its packets, so the package detects a unit with a missing packet
// (units.go; nal.go splits the packets, RFC 6184 and RFC 7798). Decoders do not: they complete a picture whose end is missing
// with the end of another one. Sender reports (RFC 3550) tie the stamps to the camera's wall clock (report.go).
package rtsp
