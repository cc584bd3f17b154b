package tracks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"driftscope/internal/suite"
)

// dense simulates 60 objects in 96x96 px, 6 px apart on average, with sds of a step from 0.3 to 2.5 px. Detection i belongs to object i.
func dense(frames int) (all [][]Detection) {
	rng := rand.New(rand.NewPCG(15, 16))
	at := make([][2]float64, 60)
	for i := range at {
		at[i] = [2]float64{96 * rng.Float64(), 96 * rng.Float64()}
	}
	for range frames {
		var here []Detection
		for i := range at {
			for axis := range 2 {
				v := at[i][axis] + (0.3+2.2*float64(i)/59)*rng.NormFloat64()
				at[i][axis] = min(max(v, -v), 2*96-v) // walls reflect
			}
			here = append(here, seen(rng, at[i][0], at[i][1]))
		}
		all = append(all, here)
	}
	return all
}

// doubts counts detections in ten bins of Doubt: their number, the sum of Doubt, and those whose track showed another object in the previous frame.
type doubts struct{ n, said, wrong [10]float64 }

// all returns the mean of Doubt and the fraction of wrong detections.
func (d *doubts) all() (said, wrong float64) {
	n := 0.0
	for i := range d.n {
		n, said, wrong = n+d.n[i], said+d.said[i], wrong+d.wrong[i]
	}
	return said / n, wrong / n
}

// numbersOf follows the dense field. It returns the number of each object in each frame, and the calibration of Doubt. If rivals is false, no decision is
// revised.
func numbersOf(t *testing.T, lag int, rivals bool, frames [][]Detection) (of [][]uint64, d doubts) {
	k, err := New(Options{Width: 96, Height: 96, Template: 1.4, Lag: lag})
	if err != nil {
		t.Fatal(err)
	}
	was := map[uint64]int{}
	take := func(frame uint64, points []Point) {
		if int(frame) != len(of) {
			t.Fatalf("found frame %d after frame %d", frame, len(of)-1)
		}
		ids, is := make([]uint64, len(frames[0])), map[uint64]int{}
		for _, p := range points {
			if p.Frame != frame {
				t.Fatalf("found a point of frame %d among the points of frame %d", p.Frame, frame)
			}
			if p.Detection < 0 {
				continue
			}
			ids[p.Detection], is[p.ID] = p.ID, p.Detection
			if before, ok := was[p.ID]; ok && frame > 50 && !p.Exchanged {
				i := min(int(10*p.Doubt), 9)
				d.n[i]++
				d.said[i] += p.Doubt
				if before != p.Detection {
					d.wrong[i]++
				}
			}
		}
		of, was = append(of, ids), is
	}
	for f, here := range frames {
		points := k.Update(uint64(f), here)
		if !rivals {
			k.rivals = k.rivals[:0]
		}
		if f >= lag {
			take(uint64(f-lag), points)
		} else if len(points) > 0 {
			t.Fatalf("Update returned %d points in frame %d with a lag of %d", len(points), f, lag)
		}
	}
	k.Flush(take)
	if len(of) != len(frames) {
		t.Fatalf("found %d frames, expected %d", len(of), len(frames))
	}
	return of, d
}

// kept returns the fraction of positions that have the most frequent number of their object within 50 frames.
func kept(of [][]uint64) float64 {
	same, all := 0, 0
	for part := range slices.Chunk(of, 50) {
		for i := range part[0] {
			count := map[uint64]int{}
			most := 0
			for _, ids := range part {
				if ids[i] != 0 {
					count[ids[i]]++
					most = max(most, count[ids[i]])
				}
			}
			same, all = same+most, all+len(part)
		}
	}
	return float64(same) / float64(all)
}

// TestRivals verifies that in a dense field more positions have the right number with rivals, and still more with a lag. Measured: 0.839 without rivals,
// 0.873 with rivals, 0.886 with a lag; the test requires half of each gain.
func TestRivals(t *testing.T) {
	suite.Calculation(t)
	frames := dense(3000)
	single, _ := numbersOf(t, 0, false, frames)
	again, _ := numbersOf(t, 0, true, frames)
	lag, _ := numbersOf(t, 3, true, frames)
	if a, b, c := kept(single), kept(again), kept(lag); b < a+0.017 || c < b+0.007 {
		t.Errorf("a fraction of %.3f keeps its numbers without rivals, %.3f with rivals, %.3f with a lag of three frames", a, b, c)
	}
}

