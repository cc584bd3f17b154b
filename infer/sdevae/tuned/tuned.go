// Package tuned is the list of what is set by judgement in a training: numbers that a film could want otherwise, and cases that could be left out.
// Each stands beside what it decides, with its reason; here are those that several packages share.
//
// What only costs time (rounds, frames, starts), guards the arithmetic or is part of a definition is a constant, and no number of this list:
// constants.txt has those that have a name, and TestConstants compares.
//
// A study scales numbers and leaves cases out (Scale) before a training begins, and nothing else does: after that the list is read only, from any
// goroutine.
package tuned

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Constant is a number or a case.
type Constant struct {
	Name   string  // of the package and of what is decided
	Ships  float64 // its value, but in a study; 1 of a case
	Case   bool
	Reason string
	factor float64
	asked  atomic.Bool
}

var all []*Constant

func add(c *Constant) *Constant {
	all = append(all, c)
	return c
}

// Number is a new number of the list, at package initialisation.
func Number(name string, value float64, reason string) *Constant {
	return add(&Constant{Name: name, Ships: value, Reason: reason, factor: 1})
}

// Case is a new case of the list, at package initialisation.
func Case(name, reason string) *Constant {
	return add(&Constant{Name: name, Ships: 1, Case: true, Reason: reason, factor: 1})
}

// Value is the number.
func (c *Constant) Value() float64 {
	c.asked.Store(true)
	return c.Ships * c.factor
}

// Count is a number of things, at least one.
func (c *Constant) Count() int { return max(int(math.Round(c.Value())), 1) }

// On says whether a case is there.
func (c *Constant) On() bool { return c.Value() > 0 }

// Asked says whether the training asked for it so far: what it never asks for cannot change what it makes.
func (c *Constant) Asked() bool { return c.asked.Load() }

// All is the list by name.
func All() []*Constant {
	return slices.SortedFunc(slices.Values(all), func(a, b *Constant) int { return strings.Compare(a.Name, b.Name) })
}

// maxFactor bounds the factors of a study, either way.
const maxFactor = 1000

// Scale changes the list as a study asks: NAME=FACTOR, a positive factor of a number and 0 of a case that is left out. An error is the user's.
func Scale(changes []string) error {
	for _, change := range changes {
		name, text, _ := strings.Cut(change, "=")
		at := slices.IndexFunc(all, func(c *Constant) bool { return c.Name == name })
		if at < 0 {
			return fmt.Errorf("--scale: found %q, expected the name of a tuned number: docs/reference/tuned-numbers.md has them", name)
		}
		factor, err := strconv.ParseFloat(text, 64)
		if c := all[at]; err != nil || c.Case && factor != 0 || !c.Case && !(factor >= 1.0/maxFactor && factor <= maxFactor) {
			return fmt.Errorf("--scale: found %q, expected %s=FACTOR, %g to %d of a number, 0 of a case", change, name, 1.0/maxFactor, maxFactor)
		}
		all[at].factor = factor
	}
	return nil
}

// Numbers of several packages.
var (
	Majority   = Number("share.majority", 0.5, "the larger of two explanations wins: one object or two, a sprite or the rest of the motion, a sprite or the whole picture, motion or noise")
	LeastLayer = Number("share.leastLayer", 0.1, "share of the motion below which a layer or latent equals the residual of the others; a padding latent has 1e-16 of its noise, and one ball leaves at most a tenth in four clips")
	SmallShare = Number("share.small", 0.05, "share that a more flexible model explains by chance, and the noise allowed in a measurement: R² stays at 0.95, above share.agreement")
	LongFilm   = Number("frames.longFilm", 50, "frames from which a mean or median picture no longer shows moving objects")
	Degree     = Number("degree.smooth", 3, "degree of polynomials for smooth functions: positions of features, and pictures along slow features; a tenth of the weights of a full map")
)
