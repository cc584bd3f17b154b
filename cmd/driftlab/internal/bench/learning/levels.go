package learning

import (
	"errors"
	"math"
	"slices"

	"driftscope/ingest/sim"
)

// levels is a picture in its file's grey levels, row by row with interleaved channels. It reuses its memory for every frame.
type levels struct {
	width, height, channels int
	top                     float64 // the highest level: 255 or 65535
	values                  []float64
	before                  []float64 // memory for a copy of values
	counts                  []int     // memory for a histogram
}

func (p *levels) read(src *sim.Picture) error {
	p.width, p.height, p.channels = src.Width, src.Height, src.Channels
	p.values = slices.Grow(p.values[:0], src.Values())[:src.Values()]
	switch src.Depth {
	case sim.Counts:
		p.top = math.MaxUint16
		for i, v := range src.U16 {
			p.values[i] = float64(v)
		}
	case sim.Unit:
		p.top = math.MaxUint8
		for i, v := range src.F32 {
			p.values[i] = math.Round(float64(min(max(v, 0), 1)) * math.MaxUint8) // as in the picture's file
		}
	default:
		return errors.New("the picture has real values, 8 or 16 bits expected: give a scene without noise of its own")
	}
	return nil
}

// write truncates to the levels of the file.
func (p *levels) write(dst *sim.Picture) {
	for i, v := range p.values {
		level := math.Floor(min(max(v, 0), p.top))
		if dst.Depth == sim.Counts {
			dst.U16[i] = uint16(level)
		} else {
			dst.F32[i] = float32(level / p.top)
		}
	}
}

// median returns the median level of all channels, right after read.
func (p *levels) median() float64 {
	p.counts = slices.Grow(p.counts[:0], int(p.top)+1)[:int(p.top)+1]
	clear(p.counts)
	for _, v := range p.values {
		p.counts[int(v)]++
	}
	low, high := p.ranked((len(p.values)-1)/2), p.ranked(len(p.values)/2)
	return (low + high) / 2
}

// ranked returns the level with the given rank in counts.
func (p *levels) ranked(rank int) float64 {
	for level, n := range p.counts {
		if rank -= n; rank < 0 {
			return float64(level)
		}
	}
	return p.top
}

// span returns the range of levels.
func (p *levels) span() float64 { return slices.Max(p.values) - slices.Min(p.values) }

// scale maps every level v to gain v + offset.
func (p *levels) scale(gain, offset float64) {
	for i, v := range p.values {
		p.values[i] = gain*v + offset
	}
}

// add adds light(x, y) to all channels of every pixel.
func (p *levels) add(light func(x, y int) float64) {
	for y := range p.height {
		for x := range p.width {
			more := light(x, y)
			for c := range p.channels {
				p.values[(y*p.width+x)*p.channels+c] += more
			}
		}
	}
}
