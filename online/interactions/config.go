package interactions

import "fmt"

// Knots is the number of values of the force between distance 0 and the reach. Each is a coefficient; the sums take Knots² products a step.
// With a reach of ten times the optics' width, knots are half a width apart, and no film resolves more.
const Knots = 24

// Config configures an Estimator.
type Config struct {
	Width, Height float64 // size of the picture, px
	Reach         float64 // distance from which on the force is zero, px
	Resolution    float64 // distance below which two objects may be detected as one, px: about twice the template's width; 0 if never
	Memory        float64 // time after which a step counts 1/e, s; 0 forgets none
	Closed        bool    // no objects are beyond the picture's edge, so objects at the edge have no unseen neighbours
}

// check refuses a meaningless Config.
func (c *Config) check() error {
	if !(c.Width > 0 && c.Height > 0) {
		return fmt.Errorf("a picture of %g by %g px: expected sides above zero", c.Width, c.Height)
	}
	if !(c.Reach > 0) || c.Reach > max(c.Width, c.Height) {
		return fmt.Errorf("a reach of %g px: expected more than zero, and at most the picture's size", c.Reach)
	}
	if !(c.Resolution >= 0 && c.Resolution < c.Reach) || !(c.Memory >= 0) {
		return fmt.Errorf("a resolution of %g px and a memory of %g s: expected none below zero, and a resolution below the reach of %g px", c.Resolution, c.Memory, c.Reach)
	}
	return nil
}

// Frame is one frame of located objects. The lists are the caller's and have equal lengths. No number occurs twice in ID.
type Frame struct {
	T        float64   // s
	ShiftX   float64   // common motion of all objects since the frame before, of the stage or the medium, px
	ShiftY   float64   // the same along y
	ID       []uint64  // numbers of the objects
	X, Y     []float64 // located places, px
	Variance []float64 // variance of a place along an axis, px²
	Weight   []float64 // probability that the step to here is this object's; 0 makes it only a neighbour, as if undetected
}

// check refuses a frame whose lists differ in length or whose time is not after last.
func (f *Frame) check(last float64) error {
	n := len(f.ID)
	if len(f.X) != n || len(f.Y) != n || len(f.Variance) != n || len(f.Weight) != n {
		return fmt.Errorf("a frame of %d objects has %d and %d places, %d variances and %d weights: expected as many", n, len(f.X), len(f.Y), len(f.Variance), len(f.Weight))
	}
	if !(f.T > last) {
		return fmt.Errorf("a frame at %g s after one at %g s: expected a later one", f.T, last)
	}
	return nil
}
