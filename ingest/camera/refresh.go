package camera

import (
	"math"
	"time"

	"driftscope/ingest/rtsp"
)

// refresh finds the first whole picture if decoding began with an intra refresh of H.264, which renews a picture part by part over several frames. The first
// refresh does not count: FFmpeg 5.1 reports torn pictures as recovered after one in eight refreshes of x264, depending on frame_num. Pictures after the second
// refresh are whole.
type refresh struct {
	partial bool          // the second refresh has not ended
	left    int           // number of units until the refresh ends; 0 if it has not begun
	since   time.Duration // stamp of the first whole picture, once partial is false
}

// begun returns the state of a stream whose decoding begins with unit u.
func begun(u rtsp.Unit) refresh { return refresh{partial: u.Refresh > 0, since: math.MinInt64} }

// next updates the state with the following unit.
func (r *refresh) next(u rtsp.Unit) {
	switch {
	case !r.partial:
	case u.Key && u.Refresh == 0 || r.left == 1:
		*r = refresh{since: u.Stamp}
	case r.left > 0:
		r.left--
	case u.Key:
		r.left = u.Refresh
	}
}

// whole reports whether a picture has all its parts.
func (r *refresh) whole(stamp time.Duration) bool { return !r.partial && stamp >= r.since }
