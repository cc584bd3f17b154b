package network

import (
	"math"
	"slices"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// DrawMean clears the last layer of the decoder, so that it outputs the mean picture until it is trained.
func (m *Model) DrawMean() {
	tensors := m.Decoder.Segments()
	for _, t := range tensors[len(tensors)-2:] {
		clear(m.DecoderTheta[t.Offset : t.Offset+t.Len])
	}
}

// AverageKernels makes every kernel of the encoder constant in space, with an unchanged response to noise. It sets the first layer's biases so that the layer
// responds to the difference from each channel's mean.
func (m *Model) AverageKernels(c *video.Clip) {
	tensors := m.Encoder.Segments()
	for _, t := range tensors {
		if t.Name != "weight" {
			continue
		}
		area := t.Shape[2] * t.Shape[3]
		for kernel := range slices.Chunk(m.EncoderTheta[t.Offset:t.Offset+t.Len], area) {
			copy(kernel, numeric.Filled(float32(numeric.Sum(kernel)/math.Sqrt(float64(area))), area))
		}
	}
	mean, area := numeric.MeanRow(c.Pixels, c.Len(), c.Size()), c.Height*c.Width
	weight, bias := tensors[0], tensors[1]
	kernel := weight.Len / bias.Len / c.Channels
	for o := range bias.Len {
		var seen float64
		for channel := range c.Channels {
			from := weight.Offset + (o*c.Channels+channel)*kernel
			seen += numeric.Sum(mean[channel*area:(channel+1)*area]) / float64(area) * numeric.Sum(m.EncoderTheta[from:from+kernel])
		}
		m.EncoderTheta[bias.Offset+o] = -float32(seen)
	}
}

const thresholdSDs float64 = 4 // tuned network.threshold: the first layer's threshold at low SNR, in sd of white noise: the object exceeds it, noise hardly ever

// RaiseThreshold shifts the first layer's zero from the clip's mean to several standard deviations of white noise above it.
func (m *Model) RaiseThreshold(c *video.Clip) {
	tensors := m.Encoder.Segments()
	weight, bias := tensors[0], tensors[1]
	kernel, sd := weight.Len/bias.Len, math.Sqrt(c.Noise()/float64(c.Size()))
	for o := range bias.Len {
		var square float64
		for _, w := range m.EncoderTheta[weight.Offset+o*kernel : weight.Offset+(o+1)*kernel] {
			square += float64(w) * float64(w)
		}
		m.EncoderTheta[bias.Offset+o] -= float32(thresholdSDs * sd * math.Sqrt(square))
	}
}
