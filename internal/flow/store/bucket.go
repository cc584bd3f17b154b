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

// answers is the timeout of a request.
const answers = 5 * time.Second

// Reader receives the entries of a bucket. Only one goroutine calls it at a time.
type Reader interface {
	// Begin announces that the bucket is read from its beginning. Earlier entries, which may come from a deleted bucket, are void. An error refuses the bucket.
	Begin(*jetstream.StreamInfo) error
	// Take receives the newest value of a key; nil marks the end of the existing values.
	Take(jetstream.KeyValueEntry)
	// Look receives the state of the bucket every Bucket.Every, or nil if it was deleted. It returns true if the bucket must be read again.
	Look(*jetstream.StreamInfo) bool
}

// Bucket is a key-value bucket. If Makes is set, this process creates the bucket when it is missing or was deleted, and reads it again. Set the fields before
// use.
type Bucket struct {
	JS     jetstream.JetStream
	Is     func() bus.Resource // definition of the bucket
	Makes  bool                // this process creates a missing bucket
	Every  time.Duration       // interval of checks whether the bucket is still the same
	Reader Reader              // nil if nothing follows the bucket
	Log    *slog.Logger

	end    context.CancelFunc
	work   sync.WaitGroup
	doubts chan struct{} // holds a token if the bucket may have been replaced

	mu sync.Mutex
	kv jetstream.KeyValue
}

// Reach finds or creates the bucket. The error wraps jetstream.ErrStreamNotFound if the bucket is missing and Makes is not set.
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

// Follow passes the entries of the bucket to the reader until Close.
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

// Close ends Follow.
func (b *Bucket) Close() {
	if b.end != nil {
		b.end()
	}
	b.work.Wait()
}

// Doubt triggers a check of the bucket now.
func (b *Bucket) Doubt() {
	select {
	case b.doubts <- struct{}{}:
	default:
	}
}

// begin reaches the bucket, and watches it until running ends.
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
			b.Log.Warn("a KV bucket is unavailable: retrying", "bucket", is.Bucket.Bucket, "err", err)
		}
		again := b.Every / 10
		if errors.Is(err, bus.ErrForbidden) { // another client has to create the bucket
			again = b.Every
		}
		Pause(ctx, again)
	}
}

// follow passes the entries of the watcher to the reader until the bucket must be read again.
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

// Refused reports whether a compare-and-set failed because of another revision.
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
