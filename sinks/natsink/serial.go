package natsink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/sinks/spool"
)

// serial is the identity of a record if frames are not replayed: RUN.N in the first run that uses a spool, ORIGIN-RUN.N in runs that continue the spool. RUN is
// a time and ORIGIN the first RUN. The identities of one origin ascend by run and number, so even the position of a record that the disk lost is known.
type serial struct {
	origin string
	run, n uint64
}

// readSerial parses an identity. ok is false for any other format.
func readSerial(id string) (s serial, ok bool) {
	name, number, _ := strings.Cut(id, ".")
	origin, run, later := strings.Cut(name, "-")
	if !later {
		run = origin
	}
	begun, err1 := strconv.ParseUint(run, 36, 64)
	n, err2 := strconv.ParseUint(number, 10, 64)
	return serial{origin, begun, n}, err1 == nil && err2 == nil
}

// follows reports whether s comes after t of the same origin.
func (s serial) follows(t serial) bool { return s.run > t.run || s.run == t.run && s.n > t.n }

// goOn chooses the name of this run. Its identities follow all waiting records of the spool, and the stream's last message if that came from the spool, even if
// the clock was set back.
func (d *durable) goOn(ctx context.Context, last uint64) error {
	begun := uint64(time.Now().UnixNano())
	d.run = strconv.FormatUint(begun, 36)
	var newest serial
	for p := (spool.Position{}); ; {
		r, after, ok, err := d.spool.Read(p)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if s, ok := readSerial(r.ID); ok {
			if newest = s; !slices.Contains(d.origins, s.origin) {
				d.origins = append(d.origins, s.origin)
			}
		}
		p = after
	}
	if newest.origin == "" {
		d.origins = []string{d.run}
		return nil
	}
	if last > 0 {
		m, err := leaderMessage(ctx, d.nc, d.state.Stream, messageWanted{Seq: last})
		if err != nil && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return unkept(d.state.Stream, "allow this user its API", err)
		}
		if err == nil {
			if s, ok := readSerial(m.Header.Get(jetstream.MsgIDHeader)); ok && s.origin == newest.origin && s.follows(newest) {
				newest = s
			}
		}
	}
	d.run = newest.origin + "-" + strconv.FormatUint(max(begun, newest.run+1), 36)
	return nil
}

// stored returns the position of the first record that the stream lacks. id is the identity of the stream's last message. If that message was never in this
// spool (it came from another client or machine), stored uses the last message of each kind and the spool's own position.
func (d *durable) stored(ctx context.Context, id string, alone bool) (spool.Position, error) {
	first := d.spool.First()
	if s, ok := readSerial(id); ok && slices.Contains(d.origins, s.origin) {
		from, err := d.behind(s)
		if err != nil {
			return first, err
		}
		r, after, ok, err := d.spool.Read(from)
		switch {
		case err != nil:
			return first, err
		case !ok || first.Before(after):
			return later(first, from), nil
		case alone: // in a cluster a new leader may lack the last messages
			d.log.Warn("the JetStream stream has lost messages that it had confirmed: the spool sends those again that it still has",
				"stream", d.state.Stream, "last", id, "again", r.ID)
		}
		return from, nil
	}
	for _, kind := range tallied {
		m, err := leaderMessage(ctx, d.nc, d.state.Stream, messageWanted{Last: d.subject.Of("kept." + string(kind))})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return first, fmt.Errorf("the last %s of %s: %w", kind, d.state.Stream, err)
		}
		if s, ok := readSerial(m.Header.Get(jetstream.MsgIDHeader)); ok && slices.Contains(d.origins, s.origin) {
			from, err := d.behind(s)
			if err != nil {
				return first, err
			}
			first = later(first, from)
		}
	}
	return first, nil
}

func later(p, q spool.Position) spool.Position {
	if p.Before(q) {
		return q
	}
	return p
}

// behind returns the position of the records after an identity, even if its own record is damaged.
func (d *durable) behind(last serial) (p spool.Position, err error) {
	for {
		r, after, ok, err := d.spool.Read(p)
		if err != nil || !ok {
			return p, err
		}
		if s, ok := readSerial(r.ID); ok && s.origin == last.origin && s.follows(last) {
			return p, nil
		}
		p = after
	}
}
