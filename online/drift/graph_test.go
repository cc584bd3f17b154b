package drift

import (
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"driftscope/online/onlinetest"
)

// TestAppliedTwice compares the gradients of ½ Σ (μ(z + h μ(z)) - y)² with central differences of Drift. It tests the gradient by the weights, which both
// applications share, and by z, through which an encoder learns.
func TestAppliedTwice(t *testing.T) {
	for _, d := range []int{1, 2, 3} {
		const batch, step = 5, 0.3
		n, rng, scratch := randomNetwork(d, 12), onlinetest.Rand(13), new(Scratch)
		z, y := onlinetest.Normals(batch*d, rng), onlinetest.Normals(batch*d, rng)
		loss := func() (sum float64) {
			mu, next := make([]float64, d), make([]float64, d)
			for r := 0; r < batch*d; r += d {
				n.Drift(mu, z[r:r+d], scratch)
				for i := range next {
					next[i] = z[r+i] + step*mu[i]
				}
				n.Drift(mu, next, scratch)
				for i, v := range mu {
					sum += (v - y[r+i]) * (v - y[r+i]) / 2
				}
			}
			return sum
		}

		g := gorgonia.NewGraph()
		node := func(name string, v []float64) *gorgonia.Node {
			return gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName(name), gorgonia.WithValue(tensor.New(tensor.WithShape(batch, d), tensor.WithBacking(slices.Clone(v)))))
		}
		zn, yn, h := node("z", z), node("y", y), node("h", onlinetest.Repeat(step, batch*d))
		mu, theta, err := inGraph(n, g, zn, tensor.Float64)
		if err != nil {
			t.Fatal(err)
		}
		next := gorgonia.Must(gorgonia.Add(zn, gorgonia.Must(gorgonia.HadamardProd(mu, h))))
		last := gorgonia.Must(n.Apply(theta, next))
		total := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sub(last, yn))))))
		wrt := append(slices.Clone(theta), zn)
		if _, err := gorgonia.Grad(total, wrt...); err != nil {
			t.Fatal(err)
		}
		m := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(wrt...))
		defer m.Close()
		if err := m.RunAll(); err != nil {
			t.Fatal(err)
		}
		at := n.Weights
		for _, node := range wrt {
			v, err := node.Grad()
			if err != nil {
				t.Fatal(err)
			}
			if node == zn {
				at = z
			}
			for i, x := range v.Data().([]float64) {
				const h = 1e-5
				keep := at[i]
				at[i] = keep + h
				up := loss()
				at[i] = keep - h
				down := loss()
				at[i] = keep
				onlinetest.Within(t, "∂loss/∂"+node.Name(), []float64{x / 2}, []float64{(up - down) / (2 * h)}, 1e-6) // h² times the third derivative
			}
			at = at[len(v.Data().([]float64)):]
		}
	}
}
