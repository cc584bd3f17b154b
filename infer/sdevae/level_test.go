package sdevae

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/online/align"
)

// swaying is n frames of 16×16 with a spot of sd 3 pixels that strays about reach pixels from the middle, and where it was.
func swaying(n int, reach float64) (c *Clip, truth *mat.Dense) {
	rng := rand.New(rand.NewPCG(5, 0))
	c, truth = &Clip{Channels: 1, Height: 16, Width: 16}, mat.NewDense(n, 2, nil)
	var x, y float64
	for i := range n {
		truth.SetRow(i, []float64{x, y})
		for p := range 256 {
			dx, dy := float64(p%16)-7.5-reach*x, float64(p/16)-7.5-reach*y
			c.Pixels = append(c.Pixels, float32(math.Exp(-(dx*dx+dy*dy)/18)))
		}
		c.Times, c.Trajectory = append(c.Times, 0.1*float64(i)), append(c.Trajectory, 0)
		x, y = 0.95*x+0.3*rng.NormFloat64(), 0.95*y+0.3*rng.NormFloat64()
	}
	return c, truth
}

// TestLevel bends what an encoder might say of a short clip. Straight, the latents of the first 60 frames tell where the spot is in the
// other 20 to within a 100th of its variance, as the components themselves do at this reach.
func TestLevel(t *testing.T) {
	bend := func(x, y float64) []float64 { return []float64{x + 0.2*x*y, y + 0.15*x*x - 0.1*y*y} }
	clip, truth := swaying(80, 0.5)
	m := through(truth, bend)
	white, straight, worth := levelled(t, m, clip)
	if worth == nil || worth.Components < linearShare || worth.Gain != 0 {
		t.Fatalf("worth %+v", worth)
	}
	if worth.Inverse > 0.05 {
		t.Errorf("the way back is off by %.3f of a standard deviation", worth.Inverse)
	}
	before, after := ahead(t, white, m, truth), ahead(t, straight, m, truth)
	t.Logf("R² ahead: %.4f before, %.4f after", before, after)
	if before > 0.99 || after < 0.99 {
		t.Errorf("R² ahead is %.4f, %.4f before", after, before)
	}
}

func TestLevelLeavesTheRestAlone(t *testing.T) {
	straight := func(x, y float64) []float64 { return []float64{x, y} }
	for _, c := range []struct {
		name   string
		frames int
		reach  float64
		see    func(x, y float64) []float64
	}{
		{"long enough for rectification", 200, 0.5, straight},
		{"too short for a map", 29, 0.5, straight},
		{"a spot that goes further than its size", 80, 5, straight},
		{"latents that tell one coordinate", 80, 0.5, func(x, y float64) []float64 { return []float64{x, 0.3 * x * x} }},
		{"one latent for two coordinates", 80, 0.5, func(x, y float64) []float64 { return []float64{x} }},
	} {
		clip, truth := swaying(c.frames, c.reach)
		if white, same, worth := levelled(t, through(truth, c.see), clip); same != white || worth != nil {
			t.Errorf("%s: straightened, worth %+v", c.name, worth)
		}
	}
}

// through maps the truth to latents.
func through(truth *mat.Dense, see func(x, y float64) []float64) (m []float32) {
	n, _ := truth.Dims()
	for i := range n {
		m = append(m, narrow(see(truth.At(i, 0), truth.At(i, 1)))...)
	}
	return m
}

func levelled(t *testing.T, m []float32, clip *Clip) (white, straight *reference, worth *Rectified) {
	t.Helper()
	pairs := clip.Pairs(clip.MaxGap())
	white, err := whiten(m, len(m)/clip.Len(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	if straight, worth, err = white.level(m, pairs, clip); err != nil {
		t.Fatal(err)
	}
	return white, straight, worth
}

// ahead is the lower R² of the truth's coordinates in the last quarter of the frames, by an affine map fitted on the others.
func ahead(t *testing.T, r *reference, m []float32, truth *mat.Dense) float64 {
	t.Helper()
	n, d := truth.Dims()
	z := mat.NewDense(n, d, wide(r.straight(r.coordinates(m))))
	part := func(x *mat.Dense, from, to int) *mat.Dense { return mat.DenseCopyOf(x.Slice(from, to, 0, d)) }
	to, err := align.Affine(part(z, 0, n*3/4), part(truth, 0, n*3/4))
	if err != nil {
		t.Fatal(err)
	}
	r2 := align.R2(to.Apply(part(z, n*3/4, n)), part(truth, n*3/4, n))
	return min(r2[0], r2[1])
}
