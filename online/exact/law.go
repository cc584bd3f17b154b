package exact

import (
	"fmt"
	"math"
	"slices"
)

// Options describe the film and the analysis.
type Options struct {
	Exposure float64      // exposure as a fraction of a frame, 0 to 1
	Cores    int          // largest number of cores; 0 means all. The law does not depend on it
	Each     bool         // classify every track, not only the population
	Most     int          // largest number of positions in the comparison; 0 means 24,000
	Say      func(string) // receives the current stage; may be nil
	Pause    func()       // called between parts of the work, from the caller's goroutine; may be nil. If set, Infer works on one core
}

// State is one of the states of switching objects.
type State struct {
	D     Interval // per frame
	Share Interval // fraction of the objects' time
	Alpha float64  // exponent; 0 for immobile objects
}

// Change is a change of state: the first frame of an object in the new state, and the numbers of both states.
type Change struct{ Frame, From, To int }

// Object is the result for one track.
type Object struct {
	Judged  bool
	Class   [Classes]float64 // probabilities
	Alpha   Interval         // with the population as its prior; NaN if unknown
	D       Interval         // likewise
	State   []float64        // fraction of time in each state; nil without states
	Over    [][]float64      // probability of each state in each step
	Changes []Change
}

// Law is the result for a set of tracks. Lengths have the unit of the positions, times are in frames.
type Law struct {
	Kind     Kind
	Axes     [2]bool  // axes with motion
	Remarks  []string // problems of the tracks
	Steps    int      // steps of all tracks
	Compared int      // steps in the comparison of kinds

	Gains    [Kinds]float64 // gain of each kind over free diffusion, nats; for switching, over all other kinds
	Exponent Interval       // exponent of the population, from all displacements within the tracks
	Spread   float64        // sd of exponents between tracks
	D        Interval       // mean over the objects' time; for fractional motion, half the mean square displacement per frame
	Noise    float64        // sd of the localisation noise
	Bad      float64        // factor on the noise variance of badly located positions; 0 without such positions
	Trap     *Trap
	States   []State
	Leave    [][]float64 // probability of leaving each state for each other, per frame
	Objects  []Object    // one per track, if requested

	groups float64     // gain of two groups of objects with constant D over any distribution of D with one peak, nats
	by     *comparison // data that Judge needs
}

// Grouped reports whether objects form groups of different D instead of one group with a spread of D. Its margin is calibrated on spreads with one peak
// (docs/lab/2026-11-27-law.md).
func (l *Law) Grouped() bool { return l.groups > leastGroups }

// mostJudged is the largest number of classified tracks.
const mostJudged = 20_000

// Infer finds the law of tracks. If no axis moves, or there are too few steps, it returns false and a law with only remarks.
func Infer(tracks []Track, o Options) (*Law, bool) {
	l := &Law{}
	l.Axes, l.Remarks = inspect(tracks)
	if !l.Axes[0] && !l.Axes[1] {
		return l, false
	}
	say := o.Say
	if say == nil {
		say = func(string) {}
	}
	var all []series
	var of []int
	for i, t := range tracks {
		if len(t) > 1 {
			all, of = append(all, newSeries(t, l.Axes)), append(of, i)
			l.Steps += len(t) - 1
		}
	}
	d := dimensions(l.Axes)
	most := o.Most
	if most == 0 {
		most = mostCompared
	}
	c := &comparison{all: few(evenly(pieces(all, longestPiece), most), mostSeries), look: look{o.Exposure, d, crew{o.Cores, o.Pause}}, say: say}
	c.square = square(c.all, d)
	c.compare()
	for _, s := range c.all {
		l.Compared += len(s.at) - 1
	}
	l.Kind, l.Gains, l.Exponent, l.Spread, l.Bad = c.kind(), c.gain, c.exponent.mean, c.exponent.spread, c.bad
	l.groups, l.by = c.groups, &comparison{square: c.square, look: c.look, gain: c.gain, noise: c.noise, crowd: c.crowd, exponent: c.exponent}
	say("estimating the law")
	l.tell(c, all)
	if o.Each {
		say("classifying each")
		l.each(c, tracks, all, of)
	}
	return l, true
}

// few returns at most most elements of all, evenly spaced.
func few[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	out := make([]T, 0, most)
	for i := range most {
		out = append(out, all[i*len(all)/most])
	}
	return out
}

