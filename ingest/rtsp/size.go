package rtsp

import (
	"fmt"
	"math"
	"strings"
)

// size of pictures, zero where it is not known.
type size struct{ width, height int }

// sizeTold is what a session's description (SDP) says of the pictures of the medium with this control attribute: by x-dimensions, as Axis and GStreamer write it, or by
// framesize (RFC 6064).
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

// parsedSize holds a size to what a JPEG can have.
func parsedSize(text, form string) (s size) {
	if _, err := fmt.Sscanf(text, form, &s.width, &s.height); err != nil || min(s.width, s.height) < 1 || max(s.width, s.height) > math.MaxUint16 {
		return size{}
	}
	return s
}