// TestLed verifies that ways extended frame by frame equal, bit by bit, ways extended through all frames at once. The gain of a track equals the sum over the
// same steps: at most eight steps of about ten nats. The frames include exchanges and ends.
func TestLed(t *testing.T) {
	k, err := New(Options{Width: 96, Height: 96, Template: 1.4})
	if err != nil {
		t.Fatal(err)
	}
	led, exchanged := 0, 0
	for f, here := range dense(200) {
		for _, p := range k.Update(uint64(f), here[:40+20*(f/10%2)]) {
			if p.Exchanged {
				exchanged++
			}
		}
		for i := range k.rivals {
			r, b := k.rivals[i], k.rivals[i].b
			if b == nil {
				b = k.empty
			}
			if r.led < max(1, r.a.exchange, b.exchange) || k.ways[i].ab.lost || k.ways[i].ba.lost {
				continue
			}
			led++
			var again, own ways
			if k.lead(&rival{a: r.a, b: r.b, n: r.n}, b, &again); again != k.ways[i] {
				t.Fatalf("frame %d: ways of rivals since update %d of %d: %+v, recomputed %+v", f, r.n, k.n, k.ways[i], again)
			}
			if k.lead(&rival{a: r.a, b: r.a, n: r.n}, r.a, &own); math.Abs(own.ab.gain-r.a.told(r.n)) > 1e-9 {
				t.Fatalf("frame %d: found a gain of %g for a track's detections since update %d of %d, expected %g", f, own.ab.gain, r.n, k.n, r.a.told(r.n))
			}
		}
	}
	if led < 1000 || exchanged < 100 {
		t.Errorf("%d rivals extended, %d exchanges", led, exchanged)
	}
}

// TestDoubt verifies that in each of ten bins the fraction of wrong detections equals Doubt to 0.06, without a lag and with a lag of three frames. With a
// lag, Doubt omits exchanges among three tracks, and here each track has four others within two steps. Without single-frame exchanges the error with a lag is
// 0.10. A lone object has no doubt.
func TestDoubt(t *testing.T) {
	suite.Calculation(t)
	const off = 0.06
	for _, lag := range []int{0, 3} {
		_, d := numbersOf(t, lag, true, dense(3000))
		for i, n := range d.n {
			if n >= 500 && math.Abs(d.said[i]-d.wrong[i]) > off*n {
				t.Errorf("lag %d: %g detections with a mean doubt of %.3f, but a fraction of %.3f is wrong", lag, n, d.said[i]/n, d.wrong[i]/n)
			}
		}
		if said, wrong := d.all(); said < 0.6*wrong || said > 1.2*wrong {
			t.Errorf("lag %d: a mean doubt of %.4f, but a fraction of %.4f is wrong", lag, said, wrong)
		}
	}
	rng, k := rand.New(rand.NewPCG(17, 18)), tracker(t)
	for f := range 50 {
		for _, p := range k.Update(uint64(f), []Detection{seen(rng, 60, 60), seen(rng, 200, 200)}) {
			if f > 10 && p.Doubt > 0.01 {
				t.Errorf("frame %d: a doubt of %.3f about a lone object", f, p.Doubt)
			}
		}
	}
}

// TestWindow verifies that the number of tracks, rivals and free tracks stays bounded while objects of a dense field vanish in turns, and that the window is
// empty once all are gone.
func TestWindow(t *testing.T) {
	k, err := New(Options{Width: 96, Height: 96, Template: 1.4, Lag: 3})
	if err != nil {
		t.Fatal(err)
	}
	most := [2]int{}
	for f, here := range dense(600) {
		k.Update(uint64(f), here[:20+40*(f/10%2)])
		half := f / 300
		most[half] = max(most[half], len(k.live)+len(k.free)+len(k.rivals))
	}
	if most[1] > 2*most[0] {
		t.Errorf("%d tracks and rivals after 300 frames, %d after 600", most[0], most[1])
	}
	for f := range 60 {
		k.Update(uint64(600+f), nil)
	}
	if len(k.live)+len(k.rivals) > 0 {
		t.Errorf("%d tracks and %d rivals without an object", len(k.live), len(k.rivals))
	}
}

// TestLagIsBounded verifies that New accepts lags from 0 to MostLag only.
func TestLagIsBounded(t *testing.T) {
	for lag, good := range map[int]bool{-1: false, 0: true, MostLag: true, MostLag + 1: false} {
		if _, err := New(Options{Width: 96, Height: 96, Template: 1.4, Lag: lag}); (err == nil) != good {
			t.Errorf("a lag of %d: %v", lag, err)
		}
	}
}

// TestDenseAllocates verifies that a frame of a dense field with exchanges, ends and births allocates nothing.
func TestDenseAllocates(t *testing.T) {
	k, err := New(Options{Width: 96, Height: 96, Template: 1.4, Lag: 3})
	if err != nil {
		t.Fatal(err)
	}
	frames := dense(400)
	f := 0
	step := func() {
		k.Update(uint64(f), frames[f])
		f++
	}
	for range 300 {
		step()
	}
	if n := testing.AllocsPerRun(80, step); n > 0 {
		t.Errorf("%g allocations per frame of %d objects", n, len(frames[0]))
	}
}

func BenchmarkDense(b *testing.B) {
	k, err := New(Options{Width: 96, Height: 96, Template: 1.4})
	if err != nil {
		b.Fatal(err)
	}
	frames, f := dense(200), 0
	b.ReportAllocs()
	for b.Loop() {
		k.Update(uint64(f), frames[f%len(frames)])
		f++
	}
}
