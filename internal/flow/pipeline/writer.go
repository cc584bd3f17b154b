package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"driftscope/internal/flow/latent"
)

// retryEvery is the pause before a retry of an undelivered message that must not be lost.
const retryEvery = 100 * time.Millisecond

// queued is an entry in the queue of a sink: a message, and the other messages of its frame. arrived is zero if the message belongs to no frame.
type queued struct {
	message latent.Message
	more    []latent.Message // further messages, shared by all sinks; never estimates
	arrived time.Time
}

// messages returns the number of messages in the entry.
func (q *queued) messages() int { return 1 + len(q.more) }

// writer passes messages to one sink at the sink's own pace. Each sink gets its own copy of an estimate; spare recycles these copies. All sinks share events,
// triggers, health and views, which are immutable.
type writer struct {
	name     string
	sink     Sink
	commands <-chan latent.Command
	queue    *queue[queued]
	spare    chan *latent.Estimate

	cause         string // cause under which lost messages are counted
	behind, ended error  // reasons for losses: the sink is too slow, or has ended
	before        error  // reason for a loss before the run; nil if none
}

func newWriter(s NamedSink) *writer {
	return &writer{
		name: s.Name, sink: s.Sink, commands: s.Commands, queue: newQueue[queued](sinkDepth), spare: make(chan *latent.Estimate, sinkDepth+2),
		cause: sinkCause + s.Name, before: s.Lost,
		behind: fmt.Errorf("the sink %s is too slow or has ended: its messages are lost", s.Name),
		ended:  fmt.Errorf("the sink %s ended before it took this message", s.Name),
	}
}

// publish queues m for every sink; the caller may reuse m afterwards. If a sink's queue is full, mode Latest loses a message, and mode Lossless waits.
func (r *runner) publish(ctx context.Context, m latent.Message, arrived time.Time) {
	r.hand(ctx, queued{message: m, arrived: arrived})
}

// publishAll queues all messages of one frame for every sink, as one entry. The sink gets them one by one, in order. The caller may reuse the list.
func (r *runner) publishAll(ctx context.Context, all []latent.Message) {
	if len(all) > 0 {
		r.hand(ctx, queued{message: all[0], more: slices.Clone(all[1:])})
	}
}

func (r *runner) hand(ctx context.Context, q queued) {
	for _, w := range r.writers {
		kept := q
		kept.message = w.keep(q.message)
		if !r.latest.Load() {
			if !w.queue.put(ctx, kept) {
				w.release(kept)
				r.lose(ctx, r.messagesLost(w, w.behind, kept.messages()))
			}
		} else if old, dropped := w.queue.force(kept, dispensable); dropped {
			w.release(old)
			r.lose(ctx, r.messagesLost(w, w.behind, old.messages()))
		}
	}
}

// dispensable chooses the message to lose. First comes the oldest estimate or view, because a newer one follows; then the oldest message except triggers. A
// trigger is lost last, because it may control a device.
func dispensable(waiting []queued) int {
	other := -1
	for i, m := range waiting {
		switch m.message.(type) {
		case *latent.Estimate, *latent.View:
			return i
		case *latent.Trigger:
		default:
			if other < 0 {
				other = i
			}
		}
	}
	return max(other, 0)
}

// remarkOnFrame is remark for the events of a frame. A source may warn about every frame, so it reports warnings of one code at most once a second, with their
// number.
func (r *runner) remarkOnFrame(ctx context.Context, e *latent.Event) {
	if e.Level == latent.Warning {
		told, tell := r.counters.remark(time.Now(), *e)
		if !tell {
			return
		}
		*e = told
	}
	r.remark(ctx, e)
}

// warn logs a line, at most one per second and kind, with the number of lines left out.
func (r *runner) warn(kind, line string, args ...any) {
	left, tell := r.counters.line(time.Now(), kind)
	if !tell {
		return
	}
	if left > 0 {
		args = append(args, "left_out", left)
	}
	r.log.Warn(line, args...)
}

// remark logs and publishes an event of the reading goroutine. If the reader may not wait for a sink, report publishes the event instead.
func (r *runner) remark(ctx context.Context, e *latent.Event) {
	if e.Level == latent.Warning {
		r.log.Warn(e.Code, "seq", e.Seq, "what", e.Text, "count", e.Count)
	}
	if !r.hurried() {
		r.publish(ctx, e, time.Time{})
		return
	}
	select {
	case r.remarks <- e:
	default:
		r.lose(ctx, loss{cause: sinkCause + "untold", why: errUntold, seq: e.Seq, count: 1})
	}
}

// hurried reports whether the reader may not wait for a sink: the source is live, and no frame may be lost.
func (r *runner) hurried() bool { return !r.waits.Load() && !r.latest.Load() }

