package natsink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/store"
	"driftscope/sinks/spool"
)

const (
	windowMessages = 256                    // unconfirmed messages in flight
	windowBytes    = 4 << 20                // unconfirmed bytes in flight; one message may exceed this
	ackWait        = 5 * time.Second        // time limit for the next confirmation
	againAfter     = 250 * time.Millisecond // delay after a failure without any confirmation
	askWait        = 5 * time.Second        // time limit for the server to return the last stored message
	stuckAfter     = 4                      // consecutive attempts, with a connected server that stores nothing, until it is reported
)

// natsOptions holds the keys of durability: nats.durable and its siblings in a configuration.
type natsOptions struct {
	Durable  bool          `yaml:"durable"`
	Store    string        `yaml:"store" reaches:"write"` // folder for the spool
	Replicas int           `yaml:"replicas"`              // number of servers in a cluster with a copy
	MaxAge   time.Duration `yaml:"max_age"`               // age limit of stored messages
	MaxBytes int64         `yaml:"max_bytes"`             // size limit of stored messages, and of the spool
}

// durable stores latents, laws, events and triggers in a JetStream stream, each exactly once and in order. It first appends a record to the spool, and removes
// the record once the server has confirmed it. So neither the program nor the server has to run all the time.
//
// A store.Sender sends the records. At the start and after any failure durable reads the stream's last message, and continues after that record of the spool.
// It finds the record by its identity, or by the order of identities if the record is missing. So a message that was stored but not confirmed is not sent
// twice.
type durable struct {
	bus     *bus.Conn
	nc      *nats.Conn
	js      jetstream.JetStream
	is      bus.Resource // the JetStream stream
	left    sync.Once    // logs only once that the stream stays unchanged
	subject bus.Subject
	spool   *spool.Spool
	log     *slog.Logger

	lease    Lease     // nil if the stream needs no lease
	standing *Standing // nil if frames are not replayed, or there is no lease
	fenced   atomic.Bool

	always bool // store the present message even if it may be stored already

	run     string   // first part of this run's identities, if frames are not replayed
	origins []string // origins of the identities in the spool and of run

	made  made
	batch []byte // records of the message being written
	marks []mark

	confirmed string // identity of the last message known to be stored
	cancel    context.CancelFunc
	ended     chan struct{}

	mu            sync.Mutex
	state         Kept
	failing, hurt bus.Seldom
	told          uint64 // number of damaged bytes in the last log entry
}

// Kept is the part of the answer to info about durability.
type Kept struct {
	Stream  string `json:"stream"`            // of JetStream
	Retries uint64 `json:"retries"`           // times that what was on its way had to be sent again
	Remade  uint64 `json:"remade,omitempty"`  // times that the stream was gone, as deleted, and was made again
	Damaged uint64 `json:"damaged,omitempty"` // bytes of the spool that were damaged; the messages in them are lost
	Problem string `json:"problem,omitempty"` // why nothing is confirmed now
}

// made counts the identities made in this run.
type made struct {
	records  uint64
	tally    tally  // used if frames are replayed
	result   uint64 // the frame of the present result, if frames are replayed
	sequence uint64 // sequence of that frame
}

// mark is the range of a message's JSON in the batch.
type mark struct {
	kind     latent.Kind
	from, to int
}

