package tracks

import (
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"driftscope/internal/suite"
)

func TestMain(m *testing.M) { os.Exit(suite.Goroutines(m.Run())) }

func tracker(t testing.TB) *Tracker {
	t.Helper()
	k, err := New(Options{Width: 256, Height: 256, Template: 1.4})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// seen returns a detection with position noise of a tenth of a pixel and a typical score.
func seen(rng *rand.Rand, x, y float64) Detection {
	const sd = 0.15
	return Detection{X: x + sd*rng.NormFloat64(), Y: y + sd*rng.NormFloat64(), VarX: sd * sd, VarY: sd * sd, Score: 11 + rng.NormFloat64()}
}

// identities follows objects at the given positions, one list per frame, NaN if undetected. It returns the number of each object in each frame.
func identities(t *testing.T, k *Tracker, rng *rand.Rand, places [][][2]float64) [][]uint64 {
	t.Helper()
	var all [][]uint64
	for f, here := range places {
		var detections []Detection
		var of []int
		for i, p := range here {
			if !math.IsNaN(p[0]) {
				detections, of = append(detections, seen(rng, p[0], p[1])), append(of, i)
			}
		}
		ids := make([]uint64, len(here))
		for _, p := range k.Update(uint64(f), detections) {
			if p.Detection >= 0 {
				ids[of[p.Detection]] = p.ID
			}
		}
		all = append(all, ids)
	}
	return all
}

// TestDirectedCrossing verifies that two objects on straight crossing paths keep their numbers, because their speeds identify them.
func TestDirectedCrossing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var places [][][2]float64
	for f := range 60 {
		u := 3 * float64(f-30)
		places = append(places, [][2]float64{{128 + u, 128 + 0.3*u + 0.7}, {128 + u, 128 - 0.3*u}})
	}
	ids := identities(t, tracker(t), rng, places)
	if last := ids[59]; ids[20][0] != last[0] || ids[20][1] != last[1] || last[0] == last[1] {
		t.Errorf("identities %v became %v", ids[20], last)
	}
}

// TestGap verifies that an object keeps its number after two undetected frames, and that the number of a lost object is never reused.
func TestGap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := 100.0, 100.0
	var places [][][2]float64
	for f := range 120 {
		x, y = x+0.5*rng.NormFloat64(), y+0.5*rng.NormFloat64()
		p := [2]float64{x, y}
		if f == 30 || f == 31 || f >= 60 && f < 100 {
			p[0] = math.NaN()
		}
		places = append(places, [][2]float64{p})
	}
	ids := identities(t, tracker(t), rng, places)
	if ids[29][0] != ids[32][0] || ids[29][0] == 0 {
		t.Errorf("across two missing frames: number %d, then %d", ids[29][0], ids[32][0])
	}
	if ids[119][0] == ids[59][0] || ids[119][0] < ids[59][0] {
		t.Errorf("after 40 missing frames: number %d, before %d", ids[119][0], ids[59][0])
	}
}

// TestClutter verifies that of 30 noise maxima per frame, with scores from theory, almost none is reported, but an object among them is.
func TestClutter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	k := tracker(t)
	false_, there := 0, 0
	for f := range 200 {
		detections := []Detection{seen(rng, 60, 60+0.1*float64(f))}
		for range 30 {
			// P(score > u) falls as u exp(-u²/2), so u² is nearly 9 + 2 E with an exponential E
			d := Detection{X: 256 * rng.Float64(), Y: 256 * rng.Float64(), VarX: 0.3, VarY: 0.3, Score: math.Sqrt(9 + 2*rng.ExpFloat64())}
			detections = append(detections, d)
		}
		for _, p := range k.Update(uint64(f), detections) {
			if !p.Confirmed || p.Detection < 0 {
				continue
			}
			if math.Hypot(p.X-60, p.Y-60-0.1*float64(f)) < 2 {
				there++
			} else {
				false_++
			}
		}
	}
	if there < 190 || false_ > 20 {
		t.Errorf("the object is reported in %d of 200 frames, with %d false positions", there, false_)
	}
}

