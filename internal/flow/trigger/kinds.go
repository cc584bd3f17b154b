// Package trigger implements the rules by which a microscope acts, in one file per kind of rule. A rule receives every estimate, in the order of the frames,
// and reports the beginning and the end of its condition. It has no clock and no randomness: the same estimates give the same triggers. Only one goroutine may
// use a rule.
package trigger

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Env holds the properties of a stream against which its rules are checked.
type Env struct {
	Latents int     // number of dimensions; 0 if the model is unknown, and then dimensions are not checked
	Field   bool    // the stream tracks every object, so a rule may name an object
	PixelUM float64 // side of a raw frame's pixel in the specimen, µm; 0 if unknown
}

// constructor makes one kind of rule from its options. decode is strict: an unknown key is an error.
type constructor func(decode func(dst any) error, env Env) (*Rule, error)

// kinds is the only list of rules. A new kind needs its file, its test and one line here.
var kinds = map[string]constructor{
	"changed": newChanged,
	"lost":    newLost,
	"sigma":   newSigma,
	"speed":   newSpeed,
	"zone":    newZone,
}

// New makes a rule of the given kind and checks its options. decode fills the options.
func New(kind string, decode func(dst any) error, env Env) (*Rule, error) {
	construct, known := kinds[kind]
	if !known {
		return nil, fmt.Errorf("kind %q is not known: give one of %s", kind, strings.Join(Kinds(), ", "))
	}
	r, err := construct(decode, env)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	if err := r.options.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	r.kind = kind
	if r.options.Object == "" {
		return r, nil
	}
	if s, is := r.condition.(*speed); is && s.of == (drift{}) {
		return nil, fmt.Errorf("%s: drift: a single object has no drift of its own: follow the object, and leave object out", kind)
	}
	r.objects, err = newOfObjects(kind, r.options.Object, env, func() *Rule {
		again, _ := construct(decode, env) // cannot fail: it succeeded before
		again.kind = kind
		return again
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	r.objects.certain = r.options.Certain
	return r, nil
}

// Kinds returns the names of all kinds, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }
