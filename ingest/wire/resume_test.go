package wire

import (
	"testing"
	"time"
)

// A stream that resumes after a frame follows the frame's publisher. The next frame is its first, and missing frames before it are counted. It follows another
// publisher only after a silence, as a new publisher.
func TestResume(t *testing.T) {
	at := time.Unix(100, 0)
	take := func(s *Stream, after time.Duration, session string, seq uint64) (*Frame, error) {
		h := header(seq)
		h.Session, h.Chunks, h.Trajectory = session, 1, 4
		return s.Take(at.Add(after), h.headers(), pixels(h))
	}
	behind := func(chunk int) (s *Stream, resumed bool) {
		h := header(6)
		h.Chunk, h.Chunks, h.Trajectory = chunk, 3, 4
		s = &Stream{}
		return s, s.Resume(at, h.headers())
	}
	for _, c := range []struct {
		name           string
		after          time.Duration
		session        string
		seq            uint64
		number, missed uint64
		trajectory     uint64
		renewed        bool
	}{
		{"the next", time.Millisecond, "a", 7, 0, 0, 4, false},
		{"two are missing", time.Millisecond, "a", 9, 2, 2, 4, false},
		{"another publisher", time.Second, "b", 0, 0, 0, 9, true}, // its trajectories begin after 4
	} {
		s, resumed := behind(2)
		if !resumed {
			t.Fatal("not resumed")
		}
		f, err := take(s, c.after, c.session, c.seq)
		if err != nil || f == nil || f.Number != c.number || f.Dropped != c.missed || f.Renewed != c.renewed || f.Trajectory != c.trajectory {
			t.Errorf("%s: %+v, %v", c.name, f, err)
		}
	}
	s, _ := behind(2)
	if _, err := take(s, time.Millisecond, "a", 6); err == nil || err.(*Lost).Cause != "late_frame" {
		t.Errorf("the frame of the place again: %v", err)
	}
	if _, err := take(s, 2*time.Millisecond, "b", 0); err == nil || err.(*Lost).Cause != "second_publisher" {
		t.Errorf("another one at once: %v", err)
	}
	if s, resumed := behind(1); resumed || s.session != "" {
		t.Error("resumed in the middle of a frame")
	}
	if (&Stream{}).Resume(at, nil) {
		t.Error("resumed behind nothing")
	}
}
