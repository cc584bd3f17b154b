package natsource

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"time"

	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/ingest/wire"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// assembly makes frames from a subject's messages.
type assembly struct {
	options natsOptions
	clock   timing.Clock
	stream  wire.Stream
	zstd    wire.Unpacker

	first    uint64      // sequence number in the stream that counts as 0 since Open
	at       time.Time   // arrival of the last message
	place    uint64      // its sequence number in a durable stream; 0 in a live one
	held     *wire.Frame // complete frame that waits because the error of an earlier frame had to be returned first
	dropped  uint64      // frames lost since the last one returned
	renewed  int         // publisher changes since the last event that reported them
	notified time.Time   // time of the last event about publisher changes
}

// again returns the assembly for a repeated Open of the source. It follows the same publisher and counts frames from 0.
func (a *assembly) again() assembly {
	return assembly{
		options: a.options, clock: timing.OwnTimes(), stream: a.stream, first: a.stream.Next() - a.dropped,
		place: a.place, dropped: a.dropped, renewed: a.renewed, notified: a.notified,
	}
}

// take adds a message that arrived at the given time. It stores a completed frame in held. The error is a *pipeline.ErrSkip.
func (a *assembly) take(at time.Time, headers map[string][]string, data []byte) (err error) {
	a.at = at
	a.held, err = a.stream.Take(at, headers, data)
	var lost *wire.Lost
	if errors.As(err, &lost) {
		return a.lost(lost.Cause, lost.Err)
	}
	return nil
}

// give makes a frame of the held picture.
func (a *assembly) give() (*frame.Frame, error) {
	whole := a.held
	a.held = nil
	a.clock.Renumber(whole.Number - a.first)
	a.dropped += whole.Dropped
	if whole.Renewed {
		a.renewed++
		a.clock.Refit() // pictures may change size and type
	}
	meta := frame.Meta{File: a.options.Subject, Trajectory: whole.Trajectory, Dropped: a.dropped, Place: a.place}
	mat, cause, err := frame.Mat{}, "bad_message", error(nil)
	switch given := whole.Encoding == wire.Places; {
	case given && !a.options.Places:
		err = errors.New("the message contains positions, but a picture was expected: start run with --places")
	case a.options.Places && !given:
		err = errors.New("the message contains a picture, but positions were expected: leave out --places and the option places")
	case given:
		if meta.Places, err = toPlaces(whole); err == nil {
			mat = frame.NewMat()
		}
	default:
		cause = "unreadable_picture"
		mat, err = a.toPicture(whole)
	}
	if err != nil {
		return nil, a.lost(cause, fmt.Errorf("frame %d: %w", whole.Seq, err))
	}
	f, err := a.clock.FrameAt(mat, whole.Time, meta)
	if err != nil {
		return nil, err
	}
	a.dropped = 0
	a.notifyRenewed(f)
	return f, nil
}

// notifyRenewed reports a change of publisher, at most once a second.
func (a *assembly) notifyRenewed(f *frame.Frame) {
	if a.renewed == 0 || a.at.Sub(a.notified).Abs() < time.Second { // the server may set its clock back
		return
	}
	text := fmt.Sprintf("the publisher on %s restarted or was replaced: a new trajectory begins", a.options.Subject)
	if a.renewed > 1 {
		text = fmt.Sprintf("the publisher on %s restarted or was replaced %d times, and each time a new trajectory began: give each publisher its own subject", a.options.Subject, a.renewed)
	}
	f.Notice(a.renewed > 1, "publisher_restarted", text)
	a.renewed, a.notified = 0, a.at
}

func (a *assembly) lost(cause string, err error) error {
	return &pipeline.ErrSkip{Cause: cause, Err: fmt.Errorf("%s: %w", a.options.Subject, err)}
}

// toPicture makes a Mat of a whole frame. The caller owns it.
func (a *assembly) toPicture(whole *wire.Frame) (frame.Mat, error) {
	page := tiff.Image{Width: whole.Width, Height: whole.Height, Channels: whole.Channels, Depth: whole.Depth, Pix: whole.Bytes}
	switch whole.Encoding {
	case wire.PNG:
		return fromPNG(whole.Bytes, &page)
	case wire.Zstd:
		var err error
		if page.Pix, err = a.zstd.Unpack(whole); err != nil {
			return frame.Mat{}, err
		}
	}
	return picture.ToMat(&page)
}

// fromPNG decodes a PNG, which must have the size and type of page.
func fromPNG(data []byte, page *tiff.Image) (frame.Mat, error) {
	header, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return frame.Mat{}, fmt.Errorf("the PNG cannot be read (%w): correct the publisher", err)
	}
	if header.Width != page.Width || header.Height != page.Height { // before memory is allocated
		return frame.Mat{}, fmt.Errorf("the PNG has %dx%d pixels, %dx%d expected from the message's headers: correct the publisher", header.Width, header.Height, page.Width, page.Height)
	}
	mat, err := picture.Decode(data)
	if err != nil {
		return frame.Mat{}, err
	}
	if mat.Type() != picture.MatType(page) {
		defer mat.Close()
		return frame.Mat{}, fmt.Errorf("the PNG has pixels of type %s, %s expected from the message's headers: correct the publisher", picture.TypeName(int(mat.Type())), picture.TypeName(int(picture.MatType(page))))
	}
	return mat, nil
}
