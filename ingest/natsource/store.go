package natsource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
)

// Keep configures the stream that JetStream creates for a subject's frames. An existing stream keeps its settings.
type Keep struct {
	MaxBytes int64         `yaml:"max_bytes"` // bound on all messages, headers included
	MaxAge   time.Duration `yaml:"max_age"`
	Replicas int           `yaml:"replicas"` // copies of each message
}

// Kept returns the default, which is enough for an hour of raw 512x512 16-bit frames at 9 frames per second.
func Kept() Keep { return Keep{MaxBytes: 16 << 30, MaxAge: time.Hour, Replicas: 1} }

// Bounds on the stream. The smallest stream has room for a frame of the largest size. JetStream allows at most five replicas.
const (
	leastKept    = 64 << 20
	mostKept     = 1 << 40
	leastAge     = time.Minute
	mostAge      = 10 * 365 * 24 * time.Hour
	mostReplicas = 5
)

// Check reports the first value out of bounds.
func (k Keep) Check() error {
	switch {
	case k.MaxBytes < leastKept || k.MaxBytes > mostKept:
		return fmt.Errorf("max_bytes: found %d, expected %d to %d", k.MaxBytes, int64(leastKept), int64(mostKept))
	case k.MaxAge < leastAge || k.MaxAge > mostAge:
		return fmt.Errorf("max_age: found %v, expected %v to %v", k.MaxAge, leastAge, mostAge)
	case k.Replicas < 1 || k.Replicas > mostReplicas:
		return fmt.Errorf("replicas: found %d, expected 1 to %d", k.Replicas, mostReplicas)
	}
	return nil
}

// patience is the timeout of a repeated request. It starts short, because a request may be lost with its connection, and grows after each timeout, because the
// server may be slow.
type patience struct{ last time.Duration }

const leastAsking, mostAsking = time.Second, 10 * time.Second

// ask returns a context with the timeout of the next request.
func (p *patience) ask(ctx context.Context) (context.Context, context.CancelFunc) {
	p.last = min(max(2*p.last, leastAsking), mostAsking)
	return context.WithTimeout(ctx, p.last)
}

// answered resets the timeout after an answer.
func (p *patience) answered() { p.last = 0 }

// resource returns the stream of a subject.
func (k Keep) resource(subject string) bus.Resource {
	return bus.Frames(subject, k.MaxAge, k.MaxBytes, k.Replicas)
}

// streamOf finds or creates the stream of a subject's frames and returns its current state.
func (k Keep) streamOf(ctx context.Context, js jetstream.JetStream, subject string) (jetstream.Stream, error) {
	kept := k.resource(subject)
	stream, _, err := kept.Ensure(ctx, js)
	if errors.Is(err, bus.ErrForbidden) {
		return nil, err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("stream %s of %s: the server did not answer in time (%w): is JetStream up there, and this user allowed its API?", kept.Name(), subject, err)
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s of %s: %w: enable JetStream there with room for %d bytes on %d servers, allow this user its API, and let no other stream take the subject",
			kept.Name(), subject, err, k.MaxBytes, k.Replicas)
	}
	return stream, nil
}
