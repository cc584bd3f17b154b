package wire

import (
	"fmt"
	"math"
	"time"
)

// What a publisher's frames may differ by from one to the next: more is not loss but a mistake.
const (
	maxJump = 1 << 30             // frames
	maxStep = 31 * 24 * time.Hour // by the publisher's clock
)

// How long the publisher that is followed may be silent before another is followed: so many of its frames, within bounds. It is told by
// when messages come, for the times in them are anyone's. The least is longer than a network falters, and shorter than a program takes to
// start again.
const (
	silentFrames  = 4
	leastPatience = 250 * time.Millisecond
	mostPatience  = 30 * time.Second
)

// Frame is a whole frame of a Stream. Bytes are lent until the next Take: raw pixels, Header.size of them, or what Encoding says.
type Frame struct {
	Header
	Bytes []byte

	Number  uint64 // counts frames over all sessions, those that got lost included, from 0
	Dropped uint64 // lost right before this one, but for those that a Lost has counted
	Renewed bool   // the first of a publisher that is not the first, or of one that began anew
}

// Lost says why a message or a whole frame was passed over. Each counts one frame.
type Lost struct {
	Cause string // lower_snake_case
	Err   error
}

func (l *Lost) Error() string { return l.Err.Error() }
func (l *Lost) Unwrap() error { return l.Err }

// Stream puts the messages of one subject together to frames and accounts for every sequence number: the zero value is ready. It keeps
// the memory of one frame. Not safe for concurrent use.
//
// It follows one publisher, and passes over what is not of it or does not go on from its last frame. Anyone may have sent either: so once
// the publisher has been silent for longer than its patience, the stream follows who goes on. That is a frame of another session, or two
// that go on from one another of the same one, for a single one may have been held up.
type Stream struct {
	session      string // of the publisher that is followed; empty before the first
	like         Header // its last message that was taken
	time         time.Time
	trajectories uint64 // what its trajectories are counted from
	trajectory   uint64 // the last frame's, so counted
	renewed      bool

	heard    time.Time     // when a message was last taken
	whole    time.Time     // when a frame of the publisher was last whole; zero before
	interval time.Duration // from one to the next, smoothed; 0 before two
	stray    Header        // of its session, but not going on from its last frame, and the last that came

	next    uint64 // the least sequence number of this session that is not accounted for
	number  uint64 // of the frame that would have it
	missed  uint64 // sequence numbers passed over since the last frame
	unnamed uint64 // messages lost since then that did not say which frame they were of

	open  bool   // a frame is incomplete
	frame Header // it, as its last message said
	bytes []byte
}

// Take adds a message that came at now. frame is not nil where it was the last of its frame. err, a *Lost, may come beside a frame: it is
// then about an earlier one, which this message showed to be incomplete.
func (s *Stream) Take(now time.Time, headers map[string][]string, data []byte) (frame *Frame, err error) {
	h, err := parse(headers)
	if err == nil && h.Seq == math.MaxUint64 {
		err = fmt.Errorf("frame %d has the last number there is: count from 0", h.Seq)
	}
	if err != nil {
		s.unnamed++
		return nil, &Lost{"bad_message", err}
	}
	if now.Before(s.heard) { // the clock by which messages come was set back: silence is measured from here
		s.heard = now
	}
	changes := s.session == "" || !s.continues(&h)
	if changes && s.session != "" && !s.gives(now, &h) {
		return nil, s.pass(&h)
	}
	torn := s.interrupt(&h)
	if changes {
		s.begin(&h)
	}
	frame, err = s.add(&h, data)
	if err == nil {
		s.hear(now, frame)
		err = torn
	} else if torn != nil { // one error at a time: the next frame's Dropped counts the torn one
		s.missed++
	}
	return frame, err
}

// Next is the number of the next frame less its Dropped, if no more are lost before it.
func (s *Stream) Next() uint64 { return s.number - s.missed }

