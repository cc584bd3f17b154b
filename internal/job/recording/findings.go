package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"driftscope/ingest"
	"driftscope/ingest/picture"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/kit/console"
)

// Findings is the output of probe.
type Findings struct {
	Kind     string   `json:"kind"`
	Width    int      `json:"width"`
	Height   int      `json:"height"`
	Channels int      `json:"channels"`
	Pixel    string   `json:"pixel"` // uint8, uint16 or float32
	Min      float64  `json:"min"`
	Max      float64  `json:"max"`
	Low      float64  `json:"p0_1"`   // 0.1 % of the values lie below
	High     float64  `json:"p99_9"`  // 0.1 % lie above
	Frames   int      `json:"frames"` // read
	Whole    bool     `json:"whole"`  // read to the end
	Total    int      `json:"total"`  // as the source states; 0 if it does not
	Skipped  int      `json:"skipped"`
	DT       float64  `json:"dt_s"`                  // median
	Jitter   float64  `json:"jitter_s"`              // robust standard deviation of the intervals
	Timed    bool     `json:"timed"`                 // false: the interval is an assumption
	Live     bool     `json:"live"`                  // frames arrive whether or not they are read
	Lost     uint64   `json:"lost"`                  // by the source, according to its numbers or times
	Stored   string   `json:"compression,omitempty"` // as stored in the file; empty if unknown
	Objects  string   `json:"objects,omitempty"`     // result of the first look; empty if unknown
	Links    string   `json:"links,omitempty"`       // how sure the links between frames are; empty if unknown
	Warnings []string `json:"warnings"`

	source  string    // as a person would type it
	counts  []uint64  // one bin a count of an integer pixel
	sample  []float64 // of float pixels
	times   []float64 // seconds
	first   frame.Mat // the first picture, for the preview; closed by close
	broken  int       // values that are not finite
	noticed map[string]bool
	shown   []float32 // scratch: the values of the last picture
}

// samplesPerFrame is the number of values of a float frame behind the percentiles.
const samplesPerFrame = 2000

// pixelTypes names the pixels of sources by OpenCV's type without channels.
var pixelTypes = map[frame.MatType]string{
	frame.MatTypeCV8U: "uint8", frame.MatTypeCV16U: "uint16", frame.MatTypeCV32F: "float32",
}

func (p *Findings) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// add looks at one frame, which it borrows.
func (p *Findings) add(f *frame.Frame) error {
	m := f.Mat()
	depth := m.Type() & 7 // the low three bits of an OpenCV type; the rest counts channels
	name, known := pixelTypes[depth]
	if m.Empty() || !known {
		return fmt.Errorf("frame %d: pixels of OpenCV type %v, expected uint8, uint16 or float32", f.Seq, m.Type())
	}
	if p.Frames == 0 {
		p.Width, p.Height, p.Channels, p.Pixel = m.Cols(), m.Rows(), m.Channels(), name
		p.Min, p.Max = math.Inf(1), math.Inf(-1)
		p.counts, p.noticed = make([]uint64, 1<<16), map[string]bool{}
		p.first = m.Clone()
	}
	if (m.Cols() != p.Width || m.Rows() != p.Height || name != p.Pixel) && !p.noticed["mixed"] {
		p.noticed["mixed"] = true
		p.warn("frame %d is %dx%d %s, the first is %dx%d %s: a model wants frames of one kind", f.Seq, m.Cols(), m.Rows(), name, p.Width, p.Height, p.Pixel)
	}
	p.Frames++
	p.times, p.Lost = append(p.times, Seconds(f)), p.Lost+f.Meta.Dropped
	p.notice(f.Meta.Events)
	return p.values(m, depth)
}

// values folds one picture into the range.
func (p *Findings) values(m *frame.Mat, depth frame.MatType) error {
	data, err := wide(p.shown, m)
	if err != nil {
		return err
	}
	p.shown = data
	stride := 3*(len(data)/(3*samplesPerFrame)) + 1 // never a multiple of 3, so that every channel is seen
	for i, x := range data {
		v := float64(x)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			p.broken++
			continue
		}
		p.Min, p.Max = min(p.Min, v), max(p.Max, v)
		if depth != frame.MatTypeCV32F {
			p.counts[int(x)]++
		} else if i%stride == 0 {
			p.sample = append(p.sample, v)
		}
	}
	return nil
}