// TestStepsAreLearnt verifies the step variance of two tracks of 60 frames whose variances differ by a factor of nine. The standard error is an eighth. The
// prior of 4 px² counts as 1.5 of 60 steps and adds 0.1 px².
func TestStepsAreLearnt(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	k := tracker(t)
	sds := []float64{0.5, 1, 1.5}
	at := [][2]float64{{60, 60}, {128, 128}, {200, 200}}
	var found [3]float64
	for f := range 60 {
		var detections []Detection
		for i := range at {
			at[i][0], at[i][1] = at[i][0]+sds[i]*rng.NormFloat64(), at[i][1]+sds[i]*rng.NormFloat64()
			detections = append(detections, seen(rng, at[i][0], at[i][1]))
		}
		for _, p := range k.Update(uint64(f), detections) {
			if p.Detection >= 0 && p.Confirmed {
				found[p.Detection] = p.Q
			}
		}
	}
	for i, sd := range sds {
		if q := found[i]; q < 0.65*sd*sd || q > 1.35*sd*sd+0.1 {
			t.Errorf("steps of sd %g: a variance of %.2f", sd, found[i])
		}
	}
}

// TestMerged verifies that two objects that appear as one for five frames exist before, during and after. At the merger and at the parting, one point names
// the other object. Positions cannot show which object is which afterwards.
func TestMerged(t *testing.T) {
	rng, k := rand.New(rand.NewPCG(9, 10)), tracker(t)
	var two []uint64
	for f := range 60 {
		apart := math.Abs(float64(f - 30))
		detections := []Detection{seen(rng, 128, 128)}
		if apart >= 3 {
			detections = append(detections, seen(rng, 128+0.8*apart, 128))
		}
		var ids []uint64
		told := 0
		for _, p := range k.Update(uint64(f), detections) {
			ids = append(ids, p.ID)
			if p.With == 0 {
				continue
			}
			if told++; p.With == p.ID || !slices.Contains(two, p.With) || f < 33 && p.Detection != Merged || f == 33 && p.Detection < 0 {
				t.Errorf("frame %d: %+v", f, p)
			}
		}
		if f == 20 {
			two = ids
		}
		if f >= 20 && (len(ids) != 2 || !reflect.DeepEqual(ids, two)) {
			t.Errorf("frame %d: identities %v were %v", f, ids, two)
		}
		want := 0
		if f >= 28 && f <= 33 {
			want = 1
		}
		if told != want {
			t.Errorf("frame %d: %d points name another object, expected %d", f, told, want)
		}
	}
}

// TestSameAgain verifies that the same detections give the same tracks, in any order.
func TestSameAgain(t *testing.T) {
	run := func(reversed bool) (all []Point) {
		rng, k := rand.New(rand.NewPCG(11, 12)), tracker(t)
		at := make([][2]float64, 80)
		for i := range at {
			at[i] = [2]float64{256 * rng.Float64(), 256 * rng.Float64()}
		}
		for f := range 40 {
			var detections []Detection
			for i := range at {
				at[i][0], at[i][1] = at[i][0]+rng.NormFloat64(), at[i][1]+rng.NormFloat64()
				detections = append(detections, seen(rng, at[i][0], at[i][1]))
			}
			if reversed {
				slices.Reverse(detections)
			}
			for _, p := range k.Update(uint64(f), detections) {
				if reversed && p.Detection >= 0 {
					p.Detection = len(detections) - 1 - p.Detection
				}
				if p.Confirmed && p.Detection >= 0 {
					all = append(all, p)
				}
			}
		}
		return all
	}
	one, again, other := run(false), run(false), run(true)
	if !reflect.DeepEqual(one, again) {
		t.Error("the same detections give different tracks")
	}
	group := func(points []Point) map[[2]uint64]uint64 { // maps each object of a frame to its first number
		first, out := map[uint64]uint64{}, map[[2]uint64]uint64{}
		for _, p := range points {
			if _, ok := first[p.ID]; !ok {
				first[p.ID] = p.Frame<<32 | uint64(p.Detection)
			}
			out[[2]uint64{p.Frame, uint64(p.Detection)}] = first[p.ID]
		}
		return out
	}
	if !reflect.DeepEqual(group(one), group(other)) {
		t.Error("the same detections in a different order give different tracks")
	}
}

