package wire

import (
	"fmt"
	"math"
	"time"
)

// Largest differences between consecutive frames of a publisher. A larger difference counts as an error, not as lost frames.
const (
	maxJump = 1 << 30             // frames
	maxStep = 31 * 24 * time.Hour // by the publisher's clock
)

// Limits on the silence of the followed publisher. After it, the stream follows another publisher. The limit is a number of frame intervals, within bounds.
// Silence is measured by arrival, because anyone can forge the times in messages. The lower bound is longer than a short network interruption, and shorter than
// a program's restart.
const (
	silentFrames  = 4
	leastPatience = 250 * time.Millisecond
	mostPatience  = 30 * time.Second
)

// Frame is a whole frame of a Stream. Bytes are valid until the next Take: Header.size raw pixel bytes, or the encoded form.
type Frame struct {
	Header
	Bytes []byte

	Number  uint64 // counts frames over all sessions from 0, including lost ones
	Dropped uint64 // frames lost directly before this one, without frames counted by a Lost
	Renewed bool   // first frame of a later publisher or of a restarted one
}

// Lost is the error of a dropped message or frame. Each Lost counts as one frame.
type Lost struct {
	Cause string // lower_snake_case
	Err   error
}

func (l *Lost) Error() string { return l.Err.Error() }
func (l *Lost) Unwrap() error { return l.Err }

// Stream assembles frames from the messages of one subject and accounts for every sequence number. The zero value is ready.
// It keeps the memory of one frame. Not safe for concurrent use.
//
// It follows one publisher. It drops messages of other publishers, and messages that do not continue the last frame. Anyone may send such messages. If the
// publisher is silent for longer than patience, the stream follows another sender: the sender of a frame of another session, or of two consecutive frames of
// the same session, because a single frame may be a delayed message.
type Stream struct {
	session      string // of the followed publisher; empty before the first
	like         Header // last accepted message of the publisher
	time         time.Time
	trajectories uint64 // number added to the publisher's trajectory numbers
	trajectory   uint64 // trajectory of the last frame, including trajectories
	renewed      bool

	heard    time.Time     // time of the last accepted message
	whole    time.Time     // time of the publisher's last whole frame; zero before
	interval time.Duration // smoothed frame interval; 0 before two frames
	stray    Header        // last message of the session that did not continue the last frame

	next    uint64 // smallest sequence number of the session that is not accounted for
	number  uint64 // frame number of next
	missed  uint64 // sequence numbers skipped since the last frame
	unnamed uint64 // lost messages without a frame number since the last frame

	open  bool   // a frame is incomplete
	frame Header // header of the incomplete frame, from its last message
	bytes []byte
}

// Take adds a message that arrived at now. frame is not nil if the message completes a frame. err, a *Lost, may accompany a frame. It then concerns an earlier
// frame, which this message shows to be incomplete.
func (s *Stream) Take(now time.Time, headers map[string][]string, data []byte) (frame *Frame, err error) {
	h, err := parse(headers)
	if err == nil && h.Seq == math.MaxUint64 {
		err = fmt.Errorf("frame %d has the largest possible number: count from 0", h.Seq)
	}
	if err != nil {
		s.unnamed++
		return nil, &Lost{"bad_message", err}
	}
	if now.Before(s.heard) { // the arrival clock was set back, so measure silence from here
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
	} else if torn != nil { // return one error at a time; Dropped of the next frame counts the torn frame
		s.missed++
	}
	return frame, err
}

// Next returns the next frame's number minus its Dropped, if no more frames are lost before it.
func (s *Stream) Next() uint64 { return s.number - s.missed }

// interrupt drops the incomplete frame if h belongs to another frame.
func (s *Stream) interrupt(h *Header) error {
	if !s.open || h.Session == s.session && h.Seq == s.frame.Seq {
		return nil
	}
	return s.lose(&s.frame, "torn_frame", fmt.Errorf("frame %d ends after %d of its %d messages, because the publisher stopped or messages were lost on the way", s.frame.Seq, s.frame.Chunk+1, s.frame.Chunks))
}

// continues reports whether h belongs to the followed publisher and to its incomplete frame or a later frame.
func (s *Stream) continues(h *Header) bool {
	if h.Session != s.session || s.open && h.Seq == s.frame.Seq {
		return h.Session == s.session
	}
	return h.Seq >= s.next && h.Seq-s.next <= maxJump && h.alike(&s.like) && inTime(s.time, h.Time)
}

// alike reports whether two frames have the same size and type.
func (h *Header) alike(other *Header) bool {
	return h.Width == other.Width && h.Height == other.Height && h.Channels == other.Channels && h.Depth == other.Depth
}

// inTime reports whether a frame taken at after may follow a frame taken at before. A zero time is unknown.
func inTime(before, after time.Time) bool {
	return before.IsZero() || !after.Before(before) && after.Sub(before) <= maxStep
}

// gives reports whether to follow the sender of h, which does not continue the stream.
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

// patience returns the time for which the followed publisher may be silent.
func (s *Stream) patience() time.Duration {
	return min(max(silentFrames*s.interval, leastPatience), mostPatience)
}

