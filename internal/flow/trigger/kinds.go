// Package trigger holds the rules that tell a microscope when to act: one file per kind of rule. A rule receives every estimate, in the order of the frames,
// and reports the beginning and the end of its condition. It has no clock and no randomness: the same
// estimates give the same triggers. A rule belongs to one goroutine.
package trigger

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Env holds the facts of a stream that its rules are checked against.
type Env struct {
	Latents int     // dimensions; 0 if the model is not known, and its dimensions are not checked
	Field   bool    // every object is followed, so a rule may name one
	PixelUM float64 // side of a raw frame's pixel in the specimen, µm; 0 where not known
}

// constructor makes one kind of rule from its options. decode is strict: an unknown key is an error.
type constructor func(decode func(dst any) error, env Env) (*Rule, error)

// kinds is the only list of rules: a new one is its file, its test and one line here.
var kinds = map[string]constructor{
	"changed": newChanged,
	"lost":    newLost,
	"sigma":   newSigma,
	"speed":   newSpeed,
	"zone":    newZone,
}

// New makes a rule of the given kind. decode fills the kind's options, which are checked here.
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
		return nil, fmt.Errorf("%s: drift: the drift of a single object is unknown: follow it, and leave object out", kind)
	}
	r.objects, err = newOfObjects(kind, r.options.Object, env, func() *Rule {
		again, _ := construct(decode, env) // it was made before
		again.kind = kind
		return again
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	r.objects.certain = r.options.Certain
	return r, nil
}

// Kinds returns the names New knows, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }
