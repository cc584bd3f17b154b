package natsink

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/bus"
	"driftscope/internal/latent"
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
	tally tally  // of the last frame of which something is kept
	told  bool   // there is one
}

// tally counts the records of one frame by their kind: records are known by frame, kind and number. Frames never go back: a message about an earlier one
// counts to the frame during which it was made.
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

// has says whether a record is kept already.
func (s *Standing) has(kind latent.Kind, t *tally, number uint32) bool {
	switch {
	case !s.told || t.frame > s.tally.frame:
		return false
	case t.frame < s.tally.frame && (kind == latent.KindLatent || kind == latent.KindObjects):
		return t.frame < s.At.Frames // a run that was stopped may have told of a later frame than its last result's, as its last law does
	case t.frame < s.tally.frame:
		return true
	}
	for i, k := range tallied {
		if k == kind {
			return number < s.tally.n[i]
		}
	}
	return false
}

// identity of a record of a durable frame: the same whoever makes it.
func recordID(frame uint64, kind latent.Kind, number uint32, sequence uint64) string {
	return fmt.Sprintf("f%d-%s-%d-%d", frame, kind, number, sequence)
}

// readID reads what recordID wrote; ok is false for any other identity.
func readID(id string) (frame uint64, kind latent.Kind, at uint64, ok bool) {
	parts := strings.Split(strings.TrimPrefix(id, "f"), "-")
	if len(parts) != 4 || !strings.HasPrefix(id, "f") {
		return 0, "", 0, false
	}
	frame, err1 := strconv.ParseUint(parts[0], 10, 64)
	at, err2 := strconv.ParseUint(parts[3], 10, 64)
	return frame, latent.Kind(parts[1]), at, err1 == nil && err2 == nil
}

// Bounds on the records that are looked at: those of one frame, and those that are of none, as of a run without a lease.
const (
	mostTold    = 4096
	mostUnnamed = 64
)

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
	if err := s.lastFrame(ctx, b.NATS(), kept.CachedInfo()); err != nil {
		return s, err
	}
	return s, s.lastLatent(ctx, b.NATS(), subject)
}

// lastFrame counts the records of the last frame.
func (s *Standing) lastFrame(ctx context.Context, nc *nats.Conn, kept *jetstream.StreamInfo) error {
	state := kept.State
	unnamed := 0
	for seq, seen := state.LastSeq, 0; seq >= max(state.FirstSeq, 1) && seen < mostTold && unnamed < mostUnnamed; seq, seen = seq-1, seen+1 {
		m, err := leaderMessage(ctx, nc, kept.Config.Name, messageWanted{Seq: seq})
		if errors.Is(err, jetstream.ErrMsgNotFound) { // somebody deleted it
			continue
		}
		if err != nil {
			return fmt.Errorf("message %d of %s: %w: try again", seq, kept.Config.Name, err)
		}
		id := m.Header.Get(jetstream.MsgIDHeader)
		frame, kind, _, ok := readID(id)
		if s.last == "" {
			s.last = id
			s.Epoch, _ = strconv.ParseUint(m.Header.Get(epochHeader), 10, 64)
		}
		if !ok {
			unnamed++
			continue
		}
		if !s.told {
			s.told, s.tally.frame = true, frame
		}
		if frame != s.tally.frame {
			return nil
		}
		for i, k := range tallied {
			if k == kind {
				s.tally.n[i]++
			}
		}
	}
	return nil
}

// lastLatent finds the last frame of which the latent, or the objects, are kept.
func (s *Standing) lastLatent(ctx context.Context, nc *nats.Conn, subject bus.Subject) error {
	for _, kind := range []latent.Kind{latent.KindLatent, latent.KindObjects} {
		m, err := leaderMessage(ctx, nc, subject.Name(), messageWanted{Last: subject.Of("kept." + string(kind))})
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("the last %s of %s: %w: try again", kind, subject.Name(), err)
		}
		if frame, _, at, ok := readID(m.Header.Get(jetstream.MsgIDHeader)); ok && frame+1 > s.At.Frames {
			s.At = At{Sequence: at, Frames: frame + 1}
		}
	}
	return nil
}
