package natsink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"driftscope/internal/flow/store"
)

// errOther reports that another process wrote the state, so this process does not overwrite it.
var errOther = errors.New("another process keeps this stream's state: end one of the two, or give it another stream, then start the other again")

// final reports whether another attempt would fail as well.
func final(err error) bool { return errors.Is(err, errOther) || errors.Is(err, ErrFenced) }

// write writes pending values until ctx ends.
func (k *Bucket) write(ctx context.Context) {
	defer close(k.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.ready:
		}
		for !k.all(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-k.ready:
			case <-time.After(bucketAgain):
			}
		}
	}
}

// all writes the newest value of each key. It returns false if another attempt is needed.
func (k *Bucket) all(ctx context.Context) bool {
	done := true
	for key, write := range map[string]func(context.Context, []byte) error{k.configKey(): k.writeConfiguration, k.stateKey(): k.writeState} {
		k.mu.Lock()
		p := k.next[key]
		k.mu.Unlock()
		if p == nil {
			continue
		}
		asking, cancel := context.WithTimeout(ctx, askWait)
		err := ErrServerAway
		if k.bus.Connected() {
			k.drop(asking)
			if err = write(asking, p.value); err != nil && !final(err) && k.remake(asking) {
				err = write(asking, p.value)
			}
		}
		cancel()
		p.settle(err)
		if err != nil && !final(err) {
			done = false // the server may accept it later
			continue
		}
		k.mu.Lock()
		if k.next[key] == p {
			delete(k.next, key)
		}
		k.mu.Unlock()
	}
	return done
}

// writeConfiguration writes text unless the newest revision already equals it.
func (k *Bucket) writeConfiguration(ctx context.Context, text []byte) error {
	entry, err := k.get(ctx, k.configKey())
	if err == nil && bytes.Equal(entry.Value(), text) {
		return nil
	}
	if err != nil && !errors.Is(err, ErrNotKept) {
		return err
	}
	_, err = k.kv.Values().Put(ctx, k.configKey(), text)
	return err
}

// writeState overwrites the last known revision. A newer revision may be an unconfirmed one of this writer, or a deletion. A revision of
// another process is left alone.
func (k *Bucket) writeState(ctx context.Context, value []byte) error {
	revision, err := k.over(ctx, value)
	if store.Refused(err) {
		if err = k.look(ctx); err == nil {
			revision, err = k.over(ctx, value)
		}
	}
	if err != nil {
		return err
	}
	k.known(revision)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.Problem = ""
	return nil
}

// over writes a state over the last known revision, or as the first revision.
func (k *Bucket) over(ctx context.Context, value []byte) (uint64, error) {
	if !valid(k.lease) {
		return 0, ErrFenced
	}
	write := func() (uint64, error) { return k.kv.Values().Update(ctx, k.stateKey(), value, k.revision) }
	if k.revision == 0 {
		write = func() (uint64, error) { return k.kv.Values().Create(ctx, k.stateKey(), value) }
	}
	revision, err := write()
	if err != nil {
		return 0, fmt.Errorf("%w: check that the bucket has room, and that this user may write $KV.>", err)
	}
	return revision, nil
}

// look reads the newest revision of the state. It returns errOther if another process wrote it.
func (k *Bucket) look(ctx context.Context) error {
	entry, err := k.get(ctx, k.stateKey())
	if errors.Is(err, ErrNotKept) {
		k.known(0)
		k.showAgain()
		return nil
	}
	if err != nil {
		return err
	}
	h, _, err := unpacked(entry.Value())
	if k.lease != nil && err == nil && h.epoch > k.lease.Epoch() {
		return fmt.Errorf("revision %d is of epoch %d, this lease has epoch %d: %w", entry.Revision(), h.epoch, k.lease.Epoch(), ErrFenced)
	}
	if of := k.lease != nil && (err != nil || h.epoch < k.lease.Epoch()); !of && (err != nil || h.writer != k.writer) {
		return fmt.Errorf("revision %d is not of this run: %w", entry.Revision(), errOther)
	}
	k.known(entry.Revision())
	return nil
}

// known records the state's newest revision.
func (k *Bucket) known(revision uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.revision, k.state.Revision = revision, revision
}

// drop deletes the bucket if its files were deleted, because confirmed values would then disappear with the process. remake creates it again.
func (k *Bucket) drop(ctx context.Context) {
	if is := k.kv.Is(); k.bus.OnDisk(is.Name()) {
		return
	}
	if err := k.kv.JS.DeleteKeyValue(ctx, k.state.Bucket); err == nil {
		k.remake(ctx)
	}
}

// remake creates a bucket again that was deleted during the run, logs this, and restores this stream's values. It returns false if the bucket exists, because
// the failure then has another cause.
func (k *Bucket) remake(ctx context.Context) bool {
	if _, made, err := k.kv.Reach(ctx); err != nil || !made {
		return false
	}
	k.known(0)
	k.showAgain()
	k.mu.Lock()
	k.state.Remade++
	times := k.state.Remade
	k.mu.Unlock()
	k.log.Warn("the KV bucket was deleted and is created again: older revisions, and the values of other streams, are lost", "bucket", k.state.Bucket, "times", times)
	return true
}

// showAgain stores the configuration again, if it was deleted with the state.
func (k *Bucket) showAgain() {
	k.mu.Lock()
	text, waits := k.shown, k.next[k.configKey()] != nil
	k.mu.Unlock()
	if text != nil && !waits {
		k.put(k.configKey(), text)
	}
}
