// Package drift evaluates, differentiates and corrects the drift μ(z), latent/s, and learns it from examples. online/regression learns a drift
// from a recording.
//
// Network is the paper's perceptron, with its Jacobian and its gradient by hand (1). graph.go has the network and the SDE's loss as nodes of
// Gorgonia's graph, for training the encoder (2), (3). Field is the model's own drift plus the learnt Correction. Tangent linearises it.
//
// A Network's value allocates nothing. Every size read from a file is checked by Validate.
package drift
