// Evidence
//
// A priori c ~ N(0, τ²S), S_kl = t_k t_l exp(-(u_k - u_l)²/2ℓ²). t tapers the force to zero over the last quarter before a cutoff. u is r/reach, or
// ln(1 + 8r/reach)/ln 9 for a force that is steep at contact. With G = A'M⁻¹A and LL' = S the ln evidence against no force is
//
//	½ b'M⁻¹A V A'M⁻¹b - ½ ln det(I + τ²L'GL),  V = τ²L(I + τ²L'GL)⁻¹L'                               (6)
//
// The evidence is averaged over both u, ℓ from 1/16 to 1/2, cutoffs at the reach, half and a quarter of the reach, and τ of 8 to 128 kT over the reach. No
// force has probability ½. The same sums over the finest hats serve all priors.
//
// The reported curve averages over u and ℓ only, weighted by evidence, at the largest τ and the whole reach, so it does not shrink towards zero:
//
//	F = Vb̂,  b̂ = A'M⁻¹b,  SE² = V_kk + the variance of F between u and ℓ                                  (7)
//
// Curve.Evidence is the evidence for a force. Curve.Mean is the average over all priors and no force.

package interactions

import "math"

// work is the posterior with its working memory.
type work struct {
	mean     values  // force over all priors and no force, px/s
	odds     float64 // ln p(steps | a pair force)/p(steps | none)
	curve    values  // force averaged over the priors with the whole reach and the largest energy, (7)
	variance values  // variance of curve

	information table  // G = A'M⁻¹A
	pull        values // A'M⁻¹b
	root        table  // root of M
	column      values
	projected   table // L'GL
	product     table // GL
	kernel      table // I + τ²L'GL
	turned      values
	one         values
	options     []option
}

// option is a prior with an energy, and its evidence.
type option struct {
	log   float64
	mean  values
	whole bool   // it contributes to the curve
	plain values // variance
}

// weigh updates the posterior. unit is the force whose work over the reach is kT, px/s.
func (w *work) weigh(s *sums, priors []prior, unit float64) {
	w.reduce(s)
	w.options = w.options[:0]
	for i := range priors {
		w.project(&priors[i])
		for _, energy := range energies {
			w.options = append(w.options, option{})
			w.solve(&w.options[len(w.options)-1], &priors[i], energy*unit)
			o := &w.options[len(w.options)-1]
			if o.whole = priors[i].whole && energy == energies[len(energies)-1]; o.whole {
				w.spread(o, &priors[i], energy*unit)
			}
		}
	}
	w.average()
}

// reduce computes G and A'M⁻¹b from the sums. A knot without steps has no row in M.
func (w *work) reduce(s *sums) {
	n, largest, excess := Knots, 0.0, s.excess()
	for i, v := range s.spread {
		w.root[i] = excess * v
	}
	for i := range n {
		largest = max(largest, w.root[i*Knots+i])
	}
	for i := range n {
		// a knot with less than 1e-9 of the largest information counts as unknown: it had a single, distant step
		w.root[i*Knots+i] += 1e-9*largest + math.SmallestNonzeroFloat64
	}
	cholesky(&w.root, n)
	w.pull, w.one = values{}, s.pull
	forward(&w.root, &w.one, n)
	for j := range n {
		for i := range n {
			w.column[i] = s.response[i*Knots+j]
		}
		forward(&w.root, &w.column, n)
		for i := range n {
			w.product[i*Knots+j] = w.column[i] // M^-½A
			w.pull[j] += w.column[i] * w.one[i]
		}
	}
	w.information = table{}
	for k := range n {
		row := w.product[k*Knots:][:n]
		for i := range n {
			for j := range n {
				w.information[i*Knots+j] += row[i] * row[j]
			}
		}
	}
}

// project computes L'GL and L'b of a prior.
func (w *work) project(p *prior) {
	n := p.knots
	w.product, w.projected, w.turned = table{}, table{}, values{}
	for i := range n {
		for k := range n {
			g := w.information[i*Knots+k]
			for j := range k + 1 {
				w.product[i*Knots+j] += g * p.root[k*Knots+j]
			}
		}
	}
	for k := range n {
		for i := range k + 1 {
			l := p.root[k*Knots+i]
			w.turned[i] += l * w.pull[k]
			for j := range n {
				w.projected[i*Knots+j] += l * w.product[k*Knots+j]
			}
		}
	}
}

// solve computes an option's evidence and mean for a force of the given size.
func (w *work) solve(o *option, p *prior, size float64) {
	n := p.knots
	for i := range n {
		for j := range i + 1 {
			w.kernel[i*Knots+j] = size * size * w.projected[i*Knots+j]
		}
		w.kernel[i*Knots+i]++
	}
	cholesky(&w.kernel, n)
	w.one = w.turned
	forward(&w.kernel, &w.one, n)
	o.log = 0
	for i := range n {
		o.log += size*size*w.one[i]*w.one[i]/2 - math.Log(w.kernel[i*Knots+i])
	}
	backward(&w.kernel, &w.one, n)
	o.mean = values{}
	for i := range n {
		for j := range i + 1 {
			o.mean[i] += size * size * p.root[i*Knots+j] * w.one[j]
		}
	}
}

// spread computes the variance of the mean of the option that solve computed last.
func (w *work) spread(o *option, p *prior, size float64) {
	n := p.knots
	for i := range n {
		w.one = values{}
		copy(w.one[:i+1], p.root[i*Knots:][:i+1])
		forward(&w.kernel, &w.one, n)
		o.plain[i] = 0
		for k := range n {
			o.plain[i] += size * size * w.one[k] * w.one[k]
		}
	}
}

// average averages the options, (6) and (7).
func (w *work) average() {
	most := 0.0
	for i := range w.options {
		most = max(most, w.options[i].log)
	}
	all, whole := 0.0, 0.0
	w.mean, w.curve, w.variance = values{}, values{}, values{}
	for i := range w.options {
		o := &w.options[i]
		share := math.Exp(o.log - most)
		all += share
		for k := range w.mean {
			w.mean[k] += share * o.mean[k]
		}
		if o.whole {
			whole += share
			for k := range w.curve {
				w.curve[k] += share * o.mean[k]
				w.variance[k] += share * (o.plain[k] + o.mean[k]*o.mean[k])
			}
		}
	}
	n := float64(len(w.options))
	w.odds = math.Log(all/n) + most
	force := all / n * (1 - noForcePrior)
	force /= force + noForcePrior*math.Exp(-most)
	for k := range w.mean {
		w.mean[k] *= force / all
		if whole > 0 {
			w.curve[k] /= whole
			w.variance[k] = max(w.variance[k]/whole-w.curve[k]*w.curve[k], 0)
		}
	}
}
