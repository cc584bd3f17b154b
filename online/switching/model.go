package switching

import (
	"fmt"
	"math"
	"slices"
)

// MostStates bounds the number of states.
const MostStates = 6

// Config sets up a Model.
type Config struct {
	D        []float64 // of each state, ascending, px²/s
	Noise    float64   // variance of a place along an axis, px²
	Exposure float64   // averaging time of a place, s
	Lasts    float64   // prior mean duration of a state, s; 0 means DefaultLasts
	Memory   float64   // time in which the weight of a switch falls to 1/e, s; 0 keeps all
}

// Evident is the evidence at which objects count as switching, nats: twenty to one.
var Evident = math.Log(20)

// DefaultLasts is the default of Config.Lasts: a thousand frames at 50 frames/s, so that nothing switches at the beginning.
const DefaultLasts = 20.0

// vector holds a number per state, square one per pair of states: from the first to the second.
type (
	vector [MostStates]float64
	square [MostStates][MostStates]float64
)

// Model holds the parameters that all objects share: the states and their switching rates. Use it from one goroutine.
type Model struct {
	config Config
	states int
	levels []float64 // D of objects that do not switch: the states, and levels between them

	switched square // Σ of expected switches, doc.go (4)
	stayed   vector // Σ of expected time in each state, s
	versus   [2]float64
	steps    float64

	rates    square // 1/s
	share    vector // probability of each state
	harvests int
	jumps    float64 // share of steps that are jumps
	cached   [kept]transition
	next     int
}

// between is the number of levels between two states. A D ratio above a level step shows within some ten steps.
const between = 2

// New returns a model without switches.
func New(c Config) (*Model, error) {
	if c.Lasts == 0 {
		c.Lasts = DefaultLasts
	}
	c.D = slices.Clone(c.D)
	m := &Model{config: c, states: len(c.D), jumps: jumpShare}
	if err := m.check(); err != nil {
		return nil, err
	}
	m.level()
	m.refresh()
	return m, nil
}

// check validates the configuration.
func (m *Model) check() error {
	c := &m.config
	if n := len(c.D); n < 1 || n > MostStates {
		return fmt.Errorf("%d states: expected 1 to %d", n, MostStates)
	}
	for i, d := range c.D {
		if !(d > 0) || math.IsInf(d, 1) || i > 0 && d <= c.D[i-1] {
			return fmt.Errorf("states of D %v px²/s: expected rising numbers above zero", c.D)
		}
	}
	if !(c.Noise >= 0) || !(c.Exposure >= 0) || !(c.Lasts > 0) || !(c.Memory >= 0) {
		return fmt.Errorf("a noise of %g px², an exposure of %g s, states that last %g s and a memory of %g s: expected none below zero", c.Noise, c.Exposure, c.Lasts, c.Memory)
	}
	return nil
}

// level computes the levels: states first.
func (m *Model) level() {
	m.levels = append(m.levels[:0], m.config.D...)
	for i := range m.states - 1 {
		low, high := m.config.D[i], m.config.D[i+1]
		for k := range between {
			m.levels = append(m.levels, low*math.Pow(high/low, float64(k+1)/(between+1)))
		}
	}
}

// Tell changes the D of the states and the noise variance of places. The number of states and the learnt rates stay. It returns an error and changes
// nothing if the values are invalid.
func (m *Model) Tell(d []float64, noise float64) error {
	was := m.config
	m.config.D, m.config.Noise = slices.Clone(d), noise
	err := m.check()
	if err == nil && len(d) != m.states {
		err = fmt.Errorf("%d states in place of %d: make another model", len(d), m.states)
	}
	if err != nil {
		m.config = was
		return err
	}
	m.level()
	return nil
}

// States returns the number of states.
func (m *Model) States() int { return m.states }

// D returns the D of a state, px²/s.
func (m *Model) D(state int) float64 { return m.config.D[state] }

// Rate returns the rate of switching from one state to another, 1/s.
func (m *Model) Rate(from, to int) float64 { return m.rates[from][to] }

// Share returns the share of time that objects spend in a state.
func (m *Model) Share(state int) float64 { return m.share[state] }

// Switches returns the expected number of switches behind the rates.
func (m *Model) Switches() float64 {
	n := 0.0
	for i := range m.states {
		for j := range m.states {
			n += m.switched[i][j]
		}
	}
	return n
}

// Steps returns the number of steps behind the evidence.
func (m *Model) Steps() float64 { return m.steps }

// Evidence returns ln p(steps | objects switch)/p(steps | each keeps its D), doc.go (5). Each step is predicted by rates learnt before it, so that
// fitted rates need no penalty. The kept D is a state, or a level between states, whichever fits better.
func (m *Model) Evidence() float64 { return min(m.versus[0], m.versus[1]) }

// Pass forgets, seconds after the previous frame. Call it once per frame.
func (m *Model) Pass(seconds float64) {
	if m.config.Memory == 0 {
		return
	}
	keep := math.Exp(-seconds / m.config.Memory)
	for i := range m.states {
		for j := range m.states {
			m.switched[i][j] *= keep
		}
		m.stayed[i] *= keep
	}
	m.versus[0], m.versus[1], m.steps = m.versus[0]*keep, m.versus[1]*keep, m.steps*keep
}
