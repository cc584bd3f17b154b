package trigger

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxLatents is the largest number of dimensions of a stream.
const maxLatents = 64

// axesOf returns the dimensions that name the values of a map, ascending, and their names in the same order. Axes count from 0, names from z1.
func axesOf[T any](named map[string]T, env Env) (axes []int, names []string, err error) {
	if len(named) == 0 {
		return nil, nil, errors.New("names no dimension: give z1, z2 or more of them")
	}
	for name := range named {
		axis, err := axisOf(name, env)
		if err != nil {
			return nil, nil, err
		}
		axes = append(axes, axis)
	}
	slices.Sort(axes)
	for _, axis := range axes {
		names = append(names, "z"+strconv.Itoa(axis+1))
	}
	return axes, names, nil
}

// axisOf returns the dimension of a name as used in the status and the dashboard.
func axisOf(name string, env Env) (int, error) {
	most := env.Latents
	if most == 0 {
		most = maxLatents
	}
	digits, ok := strings.CutPrefix(name, "z")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || n > most || digits != strconv.Itoa(n) {
		return 0, fmt.Errorf("found dimension %.40q, expected z1 to z%d, which the model has", name, most)
	}
	return n - 1, nil
}
