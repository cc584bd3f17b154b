package dnnl

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func do(t *testing.T) func(*gorgonia.Node, error) *gorgonia.Node {
	return func(n *gorgonia.Node, err error) *gorgonia.Node {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

func lent(g *gorgonia.ExprGraph, name string, v []float32, shape ...int) *gorgonia.Node {
	return gorgonia.NewTensor(g, tensor.Float32, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name),
		gorgonia.WithValue(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))))
}

// TestGorgonia compares loss = sum (second(first(x) - s) - t)^2, with two stacks in one graph, and its gradients with respect to both thetas and s, with finite
// differences in float64, over several runs of the same machine.
func TestGorgonia(t *testing.T) {
	for _, rank := range []string{"matrix", "pictures"} {
		t.Run(rank, func(t *testing.T) {
			const n = 2
			in, middle := Shape{3, 8, 8}, Shape{8, 4, 4}
			a := pose(t, in, []Layer{conv(8, 5), norm, relu, pool}, n, n)
			b := pose(t, middle, []Layer{up, conv(3, 5), squash}, n, n)
			rng := rand.New(rand.NewPCG(7, 8))
			shift, target := slices.Clone(a.y), slices.Clone(b.y)
			for i := range shift {
				shift[i] = float32(rng.NormFloat64())
			}
			for i := range target {
				target[i] = rng.Float32()
			}

			of := func(s Shape) []int { return []int{n, s.Size()} }
			if rank == "pictures" {
				of = func(s Shape) []int { return []int{n, s.C, s.H, s.W} }
			}
			g, ok := gorgonia.NewGraph(), do(t)
			x, s := lent(g, "x", a.x, of(in)...), lent(g, "s", shift, of(middle)...)
			ta, tb := lent(g, "a", a.theta, a.Params()), lent(g, "b", b.theta, b.Params())
			y := ok(b.Apply(ok(gorgonia.Sub(ok(a.Apply(x, ta)), s)), tb))
			loss := ok(gorgonia.Sum(ok(gorgonia.Square(ok(gorgonia.Sub(y, lent(g, "t", target, of(in)...)))))))
			if _, err := gorgonia.Grad(loss, ta, tb, s); err != nil {
				t.Fatal(err)
			}
			vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(ta, tb, s))
			defer vm.Close()

			for run := range 3 {
				a.theta[0] += 0.1 // the nodes share the slices, and a step changes them in place
				b.theta[0] -= 0.1
				vm.Reset()
				if err := vm.RunAll(); err != nil {
					t.Fatal(err)
				}
				x64, a64, b64, s64 := wide(a.x), wide(a.theta), wide(b.theta), wide(shift)
				want := func() (sum float64) {
					h := slices.Clone(a.ref.forward(x64, a64))
					for i := range h {
						h[i] -= s64[i]
					}
					for i, v := range b.ref.forward(h, b64) {
						sum += (v - float64(target[i])) * (v - float64(target[i]))
					}
					return sum
				}
				near(t, "loss", []float32{loss.Value().Data().(float32)}, []float64{want()}, tolerance)
				for _, c := range []struct {
					name string
					node *gorgonia.Node
					at   []float64
				}{{"a", ta, a64}, {"b", tb, b64}, {"s", s, s64}} {
					v, err := c.node.Grad()
					if err != nil {
						t.Fatal(err)
					}
					got := v.Data().([]float32)
					for i := 0; i < len(got); i += 1 + len(got)/40 {
						near(t, c.name, got[i:i+1], []float64{slope(want, &c.at[i])}, tolerance)
					}
					if run < 2 {
						clear(got) // Gorgonia adds to existing gradients
					}
				}
			}
		})
	}
}

// TestRest: a resting stack has no gradient and does not run its backward pass, unless a node before it needs a gradient.
func TestRest(t *testing.T) {
	for _, inner := range []bool{false, true} {
		p := pose(t, Shape{3, 4, 4}, []Layer{conv(2, 3)}, 2, 2)
		g, ok := gorgonia.NewGraph(), do(t)
		theta, x, shift := lent(g, "theta", p.theta, p.Params()), lent(g, "x", p.x, 2, 48), lent(g, "shift", make([]float32, 96), 2, 48)
		if inner {
			x = ok(gorgonia.Add(x, shift))
		}
		y := ok(p.Apply(x, theta))
		loss := ok(gorgonia.Sum(ok(gorgonia.Square(y))))
		if _, err := gorgonia.Grad(loss, theta); err != nil {
			t.Fatal(err)
		}
		vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(theta))
		defer vm.Close()
		for run, rests := range []bool{false, true, false} {
			p.Rest(rests)
			vm.Reset()
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			v, err := theta.Grad()
			if err != nil {
				t.Fatal(err)
			}
			grad := v.Data().([]float32)
			if none := !slices.ContainsFunc(grad, func(g float32) bool { return g != 0 }); none != (rests && !inner) {
				t.Errorf("x computed %v, run %d, at rest %v: no gradient is %v", inner, run, rests, none)
			}
			clear(grad)
		}
	}
}

// TestGorgoniaConstantGradient: even if dy does not depend on y, Backward must run after Forward.
func TestGorgoniaConstantGradient(t *testing.T) {
	p := pose(t, Shape{3, 4, 4}, []Layer{conv(2, 3)}, 2, 2)
	g, ok := gorgonia.NewGraph(), do(t)
	theta := lent(g, "theta", p.theta, p.Params())
	loss := ok(gorgonia.Sum(ok(p.Apply(lent(g, "x", p.x, 2, 48), theta))))
	if _, err := gorgonia.Grad(loss, theta); err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(theta))
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	for i := range p.dy {
		p.dy[i] = 1
	}
	p.run(t)
	v, err := theta.Grad()
	if err != nil {
		t.Fatal(err)
	}
	near(t, "dtheta", v.Data().([]float32), wide(p.dtheta), 1e-6)
}

func TestGorgoniaRefusals(t *testing.T) {
	p := pose(t, Shape{3, 4, 4}, []Layer{conv(3, 3)}, 2, 2)
	g, ok := gorgonia.NewGraph(), do(t)
	x, theta := lent(g, "x", p.x, 2, 48), lent(g, "theta", p.theta, p.Params())
	for name, c := range map[string]struct {
		x, theta *gorgonia.Node
		want     string
	}{
		"shape": {lent(g, "x2", p.x, 4, 24), theta, "expected (n, 48)"},
		"batch": {lent(g, "x3", make([]float32, 144), 3, 48), theta, "3 pictures"},
		"theta": {x, lent(g, "short", p.theta[:3], 3), "theta has shape"},
	} {
		if _, err := p.Apply(c.x, c.theta); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, expected an error with %q", name, err, c.want)
		}
	}

	once := ok(p.Apply(x, theta))
	loss := ok(gorgonia.Sum(ok(p.Apply(once, theta))))
	if _, err := gorgonia.Grad(loss, theta); err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(theta))
	defer vm.Close()
	if err := vm.RunAll(); err == nil || !strings.Contains(err.Error(), "one stack for each place") {
		t.Errorf("a stack used twice: got %v, expected a refusal", err)
	}
}
