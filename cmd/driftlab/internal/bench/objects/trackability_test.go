package objects

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"driftscope/infer/field"
	"driftscope/infer/finder"
	"driftscope/infer/locate"
	simfield "driftscope/ingest/sim/field"
	"driftscope/online/tracks"
)

func env(name string, def int) int {
	if v, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return v
	}
	return def
}

func randomField(seed uint64) simfield.Options {
	rng := rand.New(rand.NewPCG(seed, 5454))
	o := simfield.Options{Scenario: simfield.Scenarios[rng.IntN(len(simfield.Scenarios))], Frames: 960, Seed: seed}
	side := 200 + rng.IntN(200)
	o.Width, o.Height = side, side
	density := 1e-4 * math.Pow(20, rng.Float64()) // per px²
	o.Density = max(4, int(density*float64(side*side)))
	o.SNR = 2.5 + 7.5*rng.Float64()
	o.SD = 1.2 + 0.8*rng.Float64()
	o.Life = 240
	return o
}

type figures struct {
	n, expected, strict, carried, lenient, noise, unknown float64
}

func (f figures) String() string {
	n := max(f.n, 1)
	return fmt.Sprintf("n %6.0f expected %.4f strict %.4f carried %.4f lenient %.4f noise %.4f unknown %.4f ratio %.2f", f.n, f.expected/n, f.strict/n, f.carried/n, f.lenient/n, f.noise/n, f.unknown/(n+f.unknown), f.expected/max(f.carried, 1e-9))
}

func TestExplore(t *testing.T) {
	from, to := env("TRACK_FROM", 1), env("TRACK_TO", 2)
	for seed := from; seed < to; seed++ {
		o := randomField(uint64(seed))
		if env("FOCUS", 0) > 0 {
			o = simfield.Options{Scenario: simfield.Focus, Density: 12, SNR: 8, Width: 200, Height: 200, Frames: 120, Seed: uint64(seed)}
		}
		for _, stride := range []int{2, 4, 8} {
			if env("FOCUS", 0) > 0 && stride > 1 {
				continue
			}
			explore(t, o, stride)
		}
	}
}