// tell fills in the numbers for the law's kind.
func (l *Law) tell(c *comparison, all []series) {
	as := l.Kind
	if as == Held {
		as = Fractional
	}
	l.Noise = math.Sqrt(c.noise[as])
	crowded := c.crowd[as]
	switch as {
	case Trapped:
		t := fitTrap(evenly(all, mostTrapped), c.look, true)
		l.Trap, l.D, l.Noise = &t, t.D, t.Noise.Value
		return
	case Switching:
		l.tellStates(c)
		return
	case Fractional:
		l.D = c.exponent.dMean(c)
		return
	case Free:
		if crowded.sd < 0.15 {
			l.D = fitFree(evenly(all, mostTrapped), c.look)
			return
		}
	}
	// D differs between objects: report the mean of a lognormal law, with an error for the number of objects and of steps
	steps := 0.0
	for _, n := range counts(c.all) {
		steps += n
	}
	sd := math.Sqrt(crowded.sd*crowded.sd*(1+crowded.sd*crowded.sd/2)/float64(len(c.all)) + 4/(c.dims*steps))
	mean := math.Exp(crowded.mean+crowded.sd*crowded.sd/2) / 2
	l.D = Interval{mean, mean * math.Exp(-1.96*sd), mean * math.Exp(1.96*sd)}
}

// dMean returns half the mean K of a population of fractional motion.
func (e *exponent) dMean(c *comparison) Interval {
	steps := 0.0
	for _, n := range counts(c.all) {
		steps += n
	}
	sd := math.Sqrt(e.width*e.width*(1+e.width*e.width/2)/float64(len(c.all)) + 4/(c.dims*steps))
	return Interval{e.d, e.d * math.Exp(-1.96*sd), e.d * math.Exp(1.96*sd)}
}

// fitFree returns the common D of all series under free diffusion, with a profile interval in which the noise is free.
func fitFree(all []series, by look) Interval {
	at, unit := scaled(all, by.dims)
	bound := likeAll(at, by)
	f := func(x []float64) float64 { return bound([]float64{x[0], slowest + 1, x[1]}) }
	var x []float64
	value := math.Inf(1)
	for _, noise := range []float64{-3, -0.8} {
		start := []float64{-0.7, noise}
		if v := descend(f, start, []int{0, 1}, 60); v < value-1e-3 {
			x, value = start, v
		}
	}
	if x == nil {
		return Interval{math.NaN(), 0, math.Inf(1)}
	}
	x[1] = max(x[1], quietest+1)
	ends := (&fitted{f: f, x: x, value: value, sd: curvature(f, x, 1e-3, 0.5)}).profile(0, -40, 20)
	return Interval{math.Exp(x[0]) * unit * unit, math.Exp(ends[0]) * unit * unit, math.Exp(ends[1]) * unit * unit}
}

// order sorts the classes of a chain by K.
func (ch *chain) order() []int {
	order := identity(len(ch.classes))
	slices.SortFunc(order, func(a, b int) int {
		if ch.classes[a].unit < ch.classes[b].unit {
			return -1
		}
		return 1
	})
	return order
}

// immobile reports whether a class has no motion beyond its noise.
func (of *class) immobile(square, noise float64) bool {
	return 2*of.d() < 4e-3*square && 2*of.d() < 0.2*noise
}

