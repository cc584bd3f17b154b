package dnnl

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

func conv(out, kernel int) Layer { return Layer{Kind: Conv, Out: out, Kernel: kernel} }

var (
	norm, relu, pool, up, squash = Layer{Kind: BatchNorm}, Layer{Kind: LeakyReLU}, Layer{Kind: MaxPool}, Layer{Kind: Upsample}, Layer{Kind: Sigmoid}
)

// encoder and decoder are the paper's trunks.
func encoder() []Layer {
	return []Layer{conv(8, 5), relu, pool, conv(16, 5), norm, relu, pool, conv(32, 5), norm, relu, pool, conv(64, 5), norm, relu}
}

func decoder() []Layer {
	return []Layer{up, conv(32, 5), norm, relu, up, conv(16, 5), norm, relu, up, conv(8, 5), norm, relu, conv(8, 5), conv(3, 5), squash}
}

type example struct {
	name   string
	in     Shape
	layers []Layer
	n      int
}

// cases has odd sides and widths, all combinations of folds, numbers of channels that do not fill a vector, and small versions of the paper's trunks.
var cases = []example{
	{"conv wide", Shape{16, 5, 7}, []Layer{conv(16, 5)}, 2},
	{"conv odd sides", Shape{3, 5, 7}, []Layer{conv(4, 3)}, 3},
	{"conv folded", Shape{3, 6, 8}, []Layer{conv(8, 5)}, 2},
	{"conv 3x3 folded", Shape{2, 4, 6}, []Layer{conv(5, 3)}, 2},
	{"conv 7x7 folded", Shape{2, 8, 8}, []Layer{conv(3, 7)}, 2},
	{"conv 1x1", Shape{4, 4, 4}, []Layer{conv(3, 1)}, 2},
	{"kernel larger than the picture", Shape{2, 2, 2}, []Layer{conv(3, 5)}, 2},
	{"norm", Shape{3, 4, 4}, []Layer{conv(8, 3), norm}, 3},
	{"norm wide", Shape{16, 4, 4}, []Layer{conv(32, 3), norm}, 3},
	{"norm odd channels", Shape{3, 5, 5}, []Layer{conv(5, 3), norm, relu}, 3},
	{"relu", Shape{3, 4, 4}, []Layer{conv(8, 3), relu}, 2},
	{"sigmoid", Shape{3, 4, 4}, []Layer{conv(8, 3), squash}, 2},
	{"sigmoid, padded", Shape{8, 4, 4}, []Layer{conv(3, 3), squash}, 2},
	{"pool folded", Shape{3, 8, 8}, []Layer{conv(8, 3), pool}, 2},
	{"pool wide", Shape{16, 6, 6}, []Layer{conv(16, 3), relu, pool}, 2},
	{"pool into folded", Shape{16, 8, 8}, []Layer{conv(16, 3), pool, conv(8, 3)}, 2},
	{"pool odd channels", Shape{1, 8, 8}, []Layer{conv(5, 3), norm, relu, pool, conv(3, 3)}, 2},
	{"sigmoid then pool", Shape{3, 8, 8}, []Layer{conv(8, 3), norm, squash, pool, conv(3, 3)}, 2},
	{"upsample 5x5", Shape{16, 3, 4}, []Layer{up, conv(8, 5)}, 2},
	{"upsample 3x3", Shape{4, 3, 3}, []Layer{up, conv(3, 3)}, 2},
	{"upsample 7x7", Shape{4, 4, 4}, []Layer{up, conv(3, 7)}, 2},
	{"upsample 1x1", Shape{4, 2, 2}, []Layer{up, conv(3, 1)}, 2},
	{"upsample, pool", Shape{4, 3, 3}, []Layer{up, conv(8, 5), norm, relu, pool}, 2},
	{"upsample twice", Shape{16, 2, 2}, []Layer{up, conv(16, 5), norm, relu, up, conv(8, 5), relu, conv(4, 5)}, 2},
	{"folded, folded, plain", Shape{8, 6, 6}, []Layer{conv(8, 5), conv(3, 5), squash}, 2},
	{"encoder", Shape{3, 8, 8}, encoder(), 3},
	{"decoder", Shape{64, 2, 2}, decoder(), 3},
}

// blocks returns every block that the compiler accepts, with widths 1, 3 and 5, from pictures of shape in to the given number of channels.
func blocks(in Shape, channels int) (all []example) {
	chains := [][]Layer{nil}
	for _, choices := range [][][]Layer{
		{nil, {up}}, {{conv(channels, 1)}, {conv(channels, 3)}, {conv(channels, 5)}}, {nil, {norm}}, {nil, {relu}, {squash}}, {nil, {pool}},
	} {
		var longer [][]Layer
		for _, chain := range chains {
			for _, next := range choices {
				longer = append(longer, slices.Concat(chain, next))
			}
		}
		chains = longer
	}
	for _, layers := range chains {
		all = append(all, example{fmt.Sprint(in, layers), in, layers, 2})
	}
	return all
}

