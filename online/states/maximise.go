package states

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// summit is a function to maximise. It writes its gradient into gradient unless gradient is nil.
type summit func(at, gradient []float64) float64

// climb finds a maximum by damped Newton steps, with the Hessian from differences of the gradient.
type climb struct {
	of      summit
	least   []float64 // lower bounds
	fixed   []bool    // fixed coordinates; nil if none is fixed
	hessian *mat.SymDense
	rough   float64              // the climb stops at this gain per step, nats; 0 means climbNats
	outer   func() *mat.SymDense // negative sum of the outer products of the track gradients, from the last evaluation; nil with too few tracks
	near    bool                 // the Hessian is from a maximum nearby: recompute it only if a step fails
}

// Limits of a climb. An error of 0.001 nats is a hundredth of the error that would move the end of an interval by a hundredth of its length.
const (
	climbSteps = 60
	climbNats  = 1e-5 // gain per step at which the climb stops
	difference = 1e-4 // step of a coordinate for the Hessian; coordinates are logarithms or of order 1
)

// maximise moves at to the maximum near it, and returns the value there.
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
		if !(got > value) { // the step left the range of the quadratic approximation, or at is the maximum
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
		if !fresh && !c.near && (damp > 1e-6 || gain > 0.1) { // far from the maximum the old curvature misleads
			c.curve(at, gradient)
			fresh = true
		}
	}
	return value
}

// longest is the largest step of a coordinate: a factor of e in D.
const longest = 1.0

// gainOf returns the gain that the gradient predicts for a step.
func gainOf(gradient, step []float64, free []int) (sum float64) {
	for i, k := range free {
		sum += gradient[k] * step[i]
	}
	return math.Abs(sum)
}

// free returns the coordinates that may move: they are not fixed, and their bound does not stop them.
func (c *climb) free(at, gradient []float64) (free []int) {
	for k := range at {
		if c.fixed != nil && c.fixed[k] || at[k] <= c.least[k] && gradient[k] <= 0 {
			continue
		}
		free = append(free, k)
	}
	return free
}

// bend updates the Hessian at the last gradient. On average, the Hessian is minus the sum of the outer products of the track gradients (Berndt, Hall, Hall
// and Hausman, Annals of Economic and Social Measurement 3, 653, 1974), which costs nothing.
func (c *climb) bend(at, gradient []float64) {
	if c.outer == nil {
		c.curve(at, gradient)
		return
	}
	c.hessian = c.outer()
}

// curve computes the Hessian at the point at, where the gradient is known.
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

// step solves (-H + damping) δ = g over the free coordinates, with enough damping to make the matrix positive definite.
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
