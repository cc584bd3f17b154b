package stream

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/sinks/message"
)

// dish is a live camera over nine beads that step by 0.2 px per axis and frame. It is unplugged during the test.
type dish struct {
	rng    *rand.Rand
	beads  [9][2]float64
	taken  int     // frames so far
	seq    uint64  // number of the next frame since the camera was opened
	clock  float64 // s
	pulled int     // frame before which the camera is unplugged
	away   int     // number of frames while it is unplugged
	frames int     // total number of frames
}

const (
	dishSide = 150
	dishDT   = 0.02
)

func newDish(pulled, away, frames int) *dish {
	d := &dish{rng: rand.New(rand.NewPCG(1, 3)), pulled: pulled, away: away, frames: frames}
	for i := range d.beads {
		d.beads[i] = [2]float64{25 + 50*float64(i%3), 25 + 50*float64(i/3)}
	}
	return d
}

func (d *dish) Info() pipeline.Info        { return pipeline.Info{Live: true, Timed: true} }
func (d *dish) Open(context.Context) error { d.seq = 0; return nil }
func (d *dish) Close() error               { return nil }

// step advances beads and clock by one frame.
func (d *dish) step() {
	d.clock += dishDT
	for i := range d.beads {
		d.beads[i][0], d.beads[i][1] = d.beads[i][0]+0.2*d.rng.NormFloat64(), d.beads[i][1]+0.2*d.rng.NormFloat64()
	}
}

func (d *dish) Read(ctx context.Context) (*frame.Frame, error) {
	switch d.taken++; d.taken {
	case d.frames + 2:
		return nil, io.EOF
	case d.pulled:
		for range d.away {
			d.step()
		}
		return nil, fmt.Errorf("the plug is pulled: %w", pipeline.ErrNotConnected)
	}
	select {
	case <-time.After(5 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.step()
	mat := gocv.NewMatWithSize(dishSide, dishSide, gocv.MatTypeCV16UC1)
	pixels, err := mat.DataPtrUint16()
	if err != nil {
		return nil, err
	}
	for i := range pixels {
		light := 500.0
		for _, b := range d.beads {
			x, y := float64(i%dishSide)-b[0], float64(i/dishSide)-b[1]
			if s := x*x + y*y; s < 40 {
				light += 1000 * math.Exp(-s/(2*1.5*1.5))
			}
		}
		pixels[i] = uint16(light + 20*d.rng.NormFloat64())
	}
	d.seq++
	return frame.New(d.seq-1, time.Unix(0, int64(d.clock*1e9)), frame.Meta{Arrived: time.Now()}, mat), nil
}

// fieldRun follows a source's objects and returns the published records.
func fieldRun(t *testing.T, source pipeline.Source, text string) (all []message.Record) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.jsonl")
	cfg, err := config.Parse("field.yaml", fmt.Appendf(nil, "source: {sim: {name: trapped}}\nnats: {url: \"off\"}\nsinks: [jsonl: {path: %q}]\n%s", out, text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Behind(t.Context(), cfg, nil, Own{Source: source})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(said)) {
		for _, kind := range []latent.Kind{latent.KindObjects, latent.KindTrack, latent.KindPopulation, latent.KindEvent} {
			if strings.Contains(line, `"kind":"`+string(kind)+`"`) {
				r, err := message.Decode(kind, []byte(line))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, r)
			}
		}
	}
	return all
}

// TestFieldCameraIsLost: the camera is unplugged for 3 s during a run. The run reports the loss once and the return once, and frame numbers continue. The
// beads, 2.4 px further, keep their numbers, with and without a lag. The queue holds the whole film, so that no machine is too slow.
func TestFieldCameraIsLost(t *testing.T) {
	const pulled, frames = 80, 130
	for _, lag := range []int{0, 3} {
		lost, back, next := 0, 0, uint64(0)
		before := map[uint64]bool{}
		for _, r := range fieldRun(t, newDish(pulled, 150, frames), fmt.Sprintf("mode: lossless\nqueue: 512\nobjects: {enabled: true, lag: %d}\n", lag)) {
			switch r := r.(type) {
			case *message.EventRecord:
				switch r.Code {
				case "source_lost":
					lost++
				case "source_back":
					back++
				}
			case *message.TrackRecord:
				if r.Change == latent.Ended && r.Why != latent.RunEnded {
					t.Errorf("lag %d: object %d ended at frame %d: %s", lag, r.ID, r.Seq, r.Why)
				}
			case *message.ObjectsRecord:
				if r.Seq != next {
					t.Errorf("lag %d: frame %d, expected %d", lag, r.Seq, next)
				}
				next = r.Seq + 1
				for _, id := range r.ID {
					if r.Seq < pulled-1 {
						before[id] = true
					} else if !before[id] {
						t.Errorf("lag %d, frame %d: object %d is new", lag, r.Seq, id)
					}
				}
				if r.Seq > 20 && len(r.ID) != 9 {
					t.Errorf("lag %d, frame %d: objects %v", lag, r.Seq, r.ID)
				}
			}
		}
		if lost != 1 || back != 1 || next != frames || len(before) != 9 {
			t.Errorf("lag %d: told %d times to be lost and %d times to be back; the last frame is %d of %d; objects %v", lag, lost, back, next-1, frames, before)
		}
	}
}
