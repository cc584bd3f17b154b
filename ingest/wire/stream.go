package wire

import "fmt"

// maxJump bounds how many frames may be missing between two: more is not loss but a mistake.
const maxJump = 1 << 30

// Frame is a whole frame of a Stream. Bytes are lent until the next Take: raw pixels, Header.size of them, or a PNG file.
type Frame struct {
	Header
	Bytes []byte

	Number  uint64 // counts frames over all sessions, those that got lost included, from 0
	Dropped uint64 // lost right before this one, but for those that a Lost has told of
	Renewed bool   // the first of a session that is not the first
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
type Stream struct {
	session, former string // of the publisher that is followed, and of the one before it
	trajectories    uint64 // what this session's trajectories are counted from
	trajectory      uint64 // the last frame's, so counted
	renewed         bool

	next    uint64 // the least sequence number of this session that is not accounted for
	number  uint64 // of the frame that would have it
	missed  uint64 // sequence numbers passed over since the last frame
	unnamed uint64 // messages lost since then that did not say which frame they were of

	open  bool   // a frame is incomplete
	frame Header // it, as its last message said
	bytes []byte
}

// Take adds a message. frame is not nil where it was the last of its frame. err, a *Lost, may come beside a frame: it is then about an
// earlier one, which this message showed to be incomplete.
func (s *Stream) Take(headers map[string][]string, data []byte) (frame *Frame, err error) {
	h, err := parse(headers)
	if err != nil {
		s.unnamed++
		return nil, &Lost{"bad_message", err}
	}
	if h.Session == s.former && h.Session != s.session {
		return nil, s.late(&h, "frame %d is of a publisher that another has replaced: give each its own subject")
	}
	torn := s.interrupt(&h)
	if h.Session != s.session {
		s.begin(&h)
	}
	frame, err = s.add(&h, data)
	switch {
	case err == nil:
		err = torn
	case torn != nil: // one error at a time: the next frame's Dropped tells of the torn one
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

// begin follows a publisher that has started. A path does not go on across that.
func (s *Stream) begin(h *Header) {
	s.renewed = s.session != ""
	if s.renewed {
		s.trajectories = s.trajectory + 1
	}
	s.former, s.session = s.session, h.Session
	s.next = h.Seq
}

// add takes a message of the session that is followed.
func (s *Stream) add(h *Header, data []byte) (*Frame, error) {
	switch {
	case h.Seq < s.next:
		return nil, s.late(h, "frame %d came late or again: count on, or give each start of the publisher its own Driftscope-Session")
	case h.Seq-s.next > maxJump:
		s.unnamed++
		return nil, &Lost{"bad_message", fmt.Errorf("frame %d follows %d: no camera loses so many, give each start of the publisher its own Driftscope-Session", h.Seq, s.next)}
	case h.Chunk == 0: // also where the publisher sends an incomplete frame again
		s.open, s.bytes = true, s.bytes[:0]
	case !s.open:
		return nil, s.lose(h, "torn_frame", fmt.Errorf("frame %d begins with message %d of %d: those before were lost on the way", h.Seq, h.Chunk+1, h.Chunks))
	case h.Chunk != s.frame.Chunk+1:
		return nil, s.lose(h, "torn_frame", fmt.Errorf("frame %d: message %d of %d follows message %d: some were lost on the way", h.Seq, h.Chunk+1, h.Chunks, s.frame.Chunk+1))
	case !s.frame.agrees(h):
		return nil, s.lose(h, "contradictory_frame", fmt.Errorf("frame %d: the headers of message %d are not those of the one before: two publishers need two subjects", h.Seq, h.Chunk+1))
	}
	s.frame = *h
	if len(data) > h.room()-len(s.bytes) {
		return nil, s.lose(h, "contradictory_frame", fmt.Errorf("frame %d has more than the %d bytes that its headers allow: correct the publisher", h.Seq, h.room()))
	}
	s.bytes = append(s.bytes, data...)
	if h.Chunk+1 < h.Chunks {
		return nil, nil
	}
	if !h.PNG && len(s.bytes) != h.size() {
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

// late tells once a frame of messages that are passed over; format says which with %d.
func (s *Stream) late(h *Header, format string) error {
	if h.Chunk > 0 {
		return nil
	}
	return &Lost{"late_frame", fmt.Errorf(format, h.Seq)}
}
