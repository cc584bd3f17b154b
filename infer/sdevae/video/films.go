package video

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
)

// Films returns the frames of each trajectory, or nil if there is only one trajectory or a trajectory is short.
func (c *Clip) Films() (films [][]int) {
	films = c.byTrajectory(c.Frames())
	if len(films) < 2 || slices.ContainsFunc(films, func(f []int) bool { return len(f) < numeric.LongFilm }) {
		return nil
	}
	return films
}

// byTrajectory splits frames, in order, by trajectory.
func (c *Clip) byTrajectory(frames []int) (films [][]int) {
	for k, f := range frames {
		if k == 0 || c.Trajectory[f] != c.Trajectory[frames[k-1]] {
			films = append(films, nil)
		}
		films[len(films)-1] = append(films[len(films)-1], f)
	}
	return films
}

// Medians returns the films' median pictures, and the ratio of the variance between them to the variance expected from the two halves of each film (Fisher's
// analysis of variance). The ratio is near 1 if the films differ only by their motion.
func (c *Clip) Medians(films [][]int) (own [][]float32, apart float64) {
	var within float64
	for _, frames := range films {
		first, second := c.Median(frames[:len(frames)/2]), c.Median(frames[len(frames)/2:])
		own = append(own, c.Median(frames))
		within += numeric.SquaredError(first, second) / 4 / float64(len(films))
	}
	if len(own) == 0 {
		return nil, 0
	}
	common := numeric.MeanRow(slices.Concat(own...), len(own), c.Size())
	for _, picture := range own {
		apart += numeric.SquaredError(picture, common) / float64(len(films)-1)
	}
	return own, apart / within
}

// Median returns the median of each pixel over the given frames.
func (c *Clip) Median(frames []int) []float32 {
	picture, values := make([]float32, c.Size()), make([]float32, len(frames))
	for i := range picture {
		for k, f := range frames {
			values[k] = c.Frame(f)[i]
		}
		slices.Sort(values)
		picture[i] = values[len(values)/2]
	}
	return picture
}

// RemoveTrajectoryMeans subtracts from each row of x, one per given frame, the mean over the frame's trajectory. It skips short trajectories, and does nothing
// if there is only one trajectory.
func (c *Clip) RemoveTrajectoryMeans(x *mat.Dense, frames []int) {
	_, width := x.Dims()
	from := 0
	for _, film := range c.byTrajectory(frames) {
		n := len(film)
		if n >= numeric.LongFilm && n < len(frames) {
			numeric.Centre(x.Slice(from, from+n, 0, width).(*mat.Dense))
		}
		from += n
	}
}
