package dnnl

import (
	"math"
	"math/rand/v2"
)

// Segment is the range of one tensor in theta. Shape is OIHW, row-major, for a "weight" and a single length for "bias", "gamma" and "beta".
type Segment struct {
	Layer  int // index into the layers given to New
	Name   string
	Offset int
	Len    int
	Shape  []int
}

// Params returns the length of theta.
func (s *Stack) Params() int { return s.params }

// Segments returns the tensors of theta in order, without gaps. The stack owns the slice.
func (s *Stack) Segments() []Segment { return s.segments }

// layout assigns every stage's tensors a range in theta, and its moments a range in the list of moments.
func (s *Stack) layout() {
	place := func(layer int, name string, shape ...int) int {
		n := 1
		for _, d := range shape {
			n *= d
		}
		offset := s.params
		s.segments = append(s.segments, Segment{layer, name, offset, n, shape})
		s.params += n
		return offset
	}
	moments := 0
	for i := range s.stages {
		st := &s.stages[i]
		st.weight = place(st.conv, "weight", st.channels, st.in.C, st.kernel, st.kernel)
		st.bias = place(st.conv, "bias", st.channels)
		if st.norm {
			st.gamma = place(st.bn, "gamma", st.channels)
			st.beta = place(st.bn, "beta", st.channels)
			st.moments = moments
			moments += 2 * st.channels
		}
	}
	s.moments = make([]float32, moments)
	s.given = make([]float32, moments)
	for i := range s.stages {
		if st := &s.stages[i]; st.norm {
			c, at := st.channels, st.moments
			s.stats = append(s.stats, Moments{Mean: s.moments[at : at+c : at+c], Var: s.moments[at+c : at+2*c : at+2*c]})
		}
	}
}

// Init sets theta to PyTorch's default: random weights and biases, uniform in ±1/sqrt(fan in), which for weights is kaiming_uniform with a = sqrt(5) (He et al.
// 2015); gamma is 1, beta 0.
func (s *Stack) Init(theta []float32, rng *rand.Rand) {
	for i := range s.stages {
		st := &s.stages[i]
		bound := 1 / math.Sqrt(float64(st.in.C*st.kernel*st.kernel))
		for j := range st.weights() {
			theta[st.weight+j] = float32(bound * (2*rng.Float64() - 1))
		}
		for j := range st.channels {
			theta[st.bias+j] = float32(bound * (2*rng.Float64() - 1))
		}
		if st.norm {
			for j := range st.channels {
				theta[st.gamma+j], theta[st.beta+j] = 1, 0
			}
		}
	}
}
