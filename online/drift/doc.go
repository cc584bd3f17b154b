// Package drift is μ(z), latent/s, as a function: evaluated, differentiated, corrected, and learnt from examples. What a recording says of a
// drift is in online/regression.
//
//	network.go   Network: the perceptron, its bounds, its value and its Jacobian
//	tape.go      its value and gradient on a batch, by hand
//	imitate.go   a network that learns to be like given values; adam.go is the optimiser
//	graph.go     the network and the SDE's loss as nodes of Gorgonia's graph, for training the encoder
//	field.go     Field: the model's own drift and the Correction that was learnt
//	tangent.go   Tangent: the drift made linear about a point, and followed from frame to frame
//	cancel.go    the flag that ends learning early
//
// # Network
//
// The paper's perceptron, four hidden layers of 16 with softplus between, and a linear skip K, on inputs of order one:
//
//	a₀ = u = (z - centre)/scale;  aₗ = softplus(aₗ₋₁Wₗ + bₗ);  μ = a_L W + b + uK           (1)
//
// Its gradient is written out by hand (tape.go). For one fixed shape that is 2.7 times faster than Gorgonia's tape at a batch of 64 (0.22
// against 0.59 ms). It allocates nothing; Gorgonia allocates 1300 times a step, which the frame path's garbage collector would pay for. Tests
// hold it equal to Gorgonia's gradient and to finite differences.
//
// # Loss of the SDE
//
// Per transition, Euler and Maruyama's increments about the means of consecutive frames (infer/sdevae/doc.go)
//
//	e = m(t+1) - m(t) - μ(m(t))Δt                                                            (2)
//	qᵢ = mean over pairs of (eᵢ² + S_ii(t) + S_ii(t+1))/Δt,  loss ½ Σ ln qᵢ                  (3)
//
// q is σ² at its maximum of likelihood. ProfiledDiffusion gives it as a node of Gorgonia's graph.
//
// # Correction
//
// What is published is the model's own drift plus a Correction. The correction was learnt in a box of latents. Beyond the box its affine part
// goes on, and the rest stays what it is at the box's nearest point.
//
// # Tangent
//
//	μ(z) ≈ μ(c) + J(z - c),  F = I + JΔt
//
// One dimension by itself sees the diagonal of J: a Line, whose F is Line.Decay, at least 0.
package drift
