package camera

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest/avcodec"
	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
)

// direct makes a source in this process, because a child starts slowly.
func direct(t *testing.T, options string) pipeline.Source {
	t.Helper()
	s, err := NewURL(ingesttest.DecodeYAML(options))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// opened is like direct, and opens the source.
func opened(t *testing.T, options string) pipeline.Source {
	t.Helper()
	s := direct(t, options)
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// filmed is a test's record of a network camera's frame.
type filmed struct {
	shows   int // number of the picture in the film; -1 if the frame shows no whole picture
	seq     uint64
	dropped uint64
	t       time.Time
	events  []string
}

// watch reads n frames.
func watch(t *testing.T, s pipeline.Source, n int) []filmed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var all []filmed
	for range n {
		f, err := s.Read(ctx)
		if err != nil {
			t.Fatalf("after %d frames: %v", len(all), err)
		}
		one := seen(t, f)
		all = append(all, one)
		f.Close()
	}
	return all
}

// seen records a frame.
func seen(t *testing.T, f *frame.Frame) filmed {
	t.Helper()
	m := f.Mat()
	if m.Type() != gocv.MatTypeCV8UC3 || m.Cols() != ingesttest.Width || m.Rows() != ingesttest.Height {
		t.Fatalf("frame %d is %dx%d of type %v", f.Seq, m.Cols(), m.Rows(), m.Type())
	}
	one := filmed{shows: ingesttest.Recognise(ingesttest.BytesOf(t, f), 3, ingesttest.Pictures), seq: f.Seq, dropped: f.Meta.Dropped, t: f.Time}
	for _, e := range f.Meta.Events {
		one.events = append(one.events, e.Code+": "+e.Text)
	}
	return one
}

// follows checks that the number of pictures and the time between two frames agree with Dropped.
func follows(t *testing.T, frames []filmed) (dropped uint64) {
	t.Helper()
	return followsAt(t, frames, ingesttest.Rate)
}

func followsAt(t *testing.T, frames []filmed, rate int) (dropped uint64) {
	t.Helper()
	for i, f := range frames {
		if f.shows < 0 {
			t.Errorf("frame %d is torn, or of no picture", f.seq)
		}
		if i == 0 {
			continue
		}
		before := frames[i-1]
		dropped += f.dropped
		if f.seq != before.seq+1+f.dropped || (f.shows-before.shows+2*ingesttest.Pictures)%ingesttest.Pictures != int(f.dropped+1)%ingesttest.Pictures {
			t.Errorf("frame %d shows picture %d, frame %d before it picture %d, %d dropped", f.seq, f.shows, before.seq, before.shows, f.dropped)
		}
		// Stamps of 90 kHz are rounded to 11 µs, and the camera's clock may be corrected by 1 in 2000.
		step := time.Duration(f.dropped+1) * time.Second / time.Duration(rate)
		if off := f.t.Sub(before.t) - step; off.Abs() > 12*time.Microsecond+step/1000 {
			t.Errorf("frame %d was taken %v after frame %d, %v expected", f.seq, f.t.Sub(before.t), before.seq, step)
		}
	}
	return dropped
}

// TestRTSP: every picture is returned whole and in order, with its number and the time of the camera's clock.
func TestRTSP(t *testing.T) {
	for name, o := range map[string]ingesttest.CameraOptions{
		"H.264":            {Codec: avcodec.H264},
		"H.264, reordered": {Codec: avcodec.H264, Reordered: true},
		"H.265":            {Codec: avcodec.H265},
		"H.265, bare":      {Codec: avcodec.H265, Bare: true, Reordered: true},
		"MJPEG":            {},
		"UDP":              {Codec: avcodec.H264, UDP: true},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "H.264" {
				suite.Long(t)
			}
			t.Parallel()
			o.Ahead = time.Hour
			transport := "tcp"
			if o.UDP {
				transport = "udp"
			}
			s := opened(t, "{url: '"+ingesttest.StartCamera(t, o).URL()+"', transport: "+transport+"}")
			if !s.Info().Live || !s.Info().Timed {
				t.Error("a camera that is not live or does not know the time")
			}
			frames := watch(t, s, 60)
			follows(t, frames)
			if ahead := time.Until(frames[len(frames)-1].t); ahead < o.Ahead-10*time.Second || ahead > o.Ahead {
				t.Errorf("the last frame was taken in %v by the camera's clock, which is an hour ahead", ahead)
			}
			if len(frames[0].events) != 1 || !strings.Contains(frames[0].events[0], "camera_clock: frame times follow the clock that the camera reports: that clock is ahead") {
				t.Errorf("the first frame has the events %q", frames[0].events)
			}
		})
	}
}

