package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

// asks is the number of concurrent requests. Ten thousand values take a second or two.
const asks = 16

// Read passes the entries of the bucket to its reader once, in no particular order. It uses only requests, for users without the right to create consumers:
// with that right a user could send messages to any subject (nats-server issue 8274).
func (b *Bucket) Read(ctx context.Context) error {
	if _, _, err := b.Reach(ctx); err != nil {
		return err
	}
	is := b.Is()
	s, err := is.Find(ctx, b.JS)
	if err != nil {
		return err
	}
	prefix := "$KV." + is.Bucket.Bucket + "."
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(prefix+">"))
	if err != nil {
		return err
	}
	if err := b.Reader.Begin(info); err != nil {
		return err
	}
	keys := make(chan string)
	var asking sync.WaitGroup
	var mu sync.Mutex // guards the reader and failed
	var failed error
	for range asks {
		asking.Go(func() {
			for key := range keys {
				e, err := b.Values().Get(ctx, key)
				mu.Lock()
				switch {
				case err == nil:
					b.Reader.Take(e)
				case !errors.Is(err, jetstream.ErrKeyNotFound) && !errors.Is(err, jetstream.ErrInvalidKey): // removed, or not a valid key
					failed = errors.Join(failed, fmt.Errorf("key %.70q: %w", key, err))
				}
				mu.Unlock()
			}
		})
	}
	for subject := range info.State.Subjects {
		if ctx.Err() != nil {
			break
		}
		keys <- subject[len(prefix):]
	}
	close(keys)
	asking.Wait()
	if failed == nil {
		failed = ctx.Err()
	}
	if failed == nil {
		b.Reader.Take(nil)
	}
	return failed
}
