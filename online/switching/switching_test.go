package switching

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"driftscope/internal/kit/archive"
	"driftscope/online/switching/switchingtest"
)

const frame = 0.02 // s

// film holds tracks that start together, and the results of a model.
type film struct {
	tracks []switchingtest.Track
	model  *Model
	now    calibration // of the state in the last step
	lagged calibration // of the state 8 steps earlier
}

// calibration counts state probabilities of at least 0.9, and how many were right.
type calibration struct{ told, right float64 }

// add counts the probabilities of a step.
func (c *calibration) add(p []float64, truth int) {
	for state, v := range p {
		if v >= 0.9 {
			c.told++
			if state == truth {
				c.right++
			}
		}
	}
}

// share returns the share that was right.
func (c *calibration) share() float64 { return c.right / c.told }

// place returns the place of a track in a frame.
func place(t *switchingtest.Track, k int) Place {
	return Place{t.X[k], t.Y[k], float64(k) * frame, 1}
}

// places returns all places of a track.
func places(t *switchingtest.Track) (all []Place) {
	for k := range t.X {
		all = append(all, place(t, k))
	}
	return all
}

// watch feeds a film of 60 tracks frame by frame.
func watch(t *testing.T, c switchingtest.Chain, d []float64, frames int) *film {
	t.Helper()
	c.Frame, c.Parts = frame, 10
	rng := rand.New(rand.NewPCG(1, 1))
	model, err := New(Config{D: d, Noise: c.Noise * c.Noise, Exposure: c.Exposed * frame})
	if err != nil {
		t.Fatal(err)
	}
	f := &film{model: model, tracks: make([]switchingtest.Track, 60)}
	filters := make([]Track, len(f.tracks))
	for i := range f.tracks {
		f.tracks[i] = c.Run(rng, frames)
	}
	var p []float64
	for k := range frames {
		for i := range filters {
			filters[i].Add(model, place(&f.tracks[i], k))
			if k > 2*Lag { // the rates are not settled before
				p = filters[i].Now(model, p)
				f.now.add(p, f.tracks[i].State[k-1])
				p = filters[i].Earlier(model, 8, p)
				f.lagged.add(p, f.tracks[i].State[k-9])
			}
		}
		model.Pass(frame)
	}
	for i := range filters {
		filters[i].Cut(model)
	}
	return f
}

// found measures the detection of switches by whole tracks of a film.
type found struct {
	truth, told, wrong int     // a reported switch is wrong without an equal one within Window steps
	sure               float64 // Σ of their probabilities
	held               int     // intervals that hold a switch
	error              float64 // median over true switches of the distance to the nearest reported one, steps
	states             calibration
}

func (f *film) read() (r found) {
	var distances []float64
	for i := range f.tracks {
		truth := f.tracks[i].State
		p := f.model.Trace(places(&f.tracks[i]))
		for k := range truth {
			r.states.add(p.States[k], truth[k])
			if k > 0 && truth[k] != truth[k-1] {
				nearest := math.Inf(1)
				for _, s := range p.Switches {
					if s.To == truth[k] {
						nearest = min(nearest, math.Abs(float64(s.Step-k)))
					}
				}
				distances = append(distances, nearest)
			}
		}
		for _, s := range p.Switches {
			right, held := false, false
			for k := max(1, s.Step-Window); k <= min(len(truth)-1, s.Step+Window); k++ {
				if truth[k] == s.To && truth[k-1] == s.From {
					right = true
					held = held || k >= s.Low && k <= s.High
				}
			}
			r.told, r.sure = r.told+1, r.sure+s.Probability
			if !right {
				r.wrong++
			}
			if held {
				r.held++
			}
		}
	}
	r.truth = len(distances)
	slices.Sort(distances)
	r.error = distances[len(distances)/2]
	return r
}

