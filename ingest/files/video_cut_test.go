//go:build cgo

package files

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"driftscope/ingest/follow"
	"driftscope/ingest/ingesttest"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
)

// TestCutTS: a transport stream whose writer stopped anywhere, even within a packet, gives no torn picture, whether followed or read afterwards. The missing
// picture gives a skip.
func TestCutTS(t *testing.T) {
	const (
		n    = 30
		cuts = 8
		// Because of reordering, some of the last pictures may be missing although later ones were written.
		reordered = 3
	)
	suite.Long(t)
	told := 0
	for name, code := range map[string]string{"MPEG-2": "mpg2", "H.264": "H264"} {
		data := ingesttest.TransportStream(t, code, n)
		for part := range cuts {
			cut := len(data) - part*len(data)/2/cuts
			if part%2 == 0 {
				cut -= cut % 188
			}
			path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.ts"), data[:cut])
			for how, s := range map[string]pipeline.Source{"finished": finishedVideo(t, path), "followed": followedVideo(t, path)} {
				if err := s.Open(t.Context()); err != nil {
					t.Fatal(err)
				}
				shown, skipped := shows(t, s)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				for i, got := range shown {
					if got < i || got != i && i < len(shown)-reordered {
						t.Errorf("%s, %s, %d of %d bytes: frame %d shows picture %d", name, how, cut, len(data), i, got)
					}
				}
				// A cut may be at the end of a picture.
				told += len(skipped)
				if cut == len(data) && (len(shown) != n || len(skipped) > 0) || len(shown) < n*cut/len(data)-6 || slices.ContainsFunc(skipped, func(c string) bool { return c != "truncated_video" }) {
					t.Errorf("%s, %s, %d of %d bytes: %d frames, skipped %v", name, how, cut, len(data), len(shown), skipped)
				}
			}
		}
	}
	if told < cuts {
		t.Errorf("of %d films %d were told to be cut", 4*(cuts-1), told)
	}
}

func finishedVideo(t *testing.T, path string) pipeline.Source {
	t.Helper()
	s, err := NewVideo(ingesttest.DecodeYAML("{path: " + path + ", dt: 0.5}"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// followedVideo returns a source that follows a video in this process, without a child.
func followedVideo(t *testing.T, path string) pipeline.Source {
	t.Helper()
	c, err := timing.NewClock(0.5, 0)
	if err != nil {
		t.Fatal(err)
	}
	tail, err := follow.NewTail(true, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return &growingVideo{video: video{path: path, clock: c}, tail: tail}
}

// shows reads to the end and returns the picture number that each frame shows, and the causes of skips.
func shows(t *testing.T, s pipeline.Source) (shown []int, skipped []string) {
	t.Helper()
	for {
		f, err := s.Read(t.Context())
		var skip *pipeline.ErrSkip
		switch {
		case errors.As(err, &skip):
			skipped = append(skipped, skip.Cause)
		case err != nil:
			return shown, skipped
		default:
			shown = append(shown, ingesttest.Recognise(ingesttest.BytesOf(t, f), 3, 64))
			f.Close()
		}
	}
}
