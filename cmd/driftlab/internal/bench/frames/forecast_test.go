package frames

import (
	"math/rand/v2"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online"
)

// The estimator learns the whirl from what it sees, and its forecasts gain what the law allows: the loop without a machine's delays. Places are seen as well as
// the shipped encoder sees them, in the encoder's units of 2 µm. The last 60 s are 6000 pulses, of errors that a tenth of a second makes new: the factor is told
// to some 4 %, and a drift that is learnt costs some of it.
func TestForecastsOfALearntLaw(t *testing.T) {
	suite.Long(t)
	const period, late, warm, n, unit, noise = 10 * time.Millisecond, 6300 * time.Microsecond, 2000, 8000, 2.0, 0.05
	e, err := online.New(online.Config{Dim: 2, Seed: 1, Deterministic: true, Lead: late.Seconds})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	p, rng := whirl.walk((n+1)*period, 5), rand.New(rand.NewPCG(6, 7))
	var dst latent.Estimate
	var pulses []pulse
	um := func(z []float64) [2]float64 { return [2]float64{unit * z[0], unit * z[1]} }
	for k := range n {
		at := time.Duration(k) * period
		seen, _ := p.at(at)
		now, _ := p.at(at + late)
		z := latent.Latent{Seq: uint64(k), Time: time.Unix(0, 0).Add(at), SD: []float64{noise / unit, noise / unit}}
		for i := range 2 {
			z.Mean = append(z.Mean, (seen[i]+noise*rng.NormFloat64())/unit)
		}
		if err := e.Update(&dst, &z); err != nil {
			t.Fatal(err)
		}
		if k >= warm {
			pulses = append(pulses, pulse{took: late, lead: late, seen: seen, now: now, last: um(dst.Filtered), forecast: um(dst.Ahead)})
		}
	}
	found := errorsOf(pulses, whirl)
	t.Logf("%+v", found)
	if found.Factor < 0.95*found.Allowed || found.Factor > 1.05*found.Allowed || found.Allowed < 1.3 {
		t.Errorf("found a factor of %.3f, expected the %.3f that the law allows", found.Factor, found.Allowed)
	}
}