// TestSwitches verifies, for states with a D ratio of ten, that half of all switches are found to 3 steps, that at most one in ten reported is false,
// that the probabilities of states and switches are calibrated, and that the rates are right to a third.
func TestSwitches(t *testing.T) {
	two := []float64{0.5, 5}
	for _, c := range []struct {
		name   string
		chain  switchingtest.Chain
		median float64 // steps
	}{
		{"no noise", switchingtest.Chain{D: two, Rate: 1}, 3},
		{"noise of a tenth of the slow state's DΔt", switchingtest.Chain{D: two, Rate: 1, Noise: 0.0316}, 3},
		{"noise as large as the slow state's DΔt", switchingtest.Chain{D: two, Rate: 1, Noise: 0.1}, 3},
		{"noise as large as the fast state's DΔt", switchingtest.Chain{D: two, Rate: 1, Noise: 0.316}, 8}, // steps differ by 1.6 in sd
		{"exposed all the time", switchingtest.Chain{D: two, Rate: 1, Noise: 0.1, Exposed: 1}, 3},
		{"three states", switchingtest.Chain{D: []float64{0.3, 2, 14}, Rate: 1, Noise: 0.1}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := watch(t, c.chain, c.chain.D, 400)
			r := f.read()
			out := 0.0
			for to := range f.model.States() {
				if to != 1 {
					out += f.model.Rate(1, to)
				}
			}
			t.Logf("%d switches, %d told, %d wrong, probabilities add up to %.1f, %d intervals hold one; median %.0f; right: now %.3f, 8 later %.3f, all %.3f; rate %.2f; evidence %.0f",
				r.truth, r.told, r.wrong, r.sure, r.held, r.error, f.now.share(), f.lagged.share(), r.states.share(), out, f.model.Evidence())
			if r.error > c.median {
				t.Errorf("the median error of a switch is %.0f steps", r.error)
			}
			if r.wrong > r.told/10 {
				t.Errorf("%d of %d switches are false", r.wrong, r.told)
			}
			if right := float64(r.told - r.wrong); math.Abs(r.sure-right) > 4*math.Sqrt(right*0.1) { // counts, nine in ten of them right, to 4 sd
				t.Errorf("switches have probabilities of %.1f in all, %.0f are right", r.sure, right)
			}
			if r.held < r.told*85/100 { // 95 % of the 9 in 10 that are right
				t.Errorf("%d of %d intervals hold a switch", r.held, r.told)
			}
			for _, s := range []calibration{f.now, f.lagged, r.states} {
				if s.share() < 0.9 {
					t.Errorf("of probabilities from 0.9 on %.3f are right", s.share())
				}
			}
			if out < 0.67 || out > 1.33 { // 1/s; some 450 switches: 5 %; invisible short stays: a tenth; the start: a tenth
				t.Errorf("a state is left %.2f times a second", out)
			}
			if f.model.Evidence() < 100 {
				t.Errorf("evidence %.1f", f.model.Evidence())
			}
		})
	}
}

// TestNoSwitches verifies that objects with a constant D, the D of a state or one in between, do not count as switching.
func TestNoSwitches(t *testing.T) {
	for _, c := range []struct {
		name string
		d    []float64 // of the objects
	}{
		{"a state's", []float64{0.5, 5}},
		{"between two", []float64{1.6}},
		{"nearly a state's", []float64{0.7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := watch(t, switchingtest.Chain{D: c.d, Noise: 0.1}, []float64{0.5, 5}, 400)
			if f.model.Evidence() > 0 {
				t.Errorf("evidence %.1f for switches", f.model.Evidence())
			}
			if out := max(f.model.Rate(0, 1), f.model.Rate(1, 0)); len(c.d) == 2 && out > 0.05 { // once in 20 s, the prior at the start
				t.Errorf("states are left %.3f times a second", out)
			}
		})
	}
}

// TestJumps verifies that false places, once in a thousand and unnoticed by the tracker, do not count as a fast state.
func TestJumps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	model, err := New(Config{D: []float64{0.5, 5}, Noise: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		chain := switchingtest.Chain{D: []float64{0.5, 5}, Noise: 0.1, Frame: frame, Parts: 1}
		truth := chain.Run(rng, 300)
		var track Track
		for k := range truth.X {
			p := place(&truth, k)
			if rng.Float64() < 1e-3 {
				p.X += 2 * rng.NormFloat64()
			}
			track.Add(model, p)
		}
		track.Cut(model)
	}
	if model.Evidence() > 10 { // without jumps +500; in 40 films 5 at most
		t.Errorf("evidence %.1f for switches", model.Evidence())
	}
}

