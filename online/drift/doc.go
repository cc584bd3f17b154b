// Package drift evaluates, differentiates and corrects the drift μ(z), latent/s, and learns it from examples. online/regression learns a drift
// from a recording.
//
// Network is the paper's perceptron, with a hand-written Jacobian and gradient (1). graph.go builds the network and the SDE's loss as nodes of Gorgonia's
// graph, for training the encoder (2), (3). Field is the model's own drift plus the learnt Correction. Tangent linearises a Field.
//
// Evaluating a Network allocates nothing. Validate checks every size that was read from a file.
package drift
