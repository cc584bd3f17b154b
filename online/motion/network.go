package motion

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// Layers of the net: features in, two hidden layers, and densities out.
const (
	hidden   = 192
	middle   = 96
	classes  = 40   // of the exponent: centres 0.05, 0.10 … 2.00, as in the challenge
	binWidth = 0.05 // width of one class
	models   = 5    // ATTM, CTRW, FBM, LW, SBM: a second output, so that the net keeps what separates the models
	outputs  = classes + models
)

// net maps features to the density of the exponent. training_test.go trains it.
type net struct {
	Offset, Scale [features]float32 // a feature is (value + Offset) Scale
	First         [hidden][features]float32
	FirstBias     [hidden]float32
	Second        [middle][hidden]float32
	SecondBias    [middle]float32
	Third         [outputs][middle]float32
	ThirdBias     [outputs]float32
}

// packed is the stored form of the net: weights are integers times the step of their layer, 1/32767 of its largest weight.
type packed struct {
	Offset, Scale [features]float32
	FirstBias     [hidden]float32
	SecondBias    [middle]float32
	ThirdBias     [outputs]float32
	Steps         [3]float32
	First         [hidden][features]int16
	Second        [middle][hidden]int16
	Third         [outputs][middle]int16
}

//go:embed network.bin
var stored []byte

// trained decodes network.bin: packed, little-endian, in field order.
var trained = sync.OnceValue(func() *net {
	p := new(packed)
	if size := binary.Size(p); len(stored) != size {
		panic(fmt.Sprintf("motion: network.bin has %d bytes, expected %d: MOTION_NETWORK=write go test ./online/motion -run TestTrain -timeout 2h writes it anew", len(stored), size))
	}
	if _, err := binary.Decode(stored, binary.LittleEndian, p); err != nil {
		panic(err)
	}
	return p.unpack()
})

func (p *packed) unpack() *net {
	n := &net{Offset: p.Offset, Scale: p.Scale, FirstBias: p.FirstBias, SecondBias: p.SecondBias, ThirdBias: p.ThirdBias}
	for i := range n.First {
		widen(n.First[i][:], p.First[i][:], p.Steps[0])
	}
	for i := range n.Second {
		widen(n.Second[i][:], p.Second[i][:], p.Steps[1])
	}
	for i := range n.Third {
		widen(n.Third[i][:], p.Third[i][:], p.Steps[2])
	}
	return n
}

func widen(to []float32, from []int16, step float32) {
	for i, v := range from {
		to[i] = float32(v) * step
	}
}

// posterior is the output of the net.
type posterior struct {
	density [classes]float32
	model   [models]float32
	one     [hidden]float32
	two     [middle]float32
	in      [features]float32
	out     [outputs]float32
}

// ask runs the net.
func (p *posterior) ask(n *net, value *[features]float32) {
	for i, v := range value {
		p.in[i] = (v + n.Offset[i]) * n.Scale[i]
	}
	for i := range p.one {
		p.one[i] = activation(n.FirstBias[i] + product(n.First[i][:], p.in[:]))
	}
	for i := range p.two {
		p.two[i] = activation(n.SecondBias[i] + product(n.Second[i][:], p.one[:]))
	}
	for i := range p.out {
		p.out[i] = n.ThirdBias[i] + product(n.Third[i][:], p.two[:])
	}
	softmax(p.density[:], p.out[:classes])
	softmax(p.model[:], p.out[classes:])
}

// activation is the leaky rectifier.
func activation(v float32) float32 { return max(v, leak*v) }

// leak keeps a gradient below 0.
const leak = 0.05

// product sums in four lanes, which the processor adds in parallel.
func product(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

func softmax(to, from []float32) {
	top := from[0]
	for _, v := range from {
		top = max(top, v)
	}
	sum := 0.
	for i, v := range from {
		e := math.Exp(float64(v - top))
		to[i] = float32(e)
		sum += e
	}
	for i := range to {
		to[i] /= float32(sum)
	}
}

// quantile returns a quantile of the exponent, linear inside a bin.
func (p *posterior) quantile(share float64) float64 {
	below := 0.
	for i, d := range p.density {
		w := float64(d)
		if below+w >= share && w > 0 {
			return binWidth * (float64(i) + 0.5 + (share-below)/w)
		}
		below += w
	}
	return binWidth * (classes + 0.5)
}
