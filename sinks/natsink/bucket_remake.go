package natsink

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"
)

// values is the bucket.
func (k *Bucket) values() jetstream.KeyValue {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kv
}

// reach finds the bucket, or makes it where it is not there; one that is there is left as somebody set it up.
func (k *Bucket) reach(ctx context.Context) (made bool, err error) {
	if _, made, err = k.is.Ensure(ctx, k.js); err != nil {
		return false, err
	}
	kv, err := k.js.KeyValue(ctx, k.name())
	if err != nil {
		return false, err
	}
	k.mu.Lock()
	k.kv = kv
	k.mu.Unlock()
	return made, nil
}

// drop deletes the bucket if its files were deleted: what the server confirms of it is gone with the process. remake makes it again.
func (k *Bucket) drop(ctx context.Context) {
	if k.bus.OnDisk(k.is.Name()) {
		return
	}
	if err := k.js.DeleteKeyValue(ctx, k.name()); err == nil {
		k.remake(ctx)
	}
}

// remake makes a bucket again that was deleted while the run goes on, says so, and has it hold what it held of this stream. It is false where
// the bucket is there: what hindered is something else.
func (k *Bucket) remake(ctx context.Context) bool {
	if made, err := k.reach(ctx); err != nil || !made {
		return false
	}
	k.known(0)
	k.showAgain()
	k.mu.Lock()
	k.state.Remade++
	times := k.state.Remade
	k.mu.Unlock()
	k.log.Warn("the KV bucket was deleted, and is made again: older revisions, and what other streams kept there, are gone", "bucket", k.name(), "times", times)
	return true
}

// showAgain has the bucket hold the configuration, where that went with the state.
func (k *Bucket) showAgain() {
	k.mu.Lock()
	text, waits := k.shown, k.next[k.configKey()] != nil
	k.mu.Unlock()
	if text != nil && !waits {
		k.put(k.configKey(), text)
	}
}
