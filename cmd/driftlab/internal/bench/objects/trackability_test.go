package objects

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"driftscope/infer/field"
	"driftscope/infer/finder"
	"driftscope/infer/locate"
	simfield "driftscope/ingest/sim/field"
	"driftscope/internal/suite"
	"driftscope/online/tracks"
)

// anyField draws a field at random: scenario, size, density, SNR and width of the spots. Its steps grow with the number of frames that a camera leaves out.
func anyField(seed uint64) simfield.Options {
	rng := rand.New(rand.NewPCG(seed, 5454))
	o := simfield.Options{Scenario: simfield.Scenarios[rng.IntN(len(simfield.Scenarios))], Frames: 960, Seed: seed, Life: 240}
	o.Width = 200 + rng.IntN(200)
	o.Height = o.Width
	o.Density = max(4, int(1e-4*math.Pow(20, rng.Float64())*float64(o.Width*o.Height)))
	o.SNR, o.SD = 2.5+7.5*rng.Float64(), 1.2+0.8*rng.Float64()
	return o
}

// shown returns the objects that each detection shows: an object is shown by the nearest detection within 4 px.
func shown(spots []tracks.Detection, truth []simfield.Point, object map[simfield.Point]int) [][]int {
	out := make([][]int, len(spots))
	for _, p := range truth {
		best, least := -1, 4.0
		for i, d := range spots {
			if r := math.Hypot(d.X-p.X, d.Y-p.Y); r < least {
				best, least = i, r
			}
		}
		if best >= 0 {
			out[best] = append(out[best], object[p])
		}
	}
	return out
}

// rated is a film at one frame rate: the links from frame 30 on, and the odds of a wrong link at half the time between frames and at twice, over the odds now.
type rated struct {
	links
	half, twice, frames float64
}

// rate follows the objects of a field in every stride-th frame. A link is right if its detection shows an object that all detections of the number since its
// last wrong link show.
func rate(t *testing.T, o simfield.Options, stride int) (r rated) {
	f, err := simfield.New(o)
	if err != nil {
		t.Fatal(err)
	}
	object, last := newLinkJudge(f).object, map[uint64][]int{}
	counts, picture := make([]uint16, o.Width*o.Height), make([]float32, o.Width*o.Height)
	var locator *locate.Locator
	var tracker *tracks.Tracker
	for k := range min(o.Frames/stride, 480) {
		f.Draw(k*stride, counts)
		for i, v := range counts {
			picture[i] = float32(v)
		}
		if locator == nil {
			light, err := field.Light(finder.Picture{W: o.Width, H: o.Height, P: picture})
			if err != nil || light.SD == 0 {
				continue
			}
			if locator, err = locate.New(o.Height, o.Width, locate.Options{SD: light.SD}); err != nil {
				t.Fatal(err)
			}
			if tracker, err = newTracker(o, light.SD, 0); err != nil {
				t.Fatal(err)
			}
		}
		var detections []tracks.Detection
		for _, s := range locator.Locate(nil, picture) {
			detections = append(detections, tracks.Detection{X: s.X, Y: s.Y, VarX: s.VarX, VarY: s.VarY, Score: s.Score})
		}
		of := shown(detections, lit(f.At(k*stride)), object)
		points := tracker.Update(uint64(k), detections)
		if half := tracker.Crowding(0.5); k >= 30 && half > 0 {
			r.half, r.twice, r.frames = r.half+half, r.twice+tracker.Crowding(2), r.frames+1
		}
		for _, p := range points {
			if p.Detection < 0 {
				continue
			}
			before, linked := last[p.ID]
			same := slices.DeleteFunc(slices.Clone(of[p.Detection]), func(i int) bool { return !slices.Contains(before, i) })
			if last[p.ID] = same; len(same) == 0 {
				last[p.ID] = of[p.Detection]
			}
			if !linked || !p.Confirmed || k < 30 || math.IsNaN(p.Link) {
				continue
			}
			if r.n, r.expected = r.n+1, r.expected+1-p.Link; len(same) == 0 {
				r.wrong++
			}
		}
	}
	return r
}

// at returns the expected share of wrong links if their odds were a factor larger.
func (r *rated) at(factor float64) float64 {
	odds := factor * r.expected / (r.n - r.expected)
	return odds / (1 + odds)
}

// TestTrackability verifies the expected share of wrong links in films that are drawn and located, and its prediction for twice the frame rate, in nine of ten
// fields each: within a factor 1.3 and the error of the count, whose wrong links come in threes. Shares below 1 % and counts below 20 are too small to judge.
// Focus is left out, because an object out of focus is found in pieces. Seeds 1 to 20 served to develop it; the test has others.
func TestTrackability(t *testing.T) {
	suite.Long(t)
	all, good := [2]float64{}, [2]float64{}
	judge := func(kind int, seed uint64, said float64, film *rated) {
		share := film.wrong / film.n
		if share < 0.01 || film.wrong < 20 {
			return
		}
		all[kind]++
		ok := math.Abs(math.Log(said/share)) < math.Log(1.3)+math.Sqrt(3/film.wrong)
		if ok {
			good[kind]++
		}
		t.Logf("%s, seed %d, %.0f links: expected %.4f, wrong %.4f, good %v", [2]string{"now", "at twice the rate"}[kind], seed, film.n, said, share, ok)
	}
	for seed := range uint64(20) {
		o := anyField(21 + seed)
		if o.Scenario == simfield.Focus {
			continue
		}
		fast, slow := rate(t, o, 4), rate(t, o, 8)
		judge(0, o.Seed, fast.at(1), &fast)
		judge(0, o.Seed, slow.at(1), &slow)
		judge(1, o.Seed, slow.at(slow.half/slow.frames), &fast)
	}
	for kind := range all {
		if all[kind] < 5 || good[kind] < 0.9*all[kind]-1 {
			t.Errorf("%v of %v fields are within a factor 1.3 now and at twice the rate", good, all)
		}
	}
}
