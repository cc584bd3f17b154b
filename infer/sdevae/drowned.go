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
	drownedAbove = 4.0  // sds of the noise that the best of them may begin to see at
)

// drowned says that nearly all of the clip is noise.
func (j *job) drowned() bool { return j.moves < drownedShare }

// primeDrowned begins with the slowest components of the moments of averages: the kernels' weights are random from channel to channel
// alone, and the first layer's biases put its zero at the clip's mean. Of several such encoders the one is kept whose components last
// longest; and where they last longer still if the first layer sees only what stands out of its noise, as a small thing does in a large
// picture whose noise weighs more in moments, it does. The decoder begins with the mean picture.
func (s *session) primeDrowned() error {
	var kept *Model
	var longest float64
	try := func() error {
		lasts, err := s.model.primeSlow(s.clip, spread(s.train, drownedPairs))
		if err == nil && (kept == nil || lasts > longest) {
			kept, longest = s.model.clone(), lasts
		}
		return err
	}
	for range drownedDraws {
		s.model.Encoder.Init(s.model.EncoderTheta, s.rng)
		s.model.average(s.clip)
		if err := try(); err != nil {
			return err
		}
	}
	s.model.adopt(kept)
	s.model.lift(s.clip)
	if err := try(); err != nil {
		return err
	}
	s.model.adopt(kept)
	s.model.drawMean()
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

// lift brings the first layer's zero from the clip's mean to drownedAbove standard deviations of white noise in its outputs above it.
func (m *Model) lift(c *Clip) {
	tensors := m.Encoder.Segments()
	weight, bias := tensors[0], tensors[1]
	kernel, sd := weight.Len/bias.Len, math.Sqrt(c.Noise()/float64(c.Size()))
	for o := range bias.Len {
		var square float64
		for _, w := range m.EncoderTheta[weight.Offset+o*kernel : weight.Offset+(o+1)*kernel] {
			square += float64(w) * float64(w)
		}
		m.EncoderTheta[bias.Offset+o] -= float32(drownedAbove * sd * math.Sqrt(square))
	}
}

func sum(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}
