package sdevae

import (
	"math"
	"slices"
)

// Where noise drowns a clip, what moves still stands out of the noise as a whole: a ball of 150 pixels, under noise of twice its
// brightness in each, by 6 standard deviations. Random kernels throw that away, and what a random decoder draws is louder than what moves.
const (
	drownedShare = 0.1  // of a clip's energy that moves, below which it is drowned
	drownedDraws = 8    // first encoders to choose from
	drownedPairs = 1000 // that they are primed on, at most
)

// drowned says that nearly all of the clip is noise.
func (j *job) drowned() bool { return j.moves < drownedShare }

// primeDrowned begins with the slowest components of the moments of averages: the kernels' weights are random from channel to channel
// alone, and the first layer's biases put its zero at the clip's mean. Of several such encoders the one is kept whose components last
// longest. The decoder begins with the mean picture.
func (s *session) primeDrowned() error {
	pairs, m := spread(s.train, drownedPairs), s.model
	var kept *Model
	var longest float64
	for range drownedDraws {
		m.Encoder.Init(m.EncoderTheta, s.rng)
		m.average(s.clip)
		lasts, err := m.primeSlow(s.clip, pairs)
		if err != nil {
			return err
		}
		if kept == nil || lasts > longest {
			kept, longest = m.clone(), lasts
		}
	}
	m.adopt(kept)
	m.drawMean()
	return nil
}

// drawMean clears the decoder's last layer: what it draws is the mean picture, until it learns.
func (m *Model) drawMean() {
	tensors := m.Decoder.Segments()
	for _, t := range tensors[len(tensors)-2:] {
		clear(m.DecoderTheta[t.Offset : t.Offset+t.Len])
	}
}

// average makes every kernel of the encoder the same everywhere, of the same size for noise, and has the first layer see the clip's
// distance from each channel's mean.
func (m *Model) average(c *Clip) {
	tensors := m.Encoder.Segments()
	for _, t := range tensors {
		if t.Name != "weight" {
			continue
		}
		area := t.Shape[2] * t.Shape[3]
		for kernel := range slices.Chunk(m.EncoderTheta[t.Offset:t.Offset+t.Len], area) {
			copy(kernel, filledSlice(float32(sum(kernel)/math.Sqrt(float64(area))), area))
		}
	}
	mean, area := average(c.Pixels, c.Len(), c.Size()), c.Height*c.Width
	weight, bias := tensors[0], tensors[1]
	kernel := weight.Len / bias.Len / c.Channels
	for o := range bias.Len {
		var seen float64
		for channel := range c.Channels {
			from := weight.Offset + (o*c.Channels+channel)*kernel
			seen += sum(mean[channel*area:(channel+1)*area]) / float64(area) * sum(m.EncoderTheta[from:from+kernel])
		}
		m.EncoderTheta[bias.Offset+o] = -float32(seen)
	}
}

func sum(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}