// finish sums up. source is still open.
func (p *Findings) finish(source pipeline.Source) (*Findings, error) {
	if p.Frames == 0 {
		return nil, fmt.Errorf("no frame of %s could be read: check that it exists and is the right file", p.source)
	}
	if p.Min > p.Max {
		return nil, errors.New("not one pixel is a finite number: check that it is the right file")
	}
	p.Low, p.High = p.percentile(0.001), p.percentile(0.999)
	info := source.Info()
	p.Timed, p.Total, p.Live, p.Stored = info.Timed, info.Frames, info.Live, info.Compression
	p.judgeTimes()
	p.judgeRange()
	p.judgeStorage()
	return p, nil
}

// percentile returns the value with the share q below it.
func (p *Findings) percentile(q float64) float64 {
	if p.Pixel == "float32" {
		slices.Sort(p.sample)
		return p.sample[int(q*float64(len(p.sample)-1))]
	}
	var total uint64
	for _, n := range p.counts {
		total += n
	}
	return float64(quantile(p.counts, uint64(q*float64(total-1))))
}

// quantile returns the first bin at which more than n pixels have been counted.
func quantile(counts []uint64, n uint64) int {
	var seen uint64
	for i, c := range counts {
		if seen += c; seen > n {
			return i
		}
	}
	return len(counts) - 1
}

// judgeTimes finds the median interval and warns if it is unreliable.
func (p *Findings) judgeTimes() {
	if len(p.times) < 2 {
		return
	}
	steps := make([]float64, len(p.times)-1)
	for i := range steps {
		steps[i] = p.times[i+1] - p.times[i]
	}
	slices.Sort(steps)
	p.DT = steps[len(steps)/2]
	p.Jitter = jitter(steps, p.DT)
	if steps[0] <= 0 {
		p.warn("times do not increase everywhere: such frames are dropped")
	} else if last := steps[len(steps)-1]; last > 1.5*p.DT {
		p.warn("the longest interval is %.3g s, the median %.3g s: frames are missing", last, p.DT)
	}
}

// judgeRange warns of pictures with little contrast.
func (p *Findings) judgeRange() {
	top := map[string]float64{"uint8": math.MaxUint8, "uint16": math.MaxUint16}[p.Pixel]
	switch {
	case p.broken > 0:
		p.warn("%d values are not finite: their frames are dropped", p.broken)
	case p.Min == p.Max:
		p.warn("every value is %g: the source is blank", p.Min)
	case top > 0 && p.High == top:
		p.warn("the brightest values are clipped at %g: shorten the exposure", top)
	case p.Pixel == "uint8" && p.High-p.Low < 16:
		p.warn("only %g grey levels are in use: lengthen the exposure or record 16 bits", p.High-p.Low+1)
	}
}

// jitter returns the intervals' standard deviation about their median, from the median of their distances to it: a lost frame does not change it. 1.4826 is
// the ratio for a Gaussian.
func jitter(steps []float64, middle float64) float64 {
	away := make([]float64, len(steps))
	for i, s := range steps {
		away[i] = math.Abs(s - middle)
	}
	slices.Sort(away)
	const nanosecond = 1e-9 // resolution of the times
	return math.Round(1.4826*away[len(away)/2]/nanosecond) * nanosecond
}

// lossless are the codecs of videos, in small letters, that keep every pixel.
var lossless = []string{"ffv1", "hfyu", "ffvh", "png", "mpng", "rgba", "dib", "raw", "y800", "i420", "zlib", "lagarith", "lags", "ulrg"}

// judgeStorage warns of pixels that a codec has changed.
func (p *Findings) judgeStorage() {
	lossy := p.Kind == "video" && p.Stored != "" && !slices.Contains(lossless, strings.ToLower(p.Stored)) || p.Stored == "JPEG"
	if lossy {
		p.warn("stored as %s, which loses detail: motion of less than a pixel is distorted; record TIFF, or FFV1 in MKV", p.Stored)
	}
}

// Close frees the picture kept for the preview.
func (p *Findings) Close() {
	if p.Frames > 0 {
		p.first.Close()
	}
}

// leastUnreadable bounds the unreadable frames if few frames are wanted: a camera may begin with some.
const leastUnreadable = 100

