package maps

import "driftscope/online/maps/mapstest"

// filmed returns a film of 50 objects and 200 frames at 50 frames/s, with noise r.
func filmed(r float64) *mapstest.Film {
	return &mapstest.Film{Objects: 50, Frames: 200, Side: mapstest.Side, DT: 0.02, R: r}
}

// mapped returns the map of the tracks of a film.
func mapped(f *mapstest.Film, tracks [][][2]float64, halfLife float64) *Map {
	m, err := New(Config{Width: f.Side, Height: f.Side, HalfLife: halfLife})
	if err != nil {
		panic(err)
	}
	add(m, f, tracks)
	return m
}

// add adds tracks to a map.
func add(m *Map, f *mapstest.Film, tracks [][][2]float64) {
	at := 0
	for frame, s := range mapstest.Steps(tracks) {
		if frame > at {
			m.Pass(f.DT)
			at = frame
		}
		step := Step{X: s.From[0], Y: s.From[1], DX: s.By[0], DY: s.By[1], DT: f.DT, Weight: 1}
		if s.Later {
			step.Before = Before{s.Before[0], s.Before[1], 1}
		}
		m.Add(&step)
	}
}
