package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
)

// answers is the timeout of an answer.
const answers = 5 * time.Second

// Reader receives the entries of a bucket. One goroutine calls it.
type Reader interface {
	// Begin starts a reading of the bucket from its beginning. Entries from before, or from a deleted bucket of the name, are void. An error refuses the bucket.
	Begin(*jetstream.StreamInfo) error
	// Take receives the newest value of a key; nil marks the end of the existing values.
	Take(jetstream.KeyValueEntry)
	// Look receives the bucket's present state, nil if it is gone, every Bucket.Every. It reports whether the bucket must be read again.
	Look(*jetstream.StreamInfo) bool
}

// Bucket is a key-value bucket. This process makes it if it is missing or was deleted, and then reads it again. Set its fields before use.
type Bucket struct {
	JS     jetstream.JetStream
	Is     func() bus.Resource // as it is made
	Makes  bool                // this process makes it
	Every  time.Duration       // between two looks whether it is still the same
	Reader Reader              // nil without a follower
	Log    *slog.Logger

	end    context.CancelFunc
	work   sync.WaitGroup
	doubts chan struct{} // holds a token if the bucket may have been replaced

	mu sync.Mutex
	kv jetstream.KeyValue
}

// Reach finds the bucket, or makes it. The error wraps jetstream.ErrStreamNotFound if this process may not make the bucket.
func (b *Bucket) Reach(ctx context.Context) (info *jetstream.StreamInfo, made bool, err error) {
	ctx, done := context.WithTimeout(ctx, answers)
	defer done()
	is := b.Is()
	var s jetstream.Stream
	if b.Makes {
		s, made, err = is.Ensure(ctx, b.JS)
	} else {
		s, err = is.Find(ctx, b.JS)
	}
	if err != nil {
		return nil, false, err
	}
	kv, err := b.JS.KeyValue(ctx, is.Bucket.Bucket)
	if err != nil {
		return nil, false, err
	}
	b.mu.Lock()
	b.kv = kv
	b.mu.Unlock()
	return s.CachedInfo(), made, nil
}

// Values returns the bucket last opened.
func (b *Bucket) Values() jetstream.KeyValue {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kv
}

// Follow reads the bucket, and follows it until Close.
func (b *Bucket) Follow(ctx context.Context) error {
	b.doubts = make(chan struct{}, 1)
	running, end := context.WithCancel(context.Background())
	w, err := b.begin(ctx, running)
	if err != nil {
		end()
		return err
	}
	b.end = end
	b.work.Go(func() { b.run(running, w) })
	return nil
}

// Close ends the following.
func (b *Bucket) Close() {
	if b.end != nil {
		b.end()
	}
	b.work.Wait()
}

// Doubt has the bucket looked at now.
func (b *Bucket) Doubt() {
	select {
	case b.doubts <- struct{}{}:
	default:
	}
}

// begin reaches the bucket, and watches it while running lasts.
func (b *Bucket) begin(ctx, running context.Context) (jetstream.KeyWatcher, error) {
	info, _, err := b.Reach(ctx)
	if err == nil {
		err = b.Reader.Begin(info)
	}
	if err != nil {
		return nil, err
	}
	return b.Values().WatchAll(running)
}

// run follows the bucket through every deletion.
func (b *Bucket) run(ctx context.Context, w jetstream.KeyWatcher) {
	var told bus.Seldom
	for {
		if w != nil {
			b.follow(ctx, w)
			_ = w.Stop() // the consumer may be gone with its bucket
		}
		if ctx.Err() != nil {
			return
		}
		var err error
		if w, err = b.begin(ctx, ctx); err == nil {
			continue
		}
		if _, due := told.Due(""); due && ctx.Err() == nil {
			is := b.Is()
			b.Log.Warn("a KV bucket is unavailable: trying again", "bucket", is.Bucket.Bucket, "err", err)
		}
		again := b.Every / 10
		if errors.Is(err, bus.ErrForbidden) { // another client makes it
			again = b.Every
		}
		Pause(ctx, again)
	}
}

// follow passes on the watch's entries until the bucket must be read again.
func (b *Bucket) follow(ctx context.Context, w jetstream.KeyWatcher) {
	tick := time.NewTicker(b.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-w.Updates():
			if !open {
				return
			}
			b.Reader.Take(e)
			continue
		case <-tick.C:
		case <-b.doubts:
		}
		asking, done := context.WithTimeout(ctx, b.Every/3)
		is := b.Is()
		s, err := is.Find(asking, b.JS)
		done()
		switch {
		case errors.Is(err, jetstream.ErrStreamNotFound):
			b.Reader.Look(nil)
			return
		case err == nil && b.Reader.Look(s.CachedInfo()):
			return
		}
	}
}

// Refused reports whether a compare-and-set found another revision.
func Refused(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyRevisionMismatch) || errors.Is(err, jetstream.ErrKeyExists) ||
		errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// Pause waits for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
