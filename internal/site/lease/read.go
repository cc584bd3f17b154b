package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

// Read is Look once, for those who may have no consumer made: who may have one made can have its messages put on any subject (nats-server issue 8274). What it
// gives is what was there, and gets older.
func Read(ctx context.Context, js jetstream.JetStream, o Options) (*Bucket, error) {
	if o.Worker == "" {
		o.Worker = "nobody"
	}
	b, err := prepare(js, o, true)
	if err != nil {
		return nil, err
	}
	g, err := b.ask(ctx, askWait)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = ErrNoBucket
	}
	if err == nil {
		b.begin(g)
		err = Entries(ctx, js, o.Bucket, b.take)
	}
	if err != nil {
		b.cancel()
		return nil, fmt.Errorf("leases in KV %s: %w", o.Bucket, err)
	}
	return b, nil
}

// asks is how many values are asked for at once: ten thousand then take a second or two.
const asks = 16

// Entries gives the newest value of every key of a bucket, in no order, and nil at the end, as a watch does, by requests alone. take is called by one goroutine
// at a time.
func Entries(ctx context.Context, js jetstream.JetStream, bucket string, take func(jetstream.KeyValueEntry)) error {
	kv, err := js.KeyValue(ctx, bucket)
	if err != nil {
		return err
	}
	s, err := js.Stream(ctx, "KV_"+bucket)
	if err != nil {
		return err
	}
	prefix := "$KV." + bucket + "."
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(prefix+">"))
	if err != nil {
		return err
	}
	keys := make(chan string)
	var asking sync.WaitGroup
	var mu sync.Mutex // over take and failed
	var failed error
	for range asks {
		asking.Go(func() {
			for key := range keys {
				e, err := kv.Get(ctx, key)
				mu.Lock()
				switch {
				case err == nil:
					take(e)
				case !errors.Is(err, jetstream.ErrKeyNotFound) && !errors.Is(err, jetstream.ErrInvalidKey): // removed, or nobody's
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
		take(nil)
	}
	return failed
}
