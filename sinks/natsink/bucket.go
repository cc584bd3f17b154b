package natsink

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/store"
)

const (
	valueRoom   = 4 << 10         // bytes of a message in addition to the value
	keepWait    = 2 * time.Second // time until an unconfirmed state counts as late
	lastWait    = time.Second     // time for the confirmation at the end
	bucketAgain = time.Second     // interval between attempts to write
)

// ErrNotKept reports a key that is missing in the bucket. ErrServerAway reports that the newest state waits for the server.
var (
	ErrNotKept    = errors.New("no state is stored there")
	ErrServerAway = errors.New("the NATS server is away: the newest state is written when it is back")
)

// Bucket stores one stream's configuration and law in the JetStream key-value bucket of its site, under STREAM.config and STREAM.state. A separate goroutine
// writes. An unreachable server therefore delays no caller, and receives the newest values when it is back.
//
// A state is the gzipped checkpoint. The comment in gzip's header holds the SHA-256 of the model, the identity of this writer, the epoch of its lease, and the
// number of frames in the state. Bucket overwrites only the revision that it last read or wrote. So two processes that run the same stream detect each other,
// and a process detects the revision of an earlier lease. A Bucket may be used from any goroutine.
type Bucket struct {
	bus    *bus.Conn
	kv     store.Bucket
	stream string
	writer string // identity of this writer
	lease  Lease  // nil if the stream needs no lease
	log    *slog.Logger

	cancel context.CancelFunc
	ready  chan struct{} // has a token when there may be something to write
	ended  chan struct{}

	revision uint64 // revision of the state; belongs to the writing goroutine once it runs

	mu    sync.Mutex
	next  map[string]*pendingValue // by key: the newest unwritten value
	shown []byte                   // the configuration, for a bucket that is created again; nil before the first
	state KeptState
}

// KeptState is the part of the answer to info about the law in KV.
type KeptState struct {
	Bucket   string `json:"bucket"`
	Key      string `json:"key"`
	Revision uint64 `json:"revision"`          // the last one read or written here; 0: none
	Failed   uint64 `json:"failed"`            // states that were not kept, or late
	Remade   uint64 `json:"remade,omitempty"`  // times that the bucket was gone, as deleted, and was made again
	Problem  string `json:"problem,omitempty"` // why the last one was not
}

// pendingValue is a value that waits to be written.
type pendingValue struct {
	value   []byte
	outcome chan error // has room for one
}

// settle sends the outcome to the waiting caller, once.
func (p *pendingValue) settle(err error) {
	select {
	case p.outcome <- err:
	default:
	}
}

// errNewer reports a state that a newer one replaced before it was written.
var errNewer = errors.New("a newer state is written instead")

// BucketOptions holds the options of a Bucket.
type BucketOptions struct {
	Stream   string
	Replicas int          // number of servers in a cluster with a copy, if the bucket is created
	Lease    Lease        // lease of the stream; nil if it needs none
	Log      *slog.Logger // nil is silent
}

// OpenBucket opens the bucket, and creates it if it is missing.
func OpenBucket(b *bus.Conn, o BucketOptions) (*Bucket, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	stream, log := o.Stream, o.Log
	subject, err := b.Subject(stream)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(b.NATS())
	if err != nil {
		return nil, err
	}
	asking, done := context.WithTimeout(context.Background(), askWait)
	defer done()
	name := subject.Bucket()
	k := &Bucket{
		bus: b, stream: stream, writer: rand.Text(), lease: o.Lease, log: log,
		kv:    store.Bucket{JS: js, Is: func() bus.Resource { return subject.Laws(o.Replicas) }, Makes: true},
		ready: make(chan struct{}, 1), ended: make(chan struct{}), next: map[string]*pendingValue{},
		state: KeptState{Bucket: name, Key: stream + ".state"},
	}
	if _, _, err := k.kv.Reach(asking); err != nil {
		return nil, unkept("the bucket "+name, "enable JetStream there, and allow this user its API and $KV.>", err)
	}
	entry, err := k.get(asking, k.stateKey())
	if err == nil {
		k.revision = entry.Revision()
		k.state.Revision = k.revision
		if h, _, err := unpacked(entry.Value()); err == nil && o.Lease != nil && h.epoch > o.Lease.Epoch() {
			return nil, fmt.Errorf("%s in KV %s is of epoch %d, this lease has epoch %d: %w", k.stateKey(), name, h.epoch, o.Lease.Epoch(), ErrFenced)
		}
	} else if !errors.Is(err, ErrNotKept) {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	go k.write(ctx)
	return k, nil
}

func (k *Bucket) stateKey() string  { return k.stream + ".state" }
func (k *Bucket) configKey() string { return k.stream + ".config" }

// get reads a key. It returns ErrNotKept if the key is missing.
func (k *Bucket) get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	entry, err := k.kv.Values().Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, ErrNotKept
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = ErrUnanswered
	}
	if err != nil {
		return nil, fmt.Errorf("%s in KV %s: %w: check the server, and that this user may read it", key, k.state.Bucket, err)
	}
	return entry, nil
}

