package ndarray

// Axes of a picture; all but the last two may be missing.
const (
	T = iota
	C
	Z
	Y
	X
	Count
)

// Names are their letters, in this order.
const Names = "tczyx"

// Axes says which of an array's axes is each of a picture's, -1 where there is none.
type Axes [Count]int

// NoAxes are those of which none is known yet.
var NoAxes = Axes{-1, -1, -1, -1, -1}

// Along is the value of one of the picture's axes among those of the array's, 1 where there is no such axis.
func (a Axes) Along(axis int, values []int) int {
	if a[axis] < 0 {
		return 1
	}
	return values[a[axis]]
}
