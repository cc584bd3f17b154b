package law

import (
	"cmp"
	"slices"

	"driftscope/online/interactions"
	"driftscope/sinks/message"
)

// Pairs is the force between two objects as a function of their distance: the velocity of one due to the other, positive for repulsion, with its 95 %
// interval. It covers the observed distances.
type Pairs struct {
	Distance message.Points `json:"distance"`
	Force    message.Points `json:"force"` // unit/s
	Low      message.Points `json:"low"`
	High     message.Points `json:"high"`
	Count    message.Points `json:"count"` // steps that began at about this distance
	Nats     float64        `json:"nats"`  // evidence for a force
	Unused   int            `json:"rows_unused"`
}

// Bounds on pairs, as in a live run, in widths of the template.
const (
	reachWidths      = 12.0
	resolutionWidths = 2.0
	mostPaired       = 2_000_000         // rows, taken from the first frames, because a step takes some µs
	evident          = 2.995732273553991 // ln 20: least evidence for a force, nats
)

// seen identifies one position of a track in a frame.
type seen struct {
	frame, track, point int32
}

// pairs returns the force, or nil if no step has a pair.
func (f *film) pairs(template, noise float64) *Pairs {
	b := f.box(0, 0)
	e, err := interactions.New(interactions.Config{Width: b.width, Height: b.height, Reach: min(reachWidths*template, max(b.width, b.height)), Resolution: resolutionWidths * template})
	if err != nil { // no two positions are far enough apart
		return nil
	}
	rows, unused := f.byFrame()
	var shown interactions.Frame
	for from := 0; from < len(rows); {
		to := from
		shown.ID, shown.X, shown.Y, shown.Variance, shown.Weight = shown.ID[:0], shown.X[:0], shown.Y[:0], shown.Variance[:0], shown.Weight[:0]
		for ; to < len(rows) && rows[to].frame == rows[from].frame; to++ {
			p := &f.all[rows[to].track].points[rows[to].point]
			shown.ID, shown.X, shown.Y = append(shown.ID, uint64(rows[to].track)), append(shown.X, p.X-b.x), append(shown.Y, p.Y-b.y)
			shown.Variance, shown.Weight = append(shown.Variance, noise*noise/(f.pixel*f.pixel)), append(shown.Weight, 1)
		}
		seconds := f.dt * float64(rows[from].frame)
		if from > 0 {
			dt := (seconds - shown.T) / f.pixel
			shown.ShiftX, shown.ShiftY = f.drift.X*dt, f.drift.Y*dt
		}
		shown.T = seconds
		if e.Update(&shown) != nil { // two frames have the same time, because --dt is too small for their number
			return nil
		}
		from = to
	}
	var c interactions.Curve
	if e.Curve(&c); c.Steps == 0 {
		return nil
	}
	out := &Pairs{Nats: c.Evidence, Unused: unused}
	for i := range c.R {
		if c.Pairs[i] > 0 {
			out.Distance, out.Force, out.Count = append(out.Distance, f.pixel*c.R[i]), append(out.Force, f.pixel*c.F[i]), append(out.Count, c.Pairs[i])
			out.Low, out.High = append(out.Low, f.pixel*c.Low[i]), append(out.High, f.pixel*c.High[i])
		}
	}
	return out
}

// byFrame returns the positions of all tracks, frame by frame, and the number of positions that it leaves out, in the last frames.
func (f *film) byFrame() (rows []seen, unused int) {
	for i := range f.all {
		for k := range f.all[i].points {
			rows = append(rows, seen{int32(f.all[i].points[k].Frame), int32(i), int32(k)})
		}
	}
	slices.SortFunc(rows, func(a, b seen) int { return cmp.Or(cmp.Compare(a.frame, b.frame), cmp.Compare(a.track, b.track)) })
	if len(rows) <= mostPaired {
		return rows, 0
	}
	to := mostPaired // never splits a frame
	for to > 0 && rows[to-1].frame == rows[mostPaired].frame {
		to--
	}
	return rows[:to], len(rows) - to
}
