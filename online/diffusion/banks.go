package diffusion

import (
	"math"
	"slices"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/archive"
	"driftscope/online/drift"
)

// Banks holds the Kalman banks of all dimensions, and their estimates at the last Refresh.
type Banks struct {
	Found       []Estimate // per dimension
	Transitions float64    // transitions that Found uses; 0 before the first figures
	Seconds     float64    // Σ of the time steps of these transitions

	banks   []*bank
	latent  []float64 // working memory of Filtered
	profile profile   // working memory of Refresh
}

// NewBanks returns empty banks. forget is γ, the factor per transition. A measurement is the mean of z over the exposure.
func NewBanks(dim int, forget float64, exposure time.Duration) *Banks {
	b := &Banks{Found: make([]Estimate, dim), latent: make([]float64, dim)}
	psi := newGrid()
	for range dim {
		one := newBank(psi, forget)
		one.setExposure(exposure.Seconds())
		b.banks = append(b.banks, one)
	}
	return b
}

// Start begins a trajectory at m, and keeps the sums of earlier trajectories.
func (b *Banks) Start(m []float64) {
	for i, one := range b.banks {
		one.start(m[i])
	}
}

// Step learns from measurement m, dt seconds after the last, relative to the drift's tangent.
func (b *Banks) Step(m []float64, dt float64, t *drift.Tangent) {
	for i, one := range b.banks {
		one.step(m[i], dt, t.Line(i))
	}
}

// Filtered returns the filtered latent by the most likely filter of each bank. The slice is valid until the next call.
func (b *Banks) Filtered() []float64 {
	for i, one := range b.banks {
		b.latent[i] = one.z[one.best]
	}
	return b.latent
}

// Learnt returns the number of transitions and their total time, s, each weighted by γ.
func (b *Banks) Learnt() (transitions, seconds float64) { return b.banks[0].n, b.banks[0].seconds }

// Refresh renews Found. If there are too few transitions for any figure, it changes nothing and returns false.
func (b *Banks) Refresh() bool {
	if b.banks[0].n < leastTransitions-0.5 {
		return false
	}
	for i, one := range b.banks {
		b.Found[i] = b.profile.estimate(one)
	}
	b.Transitions, b.Seconds = b.banks[0].n, b.banks[0].seconds
	return true
}

// Describe writes Found into s, and decides which dimensions move.
func (b *Banks) Describe(s *latent.SDE) {
	d := len(b.Found)
	s.Transitions, s.Seconds = uint64(math.Round(b.Transitions)), b.Seconds
	s.Sigma, s.SigmaLow, s.SigmaHigh = latent.Resize(s.Sigma, d), latent.Resize(s.SigmaLow, d), latent.Resize(s.SigmaHigh, d)
	s.Diffusion, s.Noise = latent.Resize(s.Diffusion, d), latent.Resize(s.Noise, d)
	if len(s.Activity) != d {
		s.Activity = make([]latent.Activity, d)
	}
	s.CRLB = 0
	for i, f := range b.Found {
		s.Sigma[i], s.SigmaLow[i], s.SigmaHigh[i] = math.Sqrt(f.V), math.Sqrt(f.Low), math.Sqrt(f.High)
		s.Diffusion[i], s.Noise[i] = f.V/2, math.Sqrt(f.Noise)
		if b.Seconds > 0 {
			s.CRLB += f.V / b.Seconds
		}
	}
	s.ActiveCount = decide(s.Activity, b.Found, b.Transitions)
}

// Archive reads or writes the banks, their estimates, and the decisions.
func (b *Banks) Archive(a *archive.Codec, decided []latent.Activity) {
	for _, one := range b.banks {
		one.archive(a)
	}
	ArchiveFound(a, b.Found, decided)
	a.Magnitudes(&b.Transitions, &b.Seconds)
}

// ArchiveFound reads or writes the estimates and decisions of the dimensions.
func ArchiveFound(a *archive.Codec, found []Estimate, decided []latent.Activity) {
	for i := range found {
		f := &found[i]
		a.Magnitudes(&f.V, &f.Low, &f.High, &f.FilterNoise, &f.Noise, &f.Ratio)
		archiveActivity(a, &decided[i])
		a.Require(decided[i] != latent.Active || f.V > 0, "dimension %d is active with a σ² of %g", i, f.V)
	}
}

// archiveActivity reads or writes a decision. A missing decision counts as undecided.
func archiveActivity(a *archive.Codec, v *latent.Activity) {
	all := [...]latent.Activity{latent.Undecided, latent.Inactive, latent.Active}
	code := uint64(max(0, slices.Index(all[:], *v)))
	a.Uint(&code)
	if a.Require(code < uint64(len(all)), "a decision is %d", code); a.Reading() {
		*v = all[code]
	}
}

// archive reads or writes one bank.
func (b *bank) archive(a *archive.Codec) {
	a.Floats(b.z)
	a.Floats(b.l)
	a.Floats(b.p[b.nonNegative:])
	for _, list := range [][]float64{b.p[:b.nonNegative], b.a} {
		for k := range list {
			a.Magnitudes(&list[k])
		}
	}
	for k := range b.s { // may exceed archive.Largest after very unequal steps
		a.Bits(&b.s[k])
		a.Require(b.s[k] > 0 && b.s[k] <= math.MaxFloat64, "a product of variances of %g", b.s[k])
	}
	since := uint64(b.inBlock)
	a.Uint(&since)
	a.Require(since <= blockSize, "%d transitions since the last block of %d", since, blockSize)
	b.inBlock = int(since)
	a.Magnitudes(&b.n, &b.n2, &b.seconds, &b.dt0)
	a.Require(b.n <= 1e15 && b.n2 <= b.n && (b.n == 0 || b.n2 >= 1 && b.seconds > 0 && b.dt0 > 0), "a bank of %g transitions in %g s", b.n, b.seconds)
	if b.dt0 > 0 {
		b.setBlurGrid()
	}
	best := uint64(b.best)
	a.Uint(&best)
	a.Require(best < uint64(len(b.psi)), "filter %d of %d", best, len(b.psi))
	b.best = int(best)
	a.Float(&b.previous)
	a.Magnitudes(&b.cve.square, &b.cve.squares, &b.cve.lags)
	a.Float(&b.cve.lag)
	a.Float(&b.cve.last)
	a.Bool(&b.cve.linked)
}