// newDurable opens the spool and creates the JetStream stream.
func newDurable(env Env, subject bus.Subject, o natsOptions) (*durable, error) {
	b, log := env.Bus, env.Log
	nc := b.NATS()
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	d := &durable{
		bus: b, nc: nc, js: js, subject: subject, log: log, lease: env.Lease, standing: env.Standing, run: strconv.FormatInt(time.Now().UnixNano(), 36), ended: make(chan struct{}),
		is:    subject.Results(o.MaxAge, o.MaxBytes, o.Replicas),
		state: Kept{Stream: subject.Name()},
	}
	asking, done := context.WithTimeout(context.Background(), askWait)
	defer done()
	stream, missing, err := d.ensure(asking)
	if err != nil {
		return nil, unkept(d.state.Stream, "enable JetStream there, and allow this user its API", err)
	}
	if err = d.openSpool(filepath.Join(o.Store, "spool"), o.MaxBytes); err != nil {
		return nil, err
	}
	if err := d.goOn(asking, stream.CachedInfo().State.LastSeq); err != nil {
		return nil, errors.Join(err, d.spool.Close())
	}
	if missing && !d.spool.Empty() {
		d.remade()
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	go d.deliver(ctx)
	return d, nil
}

// openSpool opens the spool in a folder, one per lease. If frames are replayed it opens one per run, because the records of the last run under this lease are
// made again.
func (d *durable) openSpool(folder string, most int64) (err error) {
	name := d.subject.Name()
	if d.lease != nil {
		name += "." + strconv.FormatUint(d.lease.Epoch(), 10)
		same := name
		if d.standing != nil {
			same = ""
		}
		if err := d.discard(folder, same, most); err != nil {
			return err
		}
	}
	d.spool, err = spool.Open(filepath.Join(folder, name), most)
	return err
}

// discard removes the spools of earlier leases. For live frames it logs a warning: the next worker has already reported the missing frames.
func (d *durable) discard(folder, but string, most int64) error {
	old, err := filepath.Glob(filepath.Join(folder, d.subject.Name()+".*"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if filepath.Base(path) == but {
			continue
		}
		if s, err := spool.Open(path, most); err == nil {
			if n := s.Waiting(); n > 0 && d.standing == nil {
				d.log.Warn("undelivered messages of an earlier lease are discarded: another worker has run the stream since", "spool", path, "bytes", n)
			}
			if err := s.Close(); err != nil {
				return err
			}
		}
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("nats.store: %w: free the folder", err)
		}
	}
	return nil
}

// ErrUnanswered reports a server that did not answer, or was lost before it answered. The configuration may be correct.
var ErrUnanswered = errors.New("the NATS server did not answer")

// unkept explains why it is unknown whether the server stores the resource named what. otherwise is the advice if the server answered.
func unkept(what, otherwise string, err error) error {
	if errors.Is(err, bus.ErrForbidden) {
		return fmt.Errorf("nats.durable: %w", err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("nats.durable: %w within %v whether it keeps %s: start again once it does, or %s", ErrUnanswered, askWait, what, otherwise)
	}
	if errors.Is(err, nats.ErrReconnectBufExceeded) {
		return fmt.Errorf("nats.durable: %w whether it keeps %s, because the connection was lost: start again once the server is back", ErrUnanswered, what)
	}
	return fmt.Errorf("nats.durable: the server does not keep %s: %w: %s", what, err, otherwise)
}

// begin starts the batch of a message.
func (d *durable) begin(m latent.Message) {
	d.batch, d.marks = d.batch[:0], d.marks[:0]
	if d.standing == nil {
		return
	}
	frame := d.made.tally.frame
	d.always = false
	switch m := m.(type) {
	case *latent.Estimate:
		frame, d.made.result, d.made.sequence = m.Latent.Seq, m.Latent.Seq, m.Latent.Place
	case *latent.Law:
		frame = m.Seq
	case *latent.Event:
		frame, d.always = m.Seq, m.Code == TakenOver
	case *latent.Trigger:
		frame = m.Seq
	case *latent.Track:
		frame = m.Seq
	case *latent.Population:
		frame = m.Seq
	}
	if frame > d.made.tally.frame {
		d.made.tally = tally{frame: frame}
	}
}

// add adds one record to the batch, unless it is already stored.
func (d *durable) add(kind latent.Kind, line []byte) error {
	d.made.records++
	id := d.run + "." + strconv.FormatUint(d.made.records, 10)
	if d.standing != nil && !d.always {
		frame, number := d.made.result, uint32(0)
		if !ofFrame(kind) {
			frame = d.made.tally.frame
			number = d.made.tally.count(kind, frame)
		}
		if d.standing.has(kind, frame, number) {
			return nil
		}
		id = recordID(frame, kind, number, d.made.sequence)
	}
	d.batch = spool.AppendRecord(d.batch, spool.Record{Kind: kind, ID: id, Line: line})
	d.marks = append(d.marks, mark{kind, len(d.batch) - len(line), len(d.batch)})
	return nil
}

// commit writes the whole batch to the spool, or nothing.
func (d *durable) commit() error {
	if len(d.batch) == 0 {
		return nil
	}
	return d.spool.Append(d.batch)
}

// deliver sends the spool to the server until ctx ends.
func (d *durable) deliver(ctx context.Context) {
	defer close(d.ended)
	refused := 0 // consecutive refusals
	for ctx.Err() == nil {
		before := d.confirmed
		err := d.session(ctx)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, ErrFenced) {
			d.fenced.Store(true)
			d.failed(err)
			return
		}
		if refused++; d.confirmed != before || !errors.Is(err, store.ErrUnstored) {
			refused = 0
		}
		if refused >= stuckAfter {
			err = fmt.Errorf("the server stores nothing (%w): if its disk was full, make room and restart it", err)
		}
		d.failed(err)
		if d.confirmed != before {
			continue
		}
		select {
		case <-time.After(againAfter):
		case <-ctx.Done():
		}
	}
}

// failed counts a failed session, and logs the reason at a limited rate.
func (d *durable) failed(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.Retries++
	d.state.Problem = err.Error()
	if before, due := d.failing.Due(d.state.Problem); due {
		d.log.Warn("messages wait in the spool", "stream", d.state.Stream, "err", err, "before", before)
	}
}

// damaged counts bytes of the spool outside intact records. It logs their number at a limited rate, and at the end.
func (d *durable) damaged(bytes int64, last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.Damaged += uint64(bytes)
	if d.state.Damaged == d.told {
		return
	}
	if _, due := d.hurt.Due(""); due || last {
		d.told = d.state.Damaged
		d.log.Warn("the spool was damaged, and the messages in it are lost: check the disk of nats.store", "spool", d.spool.Folder, "bytes", d.state.Damaged)
	}
}

// remade counts and logs that the stream was deleted during the run.
func (d *durable) remade() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.Remade++
	d.log.Warn("the JetStream stream was deleted and is created again: its messages are lost", "stream", d.state.Stream, "times", d.state.Remade)
}

