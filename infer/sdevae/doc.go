// Package sdevae trains the encoder on one video: the SDE-VAE of Hasan, Pereira, Farsiu and Tarokh, Identifying Latent Stochastic
// Differential Equations (2021). Its latents are the true coordinates up to an isometry.
//
// Train runs a training by its Config and returns the model file's parts with a verdict. Resume continues one from a checkpoint, bit for bit.
// Continue trains a model on other clips.
//
// The exported drift is fitted to the exported latents and depends on z alone.
//
// train.go has the loss, session.go the steps of a training and the differences from the paper. Gorgonia holds the graph (package network),
// oneDNN the convolutions (package dnnl).
package sdevae
