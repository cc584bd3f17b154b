package sprites

import (
	"math"
	"slices"

	"driftscope/infer/sdevae/video"
)

// identityHMM distinguishes objects with the same template by their positions in the previous frame and by their mean positions:
//
//	place' - mean = stay (place - mean) + N(0, spread (1 - stay²) I),    stay = exp(-frames step / 2 spread)
//
// It alternates between two steps: the most likely sequence of assignments of each frame's positions to the objects (Viterbi 1967), and the mean positions that
// follow from it.
type identityHMM struct {
	w, h   float64
	orders [][]int      // possible assignments: order[k] is the index of object k's position in a frame
	since  []float64    // intervals from the previous frame; 0 if a trajectory begins
	mean   [][2]float64 // mean position of each object, px
	spread float64      // variance about the mean position, px², along an axis
	step   float64      // variance of a step, px², along an axis
}

// AssignIdentities reorders places (frames × 2 per sprite) in place, so that column k is the same object throughout. told is the share of the objects' motion
// for which a single frame is enough to identify them. It is below 0 if the objects exchange positions freely.
func (m *Set) AssignIdentities(c *video.Clip, places []float64, group []int) (told float64) {
	n := len(group)
	w := &identityHMM{w: float64(m.plane.W), h: float64(m.plane.H), orders: orders(group), since: c.Intervals(c.Frames())}
	at := make([][][2]float64, len(places)/(2*n)) // by frame and position
	for f := range at {
		for k := range n {
			at[f] = append(at[f], [2]float64(places[2*(f*n+k):]))
		}
	}
	w.guess(at)
	path := w.viterbi(at)
	for range identityRounds {
		w.learn(at, path)
		next := w.viterbi(at)
		if slices.EqualFunc(next, path, slices.Equal) {
			break
		}
		path = next
	}
	var missed, moved float64
	for f, here := range at {
		alone, _ := w.nearestMeans(here)
		for k, of := range path[f] {
			places[2*(f*n+k)], places[2*(f*n+k)+1] = here[of][0], here[of][1]
			missed += w.apart(here[of], here[alone[k]])
			moved += w.apart(here[of], w.mean[k])
		}
	}
	return 1 - missed/moved
}

// orders returns all assignments that keep every object within the group of its template.
func orders(group []int) (all [][]int) {
	var extend func(order []int)
	extend = func(order []int) {
		k := len(order)
		if k == len(group) {
			all = append(all, slices.Clone(order))
			return
		}
		for of := range group {
			if group[of] == group[k] && !slices.Contains(order, of) {
				extend(append(order, of))
			}
		}
	}
	extend(nil)
	return all
}

const (
	identityRounds = 10 // rounds of assignments and mean positions
	identityStarts = 10 // initial guesses of the mean positions, each from the positions in one frame
)

// between returns the shortest vector from one position to another in a picture that wraps around.
func (w *identityHMM) between(from, to [2]float64) (x, y float64) {
	return math.Remainder(to[0]-from[0], w.w), math.Remainder(to[1]-from[1], w.h)
}

// apart returns the squared distance between two positions.
func (w *identityHMM) apart(a, b [2]float64) float64 {
	x, y := w.between(a, b)
	return x*x + y*y
}

// guess sets initial values, before any identity is known: the mean positions that are closest to the positions in all frames, and from these spread and step.
func (w *identityHMM) guess(at [][][2]float64) {
	least := math.Inf(1)
	var best [][2]float64
	for start := range identityStarts {
		w.mean = slices.Clone(at[start*len(at)/identityStarts])
		sum := math.Inf(1)
		for range identityRounds {
			path, apart := make([][]int, len(at)), 0.0
			for f, here := range at {
				order, a := w.nearestMeans(here)
				path[f], apart = order, apart+a
			}
			if apart >= sum {
				break
			}
			sum = apart
			w.updateMeans(at, path)
		}
		if best == nil || sum < least {
			least, best = sum, slices.Clone(w.mean)
		}
	}
	w.mean, w.spread = best, least/float64(2*len(best)*len(at))
	var square, time float64
	for f, since := range w.since {
		if since > 0 {
			square, time = square+w.nearest(at[f-1], at[f]), time+since
		}
	}
	w.step = square / (2 * float64(len(best)) * time)
}

