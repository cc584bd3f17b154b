// Package drift evaluates, differentiates and corrects the drift μ(z), latent/s, and learns it from examples. online/regression learns a
// drift from a recording.
//
//	network.go   Network: the perceptron, its bounds, its value and its Jacobian
//	tape.go      its value and gradient on a batch, by hand
//	imitate.go   trains a network to reproduce given values; adam.go is the optimiser
//	graph.go     the network and the SDE's loss as nodes of Gorgonia's graph, for training the encoder
//	field.go     Field: the model's own drift and the learnt Correction
//	tangent.go   Tangent: the drift linearised about a point, updated from frame to frame
//	cancel.go    the flag that ends learning early
//
// # Network
//
// The paper's perceptron, four hidden layers of 16 with softplus between, and a linear skip K, on inputs of order one:
//
//	a₀ = u = (z - centre)/scale;  aₗ = softplus(aₗ₋₁Wₗ + bₗ);  μ = a_L W + b + uK           (1)
//
// Its gradient is written by hand (tape.go). For one fixed shape it is 2.7 times faster than Gorgonia's tape at a batch of 64 (0.22
// against 0.59 ms). It allocates nothing. Gorgonia allocates 1300 times a step, and the garbage collector would delay the frame path. Tests
// compare it with Gorgonia's gradient and with finite differences.
//
// # Loss of the SDE
//
// Per transition, Euler and Maruyama's increments about the means of consecutive frames (infer/sdevae/doc.go)
//
//	e = m(t+1) - m(t) - μ(m(t))Δt                                                            (2)
//	qᵢ = mean over pairs of (eᵢ² + S_ii(t) + S_ii(t+1))/Δt,  loss ½ Σ ln qᵢ                  (3)
//
// q is σ² at its maximum of likelihood. ProfiledDiffusion returns it as a node of Gorgonia's graph.
//
// # Correction
//
// The published drift is the model's own drift plus a Correction. The correction was learnt in a box of latents. Beyond the box its
// affine part continues, and the rest keeps its value at the box's nearest point.
//
// # Tangent
//
//	μ(z) ≈ μ(c) + J(z - c),  F = I + JΔt
//
// One dimension alone has the diagonal of J: a Line, with F = Line.Decay, at least 0.
package drift
