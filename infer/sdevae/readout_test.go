package sdevae

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/dnnl"
	"driftscope/internal/suite"
)

// TestReadout: the basis is orthonormal and holds what it says it does; a layer on moments and its spread give the same numbers;
// what is spread is kept, and what is kept is the nearest.
func TestReadout(t *testing.T) {
	suite.Long(t)
	maps := dnnl.Shape{C: 5, H: 6, W: 8}
	const d, n, tolerance = 2, 3, 1e-5 // float32 sums of 240 terms about 1
	rng := rand.New(rand.NewPCG(1, 1))
	normals := func(k int) []float32 {
		v := make([]float32, k)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	for degree := range 4 {
		r := newReadout(maps, degree)
		if want := (degree + 1) * (degree + 2) / 2; r.terms() != want {
			t.Fatalf("degree %d: %d polynomials, expected %d", degree, r.terms(), want)
		}
		var gram mat.Dense
		gram.Mul(r.basis, r.basis.T())
		for i := range r.terms() {
			for j := range r.terms() {
				if want := map[bool]float64{true: 1}[i == j]; math.Abs(gram.At(i, j)-want) > 1e-12 {
					t.Errorf("degree %d: polynomials %d and %d have product %g", degree, i, j, gram.At(i, j))
				}
			}
		}
		h, small := normals(n*maps.Size()), mat.NewDense(maps.C*r.terms(), d, wide(normals(maps.C*r.terms()*d)))
		var want mat.Dense
		want.Mul(r.moments(h, n), small)
		w := narrow(r.spread(small).RawMatrix().Data)
		got := make([]float32, n*d)
		affine(got, h, w, make([]float32, d), n, maps.Size(), d)
		for i, v := range got {
			if math.Abs(float64(v)-want.RawMatrix().Data[i]) > tolerance*10 {
				t.Errorf("degree %d: the spread layer gives %g, the layer on moments %g", degree, v, want.RawMatrix().Data[i])
			}
		}
		any := normals(len(w))
		kept := append([]float32(nil), any...)
		r.keep(kept, d)
		var outside, inside float64
		for i, v := range any {
			outside += float64(v-kept[i]) * float64(w[i])
			inside += float64(w[i]) * float64(w[i])
		}
		if math.Abs(outside) > tolerance*inside {
			t.Errorf("degree %d: what was taken away has product %g with what is seen", degree, outside)
		}
		r.keep(w, d)
		for i, v := range w {
			if want := r.spread(small).RawMatrix().Data[i]; math.Abs(float64(v)-want) > tolerance {
				t.Fatalf("degree %d: a layer on moments does not stay: %g, was %g", degree, v, want)
			}
		}
	}
	if got := newReadout(dnnl.Shape{C: 1, H: 1, W: 2}, 3).terms(); got != 2 {
		t.Errorf("maps of 2 pixels have %d independent moments", got)
	}
}

// TestPrimeFindsWhatMoves: a bright square that walks over a flickering, noisy background. Before any step, the slowest latents
// explain its place; the principal component is the flicker.
func TestPrimeFindsWhatMoves(t *testing.T) {
	suite.Long(t)
	clip, x, y := walkingSquare(400)
	c := Config{Latent: 2, Seed: 1, Tau: 1}.withDefaults(399)
	rng := rand.New(rand.NewPCG(1, 1))
	m, err := newModel(dnnl.Shape{C: 1, H: 32, W: 32}, c, 100, rng)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Background = background(clip)
	if _, err := m.primeSlow(clip, clip.Pairs(1)); err != nil {
		t.Fatal(err)
	}
	if err := m.calibrate(clip, framesOf(clip.Pairs(1))); err != nil {
		t.Fatal(err)
	}
	p, err := m.Encode(clip.Pixels, nil, clip.Len())
	if err != nil {
		t.Fatal(err)
	}
	for name, truth := range map[string][]float64{"x": x, "y": y} {
		if r2 := explainedBy(p.Mean, 2, truth); r2 < 0.7 {
			t.Errorf("the first latents explain %.2f of %s, expected 0.7 (0.80 measured): random convolutions see places roughly", r2, name)
		}
	}
}

// walkingSquare is n frames of 32×32 with an 8×8 square on an Ornstein-Uhlenbeck walk, and its centre.
func walkingSquare(n int) (c *Clip, x, y []float64) {
	rng := rand.New(rand.NewPCG(2, 2))
	c = &Clip{Channels: 1, Height: 32, Width: 32}
	u, v := 0.0, 0.0
	for i := range n {
		u, v = 0.95*u+rng.NormFloat64(), 0.95*v+rng.NormFloat64()
		flicker := 0.2 * rng.Float64()
		for p := range c.Size() {
			inX, inY := 4-math.Abs(float64(p%32)-15.5-2*u), 4-math.Abs(float64(p/32)-15.5-2*v)
			cover := min(max(inX, 0), 1) * min(max(inY, 0), 1)
			c.Pixels = append(c.Pixels, float32(min(flicker+0.6*cover+0.1*rng.Float64(), 1)))
		}
		c.Times, c.Trajectory = append(c.Times, float64(i)), append(c.Trajectory, 0)
		x, y = append(x, u), append(y, v)
	}
	return c, x, y
}

// explainedBy is the share of truth's variance that a linear map of the latents (n × d) explains.
func explainedBy(z []float32, d int, truth []float64) float64 {
	n := len(truth)
	design := mat.NewDense(n, d+1, nil)
	for k := range n {
		design.Set(k, d, 1)
		for i := range d {
			design.Set(k, i, float64(z[k*d+i]))
		}
	}
	target := mat.NewVecDense(n, truth)
	var fit, miss mat.VecDense
	if fit.SolveVec(design, target) != nil {
		return 0
	}
	miss.MulVec(design, &fit)
	miss.SubVec(&miss, target)
	mean := mat.Sum(target) / float64(n)
	var total float64
	for _, v := range truth {
		total += (v - mean) * (v - mean)
	}
	return 1 - mat.Dot(&miss, &miss)/total
}
