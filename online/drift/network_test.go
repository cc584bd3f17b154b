package drift

import (
	"math"
	"reflect"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"driftscope/online/onlinetest"
)

// randomNetwork returns a network without zero weights, so every path through it contributes.
func randomNetwork(dim int, seed uint64) *Network {
	rng := onlinetest.Rand(seed)
	n := NewNetwork(dim, rng)
	for i := range n.Weights {
		n.Weights[i] += 0.3 * rng.NormFloat64()
	}
	for i := range n.Centre {
		n.Centre[i] = rng.NormFloat64()
	}
	n.Scale = 0.7
	return n
}

func TestNewNetworkIsZeroDrift(t *testing.T) {
	n := NewNetwork(3, onlinetest.Rand(1))
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	mu := []float64{1, 1, 1}
	n.Drift(mu, []float64{0.4, -2, 7}, new(Scratch))
	onlinetest.Within(t, "mu", mu, []float64{0, 0, 0}, 0)
	if n.Weights[0] == 0 {
		t.Error("hidden weights are zero: the network could not learn")
	}
}

func TestLineariseAgainstDifferences(t *testing.T) {
	for _, d := range []int{1, 2, 5} {
		n, rng, scratch := randomNetwork(d, 3), onlinetest.Rand(4), new(Scratch)
		z, mu, jac := onlinetest.Normals(d, rng), make([]float64, d), make([]float64, d*d)
		n.Linearise(mu, jac, z, scratch)
		want := make([]float64, d)
		n.Drift(want, z, scratch)
		onlinetest.Within(t, "mu", mu, want, 1e-14)
		const h = 1e-5
		up, down := make([]float64, d), make([]float64, d)
		for j := range d {
			z[j] += h
			n.Drift(up, z, scratch)
			z[j] -= 2 * h
			n.Drift(down, z, scratch)
			z[j] += h
			for i := range d {
				// A central difference has an error of h² times the third derivative, about 1e-9 here, and a rounding error of 1e-11.
				onlinetest.Within(t, "jacobian", jac[i*d+j:i*d+j+1], []float64{(up[i] - down[i]) / (2 * h)}, 1e-7)
			}
		}
	}
}

func TestDriftAllocatesNothing(t *testing.T) {
	n, scratch, mu, jac := randomNetwork(4, 1), new(Scratch), make([]float64, 4), make([]float64, 16)
	z := []float64{1, 2, 3, 4}
	n.Linearise(mu, jac, z, scratch)
	if a := testing.AllocsPerRun(100, func() { n.Drift(mu, z, scratch); n.Linearise(mu, jac, z, scratch) }); a != 0 {
		t.Errorf("%g allocations per evaluation", a)
	}
}