// tellStates fills in the states of a chain. The interval of D combines the spread between visits and the error from the number of steps. The interval of a
// share uses the spread between series.
func (l *Law) tellStates(c *comparison) {
	ch, order := c.chain, c.chain.order()
	place := make([]int, len(order))
	for to, from := range order {
		place[from] = to
	}
	k := len(order)
	weights := c.cells.weigh(ch.classes, ch.as)
	shares, lengths := make([][]float64, len(c.all)), make([]float64, len(c.all))
	for i := range c.all {
		shares[i] = make([]float64, k)
		c.decode(c.moves, i, weights, func(t int, class []float64, _ float64) {
			for j, p := range class {
				shares[i][place[j]] += p
			}
			lengths[i]++
		})
	}
	total, mean := 0.0, 0.0
	for _, n := range lengths {
		total += n
	}
	l.States, l.Leave = make([]State, k), make([][]float64, k)
	visits := make([]float64, k)
	for r, row := range ch.leave {
		from := place[ch.as[r]]
		for q, p := range row {
			if to := place[ch.as[q]]; to != from {
				if l.Leave[from] == nil {
					l.Leave[from] = make([]float64, k)
				}
				stays := ch.stays[r]
				l.Leave[from][to] += p * stays / max(ch.share[ch.as[r]]*float64(c.cells.n), 1e-9)
				visits[to] += p * stays
			}
		}
	}
	for j, from := range order {
		of := &ch.classes[from]
		s := &l.States[j]
		d, steps := of.d(), ch.share[from]*total
		relative := 3 * of.unitSD / of.unit
		if of.unitSD <= 0.046*of.unit {
			relative = 0
		}
		snr := 1 + 2*c.noise[Switching]/max(2*d, 1e-300)
		sd := math.Sqrt(relative*relative/max(visits[j]+ch.begin[from]*float64(len(c.all)), 1) + 2*snr*snr/(c.dims*max(steps, 1)))
		s.D = Interval{d, d * math.Exp(-1.96*sd), d * math.Exp(1.96*sd)}
		if s.Alpha = ch.alpha[from]; of.immobile(c.square, c.noise[Switching]) {
			s.Alpha, s.D.Low = 0, 0
		}
		share, left := ch.share[from], 0.0
		for i, n := range lengths {
			left += (shares[i][j] - share*n) * (shares[i][j] - share*n)
		}
		e := 1.96 * math.Sqrt(left) / total
		s.Share = Interval{share, max(share-e, 0), min(share+e, 1)}
		mean += share * d
		l.D.Low, l.D.High = l.D.Low+share*s.D.Low, l.D.High+share*s.D.High
	}
	l.D.Value = mean
}

// decode calls told for every step of series i of m, in order, with the class probabilities and the mean K under the chain.
func (c *comparison) decode(m *steps, i int, l *list, told func(t int, class []float64, k float64)) {
	rooms := len(c.chain.as)
	sum := &passed{enter: make([]float64, len(l.cell)), jumps: make([]float64, rooms*rooms), stays: make([]float64, rooms), within: make([]float64, len(l.cell))}
	var backwards [][]float64
	var scales []float64
	sum.told = func(t int, class []float64, k float64) {
		backwards, scales = append(backwards, slices.Clone(class)), append(scales, k)
	}
	c.cells.pass(m.first[i], m.first[i+1], l, c.chain, sum)
	for k := len(backwards) - 1; k >= 0; k-- {
		told(m.first[i+1]-1-k, backwards[k], scales[k])
	}
}

func (l *Law) each(c *comparison, tracks []Track, all []series, of []int) {
	l.Objects = make([]Object, len(tracks))
	none := Interval{math.NaN(), math.NaN(), math.NaN()}
	for i := range l.Objects {
		l.Objects[i].Alpha, l.Objects[i].D = none, none
	}
	chosen := few(identity(len(all)), mostJudged)
	judges := c.judges(all, chosen, new([Classes]float64))
	for k, i := range chosen {
		o := &l.Objects[of[i]]
		o.Class, o.Judged = judges[k].class, true
		if l.Kind != Switching {
			o.Alpha, o.D = judges[k].alpha, judges[k].d
		}
	}
	if l.Kind == Switching {
		l.eachState(c, tracks, all, of)
	}
}

// longestDecoded is the largest number of positions of a track that are decoded at a time.
const longestDecoded = 2000

