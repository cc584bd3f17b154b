package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
)

const (
	// ackWait is how long a worker may be silent before another worker gets its film. Shorter times fail if the server is busy.
	ackWait = 30 * time.Second

	// maxDeliver is the server's limit on deliveries of a job. After mostDeliveries a worker records a failure, so that a job never reaches the
	// server's limit, which the server does not report.
	maxDeliver     = 40
	mostDeliveries = 30

	asking = 30 * time.Second // for one answer of the server
)

// ErrNoStore reports a server that cannot store jobs.
var ErrNoStore = errors.New("the server stores nothing, because JetStream is off: write jetstream {} in its configuration")

// site is the server's data for all batches of one prefix and site.
type site struct {
	conn    *bus.Conn
	js      jetstream.JetStream
	names   bus.Subject
	queue   jetstream.Stream
	records jetstream.KeyValue
	copies  int // replicas of everything that is made
}

// open finds, or makes, the queue and the records of the connection's site.
func open(ctx context.Context, conn *bus.Conn, copies int) (*site, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	s, err := conn.Subject("batch")
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn.NATS())
	if err != nil {
		return nil, err
	}
	o := &site{conn: conn, js: js, names: s, copies: max(copies, 1)}
	queue, records := s.Films(o.copies), s.FilmRecords(o.copies)
	if o.queue, _, err = queue.Ensure(ctx, js); err != nil {
		return nil, explain(err)
	}
	if _, _, err = records.Ensure(ctx, js); err != nil {
		return nil, explain(err)
	}
	o.records, err = js.KeyValue(ctx, records.Bucket.Bucket)
	return o, explain(err)
}

// consumer returns the consumer that all workers of the site pull from.
func (o *site) consumer(ctx context.Context, wait time.Duration) (jetstream.Consumer, error) {
	const name = "workers"
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	c, err := o.queue.Consumer(ctx, name)
	if !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return c, explain(err)
	}
	c, err = o.queue.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: wait, MaxDeliver: maxDeliver, MaxAckPending: 10_000, Replicas: o.copies,
	})
	if errors.Is(err, jetstream.ErrConsumerExists) || errors.Is(err, jetstream.ErrConsumerNameAlreadyInUse) {
		c, err = o.queue.Consumer(ctx, name)
	}
	return c, explain(err)
}

// objects opens the store of a batch's films and results, and makes it if missing.
func (o *site) objects(ctx context.Context, batch string) (jetstream.ObjectStore, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	of := o.names.Batch(batch, o.copies)
	if _, _, err := of.Ensure(ctx, o.js); err != nil {
		return nil, explain(err)
	}
	store, err := o.js.ObjectStore(ctx, of.Objects.Bucket)
	return store, explain(err)
}

// Keys of a job in the records.
func (j *job) ended() string { return j.Batch + "." + j.ID + ".ended" }
func (j *job) tried() string { return j.Batch + "." + j.ID + ".tried" }

// filmObject returns a film's name in the batch's store.
func filmObject(digest string) string { return "film/" + digest }

// enqueue puts a job into the queue, unless it is there. again is the revision of the deleted record of the same job, or 0. It makes the message
// id unique, so that the server does not reject the job as a duplicate of one sent minutes ago.
func (o *site) enqueue(ctx context.Context, j *job, again uint64) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if len(data) > maxJob {
		return fmt.Errorf("film %s: its job has %d bytes, expected at most %d: shorten the configuration", j.Film, len(data), maxJob)
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	_, err = o.js.Publish(ctx, o.names.FilmSubject()+"."+j.Batch+"."+j.ID, data, jetstream.WithMsgID(fmt.Sprintf("%s.%s.%d", j.Batch, j.ID, again)))
	if refused := (*jetstream.APIError)(nil); errors.As(err, &refused) && refused.ErrorCode == alreadyQueued {
		return nil
	}
	return explain(err)
}

// alreadyQueued is the server's error for a second message on a subject that allows one (ErrMaximumMessagesPerSubject; JSStreamStoreFailedF wraps it).
const alreadyQueued = 10077

// ended returns a job's record with its revision, or nil if the job has not ended.
func (o *site) ended(ctx context.Context, j *job) (*record, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	e, err := o.records.Get(ctx, j.ended())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, explain(err)
	}
	r, err := parseRecord(e.Value())
	return r, e.Revision(), err
}

// parseRecord reads a record.
func parseRecord(data []byte) (*record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("a record is unreadable: %w", err)
	}
	if r.V != jobVersion {
		return nil, fmt.Errorf("a record of version %d, this build reads %d: use the release that wrote it", r.V, jobVersion)
	}
	if r.Bytes < 0 {
		return nil, fmt.Errorf("a record of a result of %d bytes", r.Bytes)
	}
	return &r, nil
}

// end creates a job's record. It returns false if there was one.
func (o *site) end(ctx context.Context, j *job, r *record) (bool, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	_, err = o.records.Create(ctx, j.ended(), data)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return false, nil
	}
	return err == nil, explain(err)
}

// forget removes the records of a job, so that it is done again.
func (o *site) forget(ctx context.Context, j *job) error {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	return explain(errors.Join(o.records.Delete(ctx, j.tried()), o.records.Delete(ctx, j.ended())))
}

// explain rewords errors that a user can act on.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return ErrNoStore
	case errors.Is(err, context.Canceled), errors.Is(err, bus.ErrForbidden):
		return err
	}
	return fmt.Errorf("the NATS server did not do it (%w): check that it runs, that it has room, and that this user may use JetStream", err)
}