// Probe reads up to limit frames of a source. The caller closes the findings.
func Probe(ctx context.Context, component config.Component, limit int) (_ *Findings, err error) {
	source, err := ingest.New(component.Kind, component.Decode)
	if err != nil {
		return nil, console.Usage(err)
	}
	defer source.Close()
	if err := source.Open(ctx); err != nil {
		return nil, console.About(ingest.Page(component.Kind), err)
	}
	found := &Findings{Kind: component.Kind, source: SourceName(component)}
	defer func() {
		if err != nil {
			found.Close()
		}
	}()
	for found.Frames < limit {
		f, err := source.Read(ctx)
		var skip *pipeline.ErrSkip
		switch {
		case errors.Is(err, io.EOF):
			found.Whole = true
			return found.finish(source)
		case errors.As(err, &skip):
			found.skip(skip)
			if most := max(limit, leastUnreadable); found.Skipped > most {
				return nil, fmt.Errorf("more than %d frames cannot be read, the last because: %w", most, err)
			}
			continue
		case err != nil:
			return nil, err
		}
		err = found.add(f)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return found.finish(source)
}

// FirstFrame reads one frame's size, to which an adapted region of interest is fitted.
func FirstFrame(ctx context.Context, component config.Component) (width, height int, err error) {
	found, err := Probe(ctx, component, 1)
	if err != nil {
		return 0, 0, err
	}
	defer found.Close()
	return found.Width, found.Height, nil
}

// Text returns the findings for a person.
func (p *Findings) Text(source string) string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("source", "%s, read as %s", source, p.Kind)
	row("size", "%d x %d pixels", p.Width, p.Height)
	row("pixels", "%s, %d channel%s", p.Pixel, p.Channels, map[bool]string{true: "", false: "s"}[p.Channels == 1])
	row("range", "%.6g to %.6g; 99.8 %% of the values lie within %.6g to %.6g", p.Min, p.Max, p.Low, p.High)
	if p.Stored != "" {
		row("stored", "%s", p.Stored)
	}
	row("frames", "%s", p.count())
	row("interval", "%s", p.Interval())
	if p.Objects != "" {
		row("objects", "%s", p.Objects)
	}
	if p.Links != "" {
		row("links", "%s", p.Links)
	}
	for _, w := range p.Warnings {
		row("warning", "%s", w)
	}
	return b.String()
}

func (p *Findings) count() string {
	read := fmt.Sprintf("%d, read to the end", p.Frames)
	switch {
	case !p.Whole && p.Total > 0:
		read = fmt.Sprintf("%d, of which %d were read", p.Total, p.Frames)
	case !p.Whole:
		read = fmt.Sprintf("%d read; there are more", p.Frames)
	}
	if p.Lost > 0 {
		read += fmt.Sprintf("; %d were lost on the way", p.Lost)
	}
	if p.Skipped > 0 {
		read += fmt.Sprintf("; %d could not be read", p.Skipped)
	}
	return read
}

// Interval returns the distance of frames, and its origin.
func (p *Findings) Interval() string {
	if p.DT == 0 {
		return "unknown: one frame has none"
	}
	from := "as the source states"
	if !p.Timed {
		from = "assumed: the source states none, give --dt or --fps"
	}
	return fmt.Sprintf("%.6g s, %.6g frames/s, jitter %.2g s, %s", p.DT, 1/p.DT, p.Jitter, from)
}

// skip counts a frame that could not be read, and keeps the first reason.
func (p *Findings) skip(err *pipeline.ErrSkip) {
	if p.Skipped == 0 {
		p.warn("a frame could not be read: %v", err)
	}
	p.Skipped++
}

// notice stores the source's events about a frame, each kind once.
func (p *Findings) notice(events []frame.Event) {
	for _, e := range events {
		if e.Warn && !p.noticed[e.Code] {
			p.noticed[e.Code] = true
			p.warn("%s", e.Text)
		}
	}
}

// Preview returns the first picture as PNG, between the grey values that contain 99.8 % of all values.
func (p *Findings) Preview() ([]byte, error) {
	low, high := p.Low, p.High
	if !(high > low) {
		high = low + 1 // a blank picture is black
	}
	scale := 255 / (high - low)
	shown, err := window(&p.first, float32(scale), float32(-low*scale))
	if err != nil {
		return nil, err
	}
	defer shown.Close()
	return picture.EncodePNG(nil, &shown)
}
