package maps

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestCombinations compares the mean, covariance and evidence of all groups together with the dense normal equations. The coefficients of an absent group are
// 0, and a matrix that is not positive definite has no weight.
func TestCombinations(t *testing.T) {
	flat := square3{{5, 0.5, -0.3}, {0.5, 4, 0.2}, {-0.3, 0.2, 3}}
	dense := mat.NewSymDense(3, []float64{5, 0.5, -0.3, 0.5, 4, 0.2, -0.3, 0.2, 3})
	pull := [2][3]float64{{3, -2, 1}, {0.5, 2, -1}}
	const unit = 0.7
	var all combinations
	all.combine(&flat, unit)
	means, logs, _ := all.weigh(pull)
	precision, b := mat.NewSymDense(affines, nil), mat.NewVecDense(affines, nil)
	for i := range affines {
		for axis := range axes {
			p := mat.NewVecDense(3, spreads[i][axis][:])
			b.SetVec(i, b.AtVec(i)+mat.Dot(p, mat.NewVecDense(3, pull[axis][:])))
			for j := range i + 1 {
				precision.SetSym(i, j, precision.At(i, j)+mat.Inner(p, dense, mat.NewVecDense(3, spreads[j][axis][:])))
			}
		}
		precision.SetSym(i, i, precision.At(i, i)+1/unit)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(precision); err != nil {
		t.Fatal(err)
	}
	var mean mat.VecDense
	mean.MulVec(&inverse, b)
	logDet, _ := mat.LogDet(precision)
	want := affinePrior(1<<groups-1) + (mat.Dot(&mean, b)-logDet-affines*math.Log(unit))/2
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
	for i := range all {
		c := &all[i]
		if whole := c.set == 1<<groups-1; whole && i == len(all)-sizes { // the smallest size
			if !near(logs[i], want) {
				t.Errorf("evidence %g, expected %g", logs[i], want)
			}
			for p := range affines {
				if !near(means[i][p], mean.AtVec(p)) || !near(c.covariance[p][p], inverse.At(p, p)) || !near(c.covariance[p][0], inverse.At(p, 0)) {
					t.Errorf("%d: %g, variance %g; expected %g, %g", p, means[i][p], c.covariance[p][p], mean.AtVec(p), inverse.At(p, p))
				}
			}
		}
		for p, g := range grouped {
			if !c.has(g) && means[i][p] != 0 {
				t.Errorf("set %b has a coefficient of %g in group %d", c.set, means[i][p], g)
			}
		}
	}
	sum := 0.0
	all.combine(new(square3), unit)
	for _, c := range all { // without data, the prior probabilities remain
		sum += math.Exp(c.prior)
	}
	if !near(sum, 1) {
		t.Errorf("the probabilities add up to %g", sum)
	}
	var c combination
	if c.one(&[affines][affines]float64{{-2}}, 1, 1); !math.IsInf(c.prior, -1) {
		t.Errorf("a matrix that is not positive definite has ln evidence %g", c.prior)
	}
}
