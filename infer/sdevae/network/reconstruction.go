package network

import (
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"runtime"
	"sync"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// reconstruction is the loss between a batch of logits from the decoder and their frames, as one graph operation:
//
//	rec = Σ (y - x)² / 2τn,   y = 1/(1 + exp(-(drawn + background)))
//
// With Gorgonia's own operations this would take seven passes over the pictures on one core, a quarter of a training step. This operation takes one pass, and
// stores ∂rec/∂drawn = (y - x) y (1 - y)/τn for the backward pass.
type reconstruction struct {
	owned
	x          []float32 // frames, n × size, read in every run
	background []float32 // size
	frames     int
	scale      float64 // 1/τn
	slope      *tensor.Dense
	sums       []float64 // one per frame, added in order, so that the result does not depend on the number of cores
}

// newReconstruction returns the operation for frames x (n × size), which it does not copy.
func newReconstruction(x *tensor.Dense, background []float32, tau float64) *reconstruction {
	n := x.Shape()[0]
	return &reconstruction{x: x.Data().([]float32), background: background, frames: n, scale: 1 / (tau * float64(n)),
		slope: zeros(x.Shape()...), sums: make([]float64, n)}
}

func (r *reconstruction) Arity() int { return 1 }
func (r *reconstruction) Type() hm.Type {
	return hm.NewFnType(G.TensorType{Dims: 2, Of: tensor.Float32}, tensor.Float32)
}
func (r *reconstruction) InferShape(...G.DimSizer) (tensor.Shape, error) {
	return tensor.ScalarShape(), nil
}

func (r *reconstruction) Do(inputs ...G.Value) (G.Value, error) {
	drawn, ok := inputs[0].Data().([]float32)
	if !ok || len(drawn) != len(r.x) {
		return nil, fmt.Errorf("reconstruction: drawn is a %T of shape %v, expected %d float32", inputs[0].Data(), inputs[0].Shape(), len(r.x))
	}
	var cores sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), r.frames)
	for w := range workers {
		cores.Go(func() {
			for k := w; k < r.frames; k += workers {
				r.frame(k, drawn)
			}
		})
	}
	cores.Wait()
	var sum float64
	for _, v := range r.sums {
		sum += v
	}
	value := G.F32(sum * r.scale / 2)
	return &value, nil
}

// frame compares one frame.
func (r *reconstruction) frame(k int, drawn []float32) {
	size := len(r.background)
	x, slope := r.x[k*size:(k+1)*size], r.slope.Data().([]float32)[k*size:(k+1)*size]
	scale := float32(r.scale)
	var sum float64
	for i, logit := range drawn[k*size : (k+1)*size] {
		y := sigmoid(logit + r.background[i])
		e := y - x[i]
		sum += float64(e * e)
		slope[i] = scale * e * y * (1 - y)
	}
	r.sums[k] = sum
}

func (r *reconstruction) DiffWRT(int) []bool { return []bool{true} }

func (r *reconstruction) SymDiff(_ G.Nodes, rec, by *G.Node) (G.Nodes, error) {
	slope, err := G.ApplyOp(&reconstructionSlope{of: r}, rec, by)
	return G.Nodes{slope}, err
}

func (r *reconstruction) String() string        { return fmt.Sprintf("Reconstruction[%p]", r) }
func (r *reconstruction) WriteHash(h hash.Hash) { fmt.Fprint(h, r.String()) }
func (r *reconstruction) Hashcode() uint32      { return hashcode(r) }

// reconstructionSlope returns the stored gradient of the last run, times the gradient of rec.
type reconstructionSlope struct {
	owned
	of *reconstruction
}

func (s *reconstructionSlope) Arity() int { return 2 }
func (s *reconstructionSlope) Type() hm.Type {
	return hm.NewFnType(tensor.Float32, tensor.Float32, G.TensorType{Dims: 2, Of: tensor.Float32})
}
func (s *reconstructionSlope) InferShape(...G.DimSizer) (tensor.Shape, error) {
	return s.of.slope.Shape().Clone(), nil
}
func (s *reconstructionSlope) Do(inputs ...G.Value) (G.Value, error) {
	if by := inputs[1].Data().(float32); by != 1 {
		for i := range s.of.slope.Data().([]float32) {
			s.of.slope.Data().([]float32)[i] *= by
		}
	}
	return s.of.slope, nil
}

func (s *reconstructionSlope) String() string        { return fmt.Sprintf("ReconstructionSlope[%p]", s.of) }
func (s *reconstructionSlope) WriteHash(h hash.Hash) { fmt.Fprint(h, s.String()) }
func (s *reconstructionSlope) Hashcode() uint32      { return hashcode(s) }

// owned implements the methods of Gorgonia's Op interface for an operation that owns its result.
type owned struct{}

func (owned) ReturnsPtr() bool     { return true }
func (owned) CallsExtern() bool    { return false }
func (owned) OverwritesInput() int { return -1 }

func hashcode(op G.Op) uint32 {
	h := fnv.New32a()
	op.WriteHash(h)
	return h.Sum32()
}

// sigmoid returns 1/(1 + e⁻ᵛ).
func sigmoid(v float32) float32 { return float32(1 / (1 + math.Exp(-float64(v)))) }