func TestValidateNamesTheFault(t *testing.T) {
	for name, spoil := range map[string]func(*Network){
		"dimension": func(n *Network) { n.Dim = MaxDim + 1 },
		"hidden":    func(n *Network) { n.Hidden = []int{0} },
		"centre":    func(n *Network) { n.Centre = nil },
		"scale":     func(n *Network) { n.Scale = math.NaN() },
		"weights":   func(n *Network) { n.Weights = n.Weights[1:] },
		"finite":    func(n *Network) { n.Weights[7] = math.Inf(1) },
		"small":     func(n *Network) { n.Weights[7] = -2 * maxWeight },
		"near":      func(n *Network) { n.Centre[1] = 2 * maxWeight },
		"coarse":    func(n *Network) { n.Scale = 0.5 / maxWeight },
	} {
		n := randomNetwork(2, 1)
		spoil(n)
		if n.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// The square of the drift is finite for the largest allowed network at the largest latent.
func TestSquaresOfDriftsAreNumbers(t *testing.T) {
	n := &Network{Dim: MaxDim, Centre: onlinetest.Repeat(-maxWeight, MaxDim), Scale: 1 / maxWeight}
	for range maxHidden {
		n.Hidden = append(n.Hidden, maxWidth)
	}
	n.Weights = onlinetest.Repeat(maxWeight, n.Size())
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	mu, jac := make([]float64, MaxDim), make([]float64, MaxDim*MaxDim)
	n.Linearise(mu, jac, onlinetest.Repeat(1e9, MaxDim), new(Scratch))
	if square := mu[0] * mu[0]; !Finite(append(jac, square)) {
		t.Errorf("a drift of %g has the square %g", mu[0], square)
	}
}

// squared returns the loss ½ Σ wᵣ(μᵣ - yᵣ)² over a batch, and writes its gradient by the tape into grad.
func squared(n *Network, tp *tape, z, y []float64, grad []float64) float64 {
	tp.forward(n, z)
	loss := 0.0
	for i, mu := range tp.out.Data {
		tp.dOut.Data[i] = mu - y[i]
		loss += (mu - y[i]) * (mu - y[i]) / 2
	}
	if grad != nil {
		tp.backward(grad, n)
	}
	return loss
}

func TestTapeAgainstDifferences(t *testing.T) {
	for _, d := range []int{1, 2, 3} {
		const batch = 7
		n, rng := randomNetwork(d, 5), onlinetest.Rand(6)
		z, y := onlinetest.Normals(batch*d, rng), onlinetest.Normals(batch*d, rng)
		tp, grad := newTape(n, batch), make([]float64, n.Size())
		squared(n, tp, z, y, grad)
		for i := range grad {
			const h = 1e-5
			keep := n.Weights[i]
			n.Weights[i] = keep + h
			up := squared(n, tp, z, y, nil)
			n.Weights[i] = keep - h
			down := squared(n, tp, z, y, nil)
			n.Weights[i] = keep
			onlinetest.Within(t, "gradient", grad[i:i+1], []float64{(up - down) / (2 * h)}, 1e-6) // h² times the third derivative
		}
	}
}

func TestTapeAgainstGorgonia(t *testing.T) {
	for _, d := range []int{1, 2, 3} {
		const batch = 9
		n, rng := randomNetwork(d, 7), onlinetest.Rand(8)
		z, y := onlinetest.Normals(batch*d, rng), onlinetest.Normals(batch*d, rng)
		tp, want := newTape(n, batch), make([]float64, n.Size())
		squared(n, tp, z, y, want)

		g := gorgonia.NewGraph()
		zn := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("z"), gorgonia.WithValue(tensor.New(tensor.WithShape(batch, d), tensor.WithBacking(z))))
		yn := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("y"), gorgonia.WithValue(tensor.New(tensor.WithShape(batch, d), tensor.WithBacking(y))))
		mu, theta, err := inGraph(n, g, zn, tensor.Float64)
		if err != nil {
			t.Fatal(err)
		}
		var drift gorgonia.Value // read as it is made: the machine reuses mu's memory further on
		gorgonia.Read(mu, &drift)
		loss := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sub(mu, yn))))))
		if _, err := gorgonia.Grad(loss, theta...); err != nil {
			t.Fatal(err)
		}
		m := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(theta...))
		defer m.Close()
		if err := m.RunAll(); err != nil {
			t.Fatal(err)
		}
		onlinetest.Within(t, "mu", drift.Data().([]float64), tp.out.Data, 1e-12)
		var got []float64
		for _, node := range theta {
			v, err := node.Grad()
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range v.Data().([]float64) {
				got = append(got, x/2)
			}
		}
		onlinetest.Within(t, "gradient", got, want, 1e-10) // float64 sums in another order
		back := NewNetwork(d, onlinetest.Rand(1))
		if err := back.Load(theta); err != nil {
			t.Fatal(err)
		}
		onlinetest.Within(t, "loaded weights", back.Weights, n.Weights, 0)
	}
}