// interrupt gives the incomplete frame up where h is of another.
func (s *Stream) interrupt(h *Header) error {
	if !s.open || h.Session == s.session && h.Seq == s.frame.Seq {
		return nil
	}
	return s.lose(&s.frame, "torn_frame", fmt.Errorf("frame %d ends after %d of its %d messages: the publisher stopped or messages were lost on the way", s.frame.Seq, s.frame.Chunk+1, s.frame.Chunks))
}

// continues says whether h is of the publisher that is followed, and of its frame that is open or a later one.
func (s *Stream) continues(h *Header) bool {
	if h.Session != s.session || s.open && h.Seq == s.frame.Seq {
		return h.Session == s.session
	}
	return h.Seq >= s.next && h.Seq-s.next <= maxJump && h.alike(&s.like) && inTime(s.time, h.Time)
}

// alike says whether two frames have pictures of one size and type.
func (h *Header) alike(other *Header) bool {
	return h.Width == other.Width && h.Height == other.Height && h.Channels == other.Channels && h.Depth == other.Depth
}

// inTime says whether a frame may follow another by their times; zero is no time.
func inTime(before, after time.Time) bool {
	return before.IsZero() || !after.Before(before) && after.Sub(before) <= maxStep
}

// gives says whether h, which does not continue, is to be followed.
func (s *Stream) gives(now time.Time, h *Header) bool {
	if h.Chunk > 0 {
		return false
	}
	if h.Session != s.session {
		return now.Sub(s.heard) > s.patience()
	}
	last := s.stray
	s.stray = *h
	return last.Session != "" && h.Seq > last.Seq && h.Seq-last.Seq <= maxJump && h.alike(&last) && inTime(last.Time, h.Time) &&
		now.Sub(s.heard) > s.patience()
}

// patience is how long the publisher that is followed may be silent.
func (s *Stream) patience() time.Duration {
	return min(max(silentFrames*s.interval, leastPatience), mostPatience)
}

// hear notes that a message was taken, frame being what it made whole.
func (s *Stream) hear(now time.Time, frame *Frame) {
	const smoothing = 8 // frames
	s.heard, s.stray = now, Header{}
	if frame == nil {
		return
	}
	switch last := max(now.Sub(s.whole), 0); { // a clock that was set back says nothing
	case s.whole.IsZero():
	case s.interval == 0:
		s.interval = last
	default:
		s.interval += (last - s.interval) / smoothing
	}
	s.whole = now
}

// begin follows a publisher from h on. A path does not go on across that.
func (s *Stream) begin(h *Header) {
	s.renewed = s.renewed || s.session != ""
	if s.session != "" {
		s.trajectories = s.trajectory + 1
	}
	s.session, s.like, s.time, s.next = h.Session, *h, time.Time{}, h.Seq
	s.whole, s.interval = time.Time{}, 0
}

// add takes a message that continues.
func (s *Stream) add(h *Header, data []byte) (*Frame, error) {
	switch {
	case h.Chunk == 0: // also where the publisher sends an incomplete frame again
		s.open, s.bytes = true, s.bytes[:0]
	case !s.open:
		return nil, s.lose(h, "torn_frame", fmt.Errorf("frame %d begins with message %d of %d: those before were lost on the way", h.Seq, h.Chunk+1, h.Chunks))
	case h.Chunk != s.frame.Chunk+1:
		return nil, s.lose(h, "torn_frame", fmt.Errorf("frame %d: message %d of %d follows message %d: some were lost on the way", h.Seq, h.Chunk+1, h.Chunks, s.frame.Chunk+1))
	case !s.frame.agrees(h):
		return nil, s.lose(h, "contradictory_frame", fmt.Errorf("frame %d: the headers of message %d differ from the message before: give each publisher its own subject", h.Seq, h.Chunk+1))
	}
	s.frame = *h
	if len(data) > h.room()-len(s.bytes) {
		return nil, s.lose(h, "contradictory_frame", fmt.Errorf("frame %d has more than the %d bytes that its headers allow: correct the publisher", h.Seq, h.room()))
	}
	s.bytes = append(s.bytes, data...)
	if h.Chunk+1 < h.Chunks {
		return nil, nil
	}
	if h.Encoding == Raw && len(s.bytes) != h.size() {
		return nil, s.lose(h, "contradictory_frame", fmt.Errorf("frame %d has %d bytes, %d expected from %dx%d pixels of %d channels: correct the publisher", h.Seq, len(s.bytes), h.size(), h.Width, h.Height, h.Channels))
	}
	return s.finish(), nil
}

