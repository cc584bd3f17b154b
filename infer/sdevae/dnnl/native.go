//go:build nodnnl

package dnnl

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

const (
	leak    = 0.01 // slope of LeakyReLU below zero
	epsilon = 1e-5 // added to the variance by BatchNorm
)

// chunks is the number of parts of a batch. It is fixed, so sums over pictures do not depend on the number of cores.
const chunks = 8

// trunk is a stack in plain Go. All pictures are NCHW, and convolutions are matrix products over unrolled patches.
type trunk struct {
	stages  []nativeStage
	x       []float32 // pictures of the last forward pass
	workers int
	scratch []scratch   // one per worker, at most chunks
	partial [][]float32 // contribution of each chunk to a weight gradient
}

// scratch is a worker's memory for one picture's unrolled patches and its convolution, by phase.
type scratch struct{ columns, phases []float32 }

// nativeStage holds a stage's maps for the whole batch.
type nativeStage struct {
	stage
	kernel                  kernel
	theta                   []float32 // parameters of the last forward pass
	z, a                    []float32 // result of the convolution; output of the stage
	dz, dx                  []float32 // gradients with respect to z and to the stage's input
	scale, base, rise, fall []float32 // per channel, with u = scale z + base and (z - mean)/sd = rise z + fall
}

func newTrunk(stages []stage, batch int) (*trunk, error) {
	t := &trunk{x: make([]float32, batch*stages[0].in.Size())}
	t.setThreads(0)
	columns, phases, weights := 0, 0, 0
	for _, s := range stages {
		c, k := s.channels, newKernel(&s)
		t.stages = append(t.stages, nativeStage{stage: s, kernel: k,
			z: make([]float32, batch*s.made().Size()), a: make([]float32, batch*s.out().Size()),
			dz: make([]float32, batch*s.made().Size()), dx: make([]float32, batch*s.in.Size()),
			scale: make([]float32, c), base: make([]float32, c), rise: make([]float32, c), fall: make([]float32, c)})
		columns = max(columns, k.patch()*s.in.H*s.in.W)
		phases = max(phases, s.made().Size())
		weights = max(weights, len(k.weights)+c)
	}
	for range chunks {
		t.scratch = append(t.scratch, scratch{make([]float32, columns), make([]float32, phases)})
	}
	for range chunks {
		t.partial = append(t.partial, make([]float32, weights))
	}
	return t, nil
}

func (t *trunk) close() {}

func (t *trunk) setThreads(n int) {
	if n < 1 {
		n = runtime.GOMAXPROCS(0)
	}
	t.workers = min(n, chunks)
}

// split calls f for every chunk of n pictures, on several workers at a time.
func (t *trunk) split(n int, f func(worker, chunk, from, to int)) {
	var next atomic.Int32
	var wg sync.WaitGroup
	for worker := range t.workers {
		wg.Go(func() {
			for c := int(next.Add(1)) - 1; c < chunks; c = int(next.Add(1)) - 1 {
				f(worker, c, c*n/chunks, (c+1)*n/chunks)
			}
		})
	}
	wg.Wait()
}

func (t *trunk) forward(y, x, theta, moments []float32, n int) error {
	t.run(y, x, theta, moments, n, true)
	return nil
}

func (t *trunk) infer(y, x, theta, moments []float32, n int) error {
	t.run(y, x, theta, moments, n, false)
	return nil
}

func (t *trunk) run(y, x, theta, moments []float32, n int, training bool) {
	copy(t.x, x[:n*t.stages[0].in.Size()])
	a := t.x
	for i := range t.stages {
		s := &t.stages[i]
		s.theta = append(s.theta[:0], theta...)
		s.kernel.fold(s.theta[s.weight:])
		t.split(n, func(worker, _, from, to int) { s.convolve(a, t.scratch[worker], from, to) })
		s.prepare(moments, n, training)
		t.split(n, func(_, _, from, to int) { s.activate(from, to) })
		a = s.a
	}
	copy(y, a[:n*t.stages[len(t.stages)-1].out().Size()])
}

func (t *trunk) backward(dx, dtheta, dy []float32, n int) error {
	da := dy
	for i := len(t.stages) - 1; i >= 0; i-- {
		s, x := &t.stages[i], t.x
		if i > 0 {
			x = t.stages[i-1].a
		}
		wanted := i > 0 || dx != nil
		t.split(n, func(_, _, from, to int) { s.differentiate(da, from, to) })
		s.normaliseGradient(dtheta, n)
		t.split(n, func(worker, chunk, from, to int) {
			s.correlate(x, t.partial[chunk], t.scratch[worker], from, to, wanted)
		})
		t.collect(s, dtheta)
		da = s.dx
	}
	if dx != nil {
		copy(dx, t.stages[0].dx[:n*t.stages[0].in.Size()])
	}
	return nil
}

