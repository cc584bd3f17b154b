package states

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// summit is a function to be maximised, with its gradient; it writes the gradient to its second argument unless that is nil.
type summit func(at, gradient []float64) float64

// climb looks for a maximum by damped Newton steps, the Hessian taken from differences of the gradient.
type climb struct {
	of      summit
	least   []float64 // lower bounds
	fixed   []bool    // which coordinates stay; nil where none does
	hessian *mat.SymDense
	rough   float64              // nats gained in a step below which it has arrived; 0 is climbNats
	outer   func() *mat.SymDense // Σ of the tracks' gradients times themselves at the last gradient taken; nil where tracks are too few for it
	near    bool                 // the Hessian is that of a top nearby: it is taken anew only where a step fails
}

// How a climb goes. A value known to a thousandth of a nat is a hundredth of what moves an interval's end by a hundredth of its length.
const (
	climbSteps = 60
	climbNats  = 1e-5 // gained in a step, below which it has arrived
	difference = 1e-4 // in a coordinate, of which the Hessian is made; coordinates are logarithms, or in units of their own size
)

// maximise moves at to the maximum near it, and gives the value there.
func (c *climb) maximise(at []float64) float64 {
	n := len(at)
	gradient, trial, next := make([]float64, n), make([]float64, n), make([]float64, n)
	value := c.of(at, gradient)
	damp, fresh, enough := 0.0, false, max(c.rough, climbNats)
	if c.hessian == nil {
		c.bend(at, gradient)
		fresh = true
	}
	for range climbSteps {
		free := c.free(at, gradient)
		if len(free) == 0 {
			return value
		}
		step := c.step(gradient, free, damp)
		copy(trial, at)
		for i, k := range free {
			trial[k] = max(at[k]+min(max(step[i], -longest), longest), c.least[k])
		}
		got := c.of(trial, next)
		if !(got > value) { // a quadratic that does not hold here, or the top
			if !fresh {
				c.curve(at, gradient)
				fresh = true
				continue
			}
			if damp = max(8*damp, 1e-3); damp > 1e8 {
				return value
			}
			if value-got < enough && gainOf(gradient, step, free) < enough {
				return value
			}
			continue
		}
		gain := got - value
		copy(at, trial)
		copy(gradient, next)
		value, damp = got, damp/8
		if c.outer != nil {
			c.bend(at, gradient)
			fresh = true
		}
		if gain < enough {
			if fresh || c.near || c.rough > 0 {
				return value
			}
			c.bend(at, gradient)
			fresh = true
			continue
		}
		fresh = c.outer != nil
		if !fresh && !c.near && (damp > 1e-6 || gain > 0.1) { // far from the top the old curvature misleads
			c.curve(at, gradient)
			fresh = true
		}
	}
	return value
}

// longest is the longest step in a coordinate: e-fold in D.
const longest = 1.0

// gainOf is what the gradient promises of a step.
func gainOf(gradient, step []float64, free []int) (sum float64) {
	for i, k := range free {
		sum += gradient[k] * step[i]
	}
	return math.Abs(sum)
}

// free are the coordinates that may move: not fixed, and not held at their bound.
func (c *climb) free(at, gradient []float64) (free []int) {
	for k := range at {
		if c.fixed != nil && c.fixed[k] || at[k] <= c.least[k] && gradient[k] <= 0 {
			continue
		}
		free = append(free, k)
	}
	return free
}

// bend takes the Hessian where the last gradient was taken: the outer product of the tracks' gradients is its negative in the mean (Berndt, Hall, Hall and
// Hausman, Annals of Economic and Social Measurement 3, 653, 1974), and costs nothing.
func (c *climb) bend(at, gradient []float64) {
	if c.outer == nil {
		c.curve(at, gradient)
		return
	}
	c.hessian = c.outer()
}

// curve takes the Hessian at a point.
func (c *climb) curve(at, gradient []float64) {
	n := len(at)
	rows := mat.NewDense(n, n, nil)
	moved, there := append([]float64(nil), at...), make([]float64, n)
	for k := range n {
		if c.fixed != nil && c.fixed[k] {
			continue
		}
		moved[k] = at[k] + difference
		c.of(moved, there)
		moved[k] = at[k]
		for j := range n {
			rows.Set(k, j, (there[j]-gradient[j])/difference)
		}
	}
	c.hessian = mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			switch {
			case c.fixed != nil && c.fixed[i]:
				c.hessian.SetSym(i, j, rows.At(j, i))
			case c.fixed != nil && c.fixed[j]:
				c.hessian.SetSym(i, j, rows.At(i, j))
			default:
				c.hessian.SetSym(i, j, (rows.At(i, j)+rows.At(j, i))/2)
			}
		}
	}
}

// step solves (-H + damping) δ = g over the free coordinates, with as much damping as makes the matrix positive.
func (c *climb) step(gradient []float64, free []int, damp float64) []float64 {
	n := len(free)
	g := mat.NewVecDense(n, nil)
	for i, k := range free {
		g.SetVec(i, gradient[k])
	}
	var largest float64
	for _, k := range free {
		largest = max(largest, math.Abs(c.hessian.At(k, k)))
	}
	for ; ; damp = max(8*damp, 1e-6) {
		a := mat.NewSymDense(n, nil)
		for i, k := range free {
			for j := i; j < n; j++ {
				a.SetSym(i, j, -c.hessian.At(k, free[j]))
			}
			a.SetSym(i, i, a.At(i, i)+damp*(math.Abs(c.hessian.At(k, k))+1e-3*largest+1e-12))
		}
		var factor mat.Cholesky
		if factor.Factorize(a) {
			out := mat.NewVecDense(n, nil)
			if factor.SolveVecTo(out, g) == nil {
				return out.RawVector().Data
			}
		}
		if damp > 1e12 {
			return make([]float64, n)
		}
	}
}