// hear records an accepted message and the frame it completed, if any.
func (s *Stream) hear(now time.Time, frame *Frame) {
	const smoothing = 8 // frames
	s.heard, s.stray = now, Header{}
	if frame == nil {
		return
	}
	switch last := max(now.Sub(s.whole), 0); { // nothing follows from a clock that was set back
	case s.whole.IsZero():
	case s.interval == 0:
		s.interval = last
	default:
		s.interval += (last - s.interval) / smoothing
	}
	s.whole = now
}

// begin follows a publisher from h on and starts a new path.
func (s *Stream) begin(h *Header) {
	s.renewed = s.renewed || s.session != ""
	if s.session != "" {
		s.trajectories = s.trajectory + 1
	}
	s.session, s.like, s.time, s.next = h.Session, *h, time.Time{}, h.Seq
	s.whole, s.interval = time.Time{}, 0
}

// add takes a message that continues the stream.
func (s *Stream) add(h *Header, data []byte) (*Frame, error) {
	switch {
	case h.Chunk == 0: // also when the publisher sends an incomplete frame again
		s.open, s.bytes = true, s.bytes[:0]
	case !s.open:
		return nil, s.lose(h, "torn_frame", fmt.Errorf("frame %d begins with message %d of %d, because earlier messages were lost on the way", h.Seq, h.Chunk+1, h.Chunks))
	case h.Chunk != s.frame.Chunk+1:
		return nil, s.lose(h, "torn_frame", fmt.Errorf("frame %d: message %d of %d follows message %d, because messages between them were lost on the way", h.Seq, h.Chunk+1, h.Chunks, s.frame.Chunk+1))
	case !s.frame.agrees(h):
		return nil, s.lose(h, "contradictory_frame", fmt.Errorf("frame %d: the headers of message %d differ from the previous message's: give each publisher its own subject", h.Seq, h.Chunk+1))
	}
	s.frame = *h
	if len(data) > h.room()-len(s.bytes) {
		return nil, s.lose(h, "contradictory_frame", fmt.Errorf("frame %d has more bytes than %d, the largest number for its headers: correct the publisher", h.Seq, h.room()))
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

// agrees reports whether next belongs to the same frame.
func (h *Header) agrees(next *Header) bool {
	same := *h
	same.Chunk = next.Chunk
	return same == *next
}

// finish returns the whole frame.
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

// account counts the sequence numbers up to and including seq as accounted for.
func (s *Stream) account(seq uint64) {
	gap := seq - s.next
	s.missed += gap
	s.number += gap + 1
	s.next = seq + 1
	s.open = false
}

// lose drops the frame of h.
func (s *Stream) lose(h *Header, cause string, why error) error {
	s.account(h.Seq)
	return &Lost{cause, why}
}

// pass drops a message that does not continue the publisher's last frame, and returns a Lost once per frame.
func (s *Stream) pass(h *Header) error {
	if h.Chunk > 0 {
		return nil
	}
	cause, why := s.strange(h)
	if cause != "late_frame" && cause != "second_publisher" {
		s.unnamed++ // it may be one of the missing ones
	}
	return &Lost{cause, why}
}

// strange returns the cause and the reason why h does not continue the stream.
func (s *Stream) strange(h *Header) (cause string, why error) {
	switch last := &s.like; {
	case h.Session != s.session:
		return "second_publisher", fmt.Errorf("frame %d has session %q, but session %q is still sending: give each publisher its own subject", h.Seq, h.Session, s.session)
	case h.Seq < s.next:
		return "late_frame", fmt.Errorf("frame %d arrived late or twice: continue the numbers, or give each start of the publisher its own Driftscope-Session", h.Seq)
	case h.Seq-s.next > maxJump:
		return "bad_message", fmt.Errorf("frame %d arrived when %d was next, more than any camera loses: give each start of the publisher its own Driftscope-Session", h.Seq, s.next)
	case h.Width != last.Width || h.Height != last.Height:
		return "size_changed", fmt.Errorf("frame %d has %dx%d pixels, but earlier frames had %dx%d: send pictures of one size", h.Seq, h.Width, h.Height, last.Width, last.Height)
	case !h.alike(last):
		return "type_changed", fmt.Errorf("frame %d has %d channels of %s, but earlier frames had %d of %s: send pictures of one type", h.Seq, h.Channels, pixelTypes[h.Depth], last.Channels, pixelTypes[last.Depth])
	}
	return "bad_message", fmt.Errorf("frame %d was taken at %s, and the previous frame at %s: check the publisher's clock", h.Seq, h.Time.Format(time.RFC3339Nano), s.time.Format(time.RFC3339Nano))
}

// Resume makes an empty Stream continue after a frame. headers are the headers of the frame's last message, which arrived at at. It returns false and changes
// nothing if this is not the last message of a frame.
func (s *Stream) Resume(at time.Time, headers map[string][]string) bool {
	h, err := parse(headers)
	if err != nil || h.Chunk+1 != h.Chunks || h.Seq == math.MaxUint64 {
		return false
	}
	s.begin(&h)
	s.next, s.time, s.trajectory, s.heard = h.Seq+1, h.Time, h.Trajectory, at
	return true
}
