package motion

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"driftscope/online/motion/motiontest"
)

// Settings of the training.
const (
	trainingSeed = 1
	examples     = 400_000
	epochs       = 18
	batch        = 256
	rate         = 2e-3 // of Adam, falling to 0 as a cosine
	decay        = 1e-4 // of the weights per step, times the rate, as in AdamW
)

// example holds the features of a track and its simulated model and exponent.
type example struct {
	value [features]float32
	alpha float64
	model motiontest.Model
	n     int
	noise float64
}

// simulated returns example k of a seed. Model and exponent follow the challenge mixture, with exponents spread over their bins. Half of the lengths are
// uniform from 10 to 1000, as in the challenge. The other half are uniform in their logarithm, because tracks from microscopes are short.
func (w *worker) simulated(seed, k uint64, length int, exact bool) (e example) {
	rng := rand.New(rand.NewPCG(seed, k))
	e.model, e.alpha = motiontest.Draw(rng)
	if u := e.alpha + binWidth*(rng.Float64()-0.5); !exact && u > 0.03 && u < 1.999 && e.model.Allows(u) {
		e.alpha = u
	}
	e.n = length
	if e.n == 0 {
		e.n = 10 + rng.IntN(990)
		if rng.IntN(2) == 0 {
			e.n = int(math.Exp(math.Log(10) + rng.Float64()*math.Log(100)))
		}
	}
	e.noise = motiontest.Noises[rng.IntN(len(motiontest.Noises))]
	x, y := motiontest.Path(rng, e.model, e.alpha)
	x, y = x[:e.n], y[:e.n]
	motiontest.Localise(rng, e.noise, x, y)
	w.places = w.places[:0]
	for i := range x {
		w.places = append(w.places, Place{x[i], y[i], float64(i), 0})
	}
	w.series.read(w.places)
	w.fractional.prepare(&w.series, 0)
	w.measure(&w.fractional, false)
	e.value = w.measured.value
	return e
}

// worker holds the scratch memory of one goroutine.
type worker struct {
	places []Place
	analysis
}

// simulate makes examples on all cores; each has its own random numbers, so that the result does not depend on the cores.
func simulate(seed uint64, count, length int, exact bool) []example {
	list := make([]example, count)
	var group sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for c := range cores {
		group.Add(1)
		go func() {
			defer group.Done()
			w := new(worker)
			for k := c; k < count; k += cores {
				list[k] = w.simulated(seed, uint64(k), length, exact)
			}
		}()
	}
	group.Wait()
	return list
}

// TestTrain writes network.bin: MOTION_NETWORK=write go test ./online/motion -run TestTrain -timeout 2h. It takes nine minutes on two cores, and always
// writes the same bytes.
func TestTrain(t *testing.T) {
	if os.Getenv("MOTION_NETWORK") != "write" {
		t.Skip("MOTION_NETWORK=write trains the net anew")
	}
	n := train(t, simulate(trainingSeed, examples, 0, false), epochs)
	var file bytes.Buffer
	if err := binary.Write(&file, binary.LittleEndian, pack(n)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("network.bin", file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pack rounds the weights.
func pack(n *net) *packed {
	p := &packed{Offset: n.Offset, Scale: n.Scale, FirstBias: n.FirstBias, SecondBias: n.SecondBias, ThirdBias: n.ThirdBias}
	for i := range n.First {
		p.Steps[0] = max(p.Steps[0], largest(n.First[i][:]))
	}
	for i := range n.Second {
		p.Steps[1] = max(p.Steps[1], largest(n.Second[i][:]))
	}
	for i := range n.Third {
		p.Steps[2] = max(p.Steps[2], largest(n.Third[i][:]))
	}
	for i := range p.Steps {
		p.Steps[i] /= math.MaxInt16
	}
	for i := range n.First {
		narrow(p.First[i][:], n.First[i][:], p.Steps[0])
	}
	for i := range n.Second {
		narrow(p.Second[i][:], n.Second[i][:], p.Steps[1])
	}
	for i := range n.Third {
		narrow(p.Third[i][:], n.Third[i][:], p.Steps[2])
	}
	return p
}

func largest(list []float32) float32 {
	top := float32(0)
	for _, v := range list {
		top = max(top, v, -v)
	}
	return top
}

func narrow(to []int16, from []float32, step float32) {
	for i, v := range from {
		to[i] = int16(math.Round(float64(v / step)))
	}
}

// layer holds weights with their Adam moments, and the values of a batch.
type layer struct {
	in, out        int
	w, b, gw, gb   []float32
	mw, mb, vw, vb []float32
	value, slope   blas32.General // batch × out
}

func newLayer(rng *rand.Rand, in, out int) *layer {
	l := &layer{in: in, out: out}
	for _, p := range []*[]float32{&l.w, &l.gw, &l.mw, &l.vw} {
		*p = make([]float32, in*out)
	}
	for _, p := range []*[]float32{&l.b, &l.gb, &l.mb, &l.vb} {
		*p = make([]float32, out)
	}
	for i := range l.w {
		l.w[i] = float32(rng.NormFloat64() * math.Sqrt(2/float64(in)))
	}
	l.value = matrix(batch, out)
	l.slope = matrix(batch, out)
	return l
}

func matrix(rows, columns int) blas32.General {
	return blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: make([]float32, rows*columns)}
}

func (l *layer) weights() blas32.General {
	return blas32.General{Rows: l.out, Cols: l.in, Stride: l.in, Data: l.w}
}

func (l *layer) forward(in blas32.General, active bool) {
	for r := range batch {
		copy(l.value.Data[r*l.out:(r+1)*l.out], l.b)
	}
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, in, l.weights(), 1, l.value)
	if active {
		for i, v := range l.value.Data {
			l.value.Data[i] = activation(v)
		}
	}
}

// backward computes the gradients and the slope of the previous layer, from the slope of the output.
func (l *layer) backward(in blas32.General, before *layer) {
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, l.slope, in, 0, blas32.General{Rows: l.out, Cols: l.in, Stride: l.in, Data: l.gw})
	clear(l.gb)
	for r := range batch {
		for j, v := range l.slope.Data[r*l.out : (r+1)*l.out] {
			l.gb[j] += v
		}
	}
	if before == nil {
		return
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, l.slope, l.weights(), 0, before.slope)
	for i, v := range before.value.Data {
		if v < 0 {
			before.slope.Data[i] *= leak
		}
	}
}

