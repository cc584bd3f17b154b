package online

import (
	"math"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// TestForecast: on a spring of k = 4/s, horizons and the lead have the mean and variance of the Ornstein-Uhlenbeck process, z exp(-kh) and p exp(-2kh) + σ²(1
// - exp(-2kh))/2k. Each Euler step of 10 ms has an error of (kΔt)²/2 = 8e-4; there are at most four steps. The limit is 5e-3.
func TestForecast(t *testing.T) {
	const k, v, r, step = 4, 2, 0.3, 0.01
	spring := drift.NewNetwork(1, onlinetest.Rand(1))
	spring.Weights[spring.Size()-1] = -k
	law := Motion{Drift: drift.NewField(spring, drift.NoCorrection(1)), Jacobian: []float64{-k}, Found: []diffusion.Estimate{{V: v, FilterNoise: r}}, Step: step}
	f := NewKalman(1)
	f.Start([]float64{3}, nil, law.Found, true)
	after := func(h float64) (mean, sd float64) {
		e := math.Exp(-k * h)
		return f.Mean()[0] * e, math.Sqrt(r*e*e + v*(1-e*e)/(2*k))
	}

	horizons := []float64{0.01, 0.04, 65 * step}
	c, e := NewForecaster(1, horizons), &latent.Estimate{}
	c.Forecast(e, f, law)
	for i, h := range horizons[:2] {
		mean, sd := after(h)
		onlinetest.Within(t, "mean", e.Forecast[i:i+1], []float64{mean}, 5e-3)
		onlinetest.Within(t, "sd", e.ForecastSD[i:i+1], []float64{sd}, 5e-3)
	}
	if !math.IsNaN(e.Forecast[2]) || !math.IsNaN(e.ForecastSD[2]) {
		t.Errorf("found a forecast of %g ± %g 65 frames ahead, expected none", e.Forecast[2], e.ForecastSD[2])
	}
	for _, e.Lead = range []float64{0, 0.004, 0.04} {
		c.Ahead(e, f, law)
		mean, sd := after(e.Lead)
		onlinetest.Within(t, "mean at the lead", e.Ahead, []float64{mean}, 5e-3)
		onlinetest.Within(t, "sd at the lead", e.AheadSD, []float64{sd}, 5e-3)
	}
	law.Step = 0
	if c.Ahead(e, f, law); !math.IsNaN(e.Ahead[0]) {
		t.Errorf("found the forecast %g before the first figures", e.Ahead[0])
	}
}

func TestCheckHorizons(t *testing.T) {
	for _, c := range []struct {
		horizons []float64
		good     bool
	}{
		{nil, true}, {[]float64{0.1, 1, 3600}, true},
		{[]float64{0}, false}, {[]float64{1, 1}, false}, {[]float64{math.NaN()}, false}, {[]float64{3601}, false}, {make([]float64, 9), false},
	} {
		if err := CheckHorizons(c.horizons); (err == nil) != c.good {
			t.Errorf("%v: %v", c.horizons, err)
		}
	}
}
