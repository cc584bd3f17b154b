package natsink

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
)

// Lease is a worker's right to run the stream. The sink checks it before every publication, from any goroutine.
type Lease interface {
	Epoch() uint64 // larger than the epoch of any earlier worker
	Valid() bool   // false once another worker may hold the lease
}

// ErrFenced ends a run whose lease has expired. Later results are not published, because another worker may run the stream.
var ErrFenced = errors.New("the lease on this stream is over, another worker may run it: nothing more is published here")

// valid reports whether a stream may publish. A stream without a lease may always publish.
func valid(l Lease) bool { return l == nil || l.Valid() }

// epochOf returns the epoch of a lease, or 0 without one.
func epochOf(l Lease) uint64 {
	if l == nil {
		return 0
	}
	return l.Epoch()
}

// TakenOver is the code of the event that another worker now runs the stream. Its record is always stored.
const TakenOver = "taken_over"

// epochHeader is the header with the epoch of a stored message.
const epochHeader = "Driftscope-Epoch"

// At is a position in the frames of a durable stream: the last frame of a law, or of the stored results.
type At struct {
	Sequence uint64 // sequence number of the last frame's last message in the stream of frames
	Frames   uint64 // the number of the next frame
}

// Standing describes the stored results of a stream when a worker takes over. The law's checkpoint may be older than the results. The law then learns the
// frames in between again, and the sink does not store their results twice.
type Standing struct {
	At    At     // position after the last stored latent
	Epoch uint64 // epoch of the last stored message
	last  string // identity of the last message; empty if there is none
	ends  [len(tallied)]ending
}

// ending is the last stored record of one kind. Each kind has its own, because an event about a frame may be stored before the results of earlier frames.
type ending struct {
	told  bool // a record exists
	frame uint64
	n     uint32 // number of records of that frame
}

// tally counts the records of one frame by kind, because frame, kind and number identify a record. Frames never go back: a message about an earlier frame
// belongs to the frame during which it was made. A result belongs to its own frame, as the only one of its kind.
type tally struct {
	frame uint64
	n     [len(tallied)]uint32
}

// tallied lists the stored kinds.
var tallied = [...]latent.Kind{latent.KindLatent, latent.KindObjects, latent.KindSDE, latent.KindEvent, latent.KindTrigger, latent.KindTrack, latent.KindPopulation}

// count returns the number of the next record of a kind within its frame.
func (t *tally) count(kind latent.Kind, frame uint64) uint32 {
	if frame > t.frame {
		*t = tally{frame: frame}
	}
	for i, k := range tallied {
		if k == kind {
			t.n[i]++
			return t.n[i] - 1
		}
	}
	return 0
}

// ofFrame reports whether records of a kind are the results of a frame.
func ofFrame(kind latent.Kind) bool { return kind == latent.KindLatent || kind == latent.KindObjects }

// has reports whether a record is already stored. Before the last stored result, the sink publishes or drops all other records.
func (s *Standing) has(kind latent.Kind, frame uint64, number uint32) bool {
	if !ofFrame(kind) && frame+1 < s.At.Frames {
		return true
	}
	for i, k := range tallied {
		if k == kind {
			e := &s.ends[i]
			return e.told && (frame < e.frame || frame == e.frame && number < e.n)
		}
	}
	return false
}

// recordID returns the identity of a record of a durable frame. Every worker computes the same identity.
func recordID(frame uint64, kind latent.Kind, number uint32, sequence uint64) string {
	return fmt.Sprintf("f%d-%s-%d-%d", frame, kind, number, sequence)
}

// named holds the parts of a recordID.
type named struct {
	frame  uint64
	number uint32
	at     uint64 // sequence number in the stream of frames
}

// readID parses the result of recordID. ok is false for any other identity.
func readID(id string) (n named, ok bool) {
	parts := strings.Split(strings.TrimPrefix(id, "f"), "-")
	if len(parts) != 4 || !strings.HasPrefix(id, "f") {
		return n, false
	}
	frame, err1 := strconv.ParseUint(parts[0], 10, 64)
	number, err2 := strconv.ParseUint(parts[2], 10, 32)
	at, err3 := strconv.ParseUint(parts[3], 10, 64)
	return named{frame, uint32(number), at}, err1 == nil && err2 == nil && err3 == nil
}

// mostDeleted is the largest number of deleted messages at the end of a stream that lastMessage skips.
const mostDeleted = 4096

// Stand reads the stored results of a stream from the stream's leader. In a cluster, messages on which the leader has not yet agreed are missing there. So the
// sink checks with its first message that no other message was stored in between.
func Stand(ctx context.Context, b *bus.Conn, stream string) (s Standing, err error) {
	subject, err := b.Subject(stream)
	if err != nil {
		return s, err
	}
	js, err := jetstream.New(b.NATS())
	if err != nil {
		return s, err
	}
	kept, err := js.Stream(ctx, subject.Name())
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, nil
	}
	if err != nil {
		return s, unkept(subject.Name(), "enable JetStream there, and allow this user its API", err)
	}
	if err := s.lastMessage(ctx, b.NATS(), kept.CachedInfo()); err != nil { // first, so later reads include messages that arrive meanwhile
		return s, err
	}
	return s, s.lastOfKinds(ctx, b.NATS(), subject)
}

// lastMessage finds the writer of the last message.
func (s *Standing) lastMessage(ctx context.Context, nc *nats.Conn, kept *jetstream.StreamInfo) error {
	state := kept.State
	for seq, seen := state.LastSeq, 0; seq >= max(state.FirstSeq, 1) && seen < mostDeleted; seq, seen = seq-1, seen+1 {
		m, err := leaderMessage(ctx, nc, kept.Config.Name, messageWanted{Seq: seq})
		if errors.Is(err, jetstream.ErrMsgNotFound) { // the message was deleted
			continue
		}
		if err != nil {
			return fmt.Errorf("message %d of %s: %w: try again", seq, kept.Config.Name, err)
		}
		s.last = m.Header.Get(jetstream.MsgIDHeader)
		s.Epoch, _ = strconv.ParseUint(m.Header.Get(epochHeader), 10, 64)
		return nil
	}
	return nil
}

// lastOfKinds finds the last record of each kind. If a record belongs to no frame, such as a takeover event, all frames with a result count as kept.
func (s *Standing) lastOfKinds(ctx context.Context, nc *nats.Conn, subject bus.Subject) error {
	var results []At
	for i, kind := range tallied {
		m, err := leaderMessage(ctx, nc, subject.Name(), messageWanted{Last: subject.Of("kept." + string(kind))})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("the last %s of %s: %w: try again", kind, subject.Name(), err)
		}
		id, ok := readID(m.Header.Get(jetstream.MsgIDHeader))
		s.ends[i] = ending{true, id.frame, id.number + 1}
		switch {
		case !ok:
			s.ends[i].n = 0 // no record of frame At.Frames
		case ofFrame(kind):
			results = append(results, At{Sequence: id.at, Frames: id.frame + 1})
		}
	}
	s.At = behind(results)
	for i := range s.ends {
		if e := &s.ends[i]; e.told && e.n == 0 {
			e.frame = s.At.Frames
		}
	}
	return nil
}

// behind returns the position after the last frame whose results are all stored. The objects of a frame are stored right before its latents.
func behind(results []At) (at At) {
	for _, r := range results {
		switch {
		case at.Frames == 0, r.Frames > at.Frames+1, r.Frames+1 == at.Frames:
			at = r
		}
	}
	return at
}