func TestGraphFloat32(t *testing.T) {
	n, rng := randomNetwork(2, 9), onlinetest.Rand(10)
	z := onlinetest.Normals(2*5, rng)
	single := make([]float32, len(z))
	for i, x := range z {
		single[i] = float32(x)
	}
	g := gorgonia.NewGraph()
	zn := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithName("z"), gorgonia.WithValue(tensor.New(tensor.WithShape(5, 2), tensor.WithBacking(single))))
	mu, theta, err := inGraph(n, g, zn, tensor.Float32)
	if err != nil {
		t.Fatal(err)
	}
	var drift gorgonia.Value // read as it is made: the machine reuses mu's memory further on
	gorgonia.Read(mu, &drift)
	loss := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(mu))))
	if _, err := gorgonia.Grad(loss, theta...); err != nil {
		t.Fatal(err)
	}
	m := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(theta...))
	defer m.Close()
	if err := m.RunAll(); err != nil {
		t.Fatal(err)
	}
	tp, want := newTape(n, 5), make([]float64, n.Size())
	squared(n, tp, z, make([]float64, len(z)), want)
	double := func(single []float32, k float64) (x []float64) {
		for _, v := range single {
			x = append(x, k*float64(v))
		}
		return x
	}
	onlinetest.Within(t, "mu", double(drift.Data().([]float32), 1), tp.out.Data, 1e-5) // float32 has seven digits
	var got []float64
	for _, node := range theta {
		v, err := node.Grad()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, double(v.Data().([]float32), 0.5)...)
	}
	onlinetest.Within(t, "gradient", got, want, 1e-5)
	back := n.Clone()
	if err := back.Load(theta); err != nil {
		t.Fatal(err)
	}
	onlinetest.Within(t, "loaded weights", back.Weights, n.Weights, 1e-6)
	if err := back.Load(theta[1:]); err == nil {
		t.Error("Load accepted too few nodes")
	}
	if _, _, err := inGraph(n, g, zn, tensor.Int); err == nil {
		t.Error("Parameters accepted an integer type")
	}
}

func TestProfiledDiffusion(t *testing.T) {
	for _, d := range []int{1, 2, 3} {
		const batch = 6
		rng := onlinetest.Rand(11)
		raw := map[string][]float64{"m0": onlinetest.Normals(batch*d, rng), "m1": onlinetest.Normals(batch*d, rng), "mu": onlinetest.Normals(batch*d, rng)}
		for _, name := range []string{"var0", "var1"} {
			v := onlinetest.Normals(batch*d, rng)
			for i := range v {
				v[i] = 0.1 + v[i]*v[i]
			}
			raw[name] = v
		}
		step := make([]float64, batch)
		for i := range step {
			step[i] = 0.01 * (1 + rng.Float64())
		}
		weights := onlinetest.Normals(d, rng) // the loss is Σ weights·q, to see every entry of its gradient
		loss := func() (float64, []float64) {
			q := make([]float64, d)
			for r := range batch {
				for i := range d {
					k := r*d + i
					e := raw["m1"][k] - raw["m0"][k] - raw["mu"][k]*step[r]
					q[i] += (e*e + raw["var0"][k] + raw["var1"][k]) / step[r] / batch
				}
			}
			sum := 0.0
			for i := range q {
				sum += weights[i] * q[i]
			}
			return sum, q
		}

		g := gorgonia.NewGraph()
		node := func(name string, rows, cols int, v []float64) *gorgonia.Node {
			return gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName(name), gorgonia.WithValue(tensor.New(tensor.WithShape(rows, cols), tensor.WithBacking(append([]float64(nil), v...)))))
		}
		m0, m1, mu := node("m0", batch, d, raw["m0"]), node("m1", batch, d, raw["m1"]), node("mu", batch, d, raw["mu"])
		v0, v1, dt := node("var0", batch, d, raw["var0"]), node("var1", batch, d, raw["var1"]), node("dt", batch, 1, step)
		q, err := ProfiledDiffusion(Increments{m0, m1, v0, v1, mu, dt})
		if err != nil {
			t.Fatal(err)
		}
		if !q.Shape().Eq(tensor.Shape{d}) {
			t.Fatalf("q has shape %v, want (%d)", q.Shape(), d)
		}
		w := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithName("w"), gorgonia.WithShape(d), gorgonia.WithValue(tensor.New(tensor.WithShape(d), tensor.WithBacking(weights))))
		total := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(q, w))))
		wrt := gorgonia.Nodes{m0, m1, mu, v0, v1}
		if _, err := gorgonia.Grad(total, wrt...); err != nil {
			t.Fatal(err)
		}
		m := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(wrt...))
		defer m.Close()
		if err := m.RunAll(); err != nil {
			t.Fatal(err)
		}
		_, want := loss()
		onlinetest.Within(t, "q", q.Value().Data().([]float64), want, 1e-12)
		for i, name := range []string{"m0", "m1", "mu", "var0", "var1"} {
			grad, err := wrt[i].Grad()
			if err != nil {
				t.Fatal(err)
			}
			for k := range raw[name] {
				const h = 1e-5
				keep := raw[name][k]
				raw[name][k] = keep + h
				up, _ := loss()
				raw[name][k] = keep - h
				down, _ := loss()
				raw[name][k] = keep
				onlinetest.Within(t, "∂q/∂"+name, grad.Data().([]float64)[k:k+1], []float64{(up - down) / (2 * h)}, 1e-6) // q is quadratic: rounding only
			}
		}
		if _, err := ProfiledDiffusion(Increments{m0, m1, v0, v1, mu, mu}); d > 1 && err == nil {
			t.Error("time steps of the wrong shape were accepted")
		}
	}
}