// examples returns the cases and every block, with numbers of channels that fold and that do not.
func examples() []example {
	return slices.Concat(cases, blocks(Shape{3, 4, 4}, 5), blocks(Shape{16, 2, 2}, 16))
}

// problem is a stack with random parameters, pictures and output gradient.
type problem struct {
	*Stack
	ref           reference
	theta, x, dy  []float32
	y, dx, dtheta []float32
	n             int
}

func pose(t testing.TB, in Shape, layers []Layer, batch, n int) *problem {
	t.Helper()
	s, err := New(in, layers, batch)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	p := &problem{Stack: s, ref: reference{layers: layers, in: in, n: n}, n: n,
		theta: make([]float32, s.Params()), x: draw(n * in.Size()), dy: draw(n * s.Out().Size()),
		y: make([]float32, n*s.Out().Size()), dx: make([]float32, n*in.Size()), dtheta: make([]float32, s.Params())}
	s.Init(p.theta, rng)
	for _, g := range s.Segments() {
		if g.Name == "gamma" || g.Name == "beta" { // away from 1 and 0, where mistakes hide
			for i := range g.Len {
				p.theta[g.Offset+i] += float32(0.3 * rng.NormFloat64())
			}
		}
	}
	return p
}

func (p *problem) run(t testing.TB) {
	t.Helper()
	if err := p.Forward(p.y, p.x, p.theta, p.n); err != nil {
		t.Fatal(err)
	}
	if err := p.Backward(p.dx, p.dtheta, p.dy); err != nil {
		t.Fatal(err)
	}
}

func wide(v []float32) []float64 {
	w := make([]float64, len(v))
	for i := range v {
		w[i] = float64(v[i])
	}
	return w
}

// near fails if got differs from want by more than tol times the larger of 1 and want's largest entry.
func near(t *testing.T, what string, got []float32, want []float64, tol float64) {
	t.Helper()
	size := 1.0
	for _, v := range want {
		size = math.Max(size, math.Abs(v))
	}
	for i, v := range want {
		if d := math.Abs(float64(got[i]) - v); !(d <= tol*size) {
			t.Fatalf("%s[%d] is %g, expected %g within %g", what, i, got[i], v, tol*size)
		}
	}
}

// tolerance is the limit of near for comparisons with float64. Sums of at most a few thousand float32 terms of order one have errors of up to 2e-5. The limit
// is half of 1e-4, so that builds with oneDNN and in plain Go, which no single binary contains together, agree to 1e-4.
const tolerance = 5e-5

func TestForward(t *testing.T) {
	for _, c := range examples() {
		t.Run(c.name, func(t *testing.T) {
			p := pose(t, c.in, c.layers, c.n, c.n)
			p.run(t)
			near(t, "y", p.y, p.ref.forward(wide(p.x), wide(p.theta)), tolerance)
		})
	}
}

// TestBackward compares every gradient with central differences of dy.y in float64. Of large tensors it takes a sample.
func TestBackward(t *testing.T) {
	suite.Calculation(t)
	for _, c := range examples() {
		t.Run(c.name, func(t *testing.T) {
			p := pose(t, c.in, c.layers, c.n, c.n)
			p.run(t)
			x, theta, dy := wide(p.x), wide(p.theta), wide(p.dy)
			loss := func() (sum float64) {
				for i, v := range p.ref.forward(x, theta) {
					sum += v * dy[i]
				}
				return sum
			}
			compare := func(what string, got []float32, at []float64, samples int) {
				rng := rand.New(rand.NewPCG(3, 4))
				picked, want := make([]float32, 0, samples), make([]float64, 0, samples)
				for j := range min(samples, len(at)) {
					i := j
					if samples < len(at) {
						i = rng.IntN(len(at))
					}
					picked, want = append(picked, got[i]), append(want, slope(loss, &at[i]))
				}
				near(t, what, picked, want, tolerance)
			}
			compare("dx", p.dx, x, 20)
			for _, s := range p.Segments() {
				compare(s.Name, p.dtheta[s.Offset:s.Offset+s.Len], theta[s.Offset:s.Offset+s.Len], 6)
			}
		})
	}
}

