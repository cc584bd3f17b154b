package online

// field is the drift as published: the model's own and what refinement has added.
type field struct {
	prior   *Network  // nil for zero
	added   *addition // replaced when a slice is applied, never written
	scratch Scratch
	near    []float64 // the point of what was visited that is nearest
	mu, jac []float64
}

// addition is a drift with the box of the latents that it was learnt from. Beyond it nothing is known, so there it stays what it is at the
// nearest point of the box: the fields that it is made of would grow with the cube of the distance. Without an extent it has no bounds.
type addition struct {
	*Network
	low, high []float64 // in each dimension, latent; nil before the first
	flat      bool      // its hidden layers have no part in it
}

func newField(prior *Network, added *addition) *field {
	d := added.Dim
	return &field{prior: prior, added: added, near: make([]float64, d), mu: make([]float64, d), jac: make([]float64, d*d)}
}

// box is what a track has visited.
func (t *track) box() (low, high []float64) {
	low, high = make([]float64, t.dim), make([]float64, t.dim)
	for k := range t.len() {
		for i, v := range t.row(k) {
			if k == 0 {
				low[i], high[i] = v, v
			}
			low[i], high[i] = min(low[i], v), max(high[i], v)
		}
	}
	return low, high
}

// nearest writes the point of the box that is nearest to z into dst.
func (a *addition) nearest(dst, z []float64) {
	copy(dst, z)
	for i := range a.low {
		dst[i] = min(max(z[i], a.low[i]), a.high[i])
	}
}

// affinity writes what is affine in the network at z into mu, and its Jacobian into jac, unless that is nil.
func (n *Network) affinity(mu, jac, z []float64) {
	d := n.Dim
	skip := n.Weights[len(n.Weights)-d*d:]
	copy(mu, n.Weights[len(n.Weights)-d*d-d:])
	for j, v := range z {
		u := (v - n.Centre[j]) / n.Scale
		for i, k := range skip[j*d : (j+1)*d] {
			mu[i] += u * k
			if jac != nil {
				jac[i*d+j] = k / n.Scale
			}
		}
	}
}

// drift writes μ(z) into dst.
func (f *field) drift(dst, z []float64) {
	f.added.nearest(f.near, z)
	if f.added.flat {
		f.added.affinity(dst, nil, f.near)
	} else {
		f.added.Drift(dst, f.near, &f.scratch)
	}
	if f.prior != nil {
		f.prior.Drift(f.mu, z, &f.scratch)
		add(dst, f.mu)
	}
}

// linearise writes μ(z) and its Jacobian into mu and jac.
func (f *field) linearise(mu, jac, z []float64) {
	d := len(z)
	f.added.nearest(f.near, z)
	if f.added.flat {
		f.added.affinity(mu, jac, f.near)
	} else {
		f.added.Linearise(mu, jac, f.near, &f.scratch)
	}
	for j, v := range z {
		for i := 0; v != f.near[j] && i < d; i++ {
			jac[i*d+j] = 0
		}
	}
	if f.prior != nil {
		f.prior.Linearise(f.mu, f.jac, z, &f.scratch)
		add(mu, f.mu)
		add(jac, f.jac)
	}
}

func add(dst, x []float64) {
	for i, v := range x {
		dst[i] += v
	}
}
