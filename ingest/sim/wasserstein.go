package sim

import (
	"fmt"
	"math/rand/v2"
)

// wasserstein draws a grey picture between two given pictures, 64x64 in three equal channels in [0, 1]. Its coordinate runs along the path from the first to
// the second picture.
type wasserstein struct {
	between *barycentres
	lo, hi  float64
	grey    []float64
	from    string
}

func newWasserstein(o Options, shown extent, _ *rand.PCG) (renderer, error) {
	if o.Render != Subpixel {
		return nil, fmt.Errorf("render is %q, but this scene supports only %s", o.Render, Subpixel)
	}
	return newInterpolation(o, shown.lo[0], shown.hi[0])
}

func newInterpolation(o Options, lo, hi float64) (*wasserstein, error) {
	w := &wasserstein{lo: lo, hi: hi, grey: make([]float64, side*side)}
	a, b := ring(), pebble()
	w.from = "stand-in objects: give --assets DIR for COIL-20"
	if o.Assets != "" {
		var err error
		if a, b, err = coil(o.Assets, rand.New(rand.NewPCG(o.Seed, assetStream))); err != nil {
			return nil, err
		}
		w.from = "objects from COIL-20"
	}
	var err error
	w.between, err = newBarycentres(a, b)
	return w, err
}

func (w *wasserstein) format() Format { return colour() }

func (w *wasserstein) pictures() string { return w.from }

func (w *wasserstein) render(dst *Picture, z []float64, _ float64) bool { return w.draw(dst, z[0]) }

// draw fills dst with the picture at coordinate z.
func (w *wasserstein) draw(dst *Picture, z float64) (inside bool) {
	want := 0.0
	if w.hi > w.lo { // a single frame has no extent
		want = (z - w.lo) / (w.hi - w.lo)
	}
	w.between.draw(w.grey, min(max(want, 0), 1))
	for i, v := range w.grey {
		dst.F32[3*i], dst.F32[3*i+1], dst.F32[3*i+2] = float32(v), float32(v), float32(v)
	}
	return want > -rounding && want < 1+rounding
}

// ballWasserstein draws the ball at (z₁, z₂) over a background between two pictures, which z₃ selects. Ball and background are scaled independently.
type ballWasserstein struct {
	behind *wasserstein
	ball   *ball
}

func newBallWasserstein(o Options, shown extent, _ *rand.PCG) (renderer, error) {
	background, err := newInterpolation(o, shown.lo[2], shown.hi[2])
	if err != nil {
		return nil, err
	}
	return &ballWasserstein{background, &ball{newPlane(o, ballMargin, [2]float64(shown.lo), [2]float64(shown.hi))}}, nil
}

func (b *ballWasserstein) format() Format { return b.behind.format() }

func (b *ballWasserstein) pictures() string { return b.behind.pictures() }

func (b *ballWasserstein) render(dst *Picture, z []float64, _ float64) bool {
	inside := b.behind.draw(dst, z[2])
	return b.ball.draw(dst, z) && inside
}
