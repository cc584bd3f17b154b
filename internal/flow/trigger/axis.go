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

// axesOf returns the dimensions that are keys of a map, in ascending order, and their names. Axes count from 0, names from z1.
func axesOf[T any](named map[string]T, env Env) (axes []int, names []string, err error) {
	if len(named) == 0 {
		return nil, nil, errors.New("found no dimension, expected one or more of z1, z2, ...")
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

// axisOf returns the index of the dimension with a name such as z1, as in the status and the dashboard.
func axisOf(name string, env Env) (int, error) {
	most := env.Latents
	if most == 0 {
		most = maxLatents
	}
	digits, ok := strings.CutPrefix(name, "z")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || n > most || digits != strconv.Itoa(n) {
		return 0, fmt.Errorf("found dimension %.40q, but the model has z1 to z%d", name, most)
	}
	return n - 1, nil
}
