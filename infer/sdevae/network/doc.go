// Package network is the SDE-VAE during training: the encoder q(z|x) = N(m(x), L L'), the decoder f, the drift μ, and the Gorgonia graphs of the loss in
// infer/sdevae/train.go with its gradients. The schedule of the training is in package sdevae.
//
// Model has the weights, Encode and Decode. Graph is one training step on a batch of pairs. SyntheticGraph trains the encoder alone on synthetic frames.
// Posteriors has m and L, one row per frame. Adam supports frozen parameters and parameters with a lower rate.
//
// All graphs of a Model share its weights, so a step changes the model. The caller closes models and graphs, which own memory of oneDNN.
//
// Symbols of the paper: x frame, z latent, f Decoder, μ Drift, σ LogSigma, τ Objective.Tau, T Span.
package network
