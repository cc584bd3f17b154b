// Package recording reads a source from its first frame to its last, as often as needed. It parses source names, probes sources, and surveys
// recordings to choose their preprocessing.
package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"driftscope/infer/card"
	"driftscope/ingest"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/kit/console"
)

// Recording is a source that is read from its first frame to its last, as often as needed.
type Recording struct {
	Arg     string // as named by the user, without a password
	kind    string
	options map[string]any
	span    Span
	told    map[string]bool // codes of the warnings already printed
}

// SimulatedFrames is the number of frames of a simulation that is read as a recording, as in the paper.
const SimulatedFrames = 1000

// Open opens a source by the name that the user typed. A positive dt or fps sets the frame interval. assets is a folder with
// pictures for a simulation; if it is empty, the simulation draws its own.
func Open(arg string, dt, fps float64, assets string, s Span) (*Recording, error) {
	kind, options, err := ingest.Guess(arg)
	if err != nil {
		return nil, console.Usage(err)
	}
	if dt > 0 {
		options["dt"] = dt
	}
	if fps > 0 {
		options["fps"] = fps
	}
	if assets != "" {
		if kind != SimSource {
			return nil, console.Usage(fmt.Errorf("--assets %s: %s is a recording, but only a simulation uses assets: leave --assets out or give sim:NAME", assets, arg))
		}
		options["assets"] = assets
	}
	if kind == SimSource { // a simulation is endless and paced by default; its scale may depend on its length
		options["realtime"] = false
		if _, given := options["frames"]; !given {
			options["frames"] = max(s.endOr(SimulatedFrames), SimulatedFrames)
		}
	}
	return &Recording{Arg: ingest.Shown(arg), kind: kind, options: options, span: s, told: map[string]bool{}}, nil
}

// Simulation returns the whole film of a simulation with these options.
func Simulation(name string, options map[string]any) *Recording {
	return &Recording{Arg: SimSource + ":" + name, kind: SimSource, options: options, span: Whole, told: map[string]bool{}}
}

// Live reports whether r is a live source, such as a camera, whose frames do not wait.
func (r *Recording) Live() (bool, error) {
	source, err := ingest.New(r.kind, Decoder(r.kind, r.options)) // needs no Close before Open
	if err != nil {
		return false, console.Usage(err)
	}
	return source.Info().Live, nil
}

// open opens the recording's source at the first frame.
func (r *Recording) open(ctx context.Context) (pipeline.Source, error) {
	source, err := ingest.New(r.kind, Decoder(r.kind, r.options))
	if err != nil {
		return nil, console.Usage(err)
	}
	if err := source.Open(ctx); err != nil {
		source.Close()
		return nil, console.About(ingest.Page(r.kind), err)
	}
	return source, nil
}

// Each calls fn with every frame of the span, in order, after the given steps. fn borrows the frame.
// It warns of an unreadable frame and skips it. Steps that adapt to films process each whole film, also beyond the span.
func (r *Recording) Each(ctx context.Context, steps []card.Step, fn func(*frame.Frame) error) (timed bool, err error) {
	source, err := r.open(ctx)
	if err != nil {
		return false, err
	}
	defer source.Close()
	timed = source.Info().Timed
	chain, err := newChain(steps)
	if err != nil {
		return false, err
	}
	defer chain.close()
	scout, err := r.scout(ctx, chain)
	if err != nil {
		return false, err
	}
	defer scout.close()
	skips := map[string]int{}
	defer func() { r.count(skips) }()
	for {
		f, err := source.Read(ctx)
		var skip *pipeline.ErrSkip
		switch {
		case errors.Is(err, io.EOF):
			return timed, nil
		case errors.As(err, &skip):
			if skips[skip.Cause]++; skips[skip.Cause] <= fewSkips && !r.told[unread+skip.Cause] {
				console.Warn("%s: %v", r.Arg, skip)
			}
			continue
		case err != nil:
			return timed, err
		}
		done, err := r.hand(ctx, f, scout, chain, fn)
		if done || err != nil {
			return timed, err
		}
	}
}

