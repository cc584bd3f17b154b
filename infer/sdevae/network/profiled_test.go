package network

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/online/drift"
)

// TestIntegrateTurnsTheClock integrates a drift that equals the clock. With span T and n sub-steps from clock c, z moves by the Euler sum dt (c + (n-1)/n
// dt/T).
func TestIntegrateTurnsTheClock(t *testing.T) {
	const span, start, dt, n = 2.0, -0.5, 0.6, 3
	m := &Model{Dim: 1, Span: span, Substeps: n, Drift: drift.NewNetwork(2, rand.New(rand.NewPCG(1, 1)))}
	m.Drift.Weights[len(m.Drift.Weights)-2] = 1 // the linear skip from the clock to z
	got := make([]float64, 2)
	m.integrate(got, []float64{7, start}, dt, new(drift.Scratch))
	if want := 7 + dt*(start+(n-1.0)/n*dt/span); math.Abs(got[0]-want) > 1e-12 || math.Abs(got[1]-start-2*dt/span) > 1e-12 {
		t.Errorf("found %v, expected %g and %g", got, want, start+2*dt/span)
	}
}