// collect adds the chunks' weight gradients in order. The gradient of a bias before a BatchNorm is 0.
func (t *trunk) collect(s *nativeStage, dtheta []float32) {
	size := len(s.kernel.weights)
	sum := t.partial[0][:size+s.channels]
	for _, p := range t.partial[1:] {
		for i, v := range p[:len(sum)] {
			sum[i] += v
		}
	}
	s.kernel.unfold(dtheta[s.weight:], sum[:size])
	if s.norm {
		clear(sum[size:])
	}
	copy(dtheta[s.bias:], sum[size:])
}

// matrices returns the stage's convolution as a matrix product: phases (channels of all phases x pixels) = w (channels of all phases x patch) times columns
// (patch x pixels).
func (s *nativeStage) matrices(w []float32, r scratch) (mw, mc, mp blas32.General) {
	pixels, patch, rows := s.in.H*s.in.W, s.kernel.patch(), s.kernel.rows()
	return blas32.General{Rows: rows, Cols: patch, Stride: patch, Data: w},
		blas32.General{Rows: patch, Cols: pixels, Stride: pixels, Data: r.columns},
		blas32.General{Rows: rows, Cols: pixels, Stride: pixels, Data: r.phases}
}

func part(v []float32, i int, s Shape) []float32 { return v[i*s.Size() : (i+1)*s.Size()] }

// convolve writes z for a range of pictures.
func (s *nativeStage) convolve(x []float32, r scratch, from, to int) {
	bias := s.theta[s.bias : s.bias+s.channels]
	mw, mc, mp := s.matrices(s.kernel.weights, r)
	for i := from; i < to; i++ {
		unroll(r.columns, part(x, i, s.in), s.in, s.kernel.taps)
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, mw, mc, 0, mp)
		s.kernel.join(part(s.z, i, s.made()), r.phases, s.made())
		plane := s.made().H * s.made().W
		for c, b := range bias {
			z := part(s.z, i, s.made())[c*plane:][:plane]
			for j := range z {
				z[j] += b
			}
		}
	}
}

// correlate sums the gradients of some pictures into partial: with respect to the folded weights, dw = dz columns', and to the bias. If wanted is true, it also
// writes each picture's gradient with respect to the input, columns = w' dz, rolled up again.
func (s *nativeStage) correlate(x, partial []float32, r scratch, from, to int, wanted bool) {
	size := len(s.kernel.weights)
	clear(partial)
	dw, mc, mp := s.matrices(partial[:size], r)
	mw, _, _ := s.matrices(s.kernel.weights, r)
	for i := from; i < to; i++ {
		dz := part(s.dz, i, s.made())
		s.kernel.part(r.phases, dz, s.made())
		unroll(r.columns, part(x, i, s.in), s.in, s.kernel.taps)
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, mp, mc, 1, dw)
		plane := len(dz) / s.channels
		for c := range s.channels {
			for _, v := range dz[c*plane : (c+1)*plane] {
				partial[size+c] += v
			}
		}
		if wanted {
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, mw, mp, 0, mc)
			roll(part(s.dx, i, s.in), r.columns, s.in, s.kernel.taps)
		}
	}
}

// prepare computes scale and base. In training mode it measures the moments first.
func (s *nativeStage) prepare(moments []float32, n int, training bool) {
	for c := range s.channels {
		if !s.norm {
			s.scale[c], s.base[c] = 1, 0
			continue
		}
		mean, variance := &moments[s.moments+c], &moments[s.moments+s.channels+c]
		if training {
			*mean, *variance = s.measure(c, n)
		}
		rise := 1 / math.Sqrt(float64(*variance)+epsilon)
		gamma, beta := float64(s.theta[s.gamma+c]), float64(s.theta[s.beta+c])
		s.rise[c], s.fall[c] = float32(rise), float32(-float64(*mean)*rise)
		s.scale[c], s.base[c] = float32(gamma*rise), float32(beta-float64(*mean)*rise*gamma)
	}
}

// measure returns channel c's mean and biased variance over n pictures, in two passes.
func (s *nativeStage) measure(c, n int) (mean, variance float32) {
	var sum, square float64
	plane := s.made().H * s.made().W
	s.each(c, n, plane, func(z []float32) {
		for _, v := range z {
			sum += float64(v)
		}
	})
	m := sum / float64(n*plane)
	s.each(c, n, plane, func(z []float32) {
		for _, v := range z {
			square += (float64(v) - m) * (float64(v) - m)
		}
	})
	return float32(m), float32(square / float64(n*plane))
}

func (s *nativeStage) each(c, n, plane int, f func(z []float32)) {
	for i := range n {
		at := (i*s.channels + c) * plane
		f(s.z[at : at+plane])
	}
}
