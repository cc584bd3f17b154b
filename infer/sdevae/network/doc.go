// Package network is the SDE-VAE in training: the encoder q(z|x) = N(m(x), L L'), the decoder f, the drift μ, and the Gorgonia graphs of the loss of
// infer/sdevae/train.go and its gradients. The trainer's schedule is elsewhere.
//
// Model has the weights, Encode and Decode. Graph is one training step of a batch of pairs. SyntheticGraph trains the encoder alone on synthetic
// frames. Posteriors has m and L, a row a frame. Adam has parameters that rest and parameters that learn slower.
//
// All graphs of a Model share its weights: a step changes the model. The caller closes models and graphs, which hold oneDNN's memory.
//
// Symbols of the paper: x frame, z latent, f Decoder, μ Drift, σ LogSigma, τ Objective.Tau, T Span.
package network
