package objects

import (
	"errors"
	"image"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"

	"gocv.io/x/gocv"

	"driftscope/cmd/driftlab/internal/bench"
	"driftscope/infer/field"
	"driftscope/infer/finder"
	"driftscope/infer/locate"
	simfield "driftscope/ingest/sim/field"
	"driftscope/internal/job/evaluation/tracking"
	"driftscope/online/tracks"
)

// run is the result of tracking one field.
type run struct {
	own, perfect        tracking.Score
	rmse, bound, width  float64
	locate, track, both []float64 // ms per frame on one core
	links               links     // of perfect detections
	blur                []float64 // ms of OpenCV's blur per frame: a measure of the machine
}

// follow draws a field and tracks its objects, located and perfectly detected, with a lag.
func follow(o simfield.Options, lag int) (*run, error) {
	runtime.LockOSThread() // measures thread times
	defer runtime.UnlockOSThread()
	f, err := simfield.New(o)
	if err != nil {
		return nil, err
	}
	r := &run{bound: f.Bound()}
	counts, picture := make([]uint16, o.Width*o.Height), make([]float32, o.Width*o.Height)
	var locator *locate.Locator
	var own, perfect table
	var spots []locate.Spot
	var detections []tracks.Detection
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	var errs isolated
	var places []tracking.Point
	blur, judge := newBlur(o.Height, o.Width), newLinkJudge(f)
	defer blur.close()
	for frame := range o.Frames {
		f.Draw(frame, counts)
		for i, v := range counts {
			picture[i] = float32(v)
		}
		if frame == 0 {
			found, err := field.Light(finder.Picture{W: o.Width, H: o.Height, P: picture})
			if err == nil && found.SD == 0 {
				err = errors.New("no spot is visible in the first frame: raise --snr")
			}
			if err != nil {
				return nil, err
			}
			r.width = found.SD
			if locator, err = locate.New(o.Height, o.Width, locate.Options{SD: r.width}); err != nil {
				return nil, err
			}
			if own.tracker, err = newTracker(o, r.width, lag); err != nil {
				return nil, err
			}
			if perfect.tracker, err = newTracker(o, r.width, lag); err != nil {
				return nil, err
			}
		}
		r.blur = append(r.blur, blur.took(counts))
		begin := bench.ThreadTime()
		spots = locator.Locate(spots[:0], picture)
		detections = detections[:0]
		for _, s := range spots {
			detections = append(detections, tracks.Detection{X: s.X, Y: s.Y, VarX: s.VarX, VarY: s.VarY, Score: s.Score})
		}
		located := bench.ThreadTime()
		points := own.tracker.Update(uint64(frame), detections)
		tracked := bench.ThreadTime()
		r.locate = append(r.locate, (located-begin).Seconds()*1e3)
		r.track = append(r.track, (tracked-located).Seconds()*1e3)
		r.both = append(r.both, (tracked-begin).Seconds()*1e3)
		visible := lit(f.At(frame))
		if at := frame - lag; at >= 0 {
			own.add(at, points)
			places = places[:0]
			for _, p := range points {
				if p.Confirmed && p.Detection >= 0 {
					places = append(places, tracking.Point{Frame: at, X: p.X, Y: p.Y})
				}
			}
			errs.add(lit(f.At(at)), places)
		}

		const noise = 0.1 // px, for perfect detections
		detections = detections[:0]
		for _, p := range visible {
			detections = append(detections, tracks.Detection{X: p.X + noise*rng.NormFloat64(), Y: p.Y + noise*rng.NormFloat64(), VarX: noise * noise, VarY: noise * noise, Score: 10})
		}
		judge.see(visible)
		if points := perfect.tracker.Update(uint64(frame), detections); frame >= lag {
			judge.add(frame-lag, points)
			perfect.add(frame-lag, points)
		}
	}
	own.flush()
	perfect.flush()
	r.rmse, r.links = errs.rmse(), judge.links
	truth := truths(f)
	r.own, r.perfect = tracking.Judge(truth, own.tracks()), tracking.Judge(truth, perfect.tracks())
	return r, nil
}

// blur is OpenCV's 9x9 Gaussian, a fixed amount of work on the same picture.
type blur struct{ from, to gocv.Mat }

func newBlur(height, width int) *blur {
	return &blur{gocv.NewMatWithSize(height, width, gocv.MatTypeCV32FC1), gocv.NewMat()}
}

// took returns the milliseconds of one blur.
func (b *blur) took(counts []uint16) float64 {
	pixels, _ := b.from.DataPtrFloat32() // of this type, and contiguous
	for i, v := range counts {
		pixels[i] = float32(v)
	}
	begin := bench.ThreadTime()
	gocv.GaussianBlur(b.from, &b.to, image.Pt(9, 9), 1.4, 1.4, gocv.BorderReflect101)
	return (bench.ThreadTime() - begin).Seconds() * 1e3
}

func (b *blur) close() {
	b.from.Close()
	b.to.Close()
}

func newTracker(o simfield.Options, width float64, lag int) (*tracks.Tracker, error) {
	return tracks.New(tracks.Options{Width: float64(o.Width), Height: float64(o.Height), Template: width, Lag: lag})
}

// table is a tracker's result, track by track.
type table struct {
	tracker *tracks.Tracker
	rows    tracks.Rows
	found   map[uint64][]tracking.Point
}

func (t *table) add(frame int, points []tracks.Point) {
	if t.found == nil {
		t.found = map[uint64][]tracking.Point{}
	}
	t.rows.Add(uint64(frame), points, func(r tracks.Row) {
		t.found[r.ID] = append(t.found[r.ID], tracking.Point{Frame: int(r.Frame), X: r.X, Y: r.Y})
	})
}

// flush adds the frames held back by the lag.
func (t *table) flush() {
	t.tracker.Flush(func(frame uint64, points []tracks.Point) { t.add(int(frame), points) })
}

func (t *table) tracks() (all [][]tracking.Point) {
	for _, id := range slices.Sorted(maps.Keys(t.found)) {
		all = append(all, t.found[id])
	}
	return all
}
