package natsource

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// Durable returns the frames of a subject that JetStream stores. It begins at the first stored frame, or after a given sequence number, and waits for new
// frames at the end of the stream. The server keeps unread frames within the stream's bounds. Read waits while the server is away; no frame is returned twice.
//
// The arrival time of a message is the time at which the server stored it, so results that depend on arrival times are the same at every read.
type Durable struct {
	assembly
	conn *bus.Conn
	log  *log

	primed  bool   // the publisher to follow is known
	resumes bool   // the caller gave the numbers of the first frame
	expired uint64 // number of messages that expired unread since the last frame
	notices []string
}

// Info reports that frames have the publisher's times, and that they are untrusted because anyone may publish on the subject.
func (d *Durable) Info() pipeline.Info {
	return pipeline.Info{Timed: true, Public: true, Places: d.options.Places, ResumeAfter: d.resumeAfter}
}

// resumeAfter makes the next Open continue after the sequence number place and count frames from the given number.
func (d *Durable) resumeAfter(place, frames uint64) {
	d.assembly = assembly{options: d.options, first: -frames, place: place}
	d.primed, d.resumes, d.expired = false, true, 0
}

// Open connects, within 5 s, and finds or creates the stream.
func (d *Durable) Open(ctx context.Context) (err error) {
	first := d.first
	d.assembly = d.again()
	if d.resumes {
		d.first, d.resumes = first, false
	}
	if d.conn, err = d.options.connect(ctx); err != nil {
		return err
	}
	js, err := jetstream.New(d.conn.NATS())
	if err != nil {
		return err
	}
	d.log = &log{conn: d.conn.NATS(), js: js, subject: d.options.Subject, keep: *d.options.Durable, place: d.place}
	asking, cancel := context.WithTimeout(ctx, answering)
	defer cancel()
	if err := d.log.attach(asking); err != nil {
		return fmt.Errorf("%s: %w", d.conn.URL(), err)
	}
	if d.place > 0 && !d.primed && d.log.place == d.place {
		d.primed = d.prime(ctx)
	}
	return nil
}

// prime reads the message at the current place and follows its publisher, so that frames lost after it are counted.
func (d *Durable) prime(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, answering)
	defer cancel()
	m, err := d.log.stream.GetMsg(ctx, d.place)
	return err == nil && d.stream.Resume(m.Time, m.Header)
}

// Read waits for a whole frame. It skips torn, contradictory and invalid messages, each with its cause.
func (d *Durable) Read(ctx context.Context) (*frame.Frame, error) {
	for {
		if d.held != nil {
			d.estimate()
			f, err := d.give()
			if err == nil {
				d.notify(f)
			}
			return f, err
		}
		m, err := d.log.next(ctx)
		if err != nil {
			if ctx.Err() == nil {
				err = fmt.Errorf("%s on %s: %w: %w", d.options.Subject, d.conn.URL(), pipeline.ErrNotConnected, err)
			}
			return nil, err
		}
		d.place = m.place
		d.expired += m.expired
		if m.restarted {
			d.notices = append(d.notices, fmt.Sprintf("the stream %s was deleted and created again: reading continues after message %d", bus.FramesName(d.options.Subject), m.place))
		}
		if err := d.take(m.stored, m.Headers(), m.Data()); err != nil {
			return nil, err
		}
	}
}

// estimate counts the frames that expired before the first frame read. If the message at the current place expired too, the publisher's number there is
// unknown, so each message counts as one frame.
func (d *Durable) estimate() {
	if d.primed {
		return
	}
	d.primed = true
	n := d.expired / uint64(d.held.Chunks)
	d.dropped += n
	d.first -= n
}

// notify adds events about the stream since the previous frame to f.
func (d *Durable) notify(f *frame.Frame) {
	for _, text := range d.notices {
		f.Notice(true, "frames_restarted", text)
	}
	d.notices = d.notices[:0]
	if d.expired > 0 {
		f.Notice(true, "frames_expired", fmt.Sprintf("the server removed %d messages of %s before they were read: raise frames.max_bytes and frames.max_age, or track faster", d.expired, d.options.Subject))
		d.expired = 0
	}
}

// Close ends the reader and the connection.
func (d *Durable) Close() error {
	if d.log != nil {
		d.log.close()
		d.log = nil
	}
	err := d.conn.Close()
	d.conn = nil
	return err
}
