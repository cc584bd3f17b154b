package child

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"driftscope/ingest/picture"
	"driftscope/internal/flow/frame"
)

// The format of the messages from child to parent: a header of fixed length, a note of at most maxNote bytes, and for a frame the pixels as in the Mat's
// memory. Both processes run the same program on the same machine. The version detects that the program's file was replaced while it ran.
const (
	wireVersion = 1
	maxNote     = 64 << 10
)

var wireMagic = [4]byte{'D', 'S', 'C', 'F'}

// The types of a message.
const (
	wireOpened  = iota + 1 // the source is open; Seq is the number of frames, 0 if unknown
	wireFrame              // a frame; its note is empty or a frameNote
	wireSkipped            // a lost frame: *pipeline.ErrSkip; the note is a frameNote
	wireEnded              // io.EOF
	wireLost               // pipeline.ErrNotConnected; the note is the text of the error
	wireFailed             // any other error; the note is the text of the error
)

// The flags of wireOpened.
const (
	flagLive = 1 << iota
	flagTimed
)

// header begins every message. Its fields are sent little-endian, in this order.
type header struct {
	Magic         [4]byte
	Version       uint16
	What          uint8
	Flags         uint8
	Rows, Columns uint32
	Type          uint32 // OpenCV type
	Note          uint32 // bytes
	Seq           uint64
	Time          int64 // acquisition, nanoseconds since the Unix epoch
	Arrived       int64 // on the machine's monotonic clock, which parent and child share
	Dropped       uint64
	Trajectory    uint64
}

// frameNote holds the fields of a frame that are seldom set, as JSON.
type frameNote struct {
	File     string        `json:"file,omitempty"`
	Events   []frame.Event `json:"events,omitempty"`
	Centroid []float64     `json:"centroid,omitempty"`
	Cause    string        `json:"cause,omitempty"` // of wireSkipped
	Text     string        `json:"text,omitempty"`
}

// messageWriter writes messages and reuses its memory.
type messageWriter struct {
	to  io.Writer
	buf []byte
}

// message writes a message without pixels.
func (w *messageWriter) message(h header, note []byte) error {
	if len(note) > maxNote {
		note = note[:maxNote]
	}
	h.Magic, h.Version, h.Note = wireMagic, wireVersion, uint32(len(note))
	var err error
	if w.buf, err = binary.Append(w.buf[:0], binary.LittleEndian, &h); err != nil {
		return err
	}
	w.buf = append(w.buf, note...)
	_, err = w.to.Write(w.buf)
	return err
}

// frame writes a frame. The caller keeps the frame.
func (w *messageWriter) frame(f *frame.Frame) error {
	mat := f.Mat()
	if err := picture.CheckSize(mat.Cols(), mat.Rows(), mat.ElemSize()); err != nil {
		return err
	}
	if picture.PixelBytes(uint32(mat.Type())) == 0 {
		return fmt.Errorf("the frame has %s, 1 or 3 channels of 8 or 16 bits unsigned or float32 expected: choose another pixel format", picture.TypeName(int(mat.Type())))
	}
	data, err := mat.DataPtrUint8()
	if err != nil {
		return err
	}
	var note []byte
	if f.Meta.File != "" || len(f.Meta.Events) > 0 || len(f.Meta.Centroid) > 0 {
		if note, err = json.Marshal(frameNote{File: f.Meta.File, Events: f.Meta.Events, Centroid: f.Meta.Centroid}); err != nil {
			return err
		}
	}
	if len(note) > maxNote {
		return fmt.Errorf("frame %d has %d bytes of notices, at most %d expected", f.Seq, len(note), maxNote)
	}
	if err := w.message(header{
		What: wireFrame, Rows: uint32(mat.Rows()), Columns: uint32(mat.Cols()), Type: uint32(mat.Type()), Seq: f.Seq,
		Time: f.Time.UnixNano(), Arrived: monotonic() - int64(time.Since(f.Meta.Arrived)), Dropped: f.Meta.Dropped, Trajectory: f.Meta.Trajectory,
	}, note); err != nil {
		return err
	}
	_, err = w.to.Write(data)
	return err
}

// messageReader reads messages and reuses its memory.
type messageReader struct {
	from   io.Reader
	within bool // part of a message was read
	buf    [headerBytes]byte
	note   []byte
}

const headerBytes = 4 + 2 + 1 + 1 + 4*4 + 5*8

// next reads the header and note of a message. The note is valid until the next call. It returns io.EOF if the stream ends
// between messages, io.ErrUnexpectedEOF if it ends within one.
func (r *messageReader) next() (header, []byte, error) {
	var h header
	n, err := io.ReadFull(r.from, r.buf[:])
	r.within = n > 0
	if err != nil {
		return h, nil, err
	}
	if _, err := binary.Decode(r.buf[:], binary.LittleEndian, &h); err != nil {
		return h, nil, err
	}
	if err := h.check(); err != nil {
		return h, nil, err
	}
	if cap(r.note) < int(h.Note) {
		r.note = make([]byte, h.Note)
	}
	note := r.note[:h.Note]
	if _, err := io.ReadFull(r.from, note); err != nil {
		return h, nil, torn(err)
	}
	r.within = h.What == wireFrame
	return h, note, nil
}

// check bounds the sizes of a header before anything is allocated.
func (h *header) check() error {
	switch {
	case h.Magic != wireMagic:
		return fmt.Errorf("a message begins with %q, %q expected", h.Magic[:], wireMagic[:])
	case h.Version != wireVersion:
		return fmt.Errorf("messages have version %d, %d expected: the program was replaced while it ran, so start it again", h.Version, wireVersion)
	case h.What < wireOpened || h.What > wireFailed:
		return fmt.Errorf("a message has kind %d, expected %d to %d", h.What, wireOpened, wireFailed)
	case h.Note > maxNote:
		return fmt.Errorf("a note has %d bytes, at most %d expected", h.Note, maxNote)
	case h.What != wireFrame:
		return nil
	case picture.PixelBytes(h.Type) == 0:
		return fmt.Errorf("pixels have type %d, 1 or 3 channels of 8 or 16 bits unsigned or float32 expected", h.Type)
	}
	return picture.CheckSize(int(h.Columns), int(h.Rows), picture.PixelBytes(h.Type))
}

// frame reads the pixels that h announces and returns a frame, which the caller owns.
func (r *messageReader) frame(h header, note []byte) (*frame.Frame, error) {
	var n frameNote
	if len(note) > 0 {
		if err := json.Unmarshal(note, &n); err != nil {
			return nil, fmt.Errorf("the note of frame %d cannot be decoded: %w", h.Seq, err)
		}
	}
	mat := frame.NewMatWithSize(int(h.Rows), int(h.Columns), frame.MatType(h.Type))
	data, err := mat.DataPtrUint8()
	if err == nil {
		_, err = io.ReadFull(r.from, data)
	}
	if err != nil {
		mat.Close()
		return nil, torn(err)
	}
	r.within = false
	arrived := time.Now()
	if age := time.Duration(monotonic() - h.Arrived); age > 0 {
		arrived = arrived.Add(-age)
	}
	return frame.New(h.Seq, time.Unix(0, h.Time).UTC(), frame.Meta{
		File: n.File, Trajectory: h.Trajectory, Dropped: h.Dropped, Arrived: arrived, Events: n.Events, Centroid: n.Centroid,
	}, mat), nil
}

// torn replaces io.EOF by io.ErrUnexpectedEOF, because the stream ended within a message, and returns other errors unchanged.
func torn(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
