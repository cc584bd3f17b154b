package online

import (
	"fmt"
	"math"

	"driftscope/internal/flow/latent"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
)

// Bounds on forecasts.
const (
	maxHorizons = 8
	maxAhead    = 64 // frames
	maxHorizon  = 3600.0
)

// CheckHorizons returns an error unless there are at most 8 horizons, ascending, above 0 and at most an hour.
func CheckHorizons(horizons []float64) error {
	if len(horizons) > maxHorizons {
		return fmt.Errorf("%d forecast horizons, expected at most %d: remove some", len(horizons), maxHorizons)
	}
	before := 0.0
	for _, h := range horizons {
		if !(h > before && h <= maxHorizon) {
			return fmt.Errorf("forecast horizons %v, expected ascending numbers of seconds above 0, at most %g: correct the list", horizons, maxHorizon)
		}
		before = h
	}
	return nil
}

// Forecaster iterates a filter's prediction beyond the present frame.
type Forecaster struct {
	horizons []float64     // s, ascending
	at       *Kalman       // state of the iteration
	tangent  drift.Tangent // drift at that state
	jac      []float64     // Jacobian at the filtered latent, for frames that had no forecast
	lead     [1]float64    // the horizon of Ahead
}

// NewForecaster returns a Forecaster for horizons, s, that CheckHorizons allows.
func NewForecaster(dim int, horizons []float64) *Forecaster {
	return &Forecaster{horizons: horizons, at: NewKalman(dim), tangent: *drift.NewTangent(dim), jac: make([]float64, dim*dim)}
}

// Motion is the current law at a frame.
type Motion struct {
	Drift    *drift.Field
	Jacobian []float64 // of the drift, d×d
	Found    []diffusion.Estimate
	Step     float64 // mean time between frames, s; 0 before the first figures
}

// Forecast writes the mean and sd of the latent itself, without measurement noise, at every horizon after the filtered f. Steps are about law.Step long. The
// drift is evaluated at each step. Its Jacobian is law.Jacobian throughout, or the Jacobian at f if f begins a trajectory. A horizon more than maxAhead
// frames ahead is NaN, and so is every forecast before the first figures.
func (c *Forecaster) Forecast(dst *latent.Estimate, f *Kalman, law Motion) {
	d := f.dim
	dst.Horizons = append(dst.Horizons[:0], c.horizons...)
	dst.Forecast = latent.Resize(dst.Forecast, d*len(c.horizons))
	dst.ForecastSD = latent.Resize(dst.ForecastSD, d*len(c.horizons))
	c.iterate(f, law, forecasts{c.horizons, dst.Forecast, dst.ForecastSD})
}

// Ahead writes the forecast at the horizon dst.Lead, s, into dst.Ahead and dst.AheadSD. At horizon 0 the forecast is the filtered latent.
func (c *Forecaster) Ahead(dst *latent.Estimate, f *Kalman, law Motion) {
	dst.Ahead, dst.AheadSD, c.lead[0] = latent.Resize(dst.Ahead, f.dim), latent.Resize(dst.AheadSD, f.dim), dst.Lead
	c.iterate(f, law, forecasts{c.lead[:], dst.Ahead, dst.AheadSD})
}

// forecasts holds the destination: d numbers per horizon.
type forecasts struct{ horizons, mean, sd []float64 }

func (c *Forecaster) iterate(f *Kalman, law Motion, into forecasts) {
	d := f.dim
	c.at.set(f)
	t := &c.tangent
	t.Jacobian = law.Jacobian
	if f.nis == 0 && law.Step > 0 && len(into.horizons) > 0 { // this frame had no forecast, so law.Jacobian belongs to another position
		law.Drift.Linearise(t.Mu, c.jac, f.z)
		t.Jacobian = c.jac
	}
	now := 0.0
	for k, h := range into.horizons {
		mean, sd := into.mean[k*d:(k+1)*d], into.sd[k*d:(k+1)*d]
		if !(h <= maxAhead*law.Step) {
			for i := range mean {
				mean[i], sd[i] = math.NaN(), math.NaN()
			}
			continue
		}
		steps := 0.0
		if h > now {
			steps = math.Ceil((h - now) / law.Step * (1 - 1e-9)) // a horizon of n whole frames takes n steps despite rounding
		}
		for range int(steps) {
			copy(t.Centre, c.at.z)
			law.Drift.Drift(t.Mu, t.Centre)
			c.at.Predict((h-now)/steps, t, law.Found)
		}
		copy(mean, c.at.z)
		c.at.SD(sd)
		now = h
	}
}
