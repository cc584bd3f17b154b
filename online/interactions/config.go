package interactions

import "fmt"

// Knots is the number of values of the force between distance 0 and the reach. Each is a coefficient, and the sums take Knots² products per step. With a
// reach of ten times the optics' width, knots are half a width apart, and no film resolves more.
const Knots = 24

// Config configures an Estimator.
type Config struct {
	Width, Height float64 // size of the picture, px
	Reach         float64 // distance beyond which the force is zero, px
	Resolution    float64 // distance below which two objects may be detected as one, px, about twice the template's width; 0: never
	Memory        float64 // time after which the weight of a step is 1/e, s; 0: no forgetting
	Closed        bool    // no objects are beyond the picture's edge, so objects at the edge have no unseen neighbours
}

// check returns an error for an invalid Config.
func (c *Config) check() error {
	if !(c.Width > 0 && c.Height > 0) {
		return fmt.Errorf("a picture of %g by %g px, expected sides above zero: give the size of the picture", c.Width, c.Height)
	}
	if !(c.Reach > 0) || c.Reach > max(c.Width, c.Height) {
		return fmt.Errorf("a reach of %g px, expected more than zero and at most the size of the picture: choose another reach", c.Reach)
	}
	if !(c.Resolution >= 0 && c.Resolution < c.Reach) || !(c.Memory >= 0) {
		return fmt.Errorf("a resolution of %g px and a memory of %g s, expected no negative value and a resolution below the reach of %g px: correct the value out of range", c.Resolution, c.Memory, c.Reach)
	}
	return nil
}

// Frame is one frame of located objects. The caller owns the lists, which have equal lengths. No number occurs twice in ID.
type Frame struct {
	T        float64   // s
	ShiftX   float64   // common motion of all objects since the previous frame, by the stage or the medium, px
	ShiftY   float64   // the same along y
	ID       []uint64  // numbers of the objects
	X, Y     []float64 // located positions, px
	Variance []float64 // localisation variance along an axis, px²
	Weight   []float64 // probability that the step to this position belongs to the object; at 0 the object is only a neighbour, as if undetected
}

// check returns an error if the lists differ in length or the time is not after last.
func (f *Frame) check(last float64) error {
	n := len(f.ID)
	if len(f.X) != n || len(f.Y) != n || len(f.Variance) != n || len(f.Weight) != n {
		return fmt.Errorf("a frame of %d objects has %d x, %d y, %d variances and %d weights, expected one per object: give lists of equal length", n, len(f.X), len(f.Y), len(f.Variance), len(f.Weight))
	}
	if !(f.T > last) {
		return fmt.Errorf("a frame at %g s follows a frame at %g s, expected a later time: check the source's clock", f.T, last)
	}
	return nil
}
