//go:build cgo

package stream

import (
	"errors"
	"fmt"
	"io"
	"os"

	"driftscope/internal/flow/pipeline"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
	"driftscope/sinks/natsink"
)

// restore loads the state at path into the estimator, if the file exists, and then returns path; otherwise "".
func restore(e pipeline.Estimator, path string) (from string, err error) {
	if path == "" {
		return "", nil
	}
	console.Sweep(path)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", checkState(path)
	}
	if err != nil {
		return "", fmt.Errorf("online.state: %w: give a file that can be read and written", err)
	}
	defer f.Close()
	if err := goOn(e, f); err != nil {
		return "", fmt.Errorf("online.state: %s: %w; or delete the file to start with a new law", path, err)
	}
	return path, nil
}

// checkState returns an error if a state cannot be written to path. "" stores no state.
func checkState(path string) error {
	if path == "" {
		return nil
	}
	if err := system.Writable(path); err != nil {
		return fmt.Errorf("online.state, or --state: %w", err)
	}
	return nil
}

// goOn restores a state. It cuts the trajectory: this run's first latent does not follow the earlier run's last one.
func goOn(e pipeline.Estimator, state io.Reader) error {
	if err := e.Restore(state); err != nil {
		return fmt.Errorf("%w: use a state that this build saved with this model and configuration", err)
	}
	e.Freeze(false)
	return nil
}

// openBucket opens the stream's bucket in KV if states are stored there. It loads the law from the bucket, unless a file supplied one or the run repeats
// an earlier run.
func (s *Stream) openBucket() (err error) {
	if !s.cfg.NATS.Durable || s.bus == nil {
		return nil
	}
	if s.bucket, err = natsink.OpenBucket(s.bus, natsink.BucketOptions{Stream: s.cfg.Stream, Replicas: s.cfg.NATS.Replicas, Lease: s.lease, Log: logger(s.cfg)}); err != nil {
		return err
	}
	if s.restored != "" || s.repeats {
		return nil
	}
	if s.standing != nil {
		return s.takeOver()
	}
	_, err = s.restoreKept(natsink.AnyFrames)
	return err
}

// restoreKept loads the newest law in KV that covers at most frames frames, and returns the frames covered. Without such a law it sets s.anew.
func (s *Stream) restoreKept(frames uint64) (at natsink.At, err error) {
	kept, err := s.bucket.State(s.tracking.first, frames)
	switch {
	case errors.Is(err, natsink.ErrNotKept):
		s.anew = err
		return at, nil
	case err == nil:
		err = goOn(s.Stages.Estimator, kept.Checkpoint)
	case kept.Where == "":
		return at, err // unreadable
	}
	if err != nil {
		console.Warn("stream %s: starts with a new law: %s: %v", s.cfg.Stream, kept.Where, err)
		return at, nil
	}
	s.restored = kept.Where
	return kept.At, nil
}

// keep returns the function that writes the law's states, or nil if states are not stored.
func (s *Stream) keep() func([]byte, pipeline.Place) error {
	if s.repeats {
		return nil
	}
	return keeping(s.cfg.Online.State, s.bucket, s.tracking.first)
}

// keeping returns the function that writes states of a model's law to path and to KV. digest identifies the model. It returns nil without a path and a bucket.
func keeping(path string, bucket *natsink.Bucket, digest string) func([]byte, pipeline.Place) error {
	if path == "" && bucket == nil {
		return nil
	}
	return func(state []byte, at pipeline.Place) error {
		var onDisk, inKV error
		if path != "" {
			if onDisk = system.WriteFile(path, state); onDisk != nil {
				onDisk = fmt.Errorf("%w: free some space or choose another online.state", onDisk)
			}
		}
		if bucket != nil {
			inKV = bucket.KeepState(state, digest, natsink.At(at))
		}
		if path != "" && onDisk == nil && errors.Is(inKV, natsink.ErrServerAway) {
			return nil // the state is on disk; the command info reports that KV lacks it
		}
		return errors.Join(onDisk, inKV)
	}
}

// keepConfiguration writes the running configuration to KV, without secrets.
func (s *Stream) keepConfiguration() error {
	if s.bucket == nil {
		return nil
	}
	public, err := s.written.Public()
	if err != nil {
		return err
	}
	text, err := public.YAML()
	if err != nil {
		return err
	}
	s.bucket.KeepConfiguration(text)
	return nil
}
