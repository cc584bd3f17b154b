package law

import (
	"math"

	"driftscope/online/exact"
)

// Trap is the common drift of objects towards a centre.
type Trap struct {
	Rate     Mean `json:"rate"`     // 1/s, mean of both springs
	Ratio    Mean `json:"ratio"`    // of the springs; 1 if the tracks cannot tell them apart
	Rotation Mean `json:"rotation"` // 1/s; 0 if none is detected
	Noise    Mean `json:"noise_sd"`
}

// Switching says how often objects change their state.
type Switching struct {
	Nats     float64     `json:"nats"`     // gain over the best law without switching
	Told     bool        `json:"told"`     // reached by at most 1 in 100 sets of tracks without switching
	Rates    [][]float64 `json:"rates"`    // from each state to each, 1/s
	Switches int         `json:"switches"` // detected, in all tracks
}

// exactly copies the law that won the comparison into the findings, unless it is free diffusion.
func (f *film) exactly(found *Findings, e *exact.Law) {
	found.Kind, found.Nats = e.Kind.String(), map[string]float64{}
	for k, g := range e.Gains {
		if k != int(exact.Free) {
			found.Nats[exact.Kind(k).String()] = g
		}
	}
	switch e.Kind {
	case exact.Free, exact.Fractional, exact.Held, exact.Switching:
		m := told(e.Exponent, 1)
		found.Exponent = &m
	}
	if e.Bad > 0 {
		found.Remarks = append(found.Remarks, "Some places are located badly for a while: that is no change of state.")
	}
	if mixed := e.Kind == exact.Free || e.Kind == exact.Late; mixed && e.Axes == [2]bool{true, true} {
		return
	}
	found.Says, found.Noise, found.Spread = e.Says(1, f.unit, f.dt), e.Noise, nil
	found.D = told(e.D, 1/f.dt)
	if e.Axes != [2]bool{true, true} {
		found.Spectrum = nil // it assumes steps in a plane
	}
	found.States = []State{{found.D.Mean, found.D.Interval, 1, [2]float64{1, 1}, nil}}
	if t := e.Trap; t != nil {
		found.Trap = &Trap{told(t.Rate, 1/f.dt), told(t.Ratio, 1), told(t.Rotation, 1/f.dt), told(t.Noise, 1)}
	}
	if e.Kind != exact.Switching {
		return
	}
	found.States = nil
	for _, s := range e.States {
		d, share, alpha := told(s.D, 1/f.dt), told(s.Share, 1), s.Alpha
		found.States = append(found.States, State{d.Mean, d.Interval, share.Mean, share.Interval, &alpha})
	}
	found.Switching = &Switching{Nats: e.Gains[exact.Switching], Told: true}
	for _, row := range e.Leave {
		rates := make([]float64, len(e.States))
		for j := range row {
			rates[j] = row[j] / f.dt
		}
		found.Switching.Rates = append(found.Switching.Rates, rates)
	}
	for i := range e.Objects {
		found.Switching.Switches += len(e.Objects[i].Changes)
	}
}

// told converts an interval to other units. It replaces an unknown end by the largest number.
func told(i exact.Interval, by float64) Mean {
	high := i.High * by
	if math.IsInf(high, 1) {
		high = math.MaxFloat64
	}
	return Mean{i.Value * by, [2]float64{max(i.Low*by, -math.MaxFloat64), high}}
}
