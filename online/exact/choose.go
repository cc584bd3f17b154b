// The kinds of motion
//
// The centre of a track is unknown, with a flat prior, so that every law is a density of steps only. A place has noise of variance s², and is the mean
// over the exposure of its frame. Missing frames make longer steps.
//
//	trapped     dx = -A(x - c)dt + √(2D)dW, any linear field A: with unequal springs and a rotation
//	free        A = 0
//	directed    free, with its own velocity per track
//	fractional  ½E(x(t) - x(0))² = K t^α/2, Gaussian, with its full memory
//	late        each step contains a share of the previous one, as in a film that smears motion over frames
//	switching   a hidden chain of states; each visit to a state draws D and α from it, and keeps them
//
// All kinds compete for the same tracks. The null is free diffusion with a lognormal D per track. Another kind is reported if its gain in nats exceeds
// the gain that occurs in one of a hundred sets of tracks without it (docs/lab/2026-11-27-law.md).

package exact

import (
	"math"
	"slices"
)

// Kind is a kind of law of motion.
type Kind int

// Kinds of laws that compete for the same tracks.
const (
	Free Kind = iota
	Trapped
	Directed
	Fractional
	Late
	Switching
	Kinds
	Held = Kinds // trapped or fractional: the tracks cannot tell which
)

// String returns the name of the kind.
func (k Kind) String() string {
	return [Kinds + 1]string{"free", "trapped", "directed", "fractional", "late", "switching", "trapped or fractional"}[k]
}

// margins are the nats over free diffusion at which a kind is reported, or over all others for switching. They are calibrated on tracks without the kind
// (docs/lab/2026-11-27-law.md). Effects that no rival models, such as walls, give switching some nats per step.
var margins = [Kinds]float64{Trapped: 6, Directed: 6, Fractional: 8, Late: 8, Switching: 25}

const (
	switchingEach = 0.01 // nats per step
	thirdState    = 60.0 // nats for a third state
	leastGroups   = 10.0 // nats
	leastShare    = 0.02 // of the time, per state of two
	telling       = 4.6  // nats between traps and exponents: a law is a hundred times less likely than a true one in at most one of a hundred sets
	leastThird    = 0.05 // per state of three
	mostCompared  = 24_000
	mostSeries    = 1500
	longestPiece  = 400 // places
)

// comparison holds the fits of all rivals to the same series.
type comparison struct {
	all    []series
	square float64
	look
	say func(string)

	gain     [Kinds]float64 // nats over free diffusion
	shape    [Kinds]float64 // the parameter of the family
	noise    [Kinds]float64 // variance
	crowd    [Kinds]crowd
	free     float64 // nats
	exponent *exponent

	moves *steps
	cells *cells
	chain *chain
	bad   float64 // factor on the variance of the noise of places that are bad for a while

	groups float64 // nats of two groups of objects that keep their D
}

// trapRates returns the tested rates for tracks of a number of places; the first means no trap.
func trapRates(places float64) []float64 {
	rates := []float64{0}
	low, high := math.Log(0.5/places), math.Log(1.5)
	for i := range 12 {
		rates = append(rates, math.Exp(low+(high-low)*float64(i)/11))
	}
	return rates
}

// trackSpeeds are the tested variances of velocities, divided by K.
var trackSpeeds = []float64{0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1}

// overFamilies fits the families with one more parameter.
func (c *comparison) overFamilies() {
	lengths := make([]int, len(c.all))
	for i := range c.all {
		lengths[i] = len(c.all[i].at)
	}
	slices.Sort(lengths)
	middle := float64(lengths[len(lengths)/2])
	rates := trapRates(middle)
	s := newScale(c.square)
	for _, one := range []struct {
		kind Kind
		f    *family
	}{
		{Trapped, c.every().traps(rates)},
		{Directed, c.every().directed(trackSpeeds)},
		{Late, c.every().late([]float64{0, 0.15, 0.3, 0.45, 0.6, 0.75})},
	} {
		free, noise, crowd := one.f.best(0, s, c.square)
		if one.kind == Directed {
			c.free, c.noise[Free], c.crowd[Free] = free, noise, crowd
		}
		at, top := 0, math.Inf(-1)
		table := make([]float64, len(c.all)*s.n)
		for i := 1; i < len(one.f.shape); i++ {
			for _, by := range []float64{0.2, 1, 3} {
				one.f.likelihoods(i, max(noise*by, 2e-4*c.square), s, table)
				if v, _ := population(table, s); v > top {
					at, top = i, v
				}
			}
		}
		best, noise, crowd := one.f.best(at, s, c.square)
		c.gain[one.kind], c.shape[one.kind], c.noise[one.kind], c.crowd[one.kind] = best-free, one.f.shape[at], noise, crowd
	}
}

// compare fits all rivals to the series.
func (c *comparison) compare() {
	c.say("free, trapped, directed")
	c.overFamilies()
	c.say("exponents")
	c.exponent = fitExponent(c.every().anomalous(tabulated), c.square, c.cores)
	c.gain[Fractional], c.shape[Fractional], c.noise[Fractional] = c.exponent.nats-c.exponent.plain, c.exponent.mean.Value, c.exponent.noise
	c.say("switching")
	c.overStates()
	if k := c.kind(); k != Free && k != Switching {
		c.overBad()
	}
}