func explore(t *testing.T, o simfield.Options, stride int) {
	f, err := simfield.New(o)
	if err != nil {
		t.Fatal(err)
	}
	object := map[simfield.Point]int{}
	for i, track := range f.Tracks {
		for _, p := range track {
			object[p] = i
		}
	}
	counts, picture := make([]uint16, o.Width*o.Height), make([]float32, o.Width*o.Height)
	var locator *locate.Locator
	var tracker *tracks.Tracker
	type seen struct {
		object int
		near   []int
		shows  []int
		s []int
	}
	last := map[uint64]seen{}
	var early, late figures
	bins := [10][3]float64{}
	found, visible, spurious := 0, 0, 0
	dump := env("DUMP", 0) > 0
	n := o.Frames / stride
	half, twice, counted := 0.0, 0.0, 0.0
	if n > 480 {
		n = 480
	}
	for k := range n {
		frame := k * stride
		f.Draw(frame, counts)
		for i, v := range counts {
			picture[i] = float32(v)
		}
		if locator == nil {
			l, err := field.Light(finder.Picture{W: o.Width, H: o.Height, P: picture})
			if err != nil || l.SD == 0 {
				continue
			}
			if locator, err = locate.New(o.Height, o.Width, locate.Options{SD: l.SD}); err != nil {
				t.Fatal(err)
			}
			if tracker, err = newTracker(o, l.SD, 0); err != nil {
				t.Fatal(err)
			}
		}
		spots := locator.Locate(nil, picture)
		var detections []tracks.Detection
		for _, s := range spots {
			detections = append(detections, tracks.Detection{X: s.X, Y: s.Y, VarX: s.VarX, VarY: s.VarY, Score: s.Score})
		}
		truth := lit(f.At(frame))
		// greedy unique assignment within 4 px, nearest first; near: every object within 3 sd of the template
		own := make([]seen, len(detections))
		type pair struct {
			d    float64
			i, j int
		}
		for i := range own {
			own[i].object = -1
		}
		var pairs []pair
		for i, d := range detections {
			for j, p := range truth {
				if r := math.Hypot(d.X-p.X, d.Y-p.Y); r < 4 {
					pairs = append(pairs, pair{r, i, j})
					own[i].near = append(own[i].near, object[p])
				}
			}
		}
		used := map[int]bool{}
		for {
			best := -1
			for k, p := range pairs {
				if own[p.i].object < 0 && !used[p.j] && (best < 0 || p.d < pairs[best].d) {
					best = k
				}
			}
			if best < 0 {
				break
			}
			own[pairs[best].i].object = object[truth[pairs[best].j]]
			used[pairs[best].j] = true
			found++
		}
		visible += len(truth)
		for _, p := range truth {
			best, least := -1, 4.0
			for i, d := range detections {
				if r := math.Hypot(d.X-p.X, d.Y-p.Y); r < least {
					best, least = i, r
				}
			}
			if best >= 0 {
				own[best].shows = append(own[best].shows, object[p])
			}
		}
		for i := range own {
			if own[i].object < 0 {
				spurious++
			}
		}
		points := tracker.Update(uint64(k), detections)
		if h := tracker.Crowding(.5); k > 30 && !math.IsNaN(h) {
			half, twice, counted = half+h, twice+tracker.Crowding(2), counted+1
		}
		for _, p := range points {
			if p.Detection < 0 {
				continue
			}
			before, linked := last[p.ID]
			now := own[p.Detection]
			consistent := false
			now.s = nil
			for _, a := range before.s {
				for _, b := range now.shows {
					if a == b {
						now.s = append(now.s, a)
						consistent = true
					}
				}
			}
			if !consistent {
				now.s = now.shows
			}
			last[p.ID] = now
			if !linked || !p.Confirmed {
				continue
			}
			c := &late
			if k < 30 {
				c = &early
			}
			if math.IsNaN(p.Link) {
				c.unknown++
				continue
			}
			c.n++
			c.expected += 1 - p.Link
			wrong := before.object != now.object || now.object < 0
			if wrong {
				c.strict++
			}
			if !consistent {
				c.carried++
			}
			share := false
			for _, a := range before.near {
				for _, b := range now.near {
					share = share || a == b
				}
			}
			if len(now.near) == 0 && len(before.near) == 0 {
				c.noise++
			} else if !share {
				c.lenient++
			}
			b := &bins[min(int(10*p.Link), 9)]
			b[0]++
			b[1] += p.Link
			if consistent {
				b[2]++
			}
			if dump && k > 30 && p.Link < 0.7 {
				fmt.Printf("  frame %d id %d link %.2f wrong %v share %v q %.2f directed %.2f exists %.2f near %v->%v\n", k, p.ID, p.Link, wrong, share, p.Q, p.Directed, p.Exists, before.near, now.near)
			}
		}
	}
	fmt.Printf("%-10s seed %d density %d side %d per10⁴ %.1f snr %.1f sd %.1f stride %d: found %.2f spurious %.2f\n   early %v\n   late  %v\n", o.Scenario, o.Seed, o.Density, o.Width, 1e4*float64(o.Density)/float64(o.Width*o.Height), o.SNR, o.SD, stride, float64(found)/float64(visible), float64(spurious)/float64(max(found, 1)), early, late)
	e := late.expected / max(late.n, 1)
	odds := e / (1 - e)
	h, w := odds*half/max(counted, 1), odds*twice/max(counted, 1)
	fmt.Printf("   predict half %.5f twice %.5f factors %.3f %.3f\n  ", h/(1+h), w/(1+w), half/counted, twice/counted)
	for _, b := range bins {
		if b[0] >= 30 {
			fmt.Printf(" %.2f%+.3f(%.0f)", b[1]/b[0], (b[2]-b[1])/b[0], b[0])
		}
	}
	fmt.Println()
}