// TestCovariance compares the likelihood with a dense normal law with the covariances of doc.go (2), to the last digits.
func TestCovariance(t *testing.T) {
	const d, noise, exposure = 3.0, 0.02, 0.015
	model, err := New(Config{D: []float64{d}, Noise: noise, Exposure: exposure})
	if err != nil {
		t.Fatal(err)
	}
	model.jumps = 0
	rng := rand.New(rand.NewPCG(2, 2))
	var all []Place
	for k := range 6 {
		all = append(all, Place{rng.NormFloat64(), rng.NormFloat64(), frame * float64(k), 1})
	}
	// Cholesky's L of the covariance, and the steps in its units
	n := len(all) - 1
	c, want := make([][]float64, n), 0.0
	for i := range n {
		c[i] = make([]float64, n)
		for j := range i + 1 {
			v := 0.0
			switch i - j {
			case 0:
				v = 2*d*frame + 2*noise - 2*d*exposure/3
			case 1:
				v = -(noise - d*exposure/3)
			}
			for k := range j {
				v -= c[i][k] * c[j][k]
			}
			if i == j {
				c[i][i] = math.Sqrt(v)
			} else {
				c[i][j] = v / c[j][j]
			}
		}
	}
	ux, uy := make([]float64, n), make([]float64, n)
	for i := range n {
		ux[i], uy[i] = all[i+1].X-all[i].X, all[i+1].Y-all[i].Y
		for k := range i {
			ux[i], uy[i] = ux[i]-c[i][k]*ux[k], uy[i]-c[i][k]*uy[k]
		}
		ux[i], uy[i] = ux[i]/c[i][i], uy[i]/c[i][i]
		want -= (ux[i]*ux[i]+uy[i]*uy[i])/2 + 2*math.Log(c[i][i]) + math.Log(2*math.Pi)
	}
	if got := model.Trace(all).Log; math.Abs(got-want) > 1e-9 {
		t.Errorf("ln likelihood %.12f, expected %.12f", got, want)
	}
}

