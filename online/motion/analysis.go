package motion

// analysis holds the reusable memory for measuring a track.
type analysis struct {
	series     series
	fractional fractional
	scaled     scaledMotion
	measured   measured
	posterior  posterior
}

// measure computes the features of the net for the current series. The net was trained on the posterior of fractional Brownian motion with noise of any
// variance and without exposure. If fitted, f already holds this posterior; otherwise f holds the likelihoods for it.
func (a *analysis) measure(f *fractional, fitted bool) {
	if !fitted {
		n := a.series.steps()
		f.fit(&a.series, func(quad, logDet, _ float64) float64 { return jeffreys(quad, logDet, n) })
	}
	a.scaled.fit(f.dx, f.dy)
	a.measured.read(&a.series, f, &a.scaled)
}
