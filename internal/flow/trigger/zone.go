package trigger

import (
	"errors"
	"fmt"
	"math"

	"driftscope/internal/flow/latent"
)

const (
	marginSDs = 2    // margin in standard deviations of the filtered latent: 2 cover 95 % of pure noise
	marginPx  = 1    // margin of a centroid, px: more than the localisation error of any centroid that is good enough for feedback
	maxSide   = 1e12 // latent or px
)

// zoneOptions are the keys of a zone. Exactly one of Box, Ball and Centroid is set.
type zoneOptions struct {
	ruleOptions
	Box      map[string][2]float64 `yaml:"box"` // such as {z1: [-0.5, 0.5], z2: [1, 2]}
	Ball     *ballOptions          `yaml:"ball"`
	Centroid *rectangle            `yaml:"centroid_px"`
	Margin   *float64              `yaml:"margin"` // distance beyond the boundary at which the zone ends, latent or px
}

type ballOptions struct {
	Centre map[string]float64 `yaml:"centre"` // such as {z1: 0, z2: 1.5}
	Radius float64            `yaml:"radius"` // latent
}

// rectangle lies in the original frame, px.
type rectangle struct {
	X [2]float64 `yaml:"x"`
	Y [2]float64 `yaml:"y"`
}

// zone is the condition that a position lies in a region. It begins at the boundary and ends a margin beyond it.
type zone struct {
	region   region
	centroid bool    // the position is the centroid, not the filtered latent
	sds      float64 // the margin, in standard deviations of the position
	more     float64 // the margin, in the region's unit
}

// region is a set of positions z. depth returns the distance of z from the boundary, negative outside. If sd is not nil, the boundary first moves outwards by
// sds standard deviations.
type region interface {
	depth(z, sd []float64, sds float64) float64
}

func newZone(decode func(any) error, env Env) (*Rule, error) {
	o := zoneOptions{ruleOptions: promptly}
	if err := decode(&o); err != nil {
		return nil, err
	}
	z, err := o.zone(env)
	if err != nil {
		return nil, err
	}
	if m := o.Margin; m != nil {
		if !(*m >= 0 && *m <= maxSide) {
			return nil, fmt.Errorf("margin: found %g, expected 0 to %g", *m, float64(maxSide))
		}
		z.sds, z.more = 0, *m
	}
	r := &Rule{options: o.ruleOptions, condition: z, unit: "latent"}
	if z.centroid {
		r.unit = "px"
	}
	return r, nil
}

// zone returns the zone with its default margin.
func (o *zoneOptions) zone(env Env) (*zone, error) {
	given := 0
	for _, is := range []bool{o.Box != nil, o.Ball != nil, o.Centroid != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, fmt.Errorf("found %d of box, ball and centroid_px: give exactly one", given)
	case o.Box != nil:
		b, err := newBox(o.Box, env)
		return &zone{region: b, sds: marginSDs}, err
	case o.Ball != nil:
		b, err := newBall(o.Ball, env)
		return &zone{region: b, sds: marginSDs}, err
	}
	b := &box{axes: []int{0, 1}, sides: [][2]float64{o.Centroid.X, o.Centroid.Y}}
	for i, name := range []string{"x", "y"} {
		if err := checkSide(b.sides[i]); err != nil {
			return nil, fmt.Errorf("centroid_px.%s: %w", name, err)
		}
	}
	return &zone{region: b, centroid: true, more: marginPx}, nil
}

func (z *zone) ask(e *latent.Estimate) (answer, bool) {
	place, sd := e.Filtered, e.FilteredSD
	if z.centroid {
		place, sd = e.Latent.Centroid, nil
	}
	if len(place) == 0 || lost(e) {
		return answer{}, false
	}
	depth := z.region.depth(place, nil, 0)
	inside := depth >= 0
	return answer{depth, inside, inside || z.region.depth(place, sd, z.sds)+z.more >= 0}, !math.IsNaN(depth)
}

// box is the set of positions between two limits along some axes.
type box struct {
	axes  []int
	sides [][2]float64
}

func newBox(named map[string][2]float64, env Env) (*box, error) {
	axes, names, err := axesOf(named, env)
	if err != nil {
		return nil, fmt.Errorf("box: %w", err)
	}
	b := &box{axes: axes}
	for _, name := range names {
		if err := checkSide(named[name]); err != nil {
			return nil, fmt.Errorf("box.%s: %w", name, err)
		}
		b.sides = append(b.sides, named[name])
	}
	return b, nil
}

func checkSide(side [2]float64) error {
	if !(side[0] < side[1] && side[0] >= -maxSide && side[1] <= maxSide) {
		return fmt.Errorf("found %g, expected [low, high] with low below high, both within ±%g", side, float64(maxSide))
	}
	return nil
}

func (b *box) depth(z, sd []float64, sds float64) float64 {
	least := math.Inf(1)
	for i, axis := range b.axes {
		depth := min(z[axis]-b.sides[i][0], b.sides[i][1]-z[axis])
		if axis < len(sd) {
			depth += sds * sd[axis]
		}
		least = min(least, depth)
	}
	return least
}

// ball is the set of positions within a radius of a centre, along some axes.
type ball struct {
	axes   []int
	centre []float64
	radius float64
}

func newBall(o *ballOptions, env Env) (*ball, error) {
	if !(o.Radius > 0 && o.Radius <= maxSide) {
		return nil, fmt.Errorf("ball.radius: found %g, expected more than 0 and at most %g", o.Radius, float64(maxSide))
	}
	if len(o.Centre) == 0 {
		return nil, errors.New("ball.centre is missing: give a centre, such as {z1: 0, z2: 1.5}")
	}
	axes, names, err := axesOf(o.Centre, env)
	if err != nil {
		return nil, fmt.Errorf("ball.centre: %w", err)
	}
	b := &ball{axes: axes, radius: o.Radius}
	for _, name := range names {
		b.centre = append(b.centre, o.Centre[name])
	}
	return b, nil
}

func (b *ball) depth(z, sd []float64, sds float64) float64 {
	square, spread := 0.0, 0.0
	for i, axis := range b.axes {
		d := z[axis] - b.centre[i]
		square += d * d
		if axis < len(sd) {
			spread += d * d * sd[axis] * sd[axis] // variance of the distance, times its square
		}
	}
	distance := math.Sqrt(square)
	if distance == 0 {
		return b.radius
	}
	return b.radius - distance + sds*math.Sqrt(spread)/distance
}