// TestUpsampledConv compares the four-phase form with the direct form on pictures that were upsampled before.
func TestUpsampledConv(t *testing.T) {
	in := Shape{16, 6, 5}
	phases := pose(t, in, []Layer{up, conv(8, 5)}, 2, 2)
	direct := pose(t, Shape{16, 12, 10}, []Layer{conv(8, 5)}, 2, 2)
	copy(direct.theta, phases.theta)
	for i, v := range phases.ref.upsample(maps{in, wide(phases.x)}).v {
		direct.x[i] = float32(v)
	}
	copy(direct.dy, phases.dy)
	phases.run(t)
	direct.run(t)
	near(t, "y", phases.y, wide(direct.y), 1e-5)
	near(t, "dtheta", phases.dtheta, wide(direct.dtheta), 1e-5)
	dx := make([]float64, len(phases.dx)) // the transpose of upsampling sums each 2x2 block
	for i, v := range direct.dx {
		plane, y, x := i/120, i%120/10, i%10
		dx[plane*30+y/2*5+x/2] += float64(v)
	}
	near(t, "dx", phases.dx, dx, 1e-5)
}

// TestFewerPictures runs more batch sizes than the cache of primitives holds, and then the first size again.
func TestFewerPictures(t *testing.T) {
	for _, n := range []int{7, 1, 2, 3, 4, 5, 7} {
		p := pose(t, Shape{3, 8, 8}, encoder()[:7], 7, 7)
		for _, first := range []int{7, 2, 5, 6, 3} {
			if err := p.Forward(p.y, p.x, p.theta, first); err != nil {
				t.Fatal(err)
			}
		}
		p.n, p.ref.n = n, n
		p.run(t)
		near(t, "y", p.y, p.ref.forward(wide(p.x)[:n*p.In().Size()], wide(p.theta)), tolerance)
		q := pose(t, Shape{3, 8, 8}, encoder()[:7], n, n)
		copy(q.x, p.x)
		copy(q.theta, p.theta)
		copy(q.dy, p.dy)
		q.run(t)
		near(t, "dtheta", p.dtheta, wide(q.dtheta), 1e-5)
		near(t, "dx", p.dx[:len(q.dx)], wide(q.dx), 1e-5)
	}
}

func TestStatsAndInfer(t *testing.T) {
	p := pose(t, Shape{3, 16, 16}, encoder(), 3, 3)
	p.run(t)
	again := make([]float32, len(p.y))
	if err := p.Infer(again, p.x, p.theta, p.Stats(), p.n); err != nil {
		t.Fatal(err)
	}
	near(t, "y with its own moments", again, wide(p.y), 1e-5)
	if err := p.Backward(nil, p.dtheta, p.dy); err != ErrNoForward {
		t.Fatalf("Backward after Infer gave %v, expected ErrNoForward", err)
	}

	rng := rand.New(rand.NewPCG(5, 6))
	var stats []Moments
	for _, s := range p.Stats() {
		m := Moments{slices.Clone(s.Mean), slices.Clone(s.Var)}
		for i := range m.Mean {
			m.Mean[i] += float32(0.1 * rng.NormFloat64())
			m.Var[i] *= float32(0.5 + rng.Float64())
		}
		stats = append(stats, m)
	}
	if err := p.Infer(p.y, p.x, p.theta, stats, p.n); err != nil {
		t.Fatal(err)
	}
	p.ref.stats = stats
	near(t, "y", p.y, p.ref.forward(wide(p.x), wide(p.theta)), tolerance)
}

func TestStatsAreTheConvolutionsMoments(t *testing.T) {
	p := pose(t, Shape{3, 8, 8}, []Layer{conv(5, 3), norm}, 4, 4)
	for i := range p.x { // far from zero, so that sums of squares cancel
		p.x[i] += 100
	}
	p.run(t)
	convolved := p.ref
	convolved.layers = convolved.layers[:1]
	z := maps{Shape{5, 8, 8}, convolved.forward(wide(p.x), wide(p.theta))}
	for c := range 5 {
		mean, variance := convolved.moments(z, c)
		m := p.Stats()[0]
		near(t, "mean", m.Mean[c:c+1], []float64{mean}, 1e-5)
		near(t, "variance", m.Var[c:c+1], []float64{variance}, tolerance)
	}
}

func TestWithoutInputGradient(t *testing.T) {
	p := pose(t, Shape{3, 16, 16}, encoder(), 2, 2)
	p.run(t)
	want := slices.Clone(p.dtheta)
	if err := p.Backward(nil, p.dtheta, p.dy); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.dtheta, want) {
		t.Fatal("dtheta without dx differs from dtheta with it")
	}
}

