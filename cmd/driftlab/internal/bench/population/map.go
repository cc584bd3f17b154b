package population

import (
	"math"
	"math/rand/v2"

	"driftscope/online/maps"
	"driftscope/online/maps/mapstest"
)

// drifts are the laws of the study: one trap, three traps, a vortex, no drift, a spring and a flow; and laws on which the map's priors were not chosen.
var drifts = []*mapstest.Law{&mapstest.AWideWell, &mapstest.ThreeWells, &mapstest.AVortex, &mapstest.Nothing, &mapstest.ASpring, &mapstest.AFlow,
	&mapstest.AnotherWell, &mapstest.AnotherFlow, &mapstest.AShear}

// mapColumns are the columns of the table of mapped.
var mapColumns = []column{law, off, figure("px/s", func(c *Cell) *float64 { return c.RMS }),
	figure("over fit's", func(c *Cell) *float64 { return c.Beside }), inSE, told, wrong}

// mapped measures the error of the drift over the field, compared with offline.Fit on the whole recording, and whether traps and vortices are reported.
func mapped(b *bench) (out []Cell, err error) {
	const tracks, frames, fewer = 50, 200, 10
	for _, l := range drifts {
		for _, r := range []float64{0, 1} {
			out = append(out, Cell{Study: "map", Of: "drift", Law: l.Name, Tracks: tracks, Frames: frames, R: r, Runs: b.fewer(fewer)})
		}
	}
	out = b.small(out)
	for i := range out {
		if err := b.mapped(&out[i], drifts[i/2], 1<<21+uint64(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// driftFound is the result of a map for one film.
type driftFound struct {
	map2, fit2, none2 float64 // mean squares of errors of the map, of a fit and of no drift, (px/s)²
	z2                float64 // of the map's drift, in its standard errors
	told, wrong       float64 // traps and vortices that exist, and reported ones that do not
	err               error
}

// mapped measures one cell, of tracks that drift by a law.
func (b *bench) mapped(c *Cell, l *mapstest.Law, seed uint64) error {
	film := &mapstest.Film{Objects: c.Tracks, Frames: c.Frames, Side: mapstest.Side, DT: dt, R: c.R / 2}
	found := make([]driftFound, c.Runs)
	err := b.each(seed, c.Runs, func(run int, rng *rand.Rand) {
		found[run] = chart(film, l, rng.Uint64())
	})
	var s driftFound
	for i := range found {
		f := &found[i]
		if f.err != nil {
			return f.err
		}
		s.map2, s.fit2, s.none2, s.z2 = s.map2+f.map2, s.fit2+f.fit2, s.none2+f.none2, s.z2+f.z2
		s.told, s.wrong = s.told+f.told, s.wrong+f.wrong
	}
	runs := float64(c.Runs)
	c.RMS, c.InSE, c.False = new(math.Sqrt(s.map2/runs)), new(math.Sqrt(s.z2/runs)), new(s.wrong/runs)
	if s.fit2 > 0 {
		c.Beside = new(math.Sqrt(s.map2 / s.fit2))
	}
	if s.none2 > 0 {
		c.Error = new(math.Sqrt(s.map2 / s.none2))
	}
	if there := len(l.Traps) + len(l.Vortices); there > 0 {
		c.Told = new(s.told / runs / float64(there))
	}
	return err
}

// chart draws a film and returns its map and the fit to compare with.
func chart(film *mapstest.Film, l *mapstest.Law, seed uint64) (f driftFound) {
	tracks := film.Tracks(l, seed)
	m, err := maps.New(maps.Config{Width: film.Side, Height: film.Side})
	if err != nil {
		return driftFound{err: err}
	}
	for _, s := range mapstest.Steps(tracks) {
		step := maps.Step{X: s.From[0], Y: s.From[1], DX: s.By[0], DY: s.By[1], DT: film.DT, Weight: 1}
		if s.Later {
			step.Before = maps.Before{DX: s.Before[0], DY: s.Before[1], Weight: 1}
		}
		m.Add(&step)
	}
	w, at := m.Law(nil), film.Visited(tracks)
	fitted, err := film.Fit(tracks)
	if err != nil {
		return driftFound{err: err}
	}
	f.map2 = l.Missed(at, func(x, y float64) (float64, float64) { d, _ := w.Drift(x, y); return d[0], d[1] })
	f.fit2, f.none2, f.z2 = l.Missed(at, fitted), l.Missed(at, mapstest.Uniform(0, 0)), l.Off(at, w.Drift)
	f.compare(w.Traps, l.Traps)
	f.compare(w.Vortices, l.Vortices)
	return f
}

// compare counts the reported places: each is true if it lies within four standard errors of a true one, otherwise false.
func (f *driftFound) compare(told []maps.Place, there []mapstest.Place) {
	const near = 4
	hit := make([]bool, len(there))
	for _, p := range told {
		best := -1
		for i, o := range there {
			if math.Hypot(p.X-o.X, p.Y-o.Y) < near*p.SD && !hit[i] {
				best = i
				break
			}
		}
		if best < 0 {
			f.wrong++
			continue
		}
		hit[best] = true
		f.told++
	}
}
