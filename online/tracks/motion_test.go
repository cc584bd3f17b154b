package tracks

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"driftscope/internal/kit/archive"
)

// TestChangesOfMotion verifies that an object keeps its number in nine of ten trials, through any change of motion. In each trial three objects diffuse by
// 0.3 px per frame for 30 frames. Then one of them changes its motion:
func TestChangesOfMotion(t *testing.T) {
	for name, heading := range map[string]func(f int, was float64, rng *rand.Rand) float64{
		"sets off":       func(f int, was float64, rng *rand.Rand) float64 { return was },
		"turns back":     func(f int, was float64, rng *rand.Rand) float64 { return was + math.Pi*float64(f%15/14) },
		"turns aside":    func(f int, was float64, rng *rand.Rand) float64 { return was + math.Pi/2*float64(f%15/14) },
		"runs in curves": func(f int, was float64, rng *rand.Rand) float64 { return was + 0.3*rng.NormFloat64() },
	} {
		const trials = 40
		same := 0
		for trial := range trials {
			rng, k := rand.New(rand.NewPCG(31, uint64(trial))), tracker(t)
			at := [3][2]float64{{128, 128}, {40, 40}, {200, 60}}
			way := 2 * math.Pi * rng.Float64()
			var places [][][2]float64
			for f := range 60 {
				for i := range at {
					sd := 0.3
					if i == 0 && f >= 30 {
						sd = 0
						way = heading(f, way, rng)
						at[i][0], at[i][1] = at[i][0]+3*math.Cos(way), at[i][1]+3*math.Sin(way)
					}
					at[i][0], at[i][1] = at[i][0]+sd*rng.NormFloat64(), at[i][1]+sd*rng.NormFloat64()
				}
				places = append(places, [][2]float64{at[0], at[1], at[2]})
			}
			if ids := identities(t, k, rng, places); ids[59][0] == ids[29][0] && ids[29][0] != 0 {
				same++
			}
		}
		if same < trials*9/10 {
			t.Errorf("%s: %d of %d objects keep their number", name, same, trials)
		}
	}
}

// TestSpeedsAreLearnt runs 60 objects at 2 to 4 px/frame, replaced every 20 frames. Nearly all count as running from the first step on. The mean square speed
// per axis, 14/3 px², is right to a third: positions have errors of 0.15 px, and the prior counts as 30 speeds.
func TestSpeedsAreLearnt(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	k, err := New(Options{Width: 1024, Height: 1024, Template: 1.4})
	if err != nil {
		t.Fatal(err)
	}
	at, way := make([][2]float64, 60), make([][2]float64, 60)
	for f := range 200 {
		detections := make([]Detection, len(at))
		for i := range at {
			if (f+i)%20 == 0 || f == 0 {
				speed, heading := 2+2*rng.Float64(), 2*math.Pi*rng.Float64()
				at[i] = [2]float64{100 + 800*rng.Float64(), 100 + 800*rng.Float64()}
				way[i] = [2]float64{speed * math.Cos(heading), speed * math.Sin(heading)}
			}
			at[i][0], at[i][1] = at[i][0]+way[i][0], at[i][1]+way[i][1]
			detections[i] = seen(rng, at[i][0], at[i][1])
		}
		k.Update(uint64(f), detections)
	}
	p := &k.population
	if p.directed < 0.85 || math.Abs(p.speeds.square/(14.0/3)-1) > 1.0/3 || p.speeds.fastest < 3.5 || p.speeds.fastest > 8 || p.turns > 0.02 {
		t.Errorf("a fraction of %.2f runs, with a mean square speed of %.2f px²; one in a thousand exceeds %.1f px per frame; a fraction of %.3f turns", p.directed, p.speeds.square, p.speeds.fastest, p.turns)
	}
}

// TestSlowIsNoRun verifies that after 50 frames hardly any of 36 objects that diffuse by 0.5 or 0.16 px per frame counts as running. For small steps,
// diffusion and slow runs look alike.
func TestSlowIsNoRun(t *testing.T) {
	rng, k := rand.New(rand.NewPCG(35, 36)), tracker(t)
	var at [36][2]float64
	for i := range at {
		at[i] = [2]float64{20 + 40*float64(i%6), 20 + 40*float64(i/6)}
	}
	runs := 0
	for f := range 200 {
		detections := make([]Detection, len(at))
		for i := range at {
			sd := 0.5 - 0.34*float64(i%2)
			at[i][0], at[i][1] = at[i][0]+sd*rng.NormFloat64(), at[i][1]+sd*rng.NormFloat64()
			detections[i] = Detection{X: at[i][0] + 0.1*rng.NormFloat64(), Y: at[i][1] + 0.1*rng.NormFloat64(), VarX: 0.01, VarY: 0.01, Score: 12}
		}
		for _, p := range k.Update(uint64(f), detections) {
			if f >= 50 && p.Directed > 0.5 {
				runs++
			}
		}
	}
	if runs > 150*36/100 { // limit: one in a hundred
		t.Errorf("%d of %d count as running", runs, 150*36)
	}
}

// TestLearntGoesOn verifies that the state is restored bit by bit, with and without a tracker.
func TestLearntGoesOn(t *testing.T) {
	k := tracker(t)
	for f, here := range dense(60) {
		k.Update(uint64(f), here)
	}
	for name, l := range map[string]Learnt{"a field": k.Learnt(), "nothing": {next: 7}} {
		w := archive.NewWriter(errors.ErrUnsupported)
		l.Archive(w)
		r := archive.NewReader(w.Bytes(), errors.ErrUnsupported)
		var again Learnt
		if again.Archive(r); r.End() != nil || !reflect.DeepEqual(l, again) {
			t.Errorf("%s: %v; %+v, then %+v", name, r.End(), l, again)
		}
	}
}
