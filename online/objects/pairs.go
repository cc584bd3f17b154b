package objects

import (
	"driftscope/internal/flow/latent"
	"driftscope/online/interactions"
	"driftscope/online/tracks"
)

// Ranges of pairs, in widths (sd) of the template. Forces are measured up to a distance of twelve widths, with a knot of the curve every half width. Objects
// closer than two widths appear as one. The weight of a step falls to 1/e in ten minutes.
const (
	reachWidths      = 12.0
	resolutionWidths = 2.0
	pairMemory       = 600.0
)

// pairs learns the force between two objects.
type pairs struct {
	estimator *interactions.Estimator // nil if forces are not measured
	frame     interactions.Frame      // reused
	curve     interactions.Curve
}

// begin creates the estimator once the template of the field is known.
func (p *pairs) begin(width, height, template float64) (err error) {
	p.estimator, err = interactions.New(interactions.Config{Width: width, Height: height, Reach: min(reachWidths*template, max(width, height)), Resolution: resolutionWidths * template, Memory: pairMemory})
	return err
}

// pair adds the objects of a frame, dt after the previous frame. dt is 0 if no step leads here.
func (e *Estimator) pair(z *latent.Sight, points []tracks.Point, dt float64) {
	p := &e.pairs
	if p.estimator == nil || e.frozen {
		return
	}
	f := &p.frame
	f.ID, f.X, f.Y, f.Variance, f.Weight = f.ID[:0], f.X[:0], f.Y[:0], f.Variance[:0], f.Weight[:0]
	for i := range points {
		at := &points[i]
		if !at.Confirmed {
			continue
		}
		x, y, v, w := at.X, at.Y, at.SD*at.SD, 0.0
		if at.Detection >= 0 {
			d := &z.Spots.Found[at.Detection]
			x, y, v, w = d.X, d.Y, (d.VarX+d.VarY)/2, 1-at.Doubt
			if at.Exchanged {
				w = 0
			}
		}
		f.ID, f.X, f.Y, f.Variance, f.Weight = append(f.ID, at.ID), append(f.X, x), append(f.Y, y), append(f.Variance, v), append(f.Weight, w)
	}
	if dt == 0 {
		p.estimator.Cut()
	}
	f.T, f.ShiftX, f.ShiftY = e.seconds(z.Time), e.known.common.X*dt, e.known.common.Y*dt
	_ = p.estimator.Update(f) // cannot fail: advance has refused frames that are not later than the last
}

// force returns the published force, or nil if none is measured or known yet.
func (p *pairs) force() *latent.Pairs {
	if p.estimator == nil {
		return nil
	}
	c := &p.curve
	p.estimator.Curve(c)
	if c.Steps == 0 {
		return nil
	}
	out := &latent.Pairs{Nats: c.Evidence}
	for i := range c.R {
		if c.Pairs[i] > 0 {
			out.Distance, out.Force, out.Count = append(out.Distance, c.R[i]), append(out.Force, c.F[i]), append(out.Count, c.Pairs[i])
			out.Low, out.High = append(out.Low, c.Low[i]), append(out.High, c.High[i])
		}
	}
	return out
}
