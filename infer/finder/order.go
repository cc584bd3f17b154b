package finder

import (
	"math"
	"slices"
)

// quantile returns the q-quantile with linear interpolation; it sorts v.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	t := q * float64(len(v)-1)
	i := min(int(t), max(len(v)-2, 0))
	return v[i] + (t-float64(i))*(v[min(i+1, len(v)-1)]-v[i])
}

func median(v []float64) float64 { return quantile(v, .5) }

// spread returns at most n numbers from 0 to m-1, evenly spaced, with both ends.
func spread(m, n int) (k []int) {
	n = min(m, n)
	for i := range n {
		at := 0
		if n > 1 {
			at = i * (m - 1) / (n - 1)
		}
		if len(k) == 0 || k[len(k)-1] != at {
			k = append(k, at)
		}
	}
	return k
}

// tail returns the z that a normal number exceeds with probability p.
func tail(p float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*min(max(p, 1e-300), .5)) }