// write owns w's sink. It writes queued messages until the queue is closed and empty, and then closes the sink.
func (r *runner) write(ctx context.Context, w *writer) {
	if err := r.writeAll(ctx, w); err != nil {
		r.fail(fmt.Errorf("sink %s: %w", w.name, err))
		r.abort()
	}
	w.queue.close() // the sink takes no more messages
	for m, ok, _ := w.queue.take(); ok; m, ok, _ = w.queue.take() {
		w.release(m)
		r.lose(ctx, r.messagesLost(w, w.ended, m.messages()))
	}
	within := r.o.Grace
	if ctx.Err() != nil { // the sink has all messages, but the grace period is over: it needs a moment to flush them
		ctx, within = context.WithoutCancel(ctx), within/3
	}
	closing, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := w.sink.Close(closing); err != nil {
		r.fail(fmt.Errorf("sink %s: not closed cleanly: %w", w.name, err))
	}
}

// writeAll returns nil when the queue is closed and empty, or when ctx has ended and the queue is empty.
func (r *runner) writeAll(ctx context.Context, w *writer) error {
	for {
		if ctx.Err() != nil {
			if w.queue.len() > 0 {
				return errGrace
			}
			return nil
		}
		m, ok, ended := w.queue.take()
		switch {
		case ok:
			if left, err := r.deliver(ctx, w, m); err != nil {
				r.lose(ctx, r.messagesLost(w, w.ended, left))
				return err
			}
		case ended:
			return nil
		default:
			select {
			case <-w.queue.ready:
			case <-ctx.Done():
			}
		}
	}
}

// errGrace reports a sink that did not finish within the grace period at the end of a run.
var errGrace = errors.New("the sink did not take all messages within the grace period: raise grace, or use a faster sink")

// passing reports whether the next message of the same kind makes m obsolete.
func passing(m latent.Message) bool {
	switch m.(type) {
	case *latent.Health, *latent.View:
		return true
	}
	return false
}

// deliver writes the messages of q one by one and releases q. On an error, left is the number of unwritten messages.
func (r *runner) deliver(ctx context.Context, w *writer, q queued) (left int, err error) {
	defer w.release(q)
	if err := r.deliverOne(ctx, w, q.message, q.arrived); err != nil {
		return q.messages(), err
	}
	for i, m := range q.more {
		if err := r.deliverOne(ctx, w, m, q.arrived); err != nil {
			return len(q.more) - i, err
		}
	}
	return 0, nil
}

// deliverOne writes m. In mode Lossless it retries an undelivered message until the sink takes it, except a passing one.
func (r *runner) deliverOne(ctx context.Context, w *writer, m latent.Message, arrived time.Time) error {
	for told := false; ; told = true {
		err := w.sink.Write(ctx, m)
		if err != nil { // rare; errors.As allocates
			err = r.lostOn(ctx, w, err)
		}
		if err == nil {
			r.counters.publish()
			if !arrived.IsZero() {
				r.publishing.since(arrived)
			}
			return nil
		}
		if _, passes := errors.AsType[latent.Undelivered](err); !passes {
			return err
		}
		if r.latest.Load() || passing(m) {
			r.lose(ctx, r.messagesLost(w, err, 1))
			return nil
		}
		if !told {
			r.warn("waiting for "+w.name, "waiting for a sink", "sink", w.name, "err", err)
		}
		select {
		case <-time.After(retryEvery):
		case <-ctx.Done():
			return errGrace
		}
	}
}

// lostOn returns err for an undelivered message. If only a part was lost, it counts that part and returns nil.
func (r *runner) lostOn(ctx context.Context, w *writer, err error) error {
	if _, cut := errors.AsType[latent.CutShort](err); cut {
		r.lose(ctx, loss{cause: w.cause + "_cut", why: err, seq: r.counters.lastSeq(), count: 1})
		return nil
	}
	if missed, some := errors.AsType[latent.NotTaken](err); some && missed.Count > 0 {
		r.lose(ctx, r.messagesLost(w, err, missed.Count))
		return nil
	}
	return err
}

// keep returns the value to queue: a copy of an estimate, or any other message itself.
func (w *writer) keep(m latent.Message) latent.Message {
	e, ok := m.(*latent.Estimate)
	if !ok {
		return m
	}
	var kept *latent.Estimate
	select {
	case kept = <-w.spare:
	default:
		kept = &latent.Estimate{}
	}
	kept.Copy(e)
	return kept
}

// release recycles the memory of an estimate.
func (w *writer) release(m queued) {
	if e, ok := m.message.(*latent.Estimate); ok {
		select {
		case w.spare <- e:
		default:
		}
	}
}
