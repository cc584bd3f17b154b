package rtsp

import (
	"fmt"
	"math"
	"strings"
)

// size is the size of a picture; zero if unknown.
type size struct{ width, height int }

// sizeTold returns the picture size that a session description (SDP) gives for the medium with this control attribute:
// x-dimensions, as Axis and GStreamer write it, or framesize (RFC 6064).
func sizeTold(sdp []byte, control string) size {
	for _, medium := range strings.Split("\n"+strings.ReplaceAll(string(sdp), "\r", ""), "\nm=")[1:] {
		var told size
		ours := control == ""
		for line := range strings.SplitSeq(medium, "\n") {
			name, value, _ := strings.Cut(line, ":")
			switch name {
			case "a=control":
				ours = value == control
			case "a=x-dimensions":
				told = parsedSize(value, "%d,%d")
			case "a=framesize":
				_, value, _ = strings.Cut(value, " ")
				told = parsedSize(value, "%d-%d")
			}
		}
		if ours {
			return told
		}
	}
	return size{}
}

// parsedSize parses a size within the bounds of a JPEG.
func parsedSize(text, form string) (s size) {
	if _, err := fmt.Sscanf(text, form, &s.width, &s.height); err != nil || min(s.width, s.height) < 1 || max(s.width, s.height) > math.MaxUint16 {
		return size{}
	}
	return s
}