func TestSameBitsTwice(t *testing.T) {
	a := pose(t, Shape{3, 16, 16}, encoder(), 5, 5)
	b := pose(t, Shape{3, 16, 16}, encoder(), 5, 5)
	a.run(t)
	b.run(t)
	if !slices.Equal(a.y, b.y) || !slices.Equal(a.dtheta, b.dtheta) || !slices.Equal(a.dx, b.dx) {
		t.Fatal("two runs of the same step differ")
	}
}

func TestThreads(t *testing.T) {
	p := pose(t, Shape{3, 16, 16}, encoder(), 5, 5)
	p.run(t)
	y, dtheta := wide(p.y), wide(p.dtheta)
	p.SetThreads(1)
	p.run(t)
	near(t, "y on one thread", p.y, y, 1e-6)
	near(t, "dtheta on one thread", p.dtheta, dtheta, 1e-5)
	once := slices.Clone(p.dtheta)
	p.run(t)
	if !slices.Equal(p.dtheta, once) {
		t.Fatal("two runs of the same step on one thread differ")
	}
}

func TestNoAllocation(t *testing.T) {
	p := pose(t, Shape{3, 16, 16}, encoder(), 2, 2)
	p.run(t)
	if n := testing.AllocsPerRun(5, func() { p.run(t) }); n > allowedAllocations {
		t.Fatalf("%g allocations a step, expected at most %d", n, allowedAllocations)
	}
}

func TestInit(t *testing.T) {
	s, err := New(Shape{16, 4, 4}, []Layer{conv(32, 5), norm}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	theta := make([]float32, s.Params())
	s.Init(theta, rand.New(rand.NewPCG(1, 1)))
	var sum, square, most float64
	weights := s.Segments()[0]
	for _, v := range wide(theta[:weights.Len]) {
		sum, square, most = sum+v, square+v*v, math.Max(most, math.Abs(v))
	}
	bound, n := 1/math.Sqrt(16*25), float64(weights.Len)
	// 12,800 uniform draws determine the standard deviation to 0.5 %, the mean to 0.0003
	if sd := math.Sqrt(square / n); most > bound || most < 0.99*bound || math.Abs(sd-bound/math.Sqrt(3)) > 0.01*bound || math.Abs(sum/n) > 0.002 {
		t.Fatalf("weights have mean %g, sd %g and largest %g, expected uniform in ±%g", sum/n, sd, most, bound)
	}
	want := []string{"weight", "bias", "gamma", "beta"}
	at := 0
	for i, g := range s.Segments() {
		if g.Name != want[i] || g.Offset != at {
			t.Fatalf("segment %d is %+v, expected %s at %d", i, g, want[i], at)
		}
		at += g.Len
	}
	if gamma, beta := theta[s.Segments()[2].Offset], theta[s.Segments()[3].Offset]; gamma != 1 || beta != 0 {
		t.Fatalf("gamma, beta are %g, %g, expected 1, 0", gamma, beta)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		in     Shape
		layers []Layer
		batch  int
		want   string
	}{
		{"no layers", Shape{1, 4, 4}, nil, 1, "at least one Conv"},
		{"no batch", Shape{1, 4, 4}, []Layer{conv(1, 3)}, 0, "batch is 0"},
		{"no channels", Shape{0, 4, 4}, []Layer{conv(1, 3)}, 1, "input is 0x4x4"},
		{"huge", Shape{1, 8192, 8192}, []Layer{conv(64, 3)}, 1, "smaller batch"},
		{"even kernel", Shape{1, 4, 4}, []Layer{conv(1, 4)}, 1, "odd width"},
		{"order", Shape{1, 4, 4}, []Layer{conv(1, 3), relu, norm}, 1, "layer 2 is BatchNorm, expected Conv"},
		{"lonely upsample", Shape{1, 4, 4}, []Layer{up}, 1, "the end, expected Conv"},
		{"odd pool", Shape{1, 5, 4}, []Layer{conv(1, 3), pool}, 1, "even sides"},
		{"channels", Shape{1, 4, 4}, []Layer{conv(5000, 3)}, 1, "5000 channels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := New(c.in, c.layers, c.batch); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, expected an error with %q", err, c.want)
			}
		})
	}
	p := pose(t, Shape{1, 4, 4}, []Layer{conv(1, 3), norm}, 2, 2)
	for name, err := range map[string]error{
		"batch": p.Forward(p.y, p.x, p.theta, 3),
		"x":     p.Forward(p.y, p.x[:1], p.theta, 2),
		"y":     p.Forward(p.y[:1], p.x, p.theta, 2),
		"theta": p.Forward(p.y, p.x, p.theta[:1], 2),
		"stats": p.Infer(p.y, p.x, p.theta, nil, 2),
		"order": p.Backward(p.dx, p.dtheta, p.dy),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