// eachState fills in the states, D and exponent of every track.
func (l *Law) eachState(c *comparison, tracks []Track, all []series, of []int) {
	order := c.chain.order()
	place := make([]int, len(order))
	for to, from := range order {
		place[from] = to
	}
	// keep only the cells with a weight
	weights := c.cells.weigh(c.chain.classes, c.chain.as)
	var only kinds
	number := map[int]int{}
	for i, s := range weights.cell {
		n, ok := number[s]
		if !ok {
			n = len(only.lnK)
			number[s] = n
			only.lnK, only.alpha, only.bad = append(only.lnK, c.cells.lnK[s]), append(only.alpha, c.cells.alpha[s]), append(only.bad, c.cells.bad[s])
		}
		weights.cell[i] = n
	}
	const batch = 64
	spread((len(all)+batch-1)/batch, c.cores, func(b int) {
		for i := b * batch; i < min((b+1)*batch, len(all)); i++ {
			o := &l.Objects[of[i]]
			o.State = make([]float64, len(order))
			mean, d, n := 0.0, 0.0, 0.0
			for _, p := range pieces(all[i:i+1], longestDecoded) {
				m := newSteps([]series{p})
				own := &comparison{chain: c.chain, cells: newCells(m, only, c.cells.noise, look{c.exposure, c.dims, crew{most: 1}})}
				own.decode(m, 0, weights, func(t int, class []float64, k float64) {
					row := make([]float64, len(order))
					for j, v := range class {
						row[place[j]] = v
					}
					for j, v := range row {
						o.State[j] += v
						mean += v * l.States[j].Alpha
					}
					n++
					d += k / 2
					o.Over = append(o.Over, row)
				})
			}
			for j := range o.State {
				o.State[j] /= n
			}
			o.Alpha, o.D = Interval{mean / n, math.NaN(), math.NaN()}, Interval{d / n, math.NaN(), math.NaN()}
			o.change(tracks[of[i]])
		}
	})
}

// change lists the changes of the most probable state of a track.
func (o *Object) change(t Track) {
	was := -1
	for k, row := range o.Over {
		now := 0
		for j, p := range row {
			if p > row[now] {
				now = j
			}
		}
		if was >= 0 && now != was {
			o.Changes = append(o.Changes, Change{t[k].Frame, was, now})
		}
		was = now
	}
}

// Mapped reports whether a map of the field may claim traps, vortices and a flow. It may not if the law itself makes objects turn back or drift everywhere,
// or if they move along a line.
func (l *Law) Mapped() bool {
	return l.Axes == [2]bool{true, true} && l.Kind != Fractional && l.Kind != Held && l.Kind != Late && l.Kind != Directed
}

// Says describes the law in a sentence. length converts lengths of the law to unit. A frame takes dt s.
func (l *Law) Says(length float64, unit string, dt float64) string {
	d := func(i Interval) string {
		f := length * length / dt
		if i.Low == 0 {
			return fmt.Sprintf("D below %.2g %s²/s", f*i.High, unit)
		}
		return fmt.Sprintf("D %.3g (%.3g to %.3g) %s²/s", f*i.Value, f*i.Low, f*i.High, unit)
	}
	rate := func(i Interval) string { return fmt.Sprintf("%.3g (%.3g to %.3g) /s", i.Value/dt, i.Low/dt, i.High/dt) }
	switch l.Kind {
	case Trapped:
		says := fmt.Sprintf("Objects are trapped: %s, pulled back at %s", d(l.D), rate(l.Trap.Rate))
		if l.Trap.Turns > turning {
			says += fmt.Sprintf(", springs %.3g (%.3g to %.3g) to 1, rotation %s", l.Trap.Ratio.Value, l.Trap.Ratio.Low, l.Trap.Ratio.High, rate(l.Trap.Rotation))
		}
		return says + "."
	case Held:
		return fmt.Sprintf("Objects turn back, in traps or by subdiffusion of exponent %.2f (%.2f to %.2f): the tracks are too short to tell which. Over a frame, %s.",
			l.Exponent.Value, l.Exponent.Low, l.Exponent.High, d(l.D))
	case Directed:
		return fmt.Sprintf("Objects are driven, each with its own velocity, and diffuse: %s.", d(l.D))
	case Fractional:
		word := "Subdiffusion"
		if l.Exponent.Value > 1 {
			word = "Superdiffusion"
		}
		return fmt.Sprintf("%s: exponent %.2f (%.2f to %.2f), %s over a frame.", word, l.Exponent.Value, l.Exponent.Low, l.Exponent.High, d(l.D))
	case Switching:
		says := fmt.Sprintf("%d states, and objects switch between them:", len(l.States))
		for i, s := range l.States {
			if i > 0 {
				says += ","
			}
			says += fmt.Sprintf(" %.0f %% of the time ", 100*s.Share.Value)
			if s.Alpha == 0 {
				says += "immobile, "
			}
			says += d(s.D)
		}
		return says + "."
	}
	return fmt.Sprintf("Objects diffuse freely: %s.", d(l.D))
}
