// Package dnnl computes the convolutional trunks of the SDE-VAE's encoder and decoder, forwards and backwards, on oneDNN, and offers each trunk to Gorgonia as one differentiable operation.
//
// A Stack is a chain of blocks
//
//	[Upsample] Conv [BatchNorm] [LeakyReLU | Sigmoid] [MaxPool]
//
// on float32 pictures in NCHW order, with all its parameters in one flat vector theta.
// Built with `-tags nodnnl` the same chain runs in plain Go, without oneDNN and without cgo.
//
// # Folding
//
// Convolution kernels fill their vector lanes with channels, so layers of 3 or 8 channels waste most of the machine.
// On oneDNN such layers are therefore computed on folded maps: a map of C channels on H x W is read as 4C channels on H/2 x W/2,
//
//	folded[(2(y mod 2) + x mod 2) C + c, y/2, x/2] = map[c, y, x]
//
// and a k x k convolution of the map is exactly a convolution of the folded map with fewer taps, whose weights are the old ones put in their places.
// Nearest upsampling by two followed by a 5x5 convolution is the same statement with the input left unfolded:
// four 3x3 convolutions at the low resolution, one for each phase of the output, 9 multiplications in place of 25.
// Zero padding maps onto zero padding, borders included, so every form is an identity, not an approximation.
package dnnl
