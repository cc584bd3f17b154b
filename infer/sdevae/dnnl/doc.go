// Package dnnl computes the convolutional trunks of the SDE-VAE's encoder and decoder, forwards and backwards, on oneDNN, and offers each trunk to Gorgonia as one differentiable operation.
//
// A Stack is a chain of blocks
//
//	[Upsample] Conv [BatchNorm] [LeakyReLU | Sigmoid] [MaxPool]
//
// on float32 pictures in NCHW order, with all its parameters in one flat vector theta.
// With `-tags nodnnl` the same chain runs in plain Go, without oneDNN and cgo.
package dnnl
