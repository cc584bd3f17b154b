package online

import (
	"fmt"
	"math"

	"driftscope/internal/latent"
)

// Bounds on what may be forecast.
const (
	maxHorizons = 8
	maxAhead    = 64 // frames
	maxHorizon  = 3600.0
)

// validHorizons refuses what cannot be forecast in one pass.
func validHorizons(horizons []float64) error {
	if len(horizons) > maxHorizons {
		return fmt.Errorf("%d forecast horizons, expected at most %d: leave some out", len(horizons), maxHorizons)
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

// forecaster iterates the filter's prior beyond the present frame.
type forecaster struct {
	horizons []float64 // s, ascending
	at       *kalman   // where the iteration is
	mu       []float64
	centre   []float64
	jac      []float64 // at the frame, where that was not forecast
}

func newForecaster(dim int, horizons []float64) *forecaster {
	return &forecaster{horizons: horizons, at: newKalman(dim), mu: make([]float64, dim), centre: make([]float64, dim), jac: make([]float64, dim*dim)}
}

// forecast writes the mean and sd of the latent itself, without the noise of measuring it, at every horizon after the filtered f. Steps
// are of about dt, the frames' own; the drift is asked at each of them, its Jacobian is jac throughout, or where f begins that at f. What
// lies more than maxAhead frames ahead is not a number, and so is everything while dt is 0, before the first figures.
func (c *forecaster) forecast(dst *latent.Estimate, f *kalman, drift *field, jac []float64, found []diffusion, dt float64) {
	d := f.dim
	dst.Horizons = append(dst.Horizons[:0], c.horizons...)
	dst.Forecast = latent.Resize(dst.Forecast, d*len(c.horizons))
	dst.ForecastSD = latent.Resize(dst.ForecastSD, d*len(c.horizons))
	c.at.set(f)
	if f.nis == 0 && dt > 0 && len(c.horizons) > 0 { // nothing forecast this frame: jac is of another place
		drift.linearise(c.mu, c.jac, f.z)
		jac = c.jac
	}
	now := 0.0
	for k, h := range c.horizons {
		mean, sd := dst.Forecast[k*d:(k+1)*d], dst.ForecastSD[k*d:(k+1)*d]
		if !(h <= maxAhead*dt) {
			for i := range mean {
				mean[i], sd[i] = math.NaN(), math.NaN()
			}
			continue
		}
		steps := math.Ceil((h - now) / dt * (1 - 1e-9)) // a horizon of whole frames is that many
		for range int(steps) {
			copy(c.centre, c.at.z)
			drift.drift(c.mu, c.centre)
			c.at.predict((h-now)/steps, c.mu, jac, c.centre, found)
		}
		copy(mean, c.at.z)
		c.at.sd(sd)
		now = h
	}
}