// TestRTSPLoss: pictures that a lost packet spoils are not returned, and their count is exact.
func TestRTSPLoss(t *testing.T) {
	for name, o := range map[string]ingesttest.CameraOptions{
		"H.264":            {Codec: avcodec.H264},
		"H.264, reordered": {Codec: avcodec.H264, Reordered: true},
		"H.265":            {Codec: avcodec.H265},
		"MJPEG":            {},
		"UDP":              {Codec: avcodec.H265, UDP: true},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "H.264" {
				suite.Long(t)
			}
			t.Parallel()
			var losing atomic.Bool
			const every = 25 // packets: more than a key frame and fewer than the test's pictures have
			sent := 0
			o.Lose = func(int, int, int) bool {
				sent++
				return losing.Load() && sent%every == 0
			}
			transport := "tcp"
			if o.UDP {
				transport = "udp"
			}
			s := opened(t, "{url: '"+ingesttest.StartCamera(t, o).URL()+"', transport: "+transport+", clock: arrival}")
			frames := watch(t, s, window+8) // enough frames to learn the rate
			losing.Store(true)
			for some := frames; len(frames) < 400 && !slices.ContainsFunc(some, func(f filmed) bool { return f.dropped > 0 }); { // a slow reader has many queued
				some = watch(t, s, 30)
				frames = append(frames, some...)
			}
			frames = append(frames, watch(t, s, 30)...)
			if dropped := follows(t, frames); dropped == 0 {
				t.Error("no picture was dropped: the test has shown nothing")
			} else {
				t.Logf("%d pictures dropped for %d given", dropped, len(frames))
			}
		})
	}
}

// TestRTSPUnplugged: a camera that disappears gives ErrNotConnected at once. Once it is back, the reopened source returns whole pictures.
func TestRTSPUnplugged(t *testing.T) {
	t.Parallel()
	camera := ingesttest.StartCamera(t, ingesttest.CameraOptions{Codec: avcodec.H264, User: "guest", Password: "secret"})
	s := opened(t, "{url: '"+camera.URL()+"', clock: arrival}")
	follows(t, watch(t, s, 10))
	camera.Off()
	off := time.Now()
	err := untilItFails(t, s)
	if took := time.Since(off); !errors.Is(err, pipeline.ErrNotConnected) || errors.Is(err, io.EOF) || took > 5*time.Second {
		t.Errorf("%v after %v, not connected expected", err, took)
	}
	s.Close()
	if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, one line without the password expected", err)
	}
	s.Close()
	camera.On()
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	frames := watch(t, s, 10)
	follows(t, frames)
	if age := time.Since(frames[9].t); age < -time.Second || age > 5*time.Second {
		t.Errorf("the last frame was taken %v ago", age)
	}
}

// untilItFails reads up to the first error and returns it.
func untilItFails(t *testing.T, s pipeline.Source) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		f, err := s.Read(ctx)
		if err != nil {
			return err
		}
		f.Close()
	}
}

// TestRTSPUntold: if a camera does not report its clock, the source waits, and then ties the stamps to this computer's clock.
func TestRTSPUntold(t *testing.T) {
	suite.Long(t) // it waits for four seconds
	t.Parallel()
	s := opened(t, "{url: '"+ingesttest.StartCamera(t, ingesttest.CameraOptions{NoReports: true}).URL()+"'}")
	frames := watch(t, s, 5)
	follows(t, frames)
	if age := time.Since(frames[0].t); age < 0 || age > 5*time.Second {
		t.Errorf("the first frame was taken %v ago", age)
	}
	if len(frames[0].events) != 1 || !strings.Contains(frames[0].events[0], "reported no clock within 4s") {
		t.Errorf("the first frame has the events %q", frames[0].events)
	}
}

// TestRTSPRefused: wrong credentials or a wrong path give an error with the reason.
func TestRTSPRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o          ingesttest.CameraOptions
		from, to   string // replacement in the address
		want, fine string
		transport  string
	}{
		{ingesttest.CameraOptions{User: "guest", Password: "secret"}, "secret", "wrong", "refuses this user and password (401)", "", "tcp"},
		{ingesttest.CameraOptions{User: "guest", Password: "secret", Digest: true}, "guest:secret@", "", "refuses this user and password (401)", "", "tcp"},
		{ingesttest.CameraOptions{User: "guest", Password: "secret", Digest: true}, "", "", "", "digest", "tcp"},
		{ingesttest.CameraOptions{}, "/film", "/nothing", "has no such path (404)", "", "tcp"},
		{ingesttest.CameraOptions{}, "", "", "does not support this transport (461): set transport", "", "udp"},
	} {
		camera := ingesttest.StartCamera(t, c.o)
		s := direct(t, "{url: '"+strings.Replace(camera.URL(), c.from, c.to, 1)+"', clock: arrival, transport: "+c.transport+"}")
		err := s.Open(t.Context())
		if c.fine != "" {
			if err != nil {
				t.Errorf("%s: %v", c.fine, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "wrong") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, %q expected", err, c.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRTSPHopeless: if pictures arrive whole but cannot be decoded, the error gives the reason.
func TestRTSPHopeless(t *testing.T) {
	t.Parallel()
	camera := ingesttest.StartCamera(t, ingesttest.CameraOptions{Codec: avcodec.H264, Spoil: func(data []byte) {
		const slice = 5
		if i := bytes.Index(data, []byte{0, 0, 1, 3<<5 | slice}); i >= 0 {
			data[i+5] = 4 // number of a picture parameter set that does not exist
		}
	}})
	s := opened(t, "{url: '"+camera.URL()+"', clock: arrival}")
	if err := untilItFails(t, s); !errors.Is(err, pipeline.ErrNotConnected) || !strings.Contains(err.Error(), "none of the last 10 pictures could be decoded; the last one failed with: ") {
		t.Error(err)
	}
}