// well clears the last problem.
func (d *durable) well() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state.Problem != "" {
		d.log.Info("kept results are stored again", "stream", d.state.Stream)
	}
	d.state.Problem = ""
}

// kept returns the present state.
func (d *durable) kept() Kept {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

// session sends waiting records and removes confirmed ones, in order, until a failure or the end of ctx.
func (d *durable) session(ctx context.Context) error {
	last, alone, err := d.resume(ctx)
	if err != nil {
		return err
	}
	s := store.Sender{Conn: d.nc, Stream: d.state.Stream, Last: last, Alone: alone, Messages: windowMessages, Bytes: windowBytes, Wait: ackWait, Ready: d.spool.Ready, Look: d.filed}
	return s.Send(ctx, &sending{d: d, next: d.spool.First()})
}

// filed returns an error if the stream's files were deleted. The next session then creates the stream again.
func (d *durable) filed(ctx context.Context) error {
	if d.bus.OnDisk(d.is.Name()) {
		return nil
	}
	return errors.Join(errNoFiles, d.js.DeleteStream(ctx, d.is.Name()))
}

// errNoFiles reports that the embedded server's confirmations are worthless.
var errNoFiles = errors.New("the files of the JetStream stream were deleted under the server")

// close waits until all records are confirmed or ctx ends. Unconfirmed records stay in the spool for the next run.
func (d *durable) close(ctx context.Context) error {
	for !d.spool.Empty() && d.bus.Connected() && ctx.Err() == nil && !d.fenced.Load() {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	d.cancel()
	<-d.ended
	d.damaged(0, true)
	if !d.spool.Empty() {
		d.log.Warn("unconfirmed messages wait for the next run of this stream", "spool", d.spool.Folder)
	}
	return d.spool.Close()
}
