package main

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
	"driftscope/internal/config"
	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
	"driftscope/preprocess"
)

// recording is a source that is read from its first frame to its last, as often as needed.
type recording struct {
	arg     string // as the user named it
	kind    string
	options map[string]any
	span    span
	told    map[string]bool // notices that the user has been given, by code
}

// simulated is the length of a simulation that is read as a recording: the paper's.
const simulated = 1000

// openRecording understands what a person types and fixes the frame interval where one is given. assets is a folder with the pictures
// that a simulation draws; empty where it draws its own.
func openRecording(arg string, dt, fps float64, assets string, s span) (*recording, error) {
	kind, options, err := ingest.Guess(arg)
	if err != nil {
		return nil, usage(err)
	}
	if dt > 0 {
		options["dt"] = dt
	}
	if fps > 0 {
		options["fps"] = fps
	}
	if assets != "" {
		if kind != simSource {
			return nil, usage(fmt.Errorf("--assets %s: %s is a recording, only a simulation draws them: leave --assets out or give sim:NAME", assets, arg))
		}
		options["assets"] = assets
	}
	if kind == simSource { // a simulation is endless and paced unless told otherwise; its scale may depend on its length
		options["realtime"] = false
		options["frames"] = max(s.endOr(simulated), simulated)
	}
	return &recording{arg: arg, kind: kind, options: options, span: s, told: map[string]bool{}}, nil
}

// open opens a source of the recording's frames, from the first.
func (r *recording) open(ctx context.Context) (pipeline.Source, error) {
	source, err := ingest.New(r.kind, decoder(r.kind, r.options))
	if err != nil {
		return nil, usage(err)
	}
	if err := source.Open(ctx); err != nil {
		source.Close()
		return nil, err
	}
	return source, nil
}

// each calls fn with every frame of the span, in order, after the given steps. fn borrows the frame.
// A frame that cannot be read is warned of and left out. Steps that suit themselves to films see each film whole, whatever the span.
func (r *recording) each(ctx context.Context, steps []card.Step, fn func(*frame.Frame) error) (timed bool, err error) {
	source, err := r.open(ctx)
	if err != nil {
		return false, err
	}
	defer source.Close()
	timed = true
	if t, ok := source.(interface{ Timed() bool }); ok {
		timed = t.Timed()
	}
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
				warn("%s: %v", r.arg, skip)
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

// fewSkips is how many of the frames that cannot be read, of each cause, are named; unread is before a cause in told.
const (
	fewSkips = 10
	unread   = "unread "
)

// count tells how many frames of each cause could not be read beyond those that were named: once, however often the recording is read.
func (r *recording) count(skips map[string]int) {
	for _, cause := range slices.Sorted(maps.Keys(skips)) {
		if n := skips[cause] - fewSkips; n > 0 && !r.told[unread+cause] {
			warn("%s: %d more frames could not be read: %s", r.arg, n, cause)
		}
		r.told[unread+cause] = true
	}
}

// hand runs one frame through the chain to fn, and says when the span is over.
func (r *recording) hand(ctx context.Context, f *frame.Frame, scout *scout, chain chain, fn func(*frame.Frame) error) (done bool, err error) {
	defer f.Close()
	if r.span.after(f.Seq) {
		return true, nil
	}
	if !r.span.holds(f.Seq) {
		return false, nil
	}
	if err := scout.ahead(ctx, f); err != nil {
		return true, r.naming(err)
	}
	if err := chain.apply(ctx, f); err != nil {
		return true, fmt.Errorf("%s, frame %d: %w", r.arg, f.Seq, err)
	}
	for _, e := range f.Meta.Events {
		if e.Warn && !r.told[e.Code] {
			r.told[e.Code] = true
			warn("%s: %s", r.arg, e.Text)
		}
	}
	return false, fn(f)
}

// seconds is the frame's acquisition time since the Unix epoch, to the nanosecond for times near it as recordings have.
func seconds(f *frame.Frame) float64 { return float64(f.Time.UnixNano()) / 1e9 }

// chain is a list of preprocessing steps.
type chain []pipeline.Step

func newChain(steps []card.Step) (chain, error) {
	var c chain
	for i, s := range steps {
		step, err := preprocess.New(s.Kind, decoder(s.Kind, s.Options))
		if err != nil {
			c.close()
			return nil, usage(fmt.Errorf("preprocess[%d] %s: %w", i, s.Kind, err))
		}
		c = append(c, step)
	}
	return c, nil
}

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

// decoder gives options to a constructor, as strictly as a configuration file would.
func decoder(kind string, options map[string]any) func(any) error {
	return func(dst any) error {
		c, err := config.NewComponent(kind, options)
		if err != nil {
			return err
		}
		return c.Decode(dst)
	}
}

// span is a range of frame numbers A:B, B not included; either may be left out.
type span struct{ from, to uint64 }

// parseSpan reads what a flag was given; nothing is every frame.
func parseSpan(flag, text string) (span, error) {
	s := span{0, math.MaxUint64}
	if text == "" {
		return s, nil
	}
	a, b, ok := strings.Cut(text, ":")
	var err error
	if a != "" && ok {
		s.from, err = strconv.ParseUint(a, 10, 63)
	}
	if b != "" && ok && err == nil {
		s.to, err = strconv.ParseUint(b, 10, 63)
	}
	if !ok || err != nil || s.from >= s.to {
		return s, usage(fmt.Errorf("%s %q: expected A:B with A < B, such as 0:80 or 80:100", flag, text))
	}
	return s, nil
}

func (s span) holds(k uint64) bool { return k >= s.from && k < s.to }
func (s span) after(k uint64) bool { return k >= s.to }

// endOr is the span's end, or n where it is open.
func (s span) endOr(n uint64) uint64 {
	if s.to == math.MaxUint64 {
		return n
	}
	return s.to
}

func (s span) String() string {
	if s.to == math.MaxUint64 {
		return fmt.Sprintf("%d:", s.from)
	}
	return fmt.Sprintf("%d:%d", s.from, s.to)
}
