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

// checkState reports whether a state can be kept at path; "" keeps none.
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
		return fmt.Errorf("%w: use one that this build saved under this model and configuration", err)
	}
	e.Freeze(false)
	return nil
}

// openBucket opens the stream's place in KV if states are kept there. It continues the law from there if no file did. A run that repeats an earlier run
// starts as that run did.
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

// restoreKept loads the law from KV, with at most that many frames, and returns the frames that it covers. It returns false if none is kept.
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

// keep returns the function that writes the law's states, or nil if they are not kept.
func (s *Stream) keep() func([]byte, pipeline.Place) error {
	if s.repeats {
		return nil
	}
	return keeping(s.cfg.Online.State, s.bucket, s.tracking.first)
}

// keeping returns the function that writes states of a model's law to path and to KV. digest identifies the model. It returns nil without both.
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
			return nil // the state is kept; info says what is missing
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
