//go:build cgo

package recording

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"driftscope/infer/card"
	"driftscope/internal/flow/frame"
)

// Side is the width and height of the encoder's input in pixels, as in the paper.
const Side = 64

// Survey is the result of one pass over a raw recording, from which preprocessing is chosen.
type Survey struct {
	frames        int
	Width, Height int
	tinted        bool // some frame's channels differ
	hue           hue
	real          bool // float pixels
	float         bool
	raw, grey     values   // of the channels and of their means
	counts        []uint64 // histogram of integer pixels, one bin per value
	low, high     float64  // extremes
	reduce        int      // side of the boxes that the variance map averages over
	mapW, mapH    int
	sum, squares  []float64 // of the reduced pictures
	lagged        []float64 // sums of products with the previous frame
	previous      []float64
	behind        []card.Step // steps that the frames have passed
	film          film
	singles       *singles // nil if defective pixels are not searched
}

// maxMap is the largest width and height of the variance map.
const maxMap = 128

// add includes one raw frame. g is a buffer for its values.
func (s *Survey) add(f *frame.Frame, g *GreyFrame) error {
	if err := frame.Training.Check(f.Mat().Cols(), f.Mat().Rows()); err != nil {
		return fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	if err := g.Read(f); err != nil {
		return err
	}
	if s.frames == 0 {
		s.Width, s.Height = g.Width, g.Height
		s.reduce = (max(g.Width, g.Height) + maxMap - 1) / maxMap
		s.mapW, s.mapH = g.Width/s.reduce, g.Height/s.reduce
		s.sum, s.squares = make([]float64, s.mapW*s.mapH), make([]float64, s.mapW*s.mapH)
		s.lagged, s.previous = make([]float64, s.mapW*s.mapH), make([]float64, s.mapW*s.mapH)
		s.counts = make([]uint64, 1<<16)
	}
	if g.Width != s.Width || g.Height != s.Height {
		return fmt.Errorf("frame %d is %dx%d, the first was %dx%d: give frames of one size", f.Seq, g.Width, g.Height, s.Width, s.Height)
	}
	s.frames++
	s.film.add(f, g)
	if s.singles != nil {
		s.singles.add(g.Pixels)
	}
	s.tinted, s.real = s.tinted || g.coloured, s.real || g.real
	if len(g.values) == 3*len(g.Pixels) {
		s.hue.add(g.values)
	}
	if s.real {
		s.raw.add(g.values)
		s.grey.add(g.Pixels)
	}
	s.low, s.high = min(s.low, float64(g.low)), max(s.high, float64(g.high))
	for _, v := range g.Pixels {
		if i := int(v); v >= 0 && i < len(s.counts) {
			s.counts[i]++
		}
		s.float = s.float || v != float32(int(v))
	}
	for y := range s.mapH {
		for x := range s.mapW {
			i, v := y*s.mapW+x, g.box(x*s.reduce, y*s.reduce, s.reduce)
			s.sum[i] += v
			s.squares[i] += v * v
			s.lagged[i] += v * s.previous[i]
			s.previous[i] = v
		}
	}
	return nil
}

// Behind returns the steps that the frames have passed.
func (s *Survey) Behind() []card.Step { return slices.Clone(s.behind) }

// box returns the mean over k × k pixels from (x, y).
func (g *GreyFrame) box(x, y, k int) float64 {
	var sum float64
	for j := range k {
		for _, v := range g.Pixels[(y+j)*g.Width+x : (y+j)*g.Width+x+k] {
			sum += float64(v)
		}
	}
	return sum / float64(k*k)
}

// tail is the share of a high-bit recording's pixels outside its grey window on either side: hot pixels and spikes.
const tail = 1e-4

// Window returns the grey range of the whole recording: its extremes, as in the paper. For integers beyond 8 bits it returns percentiles that exclude hot
// pixels. Float pictures in [0,1] have the range 0 to 1; for others the range excludes spikes, which would compress all other values.
func (s *Survey) Window() (low, high float64, err error) {
	switch {
	case s.low == s.high:
		return 0, 0, fmt.Errorf("every pixel of every frame is %g: the recording is blank, check light and shutter", s.low)
	case s.low >= 0 && s.high <= 1:
		return 0, 1, nil
	case s.real:
		seen := &s.grey
		if s.Coloured() {
			seen = &s.raw
		}
		low, high = seen.window(s.low, s.high, s.lowSNR())
		return low, high, nil
	case s.float || s.Coloured() || s.high < 256 || s.high >= float64(len(s.counts)):
		return s.low, s.high, nil
	}
	var total uint64
	for _, n := range s.counts {
		total += n
	}
	cut := uint64(tail * float64(total))
	low, high = float64(quantile(s.counts, cut)), float64(quantile(s.counts, total-1-cut))
	if low == high {
		return s.low, s.high, nil
	}
	return low, high, nil
}

// Coloured reports whether objects are coloured. Colour of the noise alone does not count.
func (s *Survey) Coloured() bool { return s.tinted && (s.frames < 2 || s.hue.lasts()) }

// lowSNR reports whether less than a tenth of the pictures' variance lasts from one frame to the next.
func (s *Survey) lowSNR() bool {
	var lasting, all float64
	for i, v := range s.variance() {
		m := s.sum[i] / float64(s.frames)
		lasting += s.lagged[i]/float64(s.frames-1) - m*m
		all += v
	}
	return lasting < all/10
}

// Region is a square in the frame, or in each film around its own object; then x and y are unused.
type Region struct {
	X, Y, Size int
	Film       bool
}

// Moving finds the square that contains the motion: 99 % of the temporal variance beyond the noise, plus a margin of a third for the object's extent. It is
// at least as large as the encoder's input. ok is false if the square is almost the whole frame, or unknown.
func (s *Survey) Moving() (r Region, ok bool) {
	excess := s.excess()
	if slices.Max(excess) == 0 {
		return Region{}, false
	}
	columns, rows := make([]float64, s.mapW), make([]float64, s.mapH)
	for i, v := range excess {
		columns[i%s.mapW] += v
		rows[i/s.mapW] += v
	}
	x0, x1 := middle(columns)
	y0, y1 := middle(rows)
	size := max(int(float64(max(x1-x0, y1-y0)*s.reduce)*4/3), Side)
	size = (size + Side/8 - 1) / (Side / 8) * (Side / 8)
	if size >= min(s.Width, s.Height)*9/10 {
		return Region{}, false
	}
	place := func(centre, limit int) int { return min(max(centre-size/2, 0), limit-size) }
	return Region{place((x0+x1)*s.reduce/2, s.Width), place((y0+y1)*s.reduce/2, s.Height), size, false}, true
}

// excess returns the temporal variance of each reduced pixel beyond three times the median, which is the variance of the still background.
func (s *Survey) excess() []float64 {
	variance := s.variance()
	sorted := slices.Sorted(slices.Values(variance))
	background := sorted[len(sorted)/2]
	for i, v := range variance {
		variance[i] = max(v-3*background, 0)
	}
	return variance
}

func (s *Survey) variance() []float64 {
	n := float64(s.frames)
	variance := make([]float64, len(s.sum))
	for i := range variance {
		variance[i] = max(s.squares[i]/n-s.sum[i]*s.sum[i]/(n*n), 0)
	}
	return variance
}

// lingers reports whether something moves, even if noise hides it in every single pixel. It compares the covariance between successive frames, summed over
// pixels, with the value for white noise of the pixels' variances v, -Σv/n ± √(Σv²/n). The excess must be 5 standard errors.
func (s *Survey) lingers() bool {
	n := float64(s.frames)
	var covariance, white, mean float64
	for i, v := range s.variance() {
		m := s.sum[i] / n
		covariance += s.lagged[i]/(n-1) - m*m + v/n
		white += v * v / n
		mean += m * m
	}
	const rounding = 1e-9
	return covariance > 5*math.Sqrt(white)+rounding*mean
}

// middle returns the interval [from, to) that holds all but half a per cent of the mass on either side.
func middle(mass []float64) (from, to int) {
	var total, seen float64
	for _, v := range mass {
		total += v
	}
	to = len(mass)
	for i, v := range mass {
		if seen <= 0.005*total {
			from = i
		}
		seen += v
		if seen >= 0.995*total {
			return from, i + 1
		}
	}
	return from, to
}

// Check returns an error if a recording is useless for training, with the reason.
func (s *Survey) Check() error {
	var moved float64
	for _, v := range s.excess() {
		moved += v
	}
	switch {
	case s.saturated() > 0.2:
		return fmt.Errorf("%.0f %% of the pixels are at the brightest count %g: the recording is saturated, record with a shorter exposure", 100*s.saturated(), s.high)
	case s.low < s.high && moved == 0 && s.frames > 1 && !s.lingers():
		return errors.New("nothing moves: no part of the picture varies more than its noise: check that the specimen is in view and in focus")
	}
	return nil
}

// saturated returns the share of integer pixels at the very top of their type's range.
func (s *Survey) saturated() float64 {
	if s.float || (s.high != 255 && s.high != 65535) {
		return 0
	}
	var total uint64
	for _, n := range s.counts {
		total += n
	}
	return float64(s.counts[int(s.high)]) / float64(total)
}

// Steps returns the preprocessing for a recording: grey window, CLAHE if requested, region, and size of the encoder's input. If each film has
// its own region, it also has its own window.
func (s *Survey) Steps(low, high float64, clahe bool, crop *Region) []card.Step {
	normalise := map[string]any{"window": []any{low, high}}
	if crop != nil && crop.Film {
		normalise = map[string]any{"film": true}
	}
	if !s.Coloured() {
		normalise["grey"] = true
	}
	steps := append(slices.Clone(s.behind), card.Step{Kind: "normalise", Options: normalise})
	if clahe {
		steps = append(steps, card.Step{Kind: "clahe"})
	}
	switch {
	case crop == nil:
	case crop.Film:
		steps = append(steps, card.Step{Kind: "roi", Options: map[string]any{"search": map[string]any{"size": crop.Size, "film": true}}})
	default:
		steps = append(steps, card.Step{Kind: "roi", Options: map[string]any{"x": crop.X, "y": crop.Y, "width": crop.Size, "height": crop.Size}})
	}
	return append(steps, card.Step{Kind: "resize", Options: map[string]any{"width": Side, "height": Side}})
}

// MovesWithFilm reports whether a step chooses a new region in each film.
func MovesWithFilm(steps []card.Step) bool {
	return slices.ContainsFunc(steps, func(s card.Step) bool {
		search, _ := s.Options["search"].(map[string]any)
		return search["film"] == true
	})
}
