// Package dnnl computes the convolutional trunks of the SDE-VAE's encoder and decoder with oneDNN, forwards and backwards. Each trunk is one differentiable
// operation for Gorgonia.
//
// A Stack is a chain of blocks
//
//	[Upsample] Conv [BatchNorm] [LeakyReLU | Sigmoid] [MaxPool]
//
// on float32 pictures in NCHW order, with all parameters in one flat vector theta. With `-tags nodnnl` the same chain runs in plain Go, without oneDNN and cgo.
package dnnl
