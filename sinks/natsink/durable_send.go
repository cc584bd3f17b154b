package natsink

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/sinks/spool"
)

// ensure creates the stream, or updates it to this sink's options. If the user may not change the stream, ensure uses it unchanged.
func (d *durable) ensure(ctx context.Context) (stream jetstream.Stream, made bool, err error) {
	stream, made, err = d.is.Settle(ctx, d.js)
	if stream != nil && errors.Is(err, bus.ErrForbidden) {
		d.left.Do(func() { d.log.Warn("nats.max_age, nats.max_bytes or nats.replicas have no effect", "err", err) })
		err = nil
	}
	return stream, made, err
}

// resume removes the records from the spool that the stream already has. It returns the stream's last sequence number, and whether only a single server has the
// stream. It creates a missing stream.
func (d *durable) resume(ctx context.Context) (last uint64, alone bool, err error) {
	ctx, done := context.WithTimeout(ctx, askWait)
	defer done()
	if err := d.bus.Away(); err != nil {
		return 0, false, err
	}
	stream, made, err := d.ensure(ctx)
	if err != nil {
		return 0, false, err
	}
	if made {
		d.remade()
	}
	last, alone = stream.CachedInfo().State.LastSeq, stream.CachedInfo().Config.Replicas <= 1
	if last == 0 {
		return 0, alone, nil
	}
	m, err := leaderMessage(ctx, d.nc, d.state.Stream, messageWanted{Seq: last})
	gone := errors.Is(err, jetstream.ErrMsgNotFound)
	if err != nil && !gone {
		return 0, false, err
	}
	var id string
	if !gone {
		id = m.Header.Get(jetstream.MsgIDHeader)
		if epoch, _ := strconv.ParseUint(m.Header.Get(epochHeader), 10, 64); d.lease != nil && epoch > d.lease.Epoch() {
			return 0, false, fmt.Errorf("%s contains a message of epoch %d, this lease has epoch %d: %w", d.state.Stream, epoch, d.lease.Epoch(), ErrFenced)
		}
	}
	if id != "" && id == d.confirmed || gone && d.standing != nil {
		return last, alone, nil
	}
	find := d.stored
	if d.standing != nil {
		find = d.follow
	}
	from, err := find(ctx, id, alone)
	if err != nil {
		return 0, false, err
	}
	if !alone {
		d.look(ctx, id, from, last)
	}
	d.confirmed = id
	return last, alone, d.spool.Forget(from)
}

// follow returns the position after the stream's last message, if frames are replayed. That message is in the spool, or was in the stream when this worker took
// over.
func (d *durable) follow(_ context.Context, id string, _ bool) (spool.Position, error) {
	for p := d.spool.First(); ; {
		r, after, ok, err := d.spool.Read(p)
		switch {
		case err != nil:
			return p, err
		case !ok && id != d.standing.last:
			return p, fmt.Errorf("%s contains a message that arrived after this worker took over: %w", d.state.Stream, ErrFenced)
		case !ok:
			return d.spool.First(), nil
		case r.ID == id:
			return after, nil
		}
		p = after
	}
}

// look warns if another client's message has taken the sequence number of one of ours, which is then lost. If the identities are equal, the record before to is
// the stream's last message.
func (d *durable) look(ctx context.Context, id string, to spool.Position, last uint64) {
	first, newest, n := "", "", uint64(0)
	for p := d.spool.First(); p.Before(to); n++ {
		r, after, ok, err := d.spool.Read(p)
		if err != nil || !ok {
			return
		}
		if p, newest = after, r.ID; n == 0 {
			first = r.ID
		}
	}
	if n < 2 || newest != id {
		return
	}
	m, err := leaderMessage(ctx, d.nc, d.state.Stream, messageWanted{Seq: last - n + 1})
	if err == nil && m.Header.Get(jetstream.MsgIDHeader) != first {
		d.log.Warn("another client publishes among the stored messages, and a message is lost: give this right only to the program", "stream", d.state.Stream, "seq", last-n+1)
	}
}

// sending is the spool as a store.Queue.
type sending struct {
	d      *durable
	next   spool.Position
	window []sent
}

// sent is a message in flight.
type sent struct {
	id      string
	after   spool.Position
	skipped int64 // damaged bytes of the spool before the message
}

// Next reads the next record. After the last record it removes damaged bytes once every earlier record is stored.
func (q *sending) Next() (*nats.Msg, error) {
	r, after, ok, err := q.d.spool.Read(q.next)
	if err != nil {
		return nil, err
	}
	if !ok {
		if len(q.window) == 0 && r.Skipped > 0 {
			q.d.damaged(r.Skipped, false)
			q.next = after
			return nil, q.d.spool.Forget(after)
		}
		return nil, nil
	}
	if !valid(q.d.lease) {
		return nil, ErrFenced
	}
	q.next, q.window = after, append(q.window, sent{r.ID, after, r.Skipped})
	m := nats.NewMsg(q.d.subject.Of("kept." + string(r.Kind)))
	if epoch := epochOf(q.d.lease); epoch != 0 {
		m.Header.Set(epochHeader, strconv.FormatUint(epoch, 10))
	}
	m.Header.Set(jetstream.MsgIDHeader, r.ID)
	m.Data = r.Line
	return m, nil
}

// Stored removes the first record in flight.
func (q *sending) Stored() error {
	first := q.window[0]
	if err := q.d.spool.Forget(first.after); err != nil {
		return err
	}
	q.d.confirmed = first.id
	q.d.damaged(first.skipped, false)
	q.window = q.window[1:]
	q.d.well()
	return nil
}