// overBad requires of each kind that it explains the tracks better than bad localisation for a while does: both turn objects back.
func (c *comparison) overBad() {
	nats := math.Inf(-1)
	for _, share := range []float64{0.1, 0.3, 1} {
		v, times := blurs(c.moves, c.square, max(share*c.noise[Free], 1e-3*c.square), c.look)
		if v > nats {
			nats, c.bad = v, times
		}
	}
	for k := range c.gain {
		if k := Kind(k); k != Free && k != Switching {
			c.gain[k] = min(c.gain[k], c.free+c.gain[k]-nats)
		}
	}
	if c.kind() != Free {
		c.bad = 0
	}
}

// rival returns the largest ln L of a law without switching.
func (c *comparison) rival() float64 {
	best := c.free
	for k, g := range c.gain {
		if k := Kind(k); k != Switching {
			best = max(best, c.free+g)
		}
	}
	return best
}

// overStates fits chains of two and three states.
func (c *comparison) overStates() {
	c.moves = newSteps(c.all)
	noise := freest(c.moves, c.square, c.look)
	of := func(noise float64, alphas []float64) *cells {
		return newCells(c.moves, grid(c.square, cellStep, alphas), noise, c.look)
	}
	plain, mixed := of(noise, []float64{1}), of(noise, mixedExponents)
	one, _ := plain.still(c.moves, 1, c.cores)
	oneMixed, _ := mixed.still(c.moves, 1, c.cores)
	by := plain
	if oneMixed-one > margins[Fractional] {
		by = mixed
	}
	ch := by.switching(c.moves, 2, 60, c.cores)
	two, _ := plain.still(c.moves, 2, c.cores)
	if two-one > leastGroups {
		c.groups = two - max(one, plain.peaked(c.moves.first, c.cores))
	}
	if by == mixed {
		two, _ = mixed.still(c.moves, 2, c.cores)
	}
	rival := max(c.rival(), one, oneMixed, two)
	c.gain[Switching] = ch.nats - rival
	c.cells, c.chain = by, ch
	if !c.switches() {
		return
	}
	bad, times := blurs(c.moves, c.square, max(noise, 1e-3*c.square), c.look)
	if c.gain[Switching] = min(c.gain[Switching], ch.nats-bad); !c.switches() {
		c.bad = times
		return
	}
	// refine the noise with the states
	polished := noise
	best := math.Inf(-1)
	low, high := math.Log(max(noise, 1e-3*c.square))-0.8, math.Log(max(noise, 1e-3*c.square))+0.5
	golden(func(log float64) float64 {
		v := of(math.Exp(log), []float64{1}).switching(c.moves, 2, 20, c.cores).nats
		if v > best {
			best, polished = v, math.Exp(log)
		}
		return v
	}, low, high, 6)
	c.noise[Switching] = polished
	plain, mixed = of(polished, []float64{1}), of(polished, mixedExponents)
	a, b := plain.switching(c.moves, 2, 60, c.cores), mixed.switching(c.moves, 2, 60, c.cores)
	c.cells, c.chain = plain, a
	if b.nats-a.nats > 2*margins[Fractional] {
		c.cells, c.chain = mixed, b
	}
	three := c.cells.switching(c.moves, 3, 60, c.cores)
	k := slices.Clone(three.k)
	slices.Sort(k)
	apart := math.Inf(1)
	for i := 1; i < len(k); i++ {
		apart = min(apart, math.Log((k[i]+0.02*polished)/(k[i-1]+0.02*polished)))
	}
	if three.nats-c.chain.nats > thirdState && slices.Min(three.share) > leastThird && apart > 1 {
		c.chain = three
		return
	}
	if b := c.cells.brief(c.moves, c.chain, c.cores); b.nats-c.chain.nats > margins[Fractional] {
		c.chain = b
	}
}

// switches reports whether there is evidence that objects switch.
func (c *comparison) switches() bool {
	return c.gain[Switching] > margins[Switching]+switchingEach*float64(len(c.moves.move)) && slices.Min(c.chain.share) > leastShare
}

// kind returns the kind with the best evidence.
func (c *comparison) kind() Kind {
	if c.switches() {
		return Switching
	}
	best := Free
	for _, k := range []Kind{Trapped, Directed, Fractional, Late} {
		if k == Late && c.gain[k] < c.gain[Fractional]+margins[Switching]+switchingEach*float64(len(c.moves.move)) {
			continue // superdiffusion resembles lag: one of four sets with exponent 1.5 exceeded the margin for lag, 8 nats
		}
		if c.gain[k] > margins[k] && (best == Free || c.gain[k]-margins[k] > c.gain[best]-margins[best]) {
			best = k
		}
	}
	if ahead := c.gain[Trapped] - c.gain[Fractional]; best == Trapped && ahead < telling || best == Fractional && c.gain[Trapped] > margins[Trapped] && ahead > -telling {
		return Held
	}
	if best == Fractional && c.exponent.mean.holds(1) {
		return Free // short tracks in much noise: the best exponent is far likelier than 1, and yet its interval holds 1
	}
	return best
}
