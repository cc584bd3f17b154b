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

// Lease is a worker's right to run the stream. It is asked before everything that leaves, from any goroutine.
type Lease interface {
	Epoch() uint64 // greater than that of whoever ran the stream before
	Valid() bool   // false once another may have it
}

// ErrFenced ends a run whose lease is over: what it says after that is not published, because another worker may run the stream.
var ErrFenced = errors.New("the lease on this stream is over, another worker may run it: nothing more is published here")

// valid says whether a stream may publish: also one that needs no lease.
func valid(l Lease) bool { return l == nil || l.Valid() }

// epochOf is the epoch of a lease, 0 without one.
func epochOf(l Lease) uint64 {
	if l == nil {
		return 0
	}
	return l.Epoch()
}

// TakenOver is the code of the event that says that another worker runs the stream now. It is kept whatever was kept before.
const TakenOver = "taken_over"

// epochHeader is the header of a kept message that has the epoch.
const epochHeader = "Driftscope-Epoch"

// At is how far the frames of a durable stream are in a law, or in what is kept.
type At struct {
	Sequence uint64 // of the last frame's last message in the stream of frames
	Frames   uint64 // the number of the next frame
}

// Standing is what is kept of a stream's results when a worker takes it over. Frames that come again, since the law's checkpoint is older, are folded into
// the law, and what was kept of them is not kept twice.
type Standing struct {
	At    At     // behind the last latent that is kept
	Epoch uint64 // under which the last message was kept
	last  string // the last message's identity; empty where there is none
	ends  [len(tallied)]ending
}

// ending is up to where records of one kind are kept. Kinds are told apart: an event about a frame may be kept before the results of earlier ones, and those never.
type ending struct {
	told  bool // there is one
	frame uint64
	n     uint32 // records of that frame
}

// tally counts the records of one frame by their kind: records are known by frame, kind and number. Frames never go back: a message about an earlier one
// counts to the frame during which it was made. A result counts to its own frame, of which it is the only one of its kind.
type tally struct {
	frame uint64
	n     [len(tallied)]uint32
}

// tallied are the kinds that are kept.
var tallied = [...]latent.Kind{latent.KindLatent, latent.KindObjects, latent.KindSDE, latent.KindEvent, latent.KindTrigger, latent.KindTrack, latent.KindPopulation}

// count gives a record of a kind its number within its frame.
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

// ofFrame says whether records of a kind are the results of a frame.
func ofFrame(kind latent.Kind) bool { return kind == latent.KindLatent || kind == latent.KindObjects }

// has says whether a record is kept already. What is told beside results was told, or was not to be, before the last of them.
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

// identity of a record of a durable frame: the same whoever makes it.
func recordID(frame uint64, kind latent.Kind, number uint32, sequence uint64) string {
	return fmt.Sprintf("f%d-%s-%d-%d", frame, kind, number, sequence)
}

// named is what recordID wrote.
type named struct {
	frame  uint64
	number uint32
	at     uint64 // sequence in the stream of frames
}

// readID reads what recordID wrote; ok is false for any other identity.
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

// mostDeleted bounds the messages at the end of a stream that somebody deleted.
const mostDeleted = 4096

// Stand reads what is kept of a stream's results. It reads from the stream's leader, and in a cluster what that has not yet agreed upon is not there: so
// the sink checks, with its first message, that nothing came between.
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
	if err := s.lastMessage(ctx, b.NATS(), kept.CachedInfo()); err != nil { // first: what comes while the rest is read is found by it
		return s, err
	}
	return s, s.lastOfKinds(ctx, b.NATS(), subject)
}

// lastMessage finds who wrote last.
func (s *Standing) lastMessage(ctx context.Context, nc *nats.Conn, kept *jetstream.StreamInfo) error {
	state := kept.State
	for seq, seen := state.LastSeq, 0; seq >= max(state.FirstSeq, 1) && seen < mostDeleted; seq, seen = seq-1, seen+1 {
		m, err := leaderMessage(ctx, nc, kept.Config.Name, messageWanted{Seq: seq})
		if errors.Is(err, jetstream.ErrMsgNotFound) { // somebody deleted it
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

// lastOfKinds finds the last record of each kind. Where that is of no frame, as the event of a takeover is, all of frames with a result count as kept.
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
			s.ends[i].n = 0 // of frame At.Frames, below
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

// behind is where the results end: behind the last frame that has all of its. The objects of a frame are kept right before its latents.
func behind(results []At) (at At) {
	for _, r := range results {
		switch {
		case at.Frames == 0, r.Frames > at.Frames+1, r.Frames+1 == at.Frames:
			at = r
		}
	}
	return at
}