// nearestMeans returns the assignment with the smallest sum of squared distances from the mean positions, and this sum.
func (w *identityHMM) nearestMeans(here [][2]float64) (best []int, least float64) {
	best, least = w.orders[0], math.Inf(1) // if positions are NaN, the first assignment
	for _, order := range w.orders {
		sum := 0.0
		for k, of := range order {
			sum += w.apart(w.mean[k], here[of])
		}
		if sum < least {
			best, least = order, sum
		}
	}
	return best, least
}

// nearest returns the smallest sum of squared distances between the positions in one frame and the next, over all assignments.
func (w *identityHMM) nearest(from, to [][2]float64) float64 {
	least := math.Inf(1)
	for _, order := range w.orders {
		sum := 0.0
		for k, of := range order {
			sum += w.apart(from[k], to[of])
		}
		least = min(least, sum)
	}
	return least
}

// updateMeans sets every mean position to the mean of its object's positions.
func (w *identityHMM) updateMeans(at [][][2]float64, path [][]int) {
	for k := range w.mean {
		var x, y float64
		for f, order := range path {
			dx, dy := w.between(w.mean[k], at[f][order[k]])
			x, y = x+dx, y+dy
		}
		n := float64(len(path))
		w.mean[k] = [2]float64{w.mean[k][0] + x/n, w.mean[k][1] + y/n}
	}
}

// learn estimates mean positions, spread and step from the assignments.
func (w *identityHMM) learn(at [][][2]float64, path [][]int) {
	w.updateMeans(at, path)
	var apart, square, time float64
	for f, order := range path {
		for k, of := range order {
			apart += w.apart(w.mean[k], at[f][of])
			if w.since[f] > 0 {
				square += w.apart(at[f-1][path[f-1][k]], at[f][of])
			}
		}
		time += w.since[f]
	}
	n := 2 * float64(len(w.mean))
	w.spread, w.step = apart/(n*float64(len(path))), square/(n*time)
}

// viterbi returns the most likely assignment of every frame.
func (w *identityHMM) viterbi(at [][][2]float64) [][]int {
	n := len(w.orders)
	cost, next := make([]float64, n), make([]float64, n)
	from := make([][]int, len(at)) // best assignment in the previous frame, by frame and assignment
	for f, here := range at {
		from[f] = make([]int, n)
		if w.since[f] == 0 {
			from[f] = w.begin(cost, next, here)
		} else {
			w.pass(cost, next, from[f], w.transitions(at[f-1], here, w.since[f]))
		}
		cost, next = next, cost
	}
	last, out := 0, make([][]int, len(at))
	for o, v := range cost {
		if v < cost[last] {
			last = o
		}
	}
	for f := len(at) - 1; f >= 0; f-- {
		out[f], last = w.orders[last], from[f][last]
	}
	return out
}

// begin starts a trajectory, whose first assignment depends only on the mean positions.
func (w *identityHMM) begin(cost, next []float64, here [][2]float64) (from []int) {
	best := 0
	for o, v := range cost {
		if v < cost[best] {
			best = o
		}
	}
	from = make([]int, len(cost))
	for o, order := range w.orders {
		from[o], next[o] = best, cost[best]
		for k, of := range order {
			next[o] += w.apart(w.mean[k], here[of]) / (2 * w.spread)
		}
	}
	return from
}

// transitions returns the costs of the objects' steps. Index (k n + i) n + j has the cost for object k to move from position i to position j.
func (w *identityHMM) transitions(from, to [][2]float64, frames float64) []float64 {
	stay := math.Exp(-frames * w.step / (2 * w.spread))
	variance := w.spread * (1 - stay*stay)
	var cost []float64
	for k := range w.mean {
		for i := range from {
			x, y := w.between(w.mean[k], from[i])
			expected := [2]float64{w.mean[k][0] + stay*x, w.mean[k][1] + stay*y}
			for j := range to {
				cost = append(cost, w.apart(expected, to[j])/(2*variance))
			}
		}
	}
	return cost
}

// pass computes the costs of all assignments in the next frame, and stores the cheapest predecessor of each.
func (w *identityHMM) pass(cost, next []float64, from []int, steps []float64) {
	n := len(w.mean)
	for o, order := range w.orders {
		next[o] = math.Inf(1)
		for b, before := range w.orders {
			sum := cost[b]
			for k, of := range order {
				sum += steps[(k*n+before[k])*n+of]
			}
			if sum < next[o] {
				next[o], from[o] = sum, b
			}
		}
	}
}
