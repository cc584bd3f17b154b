package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Noisy variants exist for the paper's scenes and for the other laws of ball and background.
func TestNoisyScenes(t *testing.T) {
	var got []string
	for _, name := range Names() {
		if strings.HasSuffix(name, "-normal") || strings.HasSuffix(name, "-student") {
			got = append(got, name)
		}
	}
	want := []string{
		"balls-ou-normal", "balls-ou-student",
		"wasserstein-ou-normal", "wasserstein-ou-student",
		"ball-wasserstein-ou-normal", "ball-wasserstein-ou-student",
		"ball-wasserstein-cauchy-normal", "ball-wasserstein-cauchy-student",
		"ball-wasserstein-anisotropic-normal", "ball-wasserstein-anisotropic-student",
	}
	if !slices.Equal(got, want) {
		t.Errorf("noisy scenes are %v; want %v", got, want)
	}
}

// A noisy scene has the path and picture of the scene without noise, and the difference has the quantiles of the noise law. Among n = 3·10⁵ values the share
// below a quantile q has an error of at most 5 √(q (1-q)/n), which is at most 0.0046.
func TestNoiseLiesOnTheCleanScene(t *testing.T) {
	const frames = 25
	// t₃: P(t < x) = 1/2 + (x/√3 / (1 + x²/3) + atan(x/√3)) / π.
	student := func(x float64) float64 {
		u := x / math.Sqrt(3)
		return 0.5 + (u/(1+u*u)+math.Atan(u))/math.Pi
	}
	normal := func(x float64) float64 { return normalCDF(x / 2) }
	for _, c := range []struct {
		clean, name string
		below       func(x float64) float64
	}{
		{"balls-ou", "balls-ou-normal", normal},
		{"balls-ou", "balls-ou-student", student},
		{"wasserstein-ou", "wasserstein-ou-normal", normal},
		{"ball-wasserstein-anisotropic", "ball-wasserstein-anisotropic-student", student},
	} {
		o := Options{Frames: frames, Seed: 8}
		clean, noisy := mustNew(t, c.clean, o), mustNew(t, c.name, o)
		if noisy.Format().Depth != Real || noisy.Pictures() != clean.Pictures() || noisy.DT() != clean.DT() {
			t.Errorf("%s: depth %d, %q, dt %g", c.name, noisy.Format().Depth, noisy.Pictures(), noisy.DT())
		}
		at := []float64{-8, -4, -2, -1, 0, 1, 2, 4, 8}
		share := make([]float64, len(at))
		var p, q Picture
		n := float64(frames * clean.Format().Values())
		for range frames {
			one, err := clean.Next(&p)
			if err != nil {
				t.Fatal(err)
			}
			two, err := noisy.Next(&q)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(one.Z, two.Z) || !slices.Equal(one.Mu, two.Mu) || one.T != two.T {
				t.Fatalf("%s: truth %+v; want %+v", c.name, two, one)
			}
			for i := range p.F32 {
				for j, x := range at {
					if float64(q.F32[i])-float64(p.F32[i]) < x {
						share[j] += 1 / n
					}
				}
			}
		}
		for j, x := range at {
			want := c.below(x)
			if limit := 5 * math.Sqrt(want*(1-want)/n); math.Abs(share[j]-want) > limit {
				t.Errorf("%s: %.5f of the noise is below %g; want %.5f ± %.5f", c.name, share[j], x, want, limit)
			}
		}
	}
}

// The noise of neighbouring values is uncorrelated: a correlation over 10⁵ pairs of N(0, 4) has an error of at most 5/√(10⁵).
func TestNoiseIsWhite(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, noiseStream))
	const n = 100_000
	before, sum := normalNoise(rng), 0.0
	for range n {
		now := normalNoise(rng)
		sum += before * now / 4 / n
		before = now
	}
	if math.Abs(sum) > 5/math.Sqrt(n) {
		t.Errorf("neighbours have a correlation of %g; want 0", sum)
	}
}

// The cells of a table add up to the Poisson law, here computed by the recurrence p(n) = p(n-1) mean/n, and Fill draws every value from it.
func TestPoissonTable(t *testing.T) {
	for _, mean := range []float64{0.5, 10, 300} {
		table := PoissonTable(mean)
		got := make([]float64, noiseValues)
		for i, cell := range table.cells {
			cut := float64(cell>>cellBits) / (1 << cutBits)
			got[i] += cut / noiseValues
			got[cell&(noiseValues-1)] += (1 - cut) / noiseValues
		}
		p := math.Exp(-mean)
		for n := range got {
			// A cut is good to 2⁻²¹ of a cell; a value is the alias of at most noiseValues cells.
			if math.Abs(got[n]-p) > math.Ldexp(1, -cutBits) {
				t.Fatalf("mean %g: %d has probability %g; want %g", mean, n, got[n], p)
			}
			p *= mean / float64(n+1)
		}
		const values = 200_001 // odd, so the last value uses a word alone
		dst := slices.Repeat([]uint16{math.MaxUint16}, values)
		table.Fill(dst, rand.NewPCG(1, 2))
		var sum, square float64
		for _, v := range dst {
			sum, square = sum+float64(v), square+(float64(v)-mean)*(float64(v)-mean)
		}
		// the mean's variance is mean/values, that of the squares (mean + 2 mean²)/values
		if got := sum / values; math.Abs(got-mean) > 5*math.Sqrt(mean/values) {
			t.Errorf("mean %g: drew %g", mean, got)
		}
		if got := square / values; math.Abs(got-mean) > 5*math.Sqrt((mean+2*mean*mean)/values) {
			t.Errorf("mean %g: drew a variance of %g", mean, got)
		}
	}
}
