package gauge

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/online/align"
)

// TestComponents bends what an encoder might say of a short clip. Straight, the latents of the first 60 frames tell where the spot is in the
// other 20 to within a 100th of its variance, as the components themselves do at this reach.
func TestComponents(t *testing.T) {
	bend := func(x, y float64) []float64 { return []float64{x + 0.2*x*y, y + 0.15*x*x - 0.1*y*y} }
	clip, truth := sdevaetest.Swaying(80, 0.5)
	m := through(truth, bend)
	white, straight, worth := levelled(t, m, clip)
	if worth == nil || worth.Components < minLinear || worth.Gain != 0 {
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

func TestComponentsLeaveTheRestAlone(t *testing.T) {
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
		clip, truth := sdevaetest.Swaying(c.frames, c.reach)
		if white, same, worth := levelled(t, through(truth, c.see), clip); same != white || worth != nil {
			t.Errorf("%s: straightened, worth %+v", c.name, worth)
		}
	}
}

// through maps the truth to latents.
func through(truth *mat.Dense, see func(x, y float64) []float64) (m []float32) {
	n, _ := truth.Dims()
	for i := range n {
		m = append(m, numeric.Float32s(see(truth.At(i, 0), truth.At(i, 1)))...)
	}
	return m
}

func levelled(t *testing.T, m []float32, clip *video.Clip) (white, straight *Map, worth *Rectified) {
	t.Helper()
	pairs := clip.Pairs(clip.MaxGap())
	white, err := Whiten(m, len(m)/clip.Len(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	if straight, worth, err = white.alongComponents(m, pairs, clip); err != nil {
		t.Fatal(err)
	}
	return white, straight, worth
}

// ahead is the lower R² of the truth's coordinates in the last quarter of the frames, by an affine map fitted on the others.
func ahead(t *testing.T, r *Map, m []float32, truth *mat.Dense) float64 {
	t.Helper()
	n, d := truth.Dims()
	z := mat.NewDense(n, d, numeric.Float64s(r.Polynomial(r.Affine(m))))
	part := func(x *mat.Dense, from, to int) *mat.Dense { return mat.DenseCopyOf(x.Slice(from, to, 0, d)) }
	to, err := align.Affine(part(z, 0, n*3/4), part(truth, 0, n*3/4))
	if err != nil {
		t.Fatal(err)
	}
	r2 := align.R2(to.Apply(part(z, n*3/4, n)), part(truth, n*3/4, n))
	return min(r2[0], r2[1])
}