func BenchmarkTape(b *testing.B) {
	n, rng := randomNetwork(2, 1), onlinetest.Rand(2)
	z, y, tp, grad := onlinetest.Normals(128, rng), onlinetest.Normals(128, rng), newTape(n, 64), make([]float64, n.Size())
	for b.Loop() {
		squared(n, tp, z, y, grad)
	}
}

func BenchmarkLinearise(b *testing.B) {
	n, s, mu, jac, z := randomNetwork(2, 1), new(Scratch), make([]float64, 2), make([]float64, 4), []float64{1, 2}
	for b.Loop() {
		n.Linearise(mu, jac, z, s)
	}
}

func BenchmarkGorgonia(b *testing.B) {
	const batch = 64
	n, rng := randomNetwork(2, 1), onlinetest.Rand(2)
	g := gorgonia.NewGraph()
	z := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("z"), gorgonia.WithValue(tensor.New(tensor.WithShape(batch, 2), tensor.WithBacking(onlinetest.Normals(2*batch, rng)))))
	mu, theta, err := inGraph(n, g, z, tensor.Float64)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := gorgonia.Grad(gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(mu)))), theta...); err != nil {
		b.Fatal(err)
	}
	m := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(theta...))
	defer m.Close()
	for b.Loop() {
		if err := m.RunAll(); err != nil {
			b.Fatal(err)
		}
		m.Reset()
	}
}

// inGraph adds n and its drift at z to g.
func inGraph(n *Network, g *gorgonia.ExprGraph, z *gorgonia.Node, dt tensor.Dtype) (mu *gorgonia.Node, theta gorgonia.Nodes, err error) {
	if theta, err = n.Parameters(g, dt); err != nil {
		return nil, nil, err
	}
	mu, err = n.Apply(theta, z)
	return mu, theta, err
}

// BenchmarkImitate trains a network on a nonlinear drift of two dimensions, as a slice does.
func BenchmarkImitate(b *testing.B) {
	n, points := randomNetwork(2, 7), onlinetest.Normals(2*256, onlinetest.Rand(1))
	target := onlinetest.Normals(2*256, onlinetest.Rand(2))
	for b.Loop() {
		n.Imitate(points, target, 30, 0, nil)
	}
}

// Imitate with cancel set leaves the network unchanged.
func TestCancelledImitation(t *testing.T) {
	n := randomNetwork(2, 7)
	points, target, before := onlinetest.Normals(512, onlinetest.Rand(1)), onlinetest.Normals(512, onlinetest.Rand(2)), n.Clone()
	c := new(Cancel)
	c.Set()
	if n.Imitate(points, target, 600, 0, c); !reflect.DeepEqual(n, before) {
		t.Error("a cancelled Imitate changed the network")
	}
}
