package numbers

// Nth returns the value that would be at index k if v were sorted. It reorders v, in linear time on average even with repeated values.
func Nth[T float32 | float64](v []T, k int) T {
	for len(v) > 1 {
		pivot := middle(v[0], v[len(v)/2], v[len(v)-1])
		below := 0 // v[:below] < pivot
		for i, x := range v {
			v[i], v[below] = v[below], x
			below += count(x < pivot)
		}
		if k < below {
			v = v[:below]
			continue
		}
		v, k = v[below:], k-below
		same := 0 // v[:same] equal the pivot, or are NaN
		for i, x := range v {
			v[i], v[same] = v[same], x
			same += count(!(x > pivot))
		}
		if k < same {
			return pivot
		}
		v, k = v[same:], k-same
	}
	return v[k]
}

// Median returns the middle value of v, or the upper of the two middle values. It reorders v.
func Median[T float32 | float64](v []T) T { return Nth(v, len(v)/2) }

// count returns 1 for true and 0 for false, without a branch: for unordered values the processor would mispredict every second branch.
func count(is bool) int {
	n := 0
	if is {
		n = 1
	}
	return n
}

func middle[T float32 | float64](a, b, c T) T { return max(min(a, b), min(max(a, b), c)) }