// TestGap verifies that a gap has the switching probability of its missing frames: exp(2Qt) is exp(Qt)².
func TestGap(t *testing.T) {
	q := square{{-3, 2, 1}, {0.5, -0.5, 0}, {4, 40, -44}}
	once, twice := exponential(&q, 0.02, 3), exponential(&q, 0.04, 3)
	both := product(&once, &once, 3)
	for i := range 3 {
		sum := 0.0
		for j := range 3 {
			sum += twice[i][j]
			if math.Abs(both[i][j]-twice[i][j]) > 1e-12 {
				t.Errorf("from %d to %d %.15f, expected %.15f", i, j, twice[i][j], both[i][j])
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("from %d in all %.15f", i, sum)
		}
	}
}

// TestArchive verifies that learnt rates are restored, and only for the same number of states.
func TestArchive(t *testing.T) {
	f := watch(t, switchingtest.Chain{D: []float64{0.5, 5}, Rate: 1}, []float64{0.5, 5}, 100)
	f.model.refresh()
	unusable := errors.New("unusable")
	w := archive.NewWriter(unusable)
	f.model.Archive(w)
	back, err := New(Config{D: []float64{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	r := archive.NewReader(w.Bytes(), unusable)
	if back.Archive(r); r.End() != nil {
		t.Fatal(r.End())
	}
	if back.Rate(0, 1) != f.model.Rate(0, 1) || back.D(1) != 5 || back.Evidence() != f.model.Evidence() || back.Share(0) != f.model.Share(0) {
		t.Errorf("rate %g, D %g, evidence %g; they were %g, 5, %g", back.Rate(0, 1), back.D(1), back.Evidence(), f.model.Rate(0, 1), f.model.Evidence())
	}
	other, err := New(Config{D: []float64{1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	r = archive.NewReader(w.Bytes(), unusable)
	if other.Archive(r); !errors.Is(r.End(), unusable) {
		t.Errorf("of another number of states: %v", r.End())
	}
}

// TestMistakes verifies that invalid input is refused, and that a filter without data answers with the shares of all objects.
func TestMistakes(t *testing.T) {
	for _, c := range []Config{{}, {D: []float64{2, 1}}, {D: []float64{0}}, {D: make([]float64, MostStates+1)}, {D: []float64{1}, Noise: -1}, {D: []float64{1}, Lasts: -1}, {D: []float64{math.NaN()}}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	m, err := New(Config{D: []float64{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if m.Tell([]float64{1}, 0) == nil || m.Tell([]float64{2, 1}, 0) == nil || m.D(1) != 2 {
		t.Error("other states are taken")
	}
	if err := m.Tell([]float64{1, 3}, 0.1); err != nil || m.D(1) != 3 {
		t.Errorf("D %g: %v", m.D(1), err)
	}
	var track Track
	if p := track.Now(m, nil); len(p) != 2 || p[0] != 0.5 {
		t.Errorf("before the first place %v", p)
	}
	track.Add(m, Place{0, 0, 0, 1})
	track.Add(m, Place{1e6, 0, 1, 1}) // outside the reach of every state
	track.Add(m, Place{1e6, 0, 2, 1})
	for _, p := range track.Now(m, nil) {
		if math.IsNaN(p) {
			t.Errorf("after a place beyond all %v", track.Now(m, nil))
		}
	}
	if math.IsNaN(m.Evidence()) {
		t.Error("the evidence is not a number")
	}
	if p := track.Earlier(m, 5, nil); len(p) != 0 {
		t.Errorf("before the track began %v", p)
	}
	if len(m.Trace(nil).Likeliest) != 0 {
		t.Error("no places have states")
	}
}

// TestDoubt verifies that a step of another object does not change the state.
func TestDoubt(t *testing.T) {
	m, err := New(Config{D: []float64{0.5, 5}, Noise: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	var track Track
	for k := range 50 {
		track.Add(m, Place{0.1 * float64(k%2), 0, frame * float64(k), 1})
	}
	before := track.Now(m, nil)
	track.Add(m, Place{3, 3, frame * 50, 0})
	after := track.Now(m, nil)
	if before[0] < 0.99 || math.Abs(after[0]-before[0]) > 0.01 { // only by the rate
		t.Errorf("%v, and after a step that is another's %v", before, after)
	}
}

// BenchmarkAdd adds a place of one object: 1000 objects at 50 frames/s need 50000 per second.
func BenchmarkAdd(b *testing.B) {
	for _, c := range []struct {
		name string
		d    []float64
	}{{"two", []float64{0.5, 5}}, {"six", []float64{0.05, 0.2, 0.8, 3.2, 13, 50}}} {
		b.Run(c.name, func(b *testing.B) {
			m, err := New(Config{D: c.d, Noise: 0.01})
			if err != nil {
				b.Fatal(err)
			}
			chain := switchingtest.Chain{D: c.d, Rate: 1, Noise: 0.1, Frame: frame, Parts: 1}
			p := chain.Run(rand.New(rand.NewPCG(1, 1)), 1000)
			var t Track
			k := 0
			b.ReportAllocs()
			for b.Loop() {
				t.Add(m, Place{p.X[k%1000], p.Y[k%1000], frame * float64(k), 1})
				k++
			}
		})
	}
}

// TestAllocations verifies that a frame allocates nothing.
func TestAllocations(t *testing.T) {
	m, err := New(Config{D: []float64{0.5, 2, 5}, Noise: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	var track Track
	k, p := 0, make([]float64, 0, MostStates)
	if n := testing.AllocsPerRun(500, func() {
		track.Add(m, Place{0.1 * float64(k%3), 0, frame * float64(k), 1})
		p = track.Now(m, p)
		p = track.Earlier(m, 8, p)
		k++
	}); n > 0 {
		t.Errorf("%.1f allocations a frame", n)
	}
}
