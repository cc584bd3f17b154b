package config

import (
	"fmt"
	"time"
)

// Frames configures the JetStream stream of frames for a source of kind nats, if that stream does not exist yet.
type Frames struct {
	Durable  bool          `yaml:"durable"`   // read all stored frames from the first on; no frame is dropped
	MaxBytes int64         `yaml:"max_bytes"` // size limit of stored frames
	MaxAge   time.Duration `yaml:"max_age"`   // age limit of stored frames
	Replicas int           `yaml:"replicas"`  // number of servers in a cluster that store a copy
}

// Limits of Frames: MaxBytes has room for at least one frame of the largest size, and JetStream allows at most five replicas.
const (
	leastFrames  = 64 << 20
	mostReplicas = 5
)

// validateFrames returns the errors in the settings for storing frames.
func (c *Config) validateFrames() []error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	f := &c.Frames
	bad(!f.Durable || c.Source.Kind == "nats", "frames.durable: found true with source %s: only frames received over NATS can be stored, use source: {nats: {subject: camera.bead}}", c.Source.Kind)
	bad(!f.Durable || c.Mode != "latest", "frames.durable: found true with mode latest: stored frames are never dropped, leave mode out")
	bad(f.MaxBytes >= leastFrames && f.MaxBytes <= mostBytes, "frames.max_bytes: found %d, expected %d to %d", f.MaxBytes, int64(leastFrames), int64(mostBytes))
	bad(f.MaxAge >= leastAge && f.MaxAge <= mostAge, "frames.max_age: found %v, expected %v to %v", f.MaxAge, leastAge, mostAge)
	bad(f.Replicas >= 1 && f.Replicas <= mostReplicas, "frames.replicas: found %d, expected 1 to %d", f.Replicas, mostReplicas)
	return errs
}
