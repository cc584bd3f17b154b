package config

import (
	"fmt"
	"time"
)

// Frames configures how JetStream keeps the frames of a source nats, if their stream does not exist yet.
type Frames struct {
	Durable  bool          `yaml:"durable"`   // read the kept frames from the beginning; no frame is dropped
	MaxBytes int64         `yaml:"max_bytes"` // size limit of kept frames
	MaxAge   time.Duration `yaml:"max_age"`   // age limit of kept frames
	Replicas int           `yaml:"replicas"`  // servers of a cluster that have each message
}

// The bounds on frames: one of the largest fits; JetStream has at most five replicas.
const (
	leastFrames  = 64 << 20
	mostReplicas = 5
)

// validateFrames finds errors in the settings for keeping frames.
func (c *Config) validateFrames() []error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	f := &c.Frames
	bad(!f.Durable || c.Source.Kind == "nats", "frames.durable: found true beside source %s: only frames over NATS can be kept, give source: {nats: {subject: camera.bead}}", c.Source.Kind)
	bad(!f.Durable || c.Mode != "latest", "frames.durable: found true beside mode latest: kept frames are all read, leave mode out")
	bad(f.MaxBytes >= leastFrames && f.MaxBytes <= mostBytes, "frames.max_bytes: found %d, expected %d to %d", f.MaxBytes, int64(leastFrames), int64(mostBytes))
	bad(f.MaxAge >= leastAge && f.MaxAge <= mostAge, "frames.max_age: found %v, expected %v to %v", f.MaxAge, leastAge, mostAge)
	bad(f.Replicas >= 1 && f.Replicas <= mostReplicas, "frames.replicas: found %d, expected 1 to %d", f.Replicas, mostReplicas)
	return errs
}
