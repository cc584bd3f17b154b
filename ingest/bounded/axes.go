package bounded

// The axes of a picture. All but the last two may be missing.
const (
	T = iota
	C
	Z
	Y
	X
	AxisCount
)

// AxisNames are the letters of the axes, in this order.
const AxisNames = "tczyx"

// Axes maps each axis of a picture to the number of an array's axis, or to -1 if the array lacks it.
type Axes [AxisCount]int

// NoAxes has no axis set.
var NoAxes = Axes{-1, -1, -1, -1, -1}

// Along returns the value for a picture's axis. values has one value per array axis. It returns 1 if the array lacks the axis.
func (a Axes) Along(axis int, values []int) int {
	if a[axis] < 0 {
		return 1
	}
	return values[a[axis]]
}
