package recording

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"driftscope/ingest"
	"driftscope/internal/flow/config"
	"driftscope/internal/kit/console"
)

// Kinds of source that are treated apart.
const (
	SimSource  = "sim"
	NatsSource = "nats"
)

// Source makes the component for what a person typed.
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

// SourceName returns what a person would type for a source.
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
		return c.Kind // a pipeline is long, and an address may hold a password
	case len(chosen) == 0:
		return path
	}
	return fmt.Sprintf("%s:%s?%s", c.Kind, path, chosen.Encode())
}

// chosenOf returns which of a recording's series is taken: NDTiff's axes, a TIFF's channel and slice, a Zarr's level, too, and an HDF5's dataset and the letters of its
// axes.
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

// IsConfig reports whether a source is given by its configuration.
func IsConfig(source string) bool {
	ext := strings.ToLower(filepath.Ext(source))
	return ext == ".yaml" || ext == ".yml"
}

// StreamName makes a subject's token of a source's name: sim:molecule becomes molecule, a/bead 2.tif bead-2, nats:lab.cam lab-cam, and
// rtsp://user:password@scope becomes scope.
func StreamName(source string) string {
	var name string
	subject, published := strings.CutPrefix(source, "nats:")
	scene, simulated := strings.CutPrefix(source, SimSource+":")
	switch {
	case strings.HasPrefix(source, "gst:"):
		return "gst"
	case strings.Contains(source, "://"):
		name = addressName(source)
	case published:
		name = filepath.Base(subject)
	case simulated:
		name = scene
	default:
		name = strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, name)
	if name = strings.Trim(name, "-"); name == "" {
		return "stream"
	}
	return name[:min(len(name), 64)]
}

// addressName returns the public part of an address: the last element of its path, or its host. It leaves out user and password, even if a
// camera has them in the query, or in the path as user=admin&password=... It returns nothing of an unreadable address.
func addressName(source string) string {
	u, err := url.Parse(source)
	if err != nil {
		return ""
	}
	name := path.Base(u.Path)
	switch {
	case name == ".", name == "/", strings.Contains(name, "="):
		return u.Hostname()
	case u.Scheme != NatsSource:
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return name[strings.LastIndexByte(name, '@')+1:]
}

// ShellWord quotes a path for a shell where it needs that.
func ShellWord(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
