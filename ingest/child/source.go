package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/kit/system"
)

// Source is a source that runs in a child process of this program. The parent kills a child that hangs in a driver, and an abort ends only the child. The
// options are checked in the parent process, with a prototype that is never opened.
type Source struct {
	order     order
	prototype pipeline.Source
	about     header // properties of the prototype; after Open, of the child's source
	child     *system.Child
	wire      messageReader
	ended     error // result of every further Read
	asked     bool  // a frame was requested and has not arrived yet
}

// order is the message that names the source that the child must open.
type order struct {
	Kind    string          `json:"kind"`
	Options json.RawMessage `json:"options"` // as decoded by the constructor, with the Go names of the fields as keys
}

// Command is the name of the hidden command that calls ServeProcess.
const Command = "capture"

// Constructor makes one kind of source from its options. decode is strict: an unknown key is an error.
type Constructor = func(decode func(dst any) error) (pipeline.Source, error)

// Apart returns a constructor whose sources run in a child process. kind is the name with which the child makes the source.
func Apart(kind string, construct Constructor) Constructor {
	return func(decode func(dst any) error) (pipeline.Source, error) {
		s := &Source{order: order{Kind: kind}}
		prototype, err := construct(func(dst any) (err error) {
			if err = decode(dst); err != nil {
				return err
			}
			s.order.Options, err = json.Marshal(dst)
			return err
		})
		if err != nil {
			return nil, err
		}
		s.prototype, s.about = prototype, announce(prototype)
		return s, nil
	}
}

// Info returns the properties of the child's source, or of the prototype before Open.
func (s *Source) Info() pipeline.Info {
	return pipeline.Info{Live: s.about.Flags&flagLive != 0, Timed: s.about.Flags&flagTimed != 0, Frames: int(s.about.Seq)}
}

// Open starts the child and waits until its source is open. When ctx ends first, the child is killed.
func (s *Source) Open(ctx context.Context) (err error) {
	s.ended, s.asked = nil, false
	if s.child, err = startChild(s.order); err != nil {
		return fmt.Errorf("source %s: its process cannot be started: %w", s.order.Kind, err)
	}
	s.wire = messageReader{from: s.child.Output, note: s.wire.note}
	stop := s.interrupt(ctx)
	err = s.hello()
	stop()
	switch {
	case ctx.Err() != nil:
		s.child.Kill()
		return ctx.Err()
	case err != nil:
		s.child.Close()
	}
	return err
}

// startChild starts a process that reads one source. Its standard input receives the order as one line, and then one byte per requested frame.
func startChild(o order) (*system.Child, error) {
	line, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	c, err := system.StartChild(Command)
	if err != nil {
		return nil, err
	}
	if _, err := c.Input.Write(append(line, '\n')); err != nil {
		c.Kill()
		return nil, errors.New(c.Fate())
	}
	return c, nil
}

// hello waits until the child's source is open.
func (s *Source) hello() error {
	h, note, err := s.wire.next()
	switch {
	case err != nil:
		return s.broken(err)
	case h.What == wireOpened:
		s.about = h
		return nil
	case h.What == wireFailed:
		return errors.New(string(note))
	}
	return s.broken(fmt.Errorf("a message of kind %d arrived before the source was open", h.What))
}

// Read requests a frame from the child and waits for it. If the child died, Read returns ErrNotConnected with the child's last output. If ctx ends while a
// frame is arriving, the rest of the frame is lost, and the source must be opened again.
func (s *Source) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.ended != nil {
		return nil, s.ended
	}
	if !s.asked {
		s.asked = true
		s.child.Input.Write([]byte{'\n'}) // if this fails the child has ended, and reading its answer gives the reason
	}
	stop := s.interrupt(ctx)
	f, err := s.answer()
	stop()
	var skip *pipeline.ErrSkip
	switch {
	case err == nil, errors.As(err, &skip):
		s.asked = false
	case errors.Is(err, os.ErrDeadlineExceeded):
		if s.wire.within {
			s.ended = fmt.Errorf("%s: reading was cancelled while a frame was arriving: %w", s.order.Kind, pipeline.ErrNotConnected)
		}
		err = ctx.Err()
	default:
		s.ended = err
	}
	return f, err
}

// answer reads the next message and returns it as the result of Read.
func (s *Source) answer() (*frame.Frame, error) {
	h, note, err := s.wire.next()
	if err != nil {
		return nil, s.broken(err)
	}
	switch h.What {
	case wireFrame:
		f, err := s.wire.frame(h, note)
		if err != nil {
			return nil, s.broken(err)
		}
		return f, nil
	case wireSkipped:
		var n frameNote
		if err := json.Unmarshal(note, &n); err != nil {
			return nil, s.broken(err)
		}
		return nil, &pipeline.ErrSkip{Cause: n.Cause, Err: errors.New(n.Text)}
	case wireEnded:
		return nil, io.EOF
	case wireLost:
		return nil, fmt.Errorf("%s: %w", note, pipeline.ErrNotConnected)
	case wireFailed:
		return nil, errors.New(string(note))
	}
	return nil, s.broken(fmt.Errorf("a message of kind %d arrived, a frame expected", h.What))
}

// broken returns the reason for the end of messages: the child ended, or a message could not be decoded.
func (s *Source) broken(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: its process ended: %s: %w", s.order.Kind, s.child.Fate(), pipeline.ErrNotConnected)
	}
	return fmt.Errorf("%s: its process sent an unknown message: %w: %w", s.order.Kind, err, pipeline.ErrNotConnected)
}

// interrupt ends a wait for the child when ctx ends, until stop is called.
func (s *Source) interrupt(ctx context.Context) (stop func()) {
	pipe, done := s.child.Output, make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		pipe.SetReadDeadline(time.Unix(1, 0))
		close(done)
	})
	return func() {
		if !forget() {
			<-done
			pipe.SetReadDeadline(time.Time{})
		}
	}
}

// Close makes the child close its source and end, and kills the child if it takes too long.
func (s *Source) Close() error {
	if s.child != nil {
		s.child.Close()
		s.child = nil
	}
	return nil
}
