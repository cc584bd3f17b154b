package motion

// analysis is what a track is measured in: memory that is used again.
type analysis struct {
	series     series
	fractional fractional
	scaled     scaledMotion
	measured   measured
	posterior  posterior
}

// measure makes the net's features of a series that was read. The net learnt the posterior of fractional Brownian motion with noise of any variance and without
// exposure; f has it, or the likelihoods that it is made of.
func (a *analysis) measure(f *fractional, fitted bool) {
	if !fitted {
		n := a.series.steps()
		f.fit(&a.series, func(quad, logDet, _ float64) float64 { return jeffreys(quad, logDet, n) })
	}
	a.scaled.fit(f.dx, f.dy)
	a.measured.read(&a.series, f, &a.scaled)
}
