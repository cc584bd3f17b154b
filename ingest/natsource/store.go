package natsource

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
)

// Keep says how JetStream keeps a subject's frames, where nobody has made its stream yet. One that is there stays as somebody set it up.
type Keep struct {
	MaxBytes int64         `yaml:"max_bytes"` // of all messages together, headers included
	MaxAge   time.Duration `yaml:"max_age"`
	Replicas int           `yaml:"replicas"` // servers that have each message
}

// Kept is what frames are kept by where nothing else is said: an hour of 512x512x16 bit at 9 frames a second, raw.
func Kept() Keep { return Keep{MaxBytes: 16 << 30, MaxAge: time.Hour, Replicas: 1} }

// The bounds on what is kept: a frame of the largest fits; JetStream has at most five replicas.
const (
	leastKept    = 64 << 20
	mostKept     = 1 << 40
	leastAge     = time.Minute
	mostAge      = 10 * 365 * 24 * time.Hour
	mostReplicas = 5
)

// Check reports the first that is out of bounds.
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

// patience is how long a server may take to answer what is asked again and again: longer after each time that it did not, so that a request that went
// away with its connection costs little, and a server that is slow is waited for.
type patience struct{ last time.Duration }

const leastAsking, mostAsking = time.Second, 10 * time.Second

// ask bounds the next request.
func (p *patience) ask(ctx context.Context) (context.Context, context.CancelFunc) {
	p.last = min(max(2*p.last, leastAsking), mostAsking)
	return context.WithTimeout(ctx, p.last)
}

// answered says that it did.
func (p *patience) answered() { p.last = 0 }

// resource is the stream of a subject.
func (k Keep) resource(subject string) bus.Resource {
	return bus.Frames(subject, k.MaxAge, k.MaxBytes, k.Replicas)
}

// streamOf finds the stream of a subject's frames with what it holds now, or makes it.
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