// Configuration returns the value of STREAM.config, or ErrNotKept if the key is missing.
func (k *Bucket) Configuration() ([]byte, error) {
	ctx, done := context.WithTimeout(context.Background(), askWait)
	defer done()
	entry, err := k.get(ctx, k.configKey())
	if err != nil {
		return nil, err
	}
	return entry.Value(), nil
}

// KeptLaw is a checkpoint stored in KV.
type KeptLaw struct {
	Checkpoint io.Reader // must be read to its end
	Where      string    // description of its location, for users
	At         At        // zero if the stream's frames are not replayed
}

// AnyFrames is the limit of frames with which State accepts any law.
const AnyFrames = math.MaxUint64

// State returns the newest stored checkpoint of at most frames frames, or ErrNotKept if there is none. It refuses a value that is not a state, and a state of a
// model with another SHA-256 than model. law.Where is set even then.
func (k *Bucket) State(model string, frames uint64) (law KeptLaw, err error) {
	ctx, done := context.WithTimeout(context.Background(), askWait)
	defer done()
	entries, err := k.states(ctx, frames)
	if err != nil {
		return law, err
	}
	for _, entry := range slices.Backward(entries) {
		law.Where = fmt.Sprintf("%s in KV %s, revision %d", entry.Key(), entry.Bucket(), entry.Revision())
		h, checkpoint, err := unpacked(entry.Value())
		if err != nil {
			return law, err
		}
		if h.model != model {
			return law, fmt.Errorf("it belongs to another model, SHA-256 %.12s, and this one is %.12s: run that model, or continue without the law", h.model, model)
		}
		if h.at.Frames <= frames {
			law.Checkpoint, law.At = checkpoint, h.at
			return law, nil
		}
	}
	return KeptLaw{}, fmt.Errorf("%w for the frames of the results: %s", ErrNotKept, agesOf(entries))
}

// agesOf lists the number of frames in each state, for an error message.
func agesOf(entries []jetstream.KeyValueEntry) string {
	text := fmt.Sprintf("%d are stored, for frames", len(entries))
	for _, e := range entries {
		if h, _, err := unpacked(e.Value()); err == nil {
			text += " " + strconv.FormatUint(h.at.Frames, 10)
		}
	}
	return text
}

// states returns the revisions of the state, oldest first, or only the newest if frames is AnyFrames.
func (k *Bucket) states(ctx context.Context, frames uint64) ([]jetstream.KeyValueEntry, error) {
	if frames == AnyFrames {
		entry, err := k.get(ctx, k.stateKey())
		return []jetstream.KeyValueEntry{entry}, err
	}
	entries, err := k.kv.Values().History(ctx, k.stateKey())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, ErrNotKept
	}
	if err != nil {
		return nil, fmt.Errorf("%s in KV %s: %w: check the server, and that this user may read it", k.stateKey(), k.state.Bucket, err)
	}
	return slices.DeleteFunc(entries, func(e jetstream.KeyValueEntry) bool { return e.Operation() != jetstream.KeyValuePut }), nil
}

// stateHeader describes a checkpoint in a state.
type stateHeader struct {
	model, writer string
	epoch         uint64
	at            At
}

