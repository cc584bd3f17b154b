package camera

import (
	"math"
	"time"

	"driftscope/ingest/rtsp"
)

// refresh says which pictures are whole where the one that decoding began with was refreshed in parts (H.264's intra refresh). A first refresh counts for nothing: FFmpeg
// (5.1) gives torn pictures as recovered after one of eight of x264's, one whose frame_num is at a certain place. What comes by the next one is whole.
type refresh struct {
	partial bool          // the next refresh has not ended,
	left    int           // but lacks so many units, where it has begun; 0: it has not
	since   time.Duration // else: the stamp of the first whole picture
}

// begun is of a stream that decoding begins with u.
func begun(u rtsp.Unit) refresh { return refresh{partial: u.Refresh > 0, since: math.MinInt64} }

// next takes the unit that follows.
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

// whole says whether a picture has all its parts.
func (r *refresh) whole(stamp time.Duration) bool { return !r.partial && stamp >= r.since }
