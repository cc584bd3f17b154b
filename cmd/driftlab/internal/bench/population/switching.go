package population

import (
	"math"
	"math/rand/v2"
	"slices"

	"driftscope/online/switching"
	"driftscope/online/switching/switchingtest"
)

// sure is the probability from which on a state counts as told.
const sure = 0.9

// The laws of objects that keep their D.
const (
	keepState   = "each keeps a state"
	keepBetween = "between two states"
)

// switchingColumns are the columns of the table of switched.
var switchingColumns = []column{law, ratio, {"rate", func(c *Cell) string { return blank(c.Rate) }}, told,
	figure("frames", func(c *Cell) *float64 { return c.Median }), wrong, figure("missed", func(c *Cell) *float64 { return c.Missed }), right, off, bias}

// switched measures how well switches between two states are found, and how often they are reported without any switch. The
// model knows D and the noise.
func switched(b *bench) (out []Cell, err error) {
	const tracks, frames = 60, 400
	if tracks*frames > b.most {
		return nil, nil
	}
	for _, ratio := range []float64{10, 4} {
		for _, r := range []float64{0.1, 1} {
			c := Cell{Study: "switching", Of: "switches", Tracks: tracks, Frames: frames, R: r, Ratio: ratio, States: 2, Runs: b.runs}
			for _, rate := range []float64{1, 0.2} {
				one := c
				one.Law, one.Rate = "switches", rate
				out = append(out, one)
			}
			for _, law := range []string{keepState, keepBetween} {
				one := c
				one.Law = law
				out = append(out, one)
			}
		}
	}
	for i := range out {
		if err := b.switched(&out[i], 1<<18+uint64(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// switched measures one cell.
func (b *bench) switched(c *Cell, seed uint64) error {
	all := make([]switchesSeen, c.Runs)
	told := make([]bool, c.Runs)
	err := b.each(seed, c.Runs, func(run int, rng *rand.Rand) {
		f := watch(c, rng)
		told[run] = f.model.Evidence() > switching.Evident
		if c.Rate > 0 {
			all[run] = f.read()
		}
	})
	if err != nil {
		return err
	}
	if c.Told = share(told); c.Rate > 0 {
		c.sum(all)
	}
	return nil
}

// filmed is tracks that began together, and what a model made of them as they came.
type filmed struct {
	tracks []switchingtest.Track
	model  *switching.Model
}

// watch draws the population of a run, and shows it to a model.
func watch(c *Cell, rng *rand.Rand) *filmed {
	const parts = 10
	two := []float64{slow, slow * c.Ratio}
	chain := switchingtest.Chain{D: two, Rate: c.Rate, Noise: math.Sqrt(c.R * slow * dt), Frame: dt, Parts: parts}
	if c.Law == keepBetween {
		chain.D = []float64{slow * math.Sqrt(c.Ratio)}
	}
	model, err := switching.New(switching.Config{D: two, Noise: chain.Noise * chain.Noise})
	if err != nil {
		panic(err) // two rising D
	}
	f := &filmed{make([]switchingtest.Track, c.Tracks), model}
	filters := make([]switching.Track, c.Tracks)
	for i := range f.tracks {
		f.tracks[i] = chain.Run(rng, c.Frames)
	}
	for k := range c.Frames {
		for i := range filters {
			filters[i].Add(model, located(&f.tracks[i], k))
		}
		model.Pass(dt)
	}
	for i := range filters {
		filters[i].Cut(model)
	}
	return f
}

// located is where a track is at a frame.
func located(t *switchingtest.Track, k int) switching.Place {
	return switching.Place{X: t.X[k], Y: t.Y[k], T: float64(k) * dt, Weight: 1}
}

// switchesSeen is what whole tracks of a population tell of their switches.
type switchesSeen struct {
	distances     []float64 // of each true switch from the next one told that is alike, frames; of a track that has none, all its frames
	wrong, missed float64   // told or true ones of which none alike is within switching.Window
	sure, right   float64   // states reported at 0.9 and more, and the true ones among them
	rates         [2]float64
}

// read has the switches of all tracks.
func (f *filmed) read() (s switchesSeen) {
	for i := range f.tracks {
		truth, places := f.tracks[i].State, make([]switching.Place, len(f.tracks[i].X))
		for k := range places {
			places[k] = located(&f.tracks[i], k)
		}
		s.compare(truth, f.model.Trace(places))
	}
	s.rates = [2]float64{f.model.Rate(0, 1), f.model.Rate(1, 0)}
	return s
}

// compare adds a track's states and switches, beside the true ones.
func (s *switchesSeen) compare(truth []int, p *switching.Path) {
	hit := make([]bool, len(p.Switches))
	for k := range truth {
		for state, v := range p.States[k] {
			if v >= sure {
				s.sure++
				if state == truth[k] {
					s.right++
				}
			}
		}
		if k == 0 || truth[k] == truth[k-1] {
			continue
		}
		nearest := float64(len(truth))
		for i, o := range p.Switches {
			if o.To != truth[k] || o.From != truth[k-1] {
				continue
			}
			distance := math.Abs(float64(o.Step - k))
			hit[i] = hit[i] || distance <= switching.Window
			nearest = min(nearest, distance)
		}
		s.distances = append(s.distances, nearest)
		if nearest > switching.Window {
			s.missed++
		}
	}
	for _, is := range hit {
		if !is {
			s.wrong++
		}
	}
}

// sum fills in what all populations tell.
func (c *Cell) sum(all []switchesSeen) {
	var s switchesSeen
	rates, squares, bias := 0.0, 0.0, 0.0
	for i := range all {
		a := &all[i]
		s.distances = append(s.distances, a.distances...)
		s.wrong, s.missed, s.sure, s.right = s.wrong+a.wrong, s.missed+a.missed, s.sure+a.sure, s.right+a.right
		for _, rate := range a.rates {
			e := rate/c.Rate - 1
			rates, squares, bias = rates+1, squares+e*e, bias+e
		}
	}
	c.Error, c.Bias = new(math.Sqrt(squares/rates)), new(bias/rates)
	if s.sure > 0 {
		c.Right = new(s.right / s.sure)
	}
	if n := float64(len(s.distances)); n > 0 {
		slices.Sort(s.distances)
		c.Median, c.False, c.Missed = new(s.distances[len(s.distances)/2]), new(s.wrong/n), new(s.missed/n)
	}
}
