// Package network is the SDE-VAE as trained: the encoder q(z|x) = N(m(x), L L'), the decoder f, the drift μ, and the graphs in Gorgonia that give
// the loss of infer/sdevae/doc.go and its gradients. It knows no schedule: when what is learnt is the trainer's business.
//
// Symbols of the paper: x frame, z latent, f Decoder, μ Drift, σ LogSigma, τ Objective.Tau, T Span.
//
//	form.go                what a model is made of, and what a step minimises
//	model.go               Model: weights, Encode, Decode, batch normalisation's moments
//	posterior.go           Posteriors: m, ln diag L and L below the diagonal, a row a frame
//	graph.go               Graph: one training step of a batch of pairs; transition.go has its likelihood, reconstruction.go its pictures' error
//	synthetic_graph.go     SyntheticGraph: the encoder alone on synthetic frames whose posteriors are known
//	adam.go                Adam, with parameters that rest and parameters that learn slower
//	readout.go             the low moments of feature maps that the encoder's last layers may see
//	initial.go             first weights whose latents are slow or principal components of random features; initial_low_snr.go where noise hides all
//	reinitialised.go       the decoder and the widths when latents are re-initialised
//	profiled.go            qᵢ of doc.go's loss over any pairs
//	clock.go               the time since a trajectory began, as encoder and drift see it
//
// A Model's weights are shared by the graphs made of it: a step changes the model. The caller closes models and graphs, which hold oneDNN's memory.
package network