// agrees says whether next is of the same frame.
func (h *Header) agrees(next *Header) bool {
	same := *h
	same.Chunk = next.Chunk
	return same == *next
}

// finish hands the whole frame out.
func (s *Stream) finish() *Frame {
	s.account(s.frame.Seq)
	s.like, s.time = s.frame, s.frame.Time
	s.trajectory = s.trajectories + s.frame.Trajectory
	f := &Frame{
		Header: s.frame, Bytes: s.bytes, Number: s.number - 1,
		Dropped: s.missed - min(s.missed, s.unnamed), Renewed: s.renewed,
	}
	f.Trajectory = s.trajectory
	s.missed, s.unnamed, s.renewed = 0, 0, false
	return f
}

// account passes over the sequence numbers up to and with seq.
func (s *Stream) account(seq uint64) {
	gap := seq - s.next
	s.missed += gap
	s.number += gap + 1
	s.next = seq + 1
	s.open = false
}

// lose gives up the frame of h.
func (s *Stream) lose(h *Header, cause string, why error) error {
	s.account(h.Seq)
	return &Lost{cause, why}
}

// pass reports, once a frame, messages that are passed over: what of h does not go on from the publisher's last frame.
func (s *Stream) pass(h *Header) error {
	if h.Chunk > 0 {
		return nil
	}
	cause, why := s.strange(h)
	if cause != "late_frame" && cause != "second_publisher" {
		s.unnamed++ // it may have been one of those that are missed
	}
	return &Lost{cause, why}
}

// strange says why h does not continue.
func (s *Stream) strange(h *Header) (cause string, why error) {
	switch last := &s.like; {
	case h.Session != s.session:
		return "second_publisher", fmt.Errorf("frame %d has session %q while session %q continues: give each publisher its own subject", h.Seq, h.Session, s.session)
	case h.Seq < s.next:
		return "late_frame", fmt.Errorf("frame %d came late or again: count on, or give each start of the publisher its own Driftscope-Session", h.Seq)
	case h.Seq-s.next > maxJump:
		return "bad_message", fmt.Errorf("frame %d follows %d: no camera loses so many, give each start of the publisher its own Driftscope-Session", h.Seq, s.next)
	case h.Width != last.Width || h.Height != last.Height:
		return "size_changed", fmt.Errorf("frame %d is %dx%d pixels, %dx%d expected as before: give pictures of one size", h.Seq, h.Width, h.Height, last.Width, last.Height)
	case !h.alike(last):
		return "type_changed", fmt.Errorf("frame %d has %d channels of %s, %d of %s expected as before: give pictures of one type", h.Seq, h.Channels, pixelTypes[h.Depth], last.Channels, pixelTypes[last.Depth])
	}
	return "bad_message", fmt.Errorf("frame %d was taken at %s, the one before it at %s: check the publisher's clock", h.Seq, h.Time.Format(time.RFC3339Nano), s.time.Format(time.RFC3339Nano))
}

// Resume has an empty Stream go on behind a frame, of which it is given the last message and when that came. What is no frame's last message
// changes nothing, and false is returned.
func (s *Stream) Resume(at time.Time, headers map[string][]string) bool {
	h, err := parse(headers)
	if err != nil || h.Chunk+1 != h.Chunks || h.Seq == math.MaxUint64 {
		return false
	}
	s.begin(&h)
	s.next, s.time, s.trajectory, s.heard = h.Seq+1, h.Time, h.Trajectory, at
	return true
}
