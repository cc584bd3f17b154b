package config

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"
)

// StreamName converts the name of a source to a token of a NATS subject: sim:molecule becomes molecule, "a/bead 2.tif" becomes bead-2, nats:lab.cam becomes
// lab-cam, and rtsp://user:password@scope becomes scope.
func StreamName(source string) string {
	var name string
	subject, published := strings.CutPrefix(source, "nats:")
	scene, simulated := strings.CutPrefix(source, "sim:")
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

// addressName returns the public part of an address: the last element of its path, or its host. It omits user and password, even if they are in the query, or
// in the path as user=admin&password=... It returns "" for an address that it cannot parse.
func addressName(source string) string {
	u, err := url.Parse(source)
	if err != nil {
		return ""
	}
	name := path.Base(u.Path)
	switch {
	case name == ".", name == "/", strings.Contains(name, "="):
		return u.Hostname()
	case u.Scheme != "nats":
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return name[strings.LastIndexByte(name, '@')+1:]
}
