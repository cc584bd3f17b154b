package recording

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"driftscope/ingest"
	"driftscope/internal/flow/config"
	"driftscope/internal/kit/console"
)

// Kinds of source with special treatment.
const (
	SimSource  = "sim"
	NatsSource = "nats"
)

// Source builds the component for a source from the name that the user typed.
func Source(arg string, dt, fps float64) (config.Component, error) {
	if dt < 0 || fps < 0 || (dt > 0 && fps > 0) {
		return config.Component{}, console.Usage(errors.New("--dt and --fps: give one of them, as a positive number"))
	}
	kind, options, err := ingest.Guess(arg)
	if err != nil {
		return config.Component{}, console.Usage(err)
	}
	component, err := config.NewComponent(kind, options)
	switch {
	case err != nil:
	case dt > 0:
		component, err = component.With("dt", dt)
	case fps > 0:
		component, err = component.With("fps", fps)
	}
	return component, console.Usage(err)
}

// SourceName returns the name of a source that a user would type.
func SourceName(c config.Component) string {
	options := c.Options()
	for _, key := range []string{"name", "camera", "device", "subject"} {
		if name, given := options[key]; given {
			return fmt.Sprintf("%s:%v", c.Kind, name)
		}
	}
	path, ok := options["path"].(string)
	chosen := chosenOf(options)
	switch {
	case !ok:
		return c.Kind // a pipeline is long, and an address may contain a password
	case len(chosen) == 0:
		return path
	}
	return fmt.Sprintf("%s:%s?%s", c.Kind, path, chosen.Encode())
}

// chosenOf returns the options that select a series of a recording: the axes of an NDTiff, the channel and slice of a TIFF, also the level of a Zarr, and
// the dataset and axis letters of an HDF5.
func chosenOf(options map[string]any) url.Values {
	chosen := url.Values{}
	axes, _ := options["axes"].(map[string]any)
	for name, value := range axes {
		chosen.Set(name, fmt.Sprint(value))
	}
	if letters, given := options["axes"].(string); given {
		chosen.Set("axes", letters)
	}
	for _, name := range []string{"channel", "slice", "level", "dataset"} {
		if value, given := options[name]; given {
			chosen.Set(name, fmt.Sprint(value))
		}
	}
	return chosen
}

// IsConfig reports whether the name is a configuration file.
func IsConfig(source string) bool {
	ext := strings.ToLower(filepath.Ext(source))
	return ext == ".yaml" || ext == ".yml"
}

// StreamName derives a stream's name from a source's: see config.StreamName.
var StreamName = config.StreamName

// ShellWord quotes a path for a shell, if needed.
func ShellWord(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
