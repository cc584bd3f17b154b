// Package sdevae trains the encoder on one video. The model is the SDE-VAE of Hasan, Pereira, Farsiu and Tarokh, Identifying Latent Stochastic Differential
// Equations (2021). Its latents are the true coordinates up to an isometry.
//
// Train runs a training with a Config. Result.Export writes the model file, with a verdict. Training.Resume continues from a checkpoint, with the same result
// to the bit. Training.From trains an existing model on another clip.
//
// The exported drift is fitted to the exported latents and depends on z alone.
//
// train.go describes the loss, session.go the steps of a training and the differences from the paper. Gorgonia differentiates the graph (package network),
// oneDNN runs the convolutions (package dnnl).
package sdevae
