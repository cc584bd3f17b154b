package field

import (
	"math"
	"testing"

	"driftscope/infer/finder"
	"driftscope/ingest/sim/field"
)

// counted returns a frame of a simulated field.
func counted(t *testing.T, o field.Options) finder.Picture {
	t.Helper()
	f, err := field.New(o)
	if err != nil {
		t.Fatal(err)
	}
	counts, p := make([]uint16, o.Width*o.Height), finder.NewPicture(o.Width, o.Height)
	f.Draw(0, counts)
	for i, v := range counts {
		p.P[i] = float32(v)
	}
	return p
}

// TestLight: one frame determines the width of the spots to 10 %, which reduces a score by 1 %, for few and many, weak and strong, dark and bright spots. In
// pure noise, Light finds spots in at most 1 of 60 pictures. The spots are 1.43 px wide.
func TestLight(t *testing.T) {
	for _, c := range []struct {
		side, objects int
		snr           float64
	}{{128, 6, 7}, {128, 12, 4}, {256, 100, 4}, {256, 100, 2}, {256, 25, 2}} {
		p := counted(t, field.Options{Scenario: field.Vesicle, SNR: c.snr, Density: c.objects, Width: c.side, Height: c.side, Frames: 2, Seed: 3})
		for _, dark := range []bool{false, true} {
			found, err := Light(p)
			if err != nil || found.Dark != dark || math.Abs(found.SD/1.43-1) > 0.1 {
				t.Errorf("%+v, dark %v: found %+v, %v", c, dark, found, err)
			}
			for i, v := range p.P {
				p.P[i] = 1000 - v
			}
		}
	}
	wrong := 0
	for seed := range uint64(60) {
		if found, err := Light(counted(t, field.Options{Scenario: field.Vesicle, SNR: 4, Width: 128, Height: 128, Frames: 2, Seed: seed})); err != nil || found.SD > 0 {
			wrong++
		}
	}
	if wrong > 1 {
		t.Errorf("%d of 60 pictures of noise have spots", wrong)
	}
}

// TestParts: the parts of a large picture cover it, stay inside it, and start with the central part.
func TestParts(t *testing.T) {
	for _, size := range [][2]int{{96, 40}, {1024, 1024}, {1025, 300}, {2100, 1100}, {4000, 900}} {
		p := finder.NewPicture(size[0], size[1])
		for i := range p.P {
			p.P[i] = float32(i)
		}
		seen := make([]bool, len(p.P))
		for k := range parts(p.W) * parts(p.H) {
			part := partOf(p, k)
			for i, v := range part.P {
				seen[int(v)] = true
				if want := part.P[0] + float32(i/part.W*p.W+i%part.W); len(p.P) < 1<<24 && v != want {
					t.Fatalf("%v: part %d is no rectangle of the picture", size, k)
				}
			}
		}
		for i, yes := range seen {
			if !yes {
				t.Fatalf("%v: pixel %d is in no part", size, i)
			}
		}
	}
}
