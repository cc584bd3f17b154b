package online

// field is the drift as published: the model's own and what refinement has added.
type field struct {
	prior   *Network // nil for zero
	added   *Network // replaced when a slice is applied, never written
	scratch Scratch
	mu, jac []float64
}

func newField(prior, added *Network) *field {
	return &field{prior: prior, added: added, mu: make([]float64, added.Dim), jac: make([]float64, added.Dim*added.Dim)}
}

// drift writes μ(z) into dst.
func (f *field) drift(dst, z []float64) {
	f.added.Drift(dst, z, &f.scratch)
	if f.prior != nil {
		f.prior.Drift(f.mu, z, &f.scratch)
		add(dst, f.mu)
	}
}

// linearise writes μ(z) and its Jacobian into mu and jac.
func (f *field) linearise(mu, jac, z []float64) {
	f.added.Linearise(mu, jac, z, &f.scratch)
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
