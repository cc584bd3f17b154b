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

// Axes maps each axis of a picture to an axis of the array, or -1.
type Axes [AxisCount]int

// NoAxes has no axis set.
var NoAxes = Axes{-1, -1, -1, -1, -1}

// Along returns the value of a picture's axis from values per array axis, or 1 if there is no such axis.
func (a Axes) Along(axis int, values []int) int {
	if a[axis] < 0 {
		return 1
	}
	return values[a[axis]]
}