// TestUpdateAllocates verifies that an update allocates nothing per object and frame, after warm-up.
func TestUpdateAllocates(t *testing.T) {
	rng, k := rand.New(rand.NewPCG(13, 14)), tracker(t)
	detections := make([]Detection, 100)
	at := make([][2]float64, len(detections))
	for i := range at {
		at[i] = [2]float64{256 * rng.Float64(), 256 * rng.Float64()}
	}
	f := uint64(0)
	step := func() {
		for i := range at {
			detections[i] = seen(rng, at[i][0], at[i][1])
		}
		k.Update(f, detections)
		f++
	}
	for range 50 {
		step()
	}
	if n := testing.AllocsPerRun(20, step); n > 0 {
		t.Errorf("%g allocations per frame of 100 objects", n)
	}
}

func BenchmarkUpdate(b *testing.B) {
	rng, k := rand.New(rand.NewPCG(13, 14)), tracker(b)
	at := make([][2]float64, 500)
	for i := range at {
		at[i] = [2]float64{256 * rng.Float64(), 256 * rng.Float64()}
	}
	detections := make([]Detection, len(at))
	f := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		for i := range at {
			detections[i] = seen(rng, at[i][0], at[i][1])
		}
		k.Update(f, detections)
		f++
	}
}

// TestSwitchesAreLearnt follows 40 objects that run for 20 frames and diffuse for 20 frames in turn. The learnt rates of starts and stops are one in 20
// frames, to a half. For objects that never switch, the rate falls at least a quarter below the prior; single steps are weak evidence.
func TestSwitchesAreLearnt(t *testing.T) {
	for name, c := range map[string]struct {
		every       int
		least, most float64
	}{"every 20 frames": {20, 0.025, 0.075}, "never": {1 << 20, 0, 0.75 * priorSwitch}} {
		rng := rand.New(rand.NewPCG(19, 20))
		k, err := New(Options{Width: 1024, Height: 1024, Template: 1.4})
		if err != nil {
			t.Fatal(err)
		}
		at, way := make([][2]float64, 40), make([]float64, 40)
		for i := range at {
			at[i] = [2]float64{100 + 100*float64(i%7), 100 + 100*float64(i/7)}
		}
		detections := make([]Detection, len(at))
		for f := range 200 {
			for i := range at {
				phase := f + 7*i
				if way[i] == 0 || phase%c.every == 0 {
					way[i] = 2 * math.Pi * rng.Float64()
				}
				if (phase/c.every)%2 == 0 && c.every < 1<<20 {
					at[i][0], at[i][1] = at[i][0]+3*math.Cos(way[i]), at[i][1]+3*math.Sin(way[i])
				} else {
					at[i][0], at[i][1] = at[i][0]+rng.NormFloat64(), at[i][1]+rng.NormFloat64()
				}
				detections[i] = seen(rng, at[i][0], at[i][1])
			}
			k.Update(uint64(f), detections)
		}
		if p := &k.population; p.starts < c.least || p.starts > c.most || name != "never" && (p.stops < c.least || p.stops > c.most) {
			t.Errorf("%s: found %.4f starts and %.4f stops per frame", name, p.starts, p.stops)
		}
	}
}

// TestRowsOfFramesThatWere verifies that gaps are filled in analysed frames but not in lost frames.
func TestRowsOfFramesThatWere(t *testing.T) {
	var r Rows
	var got []Row
	for _, frame := range []uint64{0, 1, 2, 50, 51, 60} {
		p := Point{ID: 1, Frame: frame, X: float64(frame), Confirmed: true}
		if frame == 51 {
			p.Detection = Undetected
		}
		r.Add(frame, []Point{p}, func(row Row) { got = append(got, row) })
	}
	var frames []uint64
	for _, row := range got {
		if frames = append(frames, row.Frame); row.X != float64(row.Frame) || row.Filled != (row.Frame == 51) {
			t.Errorf("%+v", row)
		}
	}
	if want := []uint64{0, 1, 2, 50, 51, 60}; !slices.Equal(frames, want) {
		t.Errorf("rows of frames %v, expected %v", frames, want)
	}
}
