//go:build nodnnl

package dnnl

// kernel is a stage's convolution in the form in which it is computed. Without Upsample it is the convolution itself. After Upsample it works at the low
// resolution: the four phases of the output become channels (phase, channel), and taps that fall on the same low-resolution pixel are summed. See compile.go.
type kernel struct {
	in, out, width int // channels and kernel width of the stage's Conv
	phases, taps   int // 1 and width, or 4 and about half the width
	place          []int
	weights        []float32 // (phase, out) x in x taps x taps
}

func newKernel(s *stage) kernel {
	k := kernel{in: s.in.C, out: s.channels, width: s.kernel, phases: 1, taps: s.kernel}
	if s.upsample {
		k.phases, k.taps = 4, 2*((s.kernel/2+1)/2)+1
	}
	k.weights = make([]float32, k.rows()*k.patch())
	for w := range s.weights() {
		for q := range k.phases {
			k.place = append(k.place, k.position(w, q))
		}
	}
	return k
}

func (k *kernel) rows() int  { return k.phases * k.out }
func (k *kernel) patch() int { return k.in * k.taps * k.taps }

// position returns the index in k.weights to which weight w (in OIHW order) contributes in phase q.
func (k *kernel) position(w, q int) int {
	square := k.width * k.width
	o, i, ky, kx := w/square/k.in, w/square%k.in, w%square/k.width, w%k.width
	if k.phases == 1 {
		return w
	}
	fold := func(phase, tap int) int { // floor((phase + tap - width/2)/2), counted from the first tap
		return (phase+tap-k.width/2+2*k.taps)/2 - k.taps + k.taps/2
	}
	return (((q*k.out+o)*k.in+i)*k.taps+fold(q/2, ky))*k.taps + fold(q%2, kx)
}

func (k *kernel) fold(w []float32) {
	clear(k.weights)
	for at, p := range k.place {
		k.weights[p] += w[at/k.phases]
	}
}

// unfold is the transpose of fold. It computes dw from the gradient with respect to the folded weights.
func (k *kernel) unfold(dw, folded []float32) {
	clear(dw[:len(k.place)/k.phases])
	for at, p := range k.place {
		dw[at/k.phases] += folded[p]
	}
}

// join interleaves the phases into a picture of shape s. part separates them.
func (k *kernel) join(z, phases []float32, s Shape) {
	k.pair(s, func(at, from int) { z[at] = phases[from] })
}

func (k *kernel) part(phases, z []float32, s Shape) {
	k.pair(s, func(at, from int) { phases[from] = z[at] })
}

func (k *kernel) pair(s Shape, visit func(at, from int)) {
	if k.phases == 1 {
		for at := range s.Size() {
			visit(at, at)
		}
		return
	}
	for c := range s.C {
		for y := range s.H {
			for x := range s.W {
				row := (y%2*2+x%2)*k.out + c
				visit((c*s.H+y)*s.W+x, (row*s.H/2+y/2)*(s.W/2)+x/2)
			}
		}
	}
}

// unroll writes one row per channel and tap. It has the value that each pixel reads through the tap, zero outside the picture.
func unroll(columns, x []float32, s Shape, taps int) {
	clear(columns[:s.Size()*taps*taps])
	walk(s, taps, func(line, row, length int) { copy(columns[line:line+length], x[row:]) })
}

// roll is the transpose of unroll: it adds to x the values of every tap.
func roll(x, columns []float32, s Shape, taps int) {
	clear(x)
	walk(s, taps, func(line, row, length int) {
		target := x[row:][:length]
		for i, v := range columns[line : line+length] {
			target[i] += v
		}
	})
}

// walk visits every stretch of the unrolled matrix that lies inside the picture. The `length` values from index line on are the picture's values from index row
// on.
func walk(s Shape, taps int, visit func(line, row, length int)) {
	for r := range s.C * taps * taps {
		plane, dy, dx := r/(taps*taps), r/taps%taps-taps/2, r%taps-taps/2
		from, to := max(-dx, 0), min(s.W, s.W-dx)
		if from >= to {
			continue
		}
		for y := max(-dy, 0); y < min(s.H, s.H-dy); y++ {
			visit((r*s.H+y)*s.W+from, (plane*s.H+y+dy)*s.W+from+dx, to-from)
		}
	}
}
