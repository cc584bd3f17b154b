package paper

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/onlinetest"
)

// mixed describes films of latents. The first coordinates move, dz = -κz dt + dW, with noise of variance rΔt. The others are pure noise. The latents are
// mixtures of all coordinates.
type mixed struct {
	films, frames int
	dim           int
	kappa         []float64
	r             float64
	still         float64 // sd of the other coordinates
	skewed        bool    // mixed by a general linear map instead of a rotation
	offset        float64 // sd of the films' offsets
}

// draw returns the latents and the mixing. Column i of the mixing is the contribution of coordinate i.
func (m mixed) draw(rng *rand.Rand) (seen []latent.Latent, mixing *mat.Dense) {
	mixing = mat.NewDense(m.dim, m.dim, onlinetest.Normals(m.dim*m.dim, rng))
	if !m.skewed {
		var qr mat.QR
		qr.Factorize(mixing)
		qr.QTo(mixing)
	}
	for film := range m.films {
		offset, z := onlinetest.Normals(m.dim, rng), make([]float64, m.dim)
		for range m.frames {
			x := mat.NewVecDense(m.dim, nil)
			for i := range m.dim {
				sd := m.still
				if i < len(m.kappa) {
					z[i] += -m.kappa[i]*z[i]*onlinetest.Step + math.Sqrt(onlinetest.Step)*rng.NormFloat64()
					sd = math.Sqrt(m.r * onlinetest.Step)
				}
				x.SetVec(i, m.offset*offset[i]+z[i]+sd*rng.NormFloat64())
			}
			x.MulVec(mixing, mat.VecDenseCopyOf(x))
			k := len(seen)
			seen = append(seen, latent.Latent{Seq: uint64(k), Time: time.Unix(0, int64(k)*1e7), Trajectory: uint64(film), Mean: x.RawVector().Data})
		}
	}
	return seen, mixing
}

// found separates the latents and reports which components move, by their motion in the latents.
func found(t *testing.T, seen []latent.Latent) (*Components, []bool) {
	t.Helper()
	s, err := Separate(seen, len(seen[0].Mean), 0)
	if err != nil {
		t.Fatal(err)
	}
	motion := make([]float64, len(s.Diffusion))
	for i, v := range s.Diffusion {
		along := s.Along.RawRowView(i)
		motion[i] = v * floats.Dot(along, along)
	}
	return s, s.Moving(motion)
}

func howMany(moving []bool) (n int) {
	for _, m := range moving {
		if m {
			n++
		}
	}
	return n
}

// Two of 16 coordinates move, or none, or all of three. In 300 draws of each case the number was right in 299 or 300, and never too small. Without motion, a
// component seemed to move in 8 of 600 draws. At this rate, 1 in 75, three or more of 20 draws are wrong once in a thousand times.
func TestSeparateCounts(t *testing.T) {
	suite.Calculation(t)
	const runs, wrong = 20, 2
	two := []float64{1, 2}
	for name, c := range map[string]mixed{
		"four films, each elsewhere": {films: 4, frames: 100, dim: 16, kappa: two, r: 0.1, still: 0.1, offset: 3},
		"free diffusion":             {films: 4, frames: 100, dim: 16, kappa: []float64{0, 0}, r: 0.1, still: 0.1},
		"noise like the motion":      {films: 1, frames: 301, dim: 16, kappa: two, r: 1, still: 1},
		"any linear map":             {films: 4, frames: 100, dim: 16, kappa: two, r: 0.1, still: 0.1, skewed: true},
		"nothing moves":              {films: 4, frames: 100, dim: 16, still: 0.1, offset: 3},
		"all move":                   {films: 4, frames: 100, dim: 3, kappa: []float64{1, 1, 1}, r: 0.1},
	} {
		off := 0
		for seed := range uint64(runs) {
			seen, _ := c.draw(onlinetest.Rand(seed))
			if _, moving := found(t, seen); howMany(moving) != len(c.kappa) {
				off++
			}
		}
		if off > wrong {
			t.Errorf("%s: the number that moves is wrong in %d of %d draws, expected %d at most", name, off, runs, wrong)
		}
	}
}

// The moving components are the moving coordinates, without noise and in their own units: σ² = 1, along the columns of the mixing.
func TestSeparateRecovers(t *testing.T) {
	c := mixed{films: 20, frames: 250, dim: 16, kappa: []float64{1, 12}, r: 0.1, still: 0.1, offset: 3, skewed: true}
	seen, mixing := c.draw(onlinetest.Rand(3))
	s, moving := found(t, seen)
	if howMany(moving) != 2 || !moving[0] || !moving[1] {
		t.Fatalf("moving: %v, expected the first two", moving)
	}
	if !(s.Memory[0] > s.Memory[1] && s.Memory[1] > s.Memory[2]) {
		t.Errorf("memory %v does not fall", s.Memory)
	}
	for i := range 2 {
		along, column := s.Along.RawRowView(i), mat.Col(nil, i, mixing)
		unit := floats.Dot(along, column) / floats.Dot(column, column) // of the coordinate, in one of the component
		// 5000 transitions with r = 0.1 determine σ² to 3 %. κ = 12/s reduces it by κΔt = 12 %, and by a similar amount with noise.
		if v := s.Diffusion[i] * unit * unit; math.Abs(v-1) > 0.1+2*c.kappa[i]*onlinetest.Step {
			t.Errorf("coordinate %d: σ² = %.3f, expected 1", i, v)
		}
		// Both move within films of 2.5 s. Their chance correlation, about (κT)^-½ per film, mixes a tenth of one into the other.
		if cosine := math.Abs(floats.Dot(along, column)) / floats.Norm(along, 2) / floats.Norm(column, 2); cosine < 0.99 {
			t.Errorf("coordinate %d enters along another axis, |cos| %.3f", i, cosine)
		}
	}
}

