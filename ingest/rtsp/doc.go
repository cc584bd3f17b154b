// Package rtsp receives the stream of a network camera over RTSP and RTP: access units of H.264 and H.265, and MJPEG
// pictures, each with its time stamp and the known losses before it. It decodes nothing and is pure Go.
//
// The package returns only whole units. RTP numbers its packets, so the package detects a unit with a missing packet (units.go; nal.go splits the packets, RFC
// 6184 and RFC 7798). A decoder would not notice: it fills the missing end of a picture with the end of another picture. Sender reports (RFC 3550) tie the
// stamps to the camera's wall clock (report.go).
package rtsp