// fewSkips is the number of unreadable frames per cause that are named. unread is the prefix of a cause in told.
const (
	fewSkips = 10
	unread   = "unread "
)

// count reports the number of further unreadable frames per cause, only once even if the recording is read again.
func (r *Recording) count(skips map[string]int) {
	for _, cause := range slices.Sorted(maps.Keys(skips)) {
		if n := skips[cause] - fewSkips; n > 0 && !r.told[unread+cause] {
			console.Warn("%s: %d more frames could not be read: %s", r.Arg, n, cause)
		}
		r.told[unread+cause] = true
	}
}

// hand runs one frame through the chain to fn, and reports the end of the span.
func (r *Recording) hand(ctx context.Context, f *frame.Frame, scout *scout, chain chain, fn func(*frame.Frame) error) (done bool, err error) {
	defer f.Close()
	if r.span.after(f.Seq) {
		return true, nil
	}
	if !r.span.Holds(f.Seq) {
		return false, nil
	}
	if err := scout.ahead(ctx, f); err != nil {
		return true, r.Naming(err)
	}
	if err := chain.apply(ctx, f); err != nil {
		return true, fmt.Errorf("%s, frame %d: %w", r.Arg, f.Seq, err)
	}
	for _, e := range f.Meta.Events {
		if e.Warn && !r.told[e.Code] {
			r.told[e.Code] = true
			console.Warn("%s: %s", r.Arg, e.Text)
		}
	}
	return false, fn(f)
}

// Untimed returns the error of a recording whose frames have no times.
func (r *Recording) Untimed() error {
	return console.Usage(fmt.Errorf("%s does not state its frame interval: give --dt SECONDS or --fps N", r.Arg))
}

// Naming adds the recording's name to an error about one of its frames.
func (r *Recording) Naming(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s: %w", r.Arg, err)
}

// Seconds returns the frame's acquisition time since the Unix epoch, exact to the nanosecond for times near the epoch, as in recordings.
func Seconds(f *frame.Frame) float64 { return float64(f.Time.UnixNano()) / 1e9 }

// chain is a list of preprocessing steps.
type chain []pipeline.Step

func (c chain) apply(ctx context.Context, f *frame.Frame) error {
	for _, s := range c {
		if err := s.Apply(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (c chain) close() {
	for _, s := range c {
		s.Close()
	}
}

// Decoder returns a function that decodes options for a constructor, as strictly as a configuration file.
func Decoder(kind string, options map[string]any) func(any) error {
	return func(dst any) error {
		c, err := config.NewComponent(kind, options)
		if err != nil {
			return err
		}
		return c.Decode(dst)
	}
}

// Span is a range of frame numbers A:B without B; either may be omitted.
type Span struct{ From, To uint64 }

// Whole is the span of every frame.
var Whole = Span{0, math.MaxUint64}

// ParseSpan parses a flag; an empty text means every frame.
func ParseSpan(flag, text string) (Span, error) {
	s := Whole
	if text == "" {
		return s, nil
	}
	a, b, ok := strings.Cut(text, ":")
	var err error
	if a != "" && ok {
		s.From, err = strconv.ParseUint(a, 10, 63)
	}
	if b != "" && ok && err == nil {
		s.To, err = strconv.ParseUint(b, 10, 63)
	}
	if !ok || err != nil || s.From >= s.To {
		return s, console.Usage(fmt.Errorf("%s %q: expected A:B with A < B, such as 0:80 or 80:100", flag, text))
	}
	return s, nil
}

// Holds reports whether frame k is in the span.
func (s Span) Holds(k uint64) bool { return k >= s.From && k < s.To }
func (s Span) after(k uint64) bool { return k >= s.To }

// endOr returns the span's end, or n if it is open.
func (s Span) endOr(n uint64) uint64 {
	if s.To == math.MaxUint64 {
		return n
	}
	return s.To
}

func (s Span) String() string {
	if s.To == math.MaxUint64 {
		return fmt.Sprintf("%d:", s.From)
	}
	return fmt.Sprintf("%d:%d", s.From, s.To)
}