// Latents mixed by a different map give the same components, so the result does not depend on the mixing.
func TestSeparateDoesNotSeeTheMixing(t *testing.T) {
	c := mixed{films: 3, frames: 80, dim: 5, kappa: []float64{1, 4}, r: 0.3, still: 0.2}
	seen, _ := c.draw(onlinetest.Rand(5))
	before, _ := found(t, seen)
	turn := mat.NewDense(5, 5, onlinetest.Normals(25, onlinetest.Rand(6)))
	for k := range seen {
		var x mat.VecDense
		x.MulVec(turn, mat.NewVecDense(5, seen[k].Mean))
		seen[k].Mean = x.RawVector().Data
	}
	after, _ := found(t, seen)
	// Rounding, times the condition of a random map of five dimensions, squared; likelihoods of hundreds of nats add up its errors.
	onlinetest.Within(t, "memory", after.Memory, before.Memory, 1e-9)
	onlinetest.Within(t, "diffusion", after.Diffusion, before.Diffusion, 1e-6)
	onlinetest.Within(t, "ratio", after.Ratio, before.Ratio, 1e-6)
	var along mat.Dense
	along.Mul(before.Along, turn.T())
	for i := range 5 {
		a, b := after.Along.RawRowView(i), along.RawRowView(i)
		if floats.Dot(a, b) < 0 {
			floats.Scale(-1, b)
		}
		onlinetest.Within(t, "along", a, b, 1e-6)
	}
}

// Noise around two positions looks like motion if the films are joined, and like noise if they are separate.
func TestSeparateStopsAtCuts(t *testing.T) {
	c := mixed{films: 10, frames: 30, dim: 4, still: 0.1, offset: 3}
	seen, _ := c.draw(onlinetest.Rand(7))
	if _, moving := found(t, seen); howMany(moving) != 0 {
		t.Errorf("%d components of noise move", howMany(moving))
	}
	for k := range seen {
		seen[k].Trajectory = 0
	}
	if _, moving := found(t, seen); howMany(moving) == 0 {
		t.Error("films that lie apart were joined, and nothing moves: the test would not see a join")
	}
	for k := range seen {
		seen[k].Time = seen[k].Time.Add(time.Duration(k/c.frames) * time.Second)
	}
	s, err := Separate(seen, 4, 100*time.Millisecond)
	if err != nil || howMany(s.Moving(s.Diffusion)) != 0 {
		t.Errorf("%v: a pause longer than the longest gap was stepped over", err)
	}
}

// A latent that is constant, or a copy of another latent, adds no component. Motion below a hundredth of the largest does not count.
func TestSeparateLeavesOut(t *testing.T) {
	seen, _ := mixed{films: 2, frames: 100, dim: 2, kappa: []float64{1, 1}, r: 0.1}.draw(onlinetest.Rand(8))
	for k, z := range seen {
		seen[k].Mean = append(z.Mean, 7, z.Mean[0]-z.Mean[1])
	}
	s, moving := found(t, seen)
	if rows, _ := s.Path.Dims(); len(s.Memory) != 2 || rows != 200 || howMany(moving) != 2 {
		t.Errorf("%d components of %d rows, %v move; expected 2 of 200", len(s.Memory), rows, moving)
	}
	if got := s.Moving([]float64{1, 0.0099}); !slices.Equal(got, []bool{true, false}) {
		t.Errorf("of motions 1 and 0.0099 count %v", got)
	}
}

func TestSeparateRefuses(t *testing.T) {
	still, _ := mixed{films: 2, frames: 20, dim: 2, offset: 1}.draw(onlinetest.Rand(9))
	pairs, _ := mixed{films: 9, frames: 2, dim: 2, kappa: []float64{1, 1}}.draw(onlinetest.Rand(9))
	odd, _ := mixed{films: 1, frames: 20, dim: 2, still: 1}.draw(onlinetest.Rand(9))
	odd[11].Mean[1] = math.NaN()
	for want, seen := range map[string][]latent.Latent{
		"do not move within any trajectory":    still,
		"no trajectory has three latents":      pairs,
		"frame 11: unusable latent":            odd,
		"no trajectory has three latents: giv": nil,
	} {
		if _, err := Separate(seen, 2, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}