// packed converts a checkpoint to a state.
func (k *Bucket) packed(checkpoint []byte, model string, at At) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	w.Comment = fmt.Sprintf("%s %s %d %d %d", model, k.writer, epochOf(k.lease), at.Sequence, at.Frames)
	if _, err := w.Write(checkpoint); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpacked reads the result of packed, also from a build without leases.
func unpacked(value []byte) (h stateHeader, checkpoint io.Reader, err error) {
	r, err := gzip.NewReader(bytes.NewReader(value))
	if err != nil {
		return h, nil, fmt.Errorf("it is no state: %w", err)
	}
	words := strings.Fields(r.Comment)
	if len(words) != 2 && len(words) != 5 {
		return h, nil, errors.New("it is no state: it does not name its model")
	}
	h.model, h.writer = words[0], words[1]
	numbers := [3]uint64{}
	for i, word := range words[2:] {
		if numbers[i], err = strconv.ParseUint(word, 10, 64); err != nil {
			return h, nil, fmt.Errorf("it is no state: found %.20q instead of its number of frames", word)
		}
	}
	h.epoch, h.at = numbers[0], At{numbers[1], numbers[2]}
	return h, r, nil
}

// most returns the largest size of a value, in bytes.
func (k *Bucket) most() int { return int(k.bus.NATS().MaxPayload()) - valueRoom }

// KeepConfiguration stores text under STREAM.config. It does not wait.
func (k *Bucket) KeepConfiguration(text []byte) {
	if len(text) > k.most() {
		k.log.Warn("the configuration is too large for KV: raise the server's max_payload", "bytes", len(text), "most", k.most())
		return
	}
	k.mu.Lock()
	k.shown = text
	k.mu.Unlock()
	k.put(k.configKey(), text)
}

// KeepState stores the checkpoint of a law under STREAM.state, with the SHA-256 of its model and the position of its last frame. It returns once the server has
// confirmed the state, or after at most two seconds with an error. An unconfirmed state waits until it is written or a newer one replaces it.
func (k *Bucket) KeepState(checkpoint []byte, model string, at At) error {
	err := k.keep(checkpoint, model, at)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		k.state.Problem = ""
		return nil
	}
	k.state.Failed++
	k.state.Problem = err.Error()
	return fmt.Errorf("%s in KV %s: %w", k.state.Key, k.state.Bucket, err)
}

func (k *Bucket) keep(checkpoint []byte, model string, at At) error {
	value, err := k.packed(checkpoint, model, at)
	if err != nil {
		return err
	}
	if most := k.most(); len(value) > most {
		return fmt.Errorf("%d bytes when compressed, the server accepts %d: raise its max_payload, or give online.memory fewer transitions", len(value), most)
	}
	p := k.put(k.stateKey(), value)
	if !k.bus.Connected() {
		return ErrServerAway
	}
	late := time.NewTimer(keepWait)
	defer late.Stop()
	select {
	case err := <-p.outcome:
		return err
	case <-late.C:
		return fmt.Errorf("it was not confirmed within %v: check the server, and whether this user may write $KV.>", keepWait)
	}
}

// put passes a value to the writing goroutine. It replaces an older value of the key that still waits.
func (k *Bucket) put(key string, value []byte) *pendingValue {
	p := &pendingValue{value, make(chan error, 1)}
	k.mu.Lock()
	if old := k.next[key]; old != nil {
		old.settle(errNewer)
	}
	k.next[key] = p
	k.mu.Unlock()
	select {
	case k.ready <- struct{}{}:
	default:
	}
	return p
}

// kept returns the state for the command info.
func (k *Bucket) kept() KeptState {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state
}

// Close ends the writing goroutine. It waits at most lastWait for the confirmation of pending values, and logs a warning about unconfirmed ones. k may be nil.
func (k *Bucket) Close() {
	if k == nil {
		return
	}
	for end := time.Now().Add(lastWait); k.waiting() && k.bus.Connected() && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	k.cancel()
	<-k.ended
	if k.waiting() {
		k.log.Warn("not all values were stored in KV", "bucket", k.state.Bucket, "stream", k.stream)
	}
}

// waiting reports whether a value is not written yet.
func (k *Bucket) waiting() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.next) > 0
}
