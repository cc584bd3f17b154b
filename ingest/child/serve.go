package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"driftscope/internal/flow/pipeline"
	"driftscope/internal/kit/system"
)

// maxOrder bounds the line that names the source to open, in bytes.
const maxOrder = 64 << 10

// Kinds makes the source of a kind, from options that decode fills.
type Kinds = func(kind string, decode func(dst any) error) (pipeline.Source, error)

// ServeProcess is Serve for a process that a source has started: the order comes on standard input, frames go to system.ChildOutput.
func ServeProcess(ctx context.Context, kinds Kinds) error {
	return Serve(ctx, os.Stdin, system.ChildOutput(), kinds)
}

// Serve does all the work of a child. It reads one line from in, makes the named source with kinds, opens it, and then writes a frame to out for each further
// byte of in. It returns when in ends, because the parent has finished or died, or when out fails, even while the source hangs. The formats of in and out may
// differ between builds.
func Serve(ctx context.Context, in io.Reader, out io.Writer, kinds Kinds) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	commands := bufio.NewReaderSize(in, maxOrder)
	source, err := ordered(commands, kinds)
	if err != nil {
		return fmt.Errorf("capture: %w: only driftscope itself starts this command, use driftscope run", err)
	}
	c := &handover{source: source, out: messageWriter{to: out}, waiting: newWaiting(), asked: make(chan struct{}, 1), opened: make(chan error, 1), closed: make(chan struct{})}
	go c.listen(commands, cancel)
	go c.read(ctx)
	err = c.serve(ctx)
	cancel()
	select {
	case <-c.closed:
	case <-time.After(system.Grace / 2):
	}
	c.waiting.drain()
	return err
}

// ordered makes the source that the parent's first line names.
func ordered(in *bufio.Reader, kinds Kinds) (pipeline.Source, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("the first line is not an order of at most %d bytes: %w", maxOrder, err)
	}
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return nil, fmt.Errorf("order: %w", err)
	}
	source, err := kinds(o.Kind, func(dst any) error {
		d := json.NewDecoder(bytes.NewReader(o.Options))
		d.DisallowUnknownFields()
		return d.Decode(dst)
	})
	if err != nil {
		return nil, err
	}
	s, ok := source.(*Source)
	if !ok {
		return nil, fmt.Errorf("source kind %q does not run in a child process", o.Kind)
	}
	return s.prototype, nil
}

// handover passes the frames of a source to the parent. One goroutine opens, reads and closes the source, a second reads the parent's requests, and a third
// writes.
type handover struct {
	source  pipeline.Source
	about   header // the source's properties, once it is open
	out     messageWriter
	waiting *waiting
	asked   chan struct{} // the parent requests a frame
	opened  chan error
	closed  chan struct{}
}

// listen forwards the parent's requests, and cancels all work when the requests end.
func (c *handover) listen(in io.ByteReader, cancel context.CancelFunc) {
	defer cancel()
	for {
		if _, err := in.ReadByte(); err != nil {
			return
		}
		select {
		case c.asked <- struct{}{}:
		default: // a request is pending already; the parent waits for each answer
		}
	}
}

// read opens the source, reads it until it ends, and closes it.
func (c *handover) read(ctx context.Context) {
	defer close(c.closed)
	defer c.source.Close()
	err := c.source.Open(ctx)
	c.about = announce(c.source)
	c.waiting.live = c.about.Flags&flagLive != 0
	c.opened <- err
	if err != nil {
		return
	}
	for {
		f, err := c.source.Read(ctx)
		if f != nil && f.Meta.Arrived.IsZero() {
			f.Meta.Arrived = time.Now()
		}
		if !c.waiting.put(ctx, item{f, err}) {
			return
		}
		var skip *pipeline.ErrSkip
		if err != nil && !errors.As(err, &skip) {
			return
		}
	}
}

// announce returns a header with the source's properties: live, timed, and the number of frames.
func announce(source pipeline.Source) header {
	info := source.Info()
	h := header{What: wireOpened, Seq: uint64(max(info.Frames, 0))}
	if info.Live {
		h.Flags |= flagLive
	}
	if info.Timed {
		h.Flags |= flagTimed
	}
	return h
}

// serve sends the parent a message when the source is open, and answers its requests until ctx ends.
func (c *handover) serve(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-c.opened:
		if err != nil {
			return c.out.message(header{What: wireFailed}, []byte(err.Error()))
		}
		if err := c.out.message(c.about, nil); err != nil {
			return err
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.asked:
		}
		i, ok := c.waiting.take(ctx)
		if !ok {
			return nil
		}
		if err := c.send(i); err != nil {
			return err
		}
	}
}

// send writes the result of one Read.
func (c *handover) send(i item) error {
	if i.frame != nil {
		defer i.frame.Close()
		if err := c.out.frame(i.frame); err != nil {
			return c.out.message(header{What: wireFailed}, []byte(err.Error()))
		}
		return nil
	}
	var skip *pipeline.ErrSkip
	switch err := i.err; {
	case errors.As(err, &skip):
		text := skip.Error()
		note, err := json.Marshal(frameNote{Cause: skip.Cause, Text: text[:min(len(text), maxNote/8)]})
		if err != nil {
			return err
		}
		return c.out.message(header{What: wireSkipped}, note)
	case errors.Is(err, io.EOF):
		return c.out.message(header{What: wireEnded}, nil)
	case errors.Is(err, pipeline.ErrNotConnected):
		text := strings.TrimSuffix(err.Error(), ": "+pipeline.ErrNotConnected.Error()) // the parent appends this text itself
		return c.out.message(header{What: wireLost}, []byte(text))
	default:
		return c.out.message(header{What: wireFailed}, []byte(err.Error()))
	}
}
