package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gocv.io/x/gocv"

	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
)

// findings is what probe prints.
type findings struct {
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
	Total    int      `json:"total"`  // as the source says; 0 where it does not
	Skipped  int      `json:"skipped"`
	DT       float64  `json:"dt_s"`                  // median
	Jitter   float64  `json:"jitter_s"`              // robust standard deviation of the intervals
	Timed    bool     `json:"timed"`                 // false: the interval is an assumption
	Live     bool     `json:"live"`                  // frames come whether or not they are read
	Lost     uint64   `json:"lost"`                  // by the source, as its numbers or times tell
	Stored   string   `json:"compression,omitempty"` // as the file has them; empty where that is not known
	Warnings []string `json:"warnings"`

	source  string    // as a person would type it
	counts  []uint64  // one bin a count of an integer pixel
	sample  []float64 // of float pixels
	times   []float64 // seconds
	first   gocv.Mat  // the first picture, for the preview; closed by close
	broken  int       // values that are not finite
	noticed map[string]bool
}

// samplesPerFrame is how many values of a float frame the percentiles rest on.
const samplesPerFrame = 2000

// pixelTypes names what sources give, by OpenCV's type without channels.
var pixelTypes = map[gocv.MatType]string{
	gocv.MatTypeCV8U: "uint8", gocv.MatTypeCV16U: "uint16", gocv.MatTypeCV32F: "float32",
}

func (p *findings) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// add looks at one frame, which it borrows.
func (p *findings) add(f *frame.Frame) error {
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
	p.times, p.Lost = append(p.times, seconds(f)), p.Lost+f.Meta.Dropped
	p.notice(f.Meta.Events)
	return p.values(m, depth)
}

// values folds one picture into the range.
func (p *findings) values(m *gocv.Mat, depth gocv.MatType) error {
	wide := gocv.NewMat()
	defer wide.Close()
	m.ConvertTo(&wide, gocv.MatTypeCV32F)
	data, err := wide.DataPtrFloat32()
	if err != nil {
		return err
	}
	stride := 3*(len(data)/(3*samplesPerFrame)) + 1 // never a multiple of 3, so that every channel is seen
	for i, x := range data {
		v := float64(x)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			p.broken++
			continue
		}
		p.Min, p.Max = min(p.Min, v), max(p.Max, v)
		if depth != gocv.MatTypeCV32F {
			p.counts[int(x)]++
		} else if i%stride == 0 {
			p.sample = append(p.sample, v)
		}
	}
	return nil
}

// finish sums up. source is still open.
func (p *findings) finish(source pipeline.Source) (*findings, error) {
	if p.Frames == 0 {
		return nil, fmt.Errorf("no frame of %s could be read: check that it is there and the right one", p.source)
	}
	if p.Min > p.Max {
		return nil, errors.New("not one pixel is a finite number: check that it is the right file")
	}
	p.Low, p.High = p.percentile(0.001), p.percentile(0.999)
	p.Timed = true
	if t, ok := source.(interface{ Timed() bool }); ok {
		p.Timed = t.Timed()
	}
	if t, ok := source.(interface{ Frames() int }); ok {
		p.Total = t.Frames()
	}
	if l, ok := source.(pipeline.Live); ok {
		p.Live = l.Live()
	}
	if c, ok := source.(interface{ Compression() string }); ok {
		p.Stored = c.Compression()
	}
	p.judgeTimes()
	p.judgeRange()
	p.judgeStorage()
	return p, nil
}

// percentile is the value below which the share q lies.
func (p *findings) percentile(q float64) float64 {
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

// judgeTimes finds the median interval and warns where it cannot be trusted.
func (p *findings) judgeTimes() {
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

// judgeRange warns of pictures that tell little.
func (p *findings) judgeRange() {
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

// jitter is the intervals' standard deviation about their median, by the median of their distances from it: a lost frame does not move it. 1.4826 is
// the ratio for a Gaussian.
func jitter(steps []float64, middle float64) float64 {
	away := make([]float64, len(steps))
	for i, s := range steps {
		away[i] = math.Abs(s - middle)
	}
	slices.Sort(away)
	const nanosecond = 1e-9 // what times are known to
	return math.Round(1.4826*away[len(away)/2]/nanosecond) * nanosecond
}

// lossless are the codecs of videos, in small letters, that keep every pixel.
var lossless = []string{"ffv1", "hfyu", "ffvh", "png", "mpng", "rgba", "dib", "raw", "y800", "i420", "zlib", "lagarith", "lags", "ulrg"}

// judgeStorage warns of pixels that a codec has changed.
func (p *findings) judgeStorage() {
	lossy := p.Kind == "video" && p.Stored != "" && !slices.Contains(lossless, strings.ToLower(p.Stored)) || p.Stored == "JPEG"
	if lossy {
		p.warn("stored as %s, which loses detail: what moves by less than a pixel moves with the compression too; record TIFF, or FFV1 in MKV", p.Stored)
	}
}

// close frees the picture kept for the preview.
func (p *findings) close() {
	if p.Frames > 0 {
		p.first.Close()
	}
}
