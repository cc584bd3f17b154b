package interactions

import "fmt"

// Knots is how many values the force has between no distance and the reach. Each is a coefficient; the sums take Knots² products a step. With a reach of
// ten times the optics' width, knots are half a width apart, and no film shows more.
const Knots = 24

// Config is what an Estimator is told.
type Config struct {
	Width, Height float64 // of the picture, px
	Reach         float64 // distance from which on there is no force, px
	Resolution    float64 // distance under which two objects may be detected as one, px: about twice the template's width; 0 where that does not happen
	Memory        float64 // s after which a step counts 1/e; 0 where none is forgotten
	Closed        bool    // no objects are beyond the picture's edge, so that one at the edge has no neighbours that are not seen
}

// check refuses what has no meaning.
func (c *Config) check() error {
	if !(c.Width > 0 && c.Height > 0) {
		return fmt.Errorf("a picture of %g by %g px: expected sides above zero", c.Width, c.Height)
	}
	if !(c.Reach > 0) || c.Reach > max(c.Width, c.Height) {
		return fmt.Errorf("a reach of %g px: expected more than zero, and no more than the picture has", c.Reach)
	}
	if !(c.Resolution >= 0 && c.Resolution < c.Reach) || !(c.Memory >= 0) {
		return fmt.Errorf("a resolution of %g px and a memory of %g s: expected none below zero, and a resolution below the reach of %g px", c.Resolution, c.Memory, c.Reach)
	}
	return nil
}

// Frame is what an Estimator is shown. The lists are the caller's, of equal length, and no number stands twice in ID.
type Frame struct {
	T        float64   // s
	ShiftX   float64   // how far all objects were carried since the frame before, px: by the stage or the medium
	ShiftY   float64   // the same along y
	ID       []uint64  // of the objects
	X, Y     []float64 // px, as located
	Variance []float64 // of a place along an axis, px²
	Weight   []float64 // probability that the step that leads here is this object's; at 0 it is a neighbour only, as where it was not detected
}

// check refuses a frame whose lists are not of one length, or that is not later than another.
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
