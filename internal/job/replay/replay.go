// Package replay shows the results of a run again: it publishes the records of a result file and the pictures of their film at the film's pace. The dashboard
// and every other subscriber receive them as from the run.
package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/console"
	"driftscope/sinks/natsink"
)

// Options select what to show, and how.
type Options struct {
	Results string  // output of run --out: JSON Lines or, if the name ends in .csv, a table of tracks
	Film    string  // path of the recording with the pictures; if empty, they come from the JSON Lines, or the background is grey
	Speed   float64 // relative to the film's own pace
	FPS     float64 // frames per second instead of Speed; 0 uses the times
	From    uint64  // the first frame
	Frames  uint64  // number of frames; 0 means all
	Loop    bool    // restart at the end
	Exit    bool    // return at the end, instead of waiting for the command start
}

// Bounds on a pace: one frame per 100 s, and more frames than any screen shows.
const (
	leastPace = 0.01
	mostPace  = 10_000
)

func (o Options) check() error {
	switch {
	case !(leastPace <= o.Speed && o.Speed <= mostPace):
		return fmt.Errorf("--speed %g: expected %g to %d times the film's own pace", o.Speed, leastPace, mostPace)
	case o.FPS != 0 && !(leastPace <= o.FPS && o.FPS <= mostPace):
		return fmt.Errorf("--fps %g: expected %g to %d frames per second", o.FPS, leastPace, mostPace)
	case o.FPS != 0 && o.Speed != 1:
		return errors.New("--fps and --speed: give one of them")
	case o.Loop && o.Exit:
		return errors.New("--loop and --exit: a loop has no end: leave one of them out")
	}
	return nil
}

// results are read from the first record to io.EOF. A record is valid until the next call.
type results interface {
	next() (*record, error)
	rewind() error
	stream() string // name of the stream
	close() error
}

// record is one message of a stream.
type record struct {
	kind  latent.Kind
	seq   uint64
	at    time.Time      // acquisition; zero if the results lack it
	frame bool           // it belongs to frame seq and is shown with it
	size  extent         // of the frame, if objects state it
	line  []byte         // the JSON of the run; nil if it comes from a table
	field latent.Objects // for a table's frame, without its size
}

// extent is a size in px.
type extent struct{ width, height int }

// mostSide is the largest side of a picture, px, as in the search for objects.
const mostSide = 16384

// Replay is an open result file with its film. Only one goroutine may use it.
type Replay struct {
	options Options
	results results
	film    *film // nil if there is none
}

// Open reads the beginning of the results, and opens the film.
func Open(ctx context.Context, o Options) (_ *Replay, err error) {
	if err := o.check(); err != nil {
		return nil, console.Usage(err)
	}
	r := &Replay{options: o}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if r.results, err = openResults(o.Results); err != nil {
		return r, console.Usage(err)
	}
	if o.Film != "" {
		r.film, err = openFilm(ctx, o.Film)
	}
	return r, err
}

// openResults requires a regular file, which can be read more than once.
func openResults(path string) (results, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: give a file from run --out", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: is not a regular file: give a file from run --out", path)
	case strings.EqualFold(filepath.Ext(path), ".csv"):
		return openTable(path)
	}
	return openLines(path)
}

// Stream returns the name of the stream in the records, or the file's name.
func (r *Replay) Stream() string { return r.results.stream() }

// Close frees the files.
func (r *Replay) Close() error {
	if r.film != nil {
		r.film.close()
	}
	if r.results == nil {
		return nil
	}
	return r.results.close()
}

// Play publishes on b and accepts the commands pause, resume, stop and start, until the replay or ctx ends.
func (r *Replay) Play(ctx context.Context, b *bus.Conn) error {
	began := time.Now().UTC()
	about := natsink.About{Source: filepath.Base(r.options.Results), Model: "replay", Started: began}
	sink, err := natsink.New(func(any) error { return nil }, natsink.Env{Stream: r.Stream(), Bus: b, About: func() natsink.About { return about }})
	if err != nil {
		return console.Usage(fmt.Errorf("%s: stream %.40q: %w", r.options.Results, r.Stream(), err))
	}
	p := newPlayer(r, sink)
	err = p.play(ctx)
	p.health.Stop()
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, sink.Close(context.WithoutCancel(ctx)))
}
