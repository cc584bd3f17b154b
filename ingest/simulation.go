package ingest

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"driftscope/ingest/sim"
	"driftscope/ingest/sim/field"
)

// simulatedOptions are the keys of a simulated source.
type simulatedOptions struct {
	Name     string `yaml:"name" reaches:"nothing"`   // one of Simulations
	Seed     uint64 `yaml:"seed"`                     // default 1
	Frames   int    `yaml:"frames"`                   // default 0: endless
	Render   string `yaml:"render" reaches:"nothing"` // for a scene: subpixel (default) or integer
	Assets   string `yaml:"assets" reaches:"read"`    // for a scene: a folder with MNIST or COIL-20 pictures; default: substitutes
	Realtime *bool  `yaml:"realtime"`                 // true: a frame every dt, dropped if tracking is slower; default: set by the scene

	Density *int     `yaml:"density"` // for a field: objects per picture; default 100
	SNR     *float64 `yaml:"snr"`     // for a field: (peak - background) / root of the peak; default 4
	Width   *int     `yaml:"width"`   // for a field, px; default 512
	Height  *int     `yaml:"height"`  // for a field, px; default 512
}

// Simulations returns the names of all simulated sources: scenes of one latent point, then fields of many objects.
func Simulations() []string {
	names := sim.Names()
	for _, s := range field.Scenarios {
		names = append(names, string(s))
	}
	return names
}

// simulation is a scene or a field.
type simulation interface {
	Name() string
	Frames() int // 0: endless
	DT() float64 // s
	Format() sim.Format
	Paced() bool // simulates a running camera
	Next(dst *sim.Picture) (sim.Truth, error)
}

// simulation makes the scene or field that the options name.
func (o *simulatedOptions) simulation() (simulation, error) {
	scenario := field.Scenario(o.Name)
	crowd := o.Density != nil || o.SNR != nil || o.Width != nil || o.Height != nil
	switch isField := slices.Contains(field.Scenarios, scenario); {
	case o.Name == "":
		return nil, fmt.Errorf("name is missing: give one of %v", Simulations())
	case !slices.Contains(Simulations(), o.Name):
		return nil, fmt.Errorf("scene %q is not known: give one of %s", o.Name, strings.Join(Simulations(), ", "))
	case isField && (o.Render != "" || o.Assets != ""):
		return nil, fmt.Errorf("%s is a field of many objects, to which render and assets do not apply: leave them out", o.Name)
	case isField:
		f, err := field.NewStream(field.Options{
			Scenario: scenario, Frames: o.Frames, Seed: o.Seed,
			Density: given(o.Density, 100), SNR: given(o.SNR, 4), Width: given(o.Width, 512), Height: given(o.Height, 512),
		})
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", o.Name, err)
		}
		return f, nil
	case crowd:
		return nil, fmt.Errorf("%s is a scene of one object, to which density, snr, width and height do not apply: leave them out, or give one of %v", o.Name, field.Scenarios)
	}
	return sim.New(o.Name, sim.Options{Frames: o.Frames, Seed: o.Seed, Render: o.Render, Assets: o.Assets})
}

// simulatedQuery parses a simulation from the command line, NAME?density=500&snr=2, with the keys of simulatedOptions.
func simulatedQuery(text string) (options map[string]any, err error) {
	name, query, _ := strings.Cut(text, "?")
	chosen, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("sim:%s: %w: give sim:NAME?seed=7&frames=1000", text, err)
	}
	options = map[string]any{"name": name}
	for key, values := range chosen {
		if key == "name" || len(values) > 1 {
			return nil, fmt.Errorf("sim:%s: %s is given twice: give sim:NAME?seed=7&frames=1000", text, key)
		}
		options[key] = plain(values[0])
	}
	return options, nil
}

// plain converts a value as a configuration file would: to a number, true or false, or text.
func plain(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) {
		return x
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	return text
}

// given returns the value of an option, or its default.
func given[T any](option *T, otherwise T) T {
	if option == nil {
		return otherwise
	}
	return *option
}