// adam updates weights by the rule of Kingma and Ba, with decoupled decay.
func adam(w, g, m, v []float32, step int, size, shrink float64) {
	const b1, b2 = 0.9, 0.999
	c1, c2 := 1-math.Pow(b1, float64(step)), 1-math.Pow(b2, float64(step))
	a := float32(size / c1)
	s := float32(1 / c2)
	k := float32(1 - size*shrink)
	for i, d := range g {
		m[i] = b1*m[i] + (1-b1)*d
		v[i] = b2*v[i] + (1-b2)*d*d
		w[i] = k*w[i] - a*m[i]/(float32(math.Sqrt(float64(v[i]*s)))+1e-8)
	}
}

// train fits the net by the cross-entropy of the exponent bin and the model.
func train(t *testing.T, list []example, epochs int) *net {
	n := new(net)
	standardise(n, list)
	rng := rand.New(rand.NewPCG(trainingSeed, 0))
	layers := [3]*layer{newLayer(rng, features, hidden), newLayer(rng, hidden, middle), newLayer(rng, middle, outputs)}
	for i := range layers[2].w {
		layers[2].w[i] *= 0.1
	}
	in := matrix(batch, features)
	order := rng.Perm(len(list))
	steps := len(list) / batch
	step := 0
	for epoch := range epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		loss, miss := 0., 0.
		for b := range steps {
			rows := order[b*batch : (b+1)*batch]
			for r, k := range rows {
				for i, v := range list[k].value {
					in.Data[r*features+i] = (v + n.Offset[i]) * n.Scale[i]
				}
			}
			layers[0].forward(in, true)
			layers[1].forward(layers[0].value, true)
			layers[2].forward(layers[1].value, false)
			for r, k := range rows {
				l, m := slope(layers[2], r, &list[k])
				loss, miss = loss+l, miss+m
			}
			layers[2].backward(layers[1].value, layers[1])
			layers[1].backward(layers[0].value, layers[0])
			layers[0].backward(in, nil)
			step++
			size := rate * (1 + math.Cos(math.Pi*float64(step)/float64(epochs*steps))) / 2
			for _, l := range layers {
				adam(l.w, l.gw, l.mw, l.vw, step, size, decay*100)
				adam(l.b, l.gb, l.mb, l.vb, step, size, 0)
			}
		}
		t.Logf("epoch %d: cross-entropy %.4f, MAE %.4f", epoch, loss/float64(steps*batch), miss/float64(steps*batch))
	}
	for i := range n.First {
		copy(n.First[i][:], layers[0].w[i*features:])
	}
	for i := range n.Second {
		copy(n.Second[i][:], layers[1].w[i*hidden:])
	}
	for i := range n.Third {
		copy(n.Third[i][:], layers[2].w[i*middle:])
	}
	copy(n.FirstBias[:], layers[0].b)
	copy(n.SecondBias[:], layers[1].b)
	copy(n.ThirdBias[:], layers[2].b)
	return n
}

// slope returns the loss of one row, and writes its slope; the model counts half as much as the exponent.
func slope(l *layer, r int, e *example) (loss, miss float64) {
	out := l.value.Data[r*l.out : (r+1)*l.out]
	to := l.slope.Data[r*l.out : (r+1)*l.out]
	var p posterior
	softmax(p.density[:], out[:classes])
	softmax(p.model[:], out[classes:])
	target := min(max(int(math.Round(e.alpha/binWidth))-1, 0), classes-1)
	loss = -math.Log(float64(p.density[target]) + 1e-12)
	for i, v := range p.density {
		to[i] = v / batch
	}
	to[target] -= 1. / batch
	for i, v := range p.model {
		to[classes+i] = v / batch / 2
	}
	to[classes+int(e.model)] -= 0.5 / batch
	return loss, math.Abs(p.quantile(0.5) - e.alpha)
}

// standardise scales every feature to mean 0 and standard deviation 1.
func standardise(n *net, list []example) {
	for i := range features {
		var s, q float64
		for k := range list {
			v := float64(list[k].value[i])
			s, q = s+v, q+v*v
		}
		count := float64(len(list))
		mean := s / count
		sd := math.Sqrt(max(q/count-mean*mean, 0))
		n.Offset[i] = float32(-mean)
		n.Scale[i] = 1
		if sd > 1e-4 { // other features are constant
			n.Scale[i] = float32(1 / sd)
		}
	}
}
