package camera

import (
	"testing"
	"time"

	"driftscope/ingest/rtsp"
)

// TestRefresh: pictures are whole once a second refresh has ended, or from a key frame on.
func TestRefresh(t *testing.T) {
	part, key := rtsp.Unit{Key: true, Refresh: 2}, rtsp.Unit{Key: true}
	for name, c := range map[string]struct {
		units []rtsp.Unit
		first int // index of the first whole unit; -1 if none is whole
	}{
		"a key frame":          {[]rtsp.Unit{key, {}, part, {}}, 0},
		"one refresh":          {[]rtsp.Unit{part, {}, {}, {}, {}, {}}, -1},
		"a second one":         {[]rtsp.Unit{part, {}, {}, {}, part, {}, {}, {}, part, {}}, 6},
		"one within another":   {[]rtsp.Unit{part, {}, part, part, {}, {}}, 4},
		"then a key frame":     {[]rtsp.Unit{part, {}, {}, key, {}}, 3},
		"in the second, a key": {[]rtsp.Unit{part, {}, part, key, {}}, 3},
	} {
		var r refresh
		for i, u := range c.units {
			u.Stamp = time.Duration(i)
			if i == 0 {
				r = begun(u)
			} else {
				r.next(u)
			}
			if want := c.first >= 0 && i >= c.first; r.whole(u.Stamp) != want {
				t.Errorf("%s: picture %d is whole: %v", name, i, !want)
			}
		}
		if c.first > 0 && r.whole(time.Duration(c.first-1)) {
			t.Errorf("%s: an earlier picture that comes late is whole", name)
		}
	}
}
